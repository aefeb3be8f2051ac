//! Counts by device, and the ID of each device's last message.

use rusqlite::{Connection, OptionalExtension};
use std::{collections::HashMap, sync::Arc};

/// Largest number of devices to cache.
const MAX_CACHED_DEVICES: usize = 1 << 16;

/// The counts of a device.
#[derive(Debug, Default)]
pub struct Tally {
    /// How many messages it has stored.
    pub messages: u64,
    /// Their raw bytes.
    pub bytes: u64,
    /// The ID of the last one.
    pub last_id: Option<i64>,
    /// When the first one was received, in microseconds since 1970, if that is known.
    pub first_at: Option<i64>,
    is_changed: bool,
}

/// A cache of the devices that sent recently. A batch changes its devices here directly, at one lookup a message, where a separate map for
/// the batch would need three. If the batch fails, the cache is cleared.
#[derive(Default)]
pub struct Devices {
    known: HashMap<Arc<str>, usize>,
    tallies: Vec<(Arc<str>, Tally)>,
    /// The devices that the batch has changed.
    changed: Vec<usize>,
}

impl Tally {
    /// Adds the message `id` of `bytes` bytes, which was received at `received_at`. One that was in the quarantine is stored long after that.
    pub(crate) fn add(&mut self, id: i64, bytes: usize, received_at: i64) {
        self.first_at = match self.last_id {
            None => Some(received_at),
            Some(_) => self.first_at.map(|first| first.min(received_at)),
        };
        self.bytes += bytes as u64;
        self.last_id = Some(id);
    }
}

impl Devices {
    /// Returns the counts of a device for the caller to change; zeros for a new device.
    pub(crate) fn find(&mut self, connection: &Connection, device: &str) -> rusqlite::Result<&mut Tally> {
        let at = match self.known.get(device) {
            Some(at) => *at,
            None => {
                let name: Arc<str> = device.into();
                self.tallies.push((Arc::clone(&name), load(connection, device)?));
                self.known.insert(name, self.tallies.len() - 1);
                self.tallies.len() - 1
            }
        };
        let tally = &mut self.tallies[at].1;
        if !tally.is_changed {
            tally.is_changed = true;
            self.changed.push(at);
        }
        Ok(tally)
    }

    /// Returns the counts of a device of the last batch.
    pub fn of_batch(&self, device: &str) -> Option<&Tally> {
        Some(&self.tallies[*self.known.get(device)?].1)
    }

    /// Clears the cache if it has grown too large. Called before a batch, because its devices are asked for after it.
    pub(crate) fn trim(&mut self) {
        if self.tallies.len() > MAX_CACHED_DEVICES {
            self.forget();
        }
    }

    /// Writes the devices that were changed.
    pub(crate) fn save(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let mut statement =
            connection.prepare_cached("INSERT OR REPLACE INTO devices VALUES (?, ?, ?, ?, ?)")?;
        for at in self.changed.drain(..) {
            let (device, tally) = &mut self.tallies[at];
            statement.execute((&**device, tally.messages, tally.bytes, tally.last_id, tally.first_at))?;
            tally.is_changed = false;
        }
        Ok(())
    }

    /// Clears the cache, because the file may differ from it.
    pub(crate) fn forget(&mut self) {
        *self = Devices::default();
    }
}

fn load(connection: &Connection, device: &str) -> rusqlite::Result<Tally> {
    let found = connection
        .prepare_cached("SELECT messages, bytes, last_id, first_at FROM devices WHERE device = ?")?
        .query_row([device], |row| {
            Ok(Tally {
                messages: row.get(0)?,
                bytes: row.get(1)?,
                last_id: row.get(2)?,
                first_at: row.get(3)?,
                is_changed: false,
            })
        })
        .optional()?;
    Ok(found.unwrap_or_default())
}
