//! The register of devices: a row for each, which this crate does not read.

use crc32fast::Hasher;
use rusqlite::Connection;

/// Version 9 adds the register. `about` is the record of the device as JSON, and `check` a CRC-32 over both, by which recovery recognizes
/// a row.
pub const TABLE: &str = "
CREATE TABLE register (
    device TEXT PRIMARY KEY,
    about TEXT NOT NULL,
    \"check\" INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
";

/// Returns the checksum of a row.
pub fn check(device: &str, about: &str) -> i64 {
    let mut hasher = Hasher::new();
    [device, "\0", about].iter().for_each(|part| hasher.update(part.as_bytes()));
    i64::from(hasher.finalize())
}

/// Writes rows: device and record, or `None` to remove the device.
pub fn save(connection: &Connection, rows: &[(String, Option<String>)]) -> rusqlite::Result<()> {
    let mut replace = connection.prepare_cached("REPLACE INTO register VALUES (?, ?, ?)")?;
    let mut delete = connection.prepare_cached("DELETE FROM register WHERE device = ?")?;
    for (device, about) in rows {
        match about {
            Some(about) => replace.execute((device, about, check(device, about)))?,
            None => delete.execute([device])?,
        };
    }
    Ok(())
}

/// Returns the records of all devices.
pub fn load(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    connection.prepare("SELECT about FROM register")?.query_map([], |row| row.get(0))?.collect()
}
