//! Waypoints are entry points into a device's list of messages. With them, any page of the list is found without walking it from the end.
//!
//! The messages of a device form a linked list from the last to the first. An index by device would write a page of the file for nearly
//! every message. A waypoint at every 64th message of a device costs a 64th of that, and at most twice the stride has to be walked.

use rusqlite::{Connection, OptionalExtension};
use std::collections::HashMap;

/// Every `STRIDE`th message of a device has a waypoint.
pub const STRIDE: u64 = 64;

/// The device is a BLOB, because recovery recognizes rows by the types of their columns: a text and a number would be an output's cursor.
pub const TABLE: &str = "
CREATE TABLE waypoints (
    device BLOB NOT NULL,
    id INTEGER NOT NULL,
    PRIMARY KEY (device, id)
) STRICT, WITHOUT ROWID;
";

/// Adds a waypoint at the message `id`, the device's `messages`th, if it is due.
pub fn add(connection: &Connection, device: &str, messages: u64, id: i64) -> rusqlite::Result<()> {
    if messages.is_multiple_of(STRIDE) {
        let sql = "INSERT OR IGNORE INTO waypoints VALUES (?, ?)";
        connection.prepare_cached(sql)?.execute((device.as_bytes(), id))?;
    }
    Ok(())
}

/// Returns the first waypoint of a device at or above `id`.
pub fn at_or_above(connection: &Connection, device: &str, id: i64) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT id FROM waypoints WHERE device = ? AND id >= ? ORDER BY id LIMIT 1";
    connection.prepare_cached(sql)?.query_row((device.as_bytes(), id), |row| row.get(0)).optional()
}

/// Removes the waypoints of a device up to `id`, after its messages up to there were dropped.
pub fn remove(connection: &Connection, device: &str, id: i64) -> rusqlite::Result<()> {
    let sql = "DELETE FROM waypoints WHERE device = ? AND id <= ?";
    connection.prepare_cached(sql)?.execute((device.as_bytes(), id))?;
    Ok(())
}

/// Adds the waypoints of a buffer from before version 6. Reads the rows of all messages, but not their bodies.
pub fn fill(connection: &Connection) -> rusqlite::Result<()> {
    let mut counts: HashMap<String, u64> = HashMap::new();
    let mut statement = connection.prepare("SELECT id, device FROM messages ORDER BY id")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let device = row.get_ref(1)?.as_str()?;
        let count = match counts.get_mut(device) {
            Some(count) => count,
            None => counts.entry(device.to_owned()).or_default(),
        };
        *count += 1;
        add(connection, device, *count, row.get(0)?)?;
    }
    Ok(())
}
