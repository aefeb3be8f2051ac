//! What the buffer counts for each device, and the last message it has of it.

use rusqlite::{Connection, OptionalExtension};
use std::collections::HashMap;

/// Most devices that are kept in memory.
const MOST: usize = 1 << 16;

/// A device's messages.
#[derive(Clone, Copy, Default)]
pub struct Tally {
    /// How many were stored.
    pub messages: u64,
    /// Their bytes as they arrived.
    pub bytes: u64,
    /// The last one.
    pub last_id: Option<i64>,
}

/// The devices that sent of late, so that they need not be looked for in the file.
#[derive(Default)]
pub struct Devices(HashMap<String, Tally>);

impl Devices {
    /// What the buffer has of a device; nothing of a new one.
    pub fn find(&self, connection: &Connection, device: &str) -> rusqlite::Result<Tally> {
        if let Some(tally) = self.0.get(device) {
            return Ok(*tally);
        }
        let found = connection
            .prepare_cached("SELECT messages, bytes, last_id FROM devices WHERE device = ?")?
            .query_row([device], |row| {
                Ok(Tally { messages: row.get(0)?, bytes: row.get(1)?, last_id: row.get(2)? })
            })
            .optional()?;
        Ok(found.unwrap_or_default())
    }

    /// Learns what has been committed.
    pub fn committed(&mut self, devices: &HashMap<&str, Tally>) {
        if self.0.len() + devices.len() > MOST {
            self.0.clear();
        }
        for (device, tally) in devices {
            match self.0.get_mut(*device) {
                Some(known) => *known = *tally,
                None => {
                    self.0.insert((*device).to_owned(), *tally);
                }
            }
        }
    }

    /// Forgets everything: the file may not be what it was.
    pub fn forget(&mut self) {
        self.0.clear();
    }
}

/// Writes the devices of a batch.
pub fn save(connection: &Connection, devices: &HashMap<&str, Tally>) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached("INSERT OR REPLACE INTO devices VALUES (?, ?, ?, ?)")?;
    for (device, tally) in devices {
        statement.execute((device, tally.messages, tally.bytes, tally.last_id))?;
    }
    Ok(())
}
