//! The last message of a device, which no retention removes.

use rusqlite::{Connection, OptionalExtension};

/// What is known of a message without its bytes.
#[derive(Debug)]
pub struct Last {
    /// What its sender calls it.
    pub key: Option<String>,
    /// When it arrived, in microseconds since 1970.
    pub received_at: i64,
    /// What the way it came knows of it, as compact JSON.
    pub origin: Option<String>,
}

/// The last message of `device`; none if nothing of it has been stored.
pub fn of_device(connection: &Connection, device: &str) -> rusqlite::Result<Option<Last>> {
    let sql = "SELECT m.key, m.received_at, m.origin FROM devices d JOIN messages m ON m.id = d.last_id WHERE d.device = ?";
    let read = |row: &rusqlite::Row<'_>| {
        Ok(Last { key: row.get(0)?, received_at: row.get(1)?, origin: row.get(2)? })
    };
    connection.prepare_cached(sql)?.query_row([device], read).optional()
}
