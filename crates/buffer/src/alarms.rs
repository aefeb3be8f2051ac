//! The alarms of outputs. A device has an alarm from the message that meets the condition of an output to the message that ends it.
//!
//! Without them, an output would report an alarm again after a restart.

use rusqlite::Connection;
use std::{collections::HashSet, sync::Arc};

/// Version 11 adds the alarms. `condition` identifies the condition, so that another condition of the same output begins without alarms.
/// Both names are BLOBs, because recovery recognizes rows by the types of their columns, and does without these.
pub const TABLE: &str = "
CREATE TABLE alarms (
    output BLOB NOT NULL,
    device BLOB NOT NULL,
    condition INTEGER NOT NULL,
    PRIMARY KEY (output, device)
) STRICT, WITHOUT ROWID;
";

/// Adds or removes the alarm of a device.
pub fn save(
    connection: &Connection,
    output: &str,
    device: &str,
    condition: Option<i64>,
) -> rusqlite::Result<()> {
    let key = (output.as_bytes(), device.as_bytes());
    match condition {
        Some(condition) => connection
            .prepare_cached("INSERT OR REPLACE INTO alarms VALUES (?, ?, ?)")?
            .execute((key.0, key.1, condition))?,
        None => {
            connection.prepare_cached("DELETE FROM alarms WHERE output = ? AND device = ?")?.execute(key)?
        }
    };
    Ok(())
}

/// Returns the devices with an alarm of `condition` at `output`.
pub fn load(connection: &Connection, output: &str, condition: i64) -> rusqlite::Result<HashSet<Arc<str>>> {
    let sql = "SELECT CAST(device AS TEXT) FROM alarms WHERE output = ? AND condition = ?";
    let mut statement = connection.prepare_cached(sql)?;
    let read = |row: &rusqlite::Row<'_>| Ok(row.get::<_, String>(0)?.into());
    statement.query_map((output.as_bytes(), condition), read)?.collect()
}

#[cfg(test)]
mod tests {
    use super::{super::tables::make_tables, *};

    #[test]
    fn an_alarm_stays_until_it_is_removed_or_the_condition_is_another() {
        let connection = Connection::open_in_memory().unwrap();
        make_tables(&connection).unwrap();
        let devices = |condition| {
            let mut devices: Vec<_> = load(&connection, "mail", condition).unwrap().into_iter().collect();
            devices.sort();
            devices
        };
        for (output, device, condition) in [
            ("mail", "a", Some(7)),
            ("mail", "urn:b", Some(7)),
            ("other", "c", Some(7)),
            ("mail", "a", Some(7)),
        ] {
            save(&connection, output, device, condition).unwrap();
        }
        assert_eq!((devices(7), devices(8)), (vec!["a".into(), "urn:b".into()], vec![]));
        save(&connection, "mail", "a", None).unwrap();
        save(&connection, "mail", "never", None).unwrap();
        save(&connection, "mail", "urn:b", Some(8)).unwrap();
        assert_eq!((devices(7), devices(8)), (vec![], vec!["urn:b".into()]));
    }
}
