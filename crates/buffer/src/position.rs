//! The progress of an output: its cursor, and the messages beyond the cursor that it has resolved.
//!
//! A device whose messages cannot be delivered holds the cursor. Without the rest of the position, a restart would deliver everything after
//! the cursor again, also the messages of all other devices.

use rusqlite::Connection;
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

/// Largest number of devices in [`Position::behind`].
pub const MAX_BEHIND: usize = 1000;

/// Version 8 adds what outputs have resolved beyond their cursors. A row has the first message of a device that an output has not resolved.
/// The row of the empty device has the last message before which the output has resolved those of all other devices. Both names are
/// BLOBs, because recovery recognizes rows by the types of their columns, and does without these.
pub const TABLE: &str = "
CREATE TABLE behind (
    output BLOB NOT NULL,
    device BLOB NOT NULL,
    message_id INTEGER NOT NULL,
    PRIMARY KEY (output, device)
) STRICT, WITHOUT ROWID;
";

/// How far an output is. All messages up to `resolved_to` are resolved, except those of the devices in `behind`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Position {
    /// A message ID.
    pub resolved_to: i64,
    /// For each of these devices, its first message that is not resolved. At most [`MAX_BEHIND`].
    pub behind: BTreeMap<Arc<str>, i64>,
}

impl Position {
    /// Creates the position of an output that has resolved all messages up to `message_id`.
    pub fn at(message_id: i64) -> Position {
        Position { resolved_to: message_id, behind: BTreeMap::new() }
    }

    /// Returns the cursor: the message ID up to and including which every message is resolved.
    pub fn cursor(&self) -> i64 {
        self.behind.values().map(|first| first - 1).fold(self.resolved_to, i64::min)
    }

    /// Returns whether the message `id` of `device` is resolved.
    pub fn is_resolved(&self, id: i64, device: &str) -> bool {
        id <= self.resolved_to && self.behind.get(device).is_none_or(|first| id < *first)
    }

    /// Replaces the position of `output`.
    pub(super) fn save(&self, connection: &Connection, output: &str) -> rusqlite::Result<()> {
        let sql = "INSERT OR REPLACE INTO cursors VALUES (?, ?)";
        connection.prepare_cached(sql)?.execute((output, self.cursor()))?;
        let mut rows: BTreeMap<&str, i64> =
            self.behind.iter().map(|(device, first)| (&**device, *first)).collect();
        if !rows.is_empty() {
            rows.insert("", self.resolved_to);
        }
        let before = rows_of(connection, output)?;
        let mut remove = connection.prepare_cached("DELETE FROM behind WHERE output = ? AND device = ?")?;
        for device in before.keys().filter(|device| !rows.contains_key(&***device)) {
            remove.execute((output.as_bytes(), device.as_bytes()))?;
        }
        let mut insert = connection.prepare_cached("INSERT OR REPLACE INTO behind VALUES (?, ?, ?)")?;
        for (device, id) in rows.into_iter().filter(|(device, id)| before.get(*device) != Some(id)) {
            insert.execute((output.as_bytes(), device.as_bytes(), id))?;
        }
        Ok(())
    }

    /// Returns the position of each output. `cursors` are those in the file.
    pub(super) fn load(
        connection: &Connection,
        cursors: &HashMap<Arc<str>, i64>,
    ) -> rusqlite::Result<HashMap<Arc<str>, Position>> {
        let load = |(output, cursor): (&Arc<str>, &i64)| {
            let mut behind = rows_of(connection, output)?;
            let resolved_to = behind.remove("").unwrap_or(*cursor);
            let position = Position { resolved_to, behind };
            // A recovery brings back the cursors alone.
            let position = if position.cursor() == *cursor { position } else { Position::at(*cursor) };
            Ok((Arc::clone(output), position))
        };
        cursors.iter().map(load).collect()
    }
}

fn rows_of(connection: &Connection, output: &str) -> rusqlite::Result<BTreeMap<Arc<str>, i64>> {
    let mut statement =
        connection.prepare_cached("SELECT CAST(device AS TEXT), message_id FROM behind WHERE output = ?")?;
    let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?.into(), row.get(1)?));
    statement.query_map([output.as_bytes()], read)?.collect()
}

#[cfg(test)]
mod tests {
    use super::{
        super::{changes::cursors, tables::make_tables},
        *,
    };

    fn position(resolved_to: i64, behind: &[(&str, i64)]) -> Position {
        let behind = behind.iter().map(|(device, first)| (Arc::from(*device), *first)).collect();
        Position { resolved_to, behind }
    }

    #[test]
    fn a_position_comes_back_and_without_its_rows_the_cursor_does() {
        let connection = Connection::open_in_memory().unwrap();
        make_tables(&connection).unwrap();
        let load = || Position::load(&connection, &cursors(&connection).unwrap()).unwrap();
        for now in [
            position(7, &[]),
            position(90, &[("a", 8), ("urn:b", 40)]),
            position(95, &[("urn:b", 41), ("c", 92)]),
            position(99, &[]),
            position(100, &[("a", 8)]),
        ] {
            now.save(&connection, "out").unwrap();
            position(3, &[("a", 2)]).save(&connection, "other").unwrap();
            assert_eq!(load(), [("out".into(), now), ("other".into(), position(3, &[("a", 2)]))].into());
        }
        assert_eq!(cursors(&connection).unwrap()["out"], 7);
        connection.execute("DELETE FROM behind", []).unwrap();
        assert_eq!(load()["out"], Position::at(7));
        assert_eq!(Position::at(7).cursor(), 7);
        let now = position(90, &[("a", 8)]);
        let resolved = [(7, "a"), (8, "a"), (8, "b"), (90, "b"), (91, "b")]
            .map(|(id, device)| now.is_resolved(id, device));
        assert_eq!(resolved, [true, false, true, true, false]);
    }
}
