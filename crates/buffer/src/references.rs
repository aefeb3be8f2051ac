//! Messages that later ones of their device may refer to, by a name of 16 bits.
//!
//! Such a message is its own reference: its row has the name and its value. It is committed with the message, so that a device whose message
//! was acknowledged can refer to it. Retention keeps the last [`KEPT`] of a device that are small, so that it keeps at most 4 KiB of their
//! bytes for a device.

use super::record::{self, Record};
use rusqlite::{Connection, OptionalExtension, Row};

/// How many references of a device retention keeps, and are read.
pub const KEPT: u64 = 16;
/// How many of a device's last messages are searched for references.
const SEARCHED: usize = 64;

/// A stored message that has a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The message ID.
    pub id: i64,
    /// Its name.
    pub name: u16,
    /// The name of its schema.
    pub schema: Option<String>,
    /// Its value, as compact JSON.
    pub json: String,
}

/// Returns the last messages of `device` that have a name, newest first: at most [`KEPT`].
pub fn of(connection: &Connection, device: &str) -> rusqlite::Result<Vec<Named>> {
    let snapshot = connection.unchecked_transaction()?;
    let last = "SELECT last_id FROM devices WHERE device = ?";
    let mut next: Option<i64> =
        snapshot.prepare_cached(last)?.query_row([device], |row| row.get(0)).optional()?;
    let sql = format!("SELECT {} FROM messages m WHERE m.id = ?", record::COLUMNS);
    let mut statement = snapshot.prepare_cached(&sql)?;
    let mut found = Vec::new();
    for _ in 0..SEARCHED {
        let Some(id) = next.filter(|_| found.len() < KEPT as usize) else { break };
        let read = |row: &Row<'_>| Record::read(row, 0).map(|record| (record.previous, named(&record)));
        // Retention may have dropped the messages before it.
        let Some((previous, named)) = statement.query_row([id], read).optional()? else { break };
        found.extend(named);
        next = previous;
    }
    Ok(found)
}

fn named(record: &Record<'_>) -> Option<Named> {
    let schema = record.schema.map(str::to_owned);
    record.name.map(|name| Named { id: record.id, name, schema, json: record.json.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Totals,
        retention::Retention,
        settings::{BufferSettings, WhenFull},
        tables,
    };
    use std::collections::HashMap;

    /// Stores the messages 1 to `count` of one device. Each one that `has_name` accepts has its ID as its name.
    fn buffer(count: i64, has_name: impl Fn(i64) -> bool) -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        tables::make_tables(&connection).unwrap();
        let mut insert = connection.prepare_cached(record::INSERT).unwrap();
        for id in 1..=count {
            let name = has_name(id).then_some(id as u16);
            let record = Record {
                id,
                received_at: id,
                device: "d",
                format: "packed",
                schema: Some("s"),
                link: None,
                previous: (id > 1).then_some(id - 1),
                raw: b"raw",
                json: "{}",
                key: None,
                request: None,
                origin: None,
                name,
                place: name.map(|_| id),
            };
            record.insert(&mut insert).unwrap();
        }
        drop(insert);
        connection.execute("INSERT INTO devices VALUES ('d', ?1, 0, ?1, NULL)", [count]).unwrap();
        connection
    }

    #[test]
    fn the_last_messages_with_a_name_are_references_of_their_device() {
        let connection = buffer(100, |id| id % 2 == 0);
        let ids: Vec<_> = of(&connection, "d").unwrap().iter().map(|found| found.id).collect();
        assert_eq!(ids, (0..16).map(|n| 100 - 2 * n).collect::<Vec<_>>());
        assert_eq!(of(&connection, "e").unwrap(), []);
        // No more than 64 messages are searched.
        assert_eq!(of(&buffer(100, |id| id <= 36), "d").unwrap(), []);
        assert_eq!(of(&buffer(100, |id| id <= 37), "d").unwrap().len(), 1);
    }

    #[test]
    fn retention_keeps_references_unless_the_buffer_is_full() {
        for (limit_bytes, left) in [(0, vec![85, 86, 88, 89]), (1, vec![])] {
            let connection = buffer(100, |id| id != 87 && id < 90);
            let settings = BufferSettings {
                limit_bytes,
                when_full: WhenFull::DropDelivered,
                keep_delivered_hours: 1,
                ..BufferSettings::default()
            };
            let cursors = HashMap::from([("o".into(), 100)]);
            let retention = Retention::new(&settings, vec!["o".into()], &cursors);
            let mut totals = Totals::load(&connection).unwrap();
            retention.apply(&connection, &mut totals, &cursors, 100).unwrap();
            let mut ids = connection.prepare("SELECT id FROM messages ORDER BY id").unwrap();
            let ids: Vec<i64> = ids.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
            assert_eq!(ids, left.into_iter().chain([100]).collect::<Vec<_>>());
        }
    }
}
