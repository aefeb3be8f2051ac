//! Places in a device's list of messages, so that a page of it is found without walking the list.
//!
//! Messages of a device are linked from the last to the first. An index by device would write a page of the file for nearly every
//! message; a waypoint for every 64th message of a device costs a 64th of that, and leaves at most twice as many to walk.

use rusqlite::{Connection, OptionalExtension};
use std::collections::HashMap;

/// A message in so many of a device has a waypoint.
pub const STRIDE: u64 = 64;

/// Devices are written as bytes: a damaged file is read by the shapes of its rows, and text with a number is an output's cursor.
pub const TABLE: &str = "
CREATE TABLE waypoints (
    device BLOB NOT NULL,
    id INTEGER NOT NULL,
    PRIMARY KEY (device, id)
) STRICT, WITHOUT ROWID;
";

/// A device has so many messages, with `id` as the last.
pub fn add(connection: &Connection, device: &str, messages: u64, id: i64) -> rusqlite::Result<()> {
    if messages.is_multiple_of(STRIDE) {
        let sql = "INSERT OR IGNORE INTO waypoints VALUES (?, ?)";
        connection.prepare_cached(sql)?.execute((device.as_bytes(), id))?;
    }
    Ok(())
}

/// The first waypoint of a device at `id` or above.
pub fn at_or_above(connection: &Connection, device: &str, id: i64) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT id FROM waypoints WHERE device = ? AND id >= ? ORDER BY id LIMIT 1";
    connection.prepare_cached(sql)?.query_row((device.as_bytes(), id), |row| row.get(0)).optional()
}

/// The messages of a device up to `id` were dropped.
pub fn remove(connection: &Connection, device: &str, id: i64) -> rusqlite::Result<()> {
    let sql = "DELETE FROM waypoints WHERE device = ? AND id <= ?";
    connection.prepare_cached(sql)?.execute((device.as_bytes(), id))?;
    Ok(())
}

/// Makes those of a buffer that has none yet. Reads all messages, but not their bodies.
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
