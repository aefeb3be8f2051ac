//! What the buffer counts for each device, and the last message it has of it.

use rusqlite::{Connection, OptionalExtension};
use std::{collections::HashMap, sync::Arc};

/// Most devices that are kept in memory.
const MOST: usize = 1 << 16;

/// A device's messages.
#[derive(Default)]
pub struct Tally {
    /// How many were stored.
    pub messages: u64,
    /// Their bytes as they arrived.
    pub bytes: u64,
    /// The last one.
    pub last_id: Option<i64>,
    is_changed: bool,
}

/// The devices that sent of late, so that they need not be looked for in the file. Those of the batch that is being written are
/// changed here at once: a look at each name, where a map for the batch would take three. If the batch fails, all are forgotten.
#[derive(Default)]
pub struct Devices {
    known: HashMap<Arc<str>, usize>,
    tallies: Vec<(Arc<str>, Tally)>,
    /// Those that the batch has changed.
    changed: Vec<usize>,
}

impl Devices {
    /// What the buffer has of a device, to be changed; nothing of a new one.
    pub fn find(&mut self, connection: &Connection, device: &str) -> rusqlite::Result<&mut Tally> {
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

    /// Writes the devices that were changed.
    pub fn save(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let mut statement =
            connection.prepare_cached("INSERT OR REPLACE INTO devices VALUES (?, ?, ?, ?)")?;
        for at in self.changed.drain(..) {
            let (device, tally) = &mut self.tallies[at];
            statement.execute((&**device, tally.messages, tally.bytes, tally.last_id))?;
            tally.is_changed = false;
        }
        if self.tallies.len() > MOST {
            self.forget();
        }
        Ok(())
    }

    /// Forgets everything: the file may not be what it was.
    pub fn forget(&mut self) {
        *self = Devices::default();
    }
}

fn load(connection: &Connection, device: &str) -> rusqlite::Result<Tally> {
    let found = connection
        .prepare_cached("SELECT messages, bytes, last_id FROM devices WHERE device = ?")?
        .query_row([device], |row| {
            Ok(Tally { messages: row.get(0)?, bytes: row.get(1)?, last_id: row.get(2)?, is_changed: false })
        })
        .optional()?;
    Ok(found.unwrap_or_default())
}
