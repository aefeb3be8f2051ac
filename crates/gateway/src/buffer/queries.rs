//! What the API asks of the buffer.

use super::{
    gaps,
    record::{COLUMNS, Record},
    waypoints,
};
use crate::{
    outputs::message::{self, Message},
    profile::Profiles,
};
use axum::body::Bytes;
use dunnage_formats::Id;
use rusqlite::{Connection, OptionalExtension, Row, types::Value};

/// Most bytes of messages in one answer; a page ends early rather than exceed it by more than a message.
pub(super) const PAGE_BYTES: usize = 1 << 20;

/// Which part of a list, newest first.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    /// Most entries.
    pub limit: u32,
    /// Only those with a smaller id.
    pub before: Option<i64>,
}

/// A message of the buffer.
#[derive(Debug)]
pub struct StoredMessage {
    /// Ascends over all devices.
    pub id: i64,
    /// Microseconds since 1970.
    pub received_at: i64,
    /// Its device.
    pub device: String,
    /// Its format's name.
    pub format: String,
    /// Its schema's name.
    pub schema: Option<String>,
    /// The slot of its layout, if its format is packed.
    pub slot: Option<u8>,
    /// The link it came over.
    pub link: Option<String>,
    /// How many bytes arrived.
    pub bytes: usize,
    /// What they say, as compact JSON.
    pub json: String,
    /// What the way it came knows of it, as compact JSON.
    pub origin: Option<String>,
}

impl StoredMessage {
    /// What it costs to read, in bytes: those that arrived are read, too, as the checksum is over them.
    fn size(&self) -> usize {
        self.json.len() + self.bytes
    }
}

/// A device and its last message.
#[derive(Debug)]
pub struct Device {
    /// Its messages.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The last of them; it has the device's id.
    pub last: StoredMessage,
}

/// Messages of all devices.
pub fn messages(connection: &Connection, page: Page) -> rusqlite::Result<Vec<StoredMessage>> {
    let sql = format!("SELECT {COLUMNS} FROM messages m WHERE m.id < ?1 ORDER BY m.id DESC LIMIT ?2");
    let values = vec![Value::Integer(page.before.unwrap_or(i64::MAX)), Value::Integer(page.limit.into())];
    let snapshot = connection.unchecked_transaction()?;
    let found = collect(&snapshot, &sql, values, |row| message(row, 0), StoredMessage::size)?;
    let after = found.last().map_or(0, |oldest| oldest.id - 1);
    gaps::check(
        &snapshot,
        after,
        found.iter().rev().map(|message| message.id),
        page.before.or(Some(i64::MAX)),
    )?;
    Ok(found)
}

/// Messages of one device, along `previous`: from its last one, or from the one before `before`. `None` when there
/// is no such device.
pub fn device_messages(
    connection: &Connection,
    device: &str,
    page: Page,
) -> rusqlite::Result<Option<Vec<StoredMessage>>> {
    let last = "SELECT last_id FROM devices WHERE device = ?";
    let last: Option<i64> =
        connection.prepare_cached(last)?.query_row([device], |row| row.get(0)).optional()?;
    let Some(last) = last else { return Ok(None) };
    let mut next = Some(last);
    if let Some(before) = page.before {
        let link = "SELECT previous FROM messages WHERE id = ? AND device = ?";
        let mut link = connection.prepare_cached(link)?;
        next = match link.query_row((before, device), |row| row.get(0)).optional()? {
            Some(previous) => previous,
            // An id that is not this device's, or was dropped, is looked for along the list, from the waypoint above it. No
            // message has an id under 1.
            None if before > 1 => waypoints::at_or_above(connection, device, before)?.or(next),
            None => None,
        };
    }
    let sql = format!("SELECT {COLUMNS} FROM messages m WHERE m.id = ?");
    let mut statement = connection.prepare_cached(&sql)?;
    let (mut found, mut bytes) = (Vec::new(), 0);
    while bytes < PAGE_BYTES
        && found.len() < page.limit as usize
        && let Some(id) = next
    {
        let read = |row: &Row<'_>| Ok((message(row, 0)?, row.get("previous")?));
        // Messages before it may have been dropped.
        let Some((item, previous)) = statement.query_row([id], read).optional()? else { break };
        next = previous;
        if page.before.is_none_or(|before| id < before) {
            bytes += item.size();
            found.push(item);
        }
    }
    Ok(Some(found))
}

/// The next `limit` messages with an id above `after`, oldest first. `buffer` is the buffer's name; `profiles` say where
/// outputs put them.
pub fn after(
    connection: &Connection,
    profiles: &Profiles,
    buffer: &str,
    after: i64,
    limit: u32,
) -> rusqlite::Result<Vec<Message>> {
    let snapshot = connection.unchecked_transaction()?;
    let sql = format!("SELECT {COLUMNS} FROM messages m WHERE m.id > ? ORDER BY m.id LIMIT ?");
    let values = vec![Value::Integer(after), Value::Integer(limit.into())];
    let found = collect(
        &snapshot,
        &sql,
        values,
        |row| outgoing(row, profiles, buffer),
        |m| m.raw.len() + m.json.len(),
    )?;
    let end = found.is_empty().then_some(i64::MAX);
    gaps::check(&snapshot, after, found.iter().map(|message| message.id), end)?;
    Ok(found)
}

/// The messages with these ids, in their order; `None` for one that has left the buffer. The answer ends early when it is
/// large: after the first message that makes it so. `buffer` is the buffer's name.
pub fn by_id(
    connection: &Connection,
    profiles: &Profiles,
    buffer: &str,
    ids: &[i64],
) -> rusqlite::Result<Vec<Option<Message>>> {
    let snapshot = connection.unchecked_transaction()?;
    let sql = format!("SELECT {COLUMNS} FROM messages m WHERE m.id = ?");
    let mut statement = snapshot.prepare_cached(&sql)?;
    let (mut found, mut bytes) = (Vec::new(), 0);
    for id in ids {
        let message = statement.query_row([id], |row| outgoing(row, profiles, buffer)).optional()?;
        match &message {
            Some(message) => bytes += message.raw.len() + message.json.len(),
            // Unless it is known to have left, this is damage.
            None => gaps::check(&snapshot, id - 1, [id + 1].into_iter(), None)?,
        }
        found.push(message);
        if bytes >= PAGE_BYTES {
            break;
        }
    }
    Ok(found)
}

fn outgoing(row: &Row<'_>, profiles: &Profiles, buffer: &str) -> rusqlite::Result<Message> {
    let record = Record::read(row, 0)?;
    Ok(Message {
        id: record.id,
        buffer: buffer.to_owned(),
        name: message::name(buffer, record.id, record.device, record.key),
        path: profiles.path(record.device),
        device: record.device.to_owned(),
        received_at: record.received_at,
        format: record.format.to_owned(),
        schema: record.schema.map(str::to_owned),
        link: record.link.map(str::to_owned),
        // Messages of older buffers have none.
        request: record.request.unwrap_or_default().to_owned(),
        raw: Bytes::copy_from_slice(record.raw),
        json: record.json.into(),
        origin: record.origin.map(str::to_owned),
    })
}

/// When the oldest message arrived, in microseconds since 1970.
pub fn oldest(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT received_at FROM messages ORDER BY id LIMIT 1";
    connection.prepare_cached(sql)?.query_row([], |row| row.get(0)).optional()
}

/// How many messages are looked at for devices, before all devices are.
const LOOK: usize = 4096;

/// Devices, the one that sent last first; `before` is the id of a last message.
pub fn devices(connection: &Connection, page: Page) -> rusqlite::Result<Vec<Device>> {
    let snapshot = connection.unchecked_transaction()?;
    let ids = match newest_devices(&snapshot, page)? {
        Some(ids) => ids,
        // Few devices send much, and others last sent long ago. All are looked at, and only as many kept as are asked for.
        None => {
            let sql = "SELECT last_id FROM devices WHERE last_id < ? ORDER BY last_id DESC LIMIT ?";
            let before = page.before.unwrap_or(i64::MAX);
            snapshot
                .prepare_cached(sql)?
                .query_map((before, page.limit), |row| row.get(0))?
                .collect::<Result<_, _>>()?
        }
    };
    let sql = format!(
        "SELECT d.messages, d.bytes, {COLUMNS} FROM messages m JOIN devices d ON d.device = m.device WHERE m.id = ?"
    );
    let mut statement = snapshot.prepare_cached(&sql)?;
    let (mut found, mut bytes) = (Vec::new(), 0);
    for id in ids {
        let device =
            |row: &Row<'_>| Ok(Device { messages: row.get(0)?, bytes: row.get(1)?, last: message(row, 2)? });
        found.extend(statement.query_row([id], device).optional()?.inspect(|d| bytes += d.last.size()));
        if bytes >= PAGE_BYTES {
            break;
        }
    }
    Ok(found)
}

/// The last messages of the devices that sent last, found among the newest messages. `None` if the page is not full after
/// [`LOOK`] of them.
fn newest_devices(connection: &Connection, page: Page) -> rusqlite::Result<Option<Vec<i64>>> {
    let sql = "SELECT m.id, EXISTS (SELECT 1 FROM devices d WHERE d.device = m.device AND d.last_id = m.id)
               FROM messages m WHERE m.id < ? ORDER BY m.id DESC LIMIT ?";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query((page.before.unwrap_or(i64::MAX), LOOK))?;
    let (mut found, mut looked) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        looked += 1;
        if row.get(1)? {
            found.push(row.get(0)?);
        }
        if found.len() == page.limit as usize {
            return Ok(Some(found));
        }
    }
    Ok((looked < LOOK).then_some(found))
}

pub(super) fn collect<T>(
    connection: &Connection,
    sql: &str,
    values: Vec<Value>,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    size: impl Fn(&T) -> usize,
) -> rusqlite::Result<Vec<T>> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(rusqlite::params_from_iter(values))?;
    let (mut found, mut bytes) = (Vec::new(), 0);
    while bytes < PAGE_BYTES
        && let Some(row) = rows.next()?
    {
        let item = read(row)?;
        bytes += size(&item);
        found.push(item);
    }
    Ok(found)
}

fn message(row: &Row<'_>, first: usize) -> rusqlite::Result<StoredMessage> {
    let record = Record::read(row, first)?;
    Ok(StoredMessage {
        id: record.id,
        received_at: record.received_at,
        device: record.device.to_owned(),
        format: record.format.to_owned(),
        schema: record.schema.map(str::to_owned),
        // The slot of a packed message is its first byte, whose mode bits are zero.
        slot: (record.format == Id::Packed.name()).then(|| record.raw.first().copied()).flatten(),
        link: record.link.map(str::to_owned),
        bytes: record.raw.len(),
        json: record.json.to_owned(),
        origin: record.origin.map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::file::make_tables;
    use std::sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    };

    /// A buffer with `messages` messages, whose devices `device` says by their ids.
    fn buffer(messages: i64, device: impl Fn(i64) -> String) -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        make_tables(&connection).unwrap();
        let mut insert = connection.prepare_cached(crate::buffer::record::INSERT).unwrap();
        let mut devices = std::collections::HashMap::<String, (u64, i64)>::new();
        connection.execute_batch("BEGIN").unwrap();
        for id in 1..=messages {
            let device = device(id);
            let known = devices.get(&device).copied();
            let (count, previous) = known.map_or((1, None), |(count, last)| (count + 1, Some(last)));
            let (format, raw, json) = ("json", &b"1"[..], "1");
            let record = Record {
                id,
                received_at: 0,
                device: &device,
                format,
                schema: None,
                link: None,
                previous,
                raw,
                json,
                key: None,
                request: None,
                origin: None,
            };
            record.insert(&mut insert).unwrap();
            waypoints::add(&connection, &device, count, id).unwrap();
            devices.insert(device, (count, id));
        }
        for (device, (count, last)) in devices {
            connection
                .execute("INSERT INTO devices VALUES (?, ?, ?, ?)", (device, count, count, last))
                .unwrap();
        }
        connection.execute("UPDATE totals SET last_message_id = ?", [messages]).unwrap();
        connection.execute_batch("COMMIT").unwrap();
        drop(insert);
        connection
    }

    /// What `query` finds, and how many steps SQLite's machine needs for it.
    fn steps<T>(connection: &mut Connection, query: impl FnOnce(&Connection) -> T) -> (T, u64) {
        let count = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&count);
        let count_one = move || {
            counted.fetch_add(1, Ordering::Relaxed);
            false
        };
        connection.progress_handler(1, Some(count_one)).unwrap();
        let found = query(connection);
        connection.progress_handler(1, None::<fn() -> bool>).unwrap();
        (found, count.load(Ordering::Relaxed))
    }

    #[test]
    fn a_page_of_a_device_costs_the_same_wherever_it_is() {
        const MESSAGES: i64 = 30_000;
        let is_of = |id: i64| id % 3 == 0;
        let mut connection = buffer(MESSAGES, |id| if is_of(id) { "d".into() } else { "e".into() });
        for before in [
            i64::MIN,
            -1,
            0,
            1,
            2,
            3,
            4,
            100,
            191,
            192,
            193,
            10_000,
            15_000,
            29_999,
            30_000,
            30_001,
            i64::MAX,
        ] {
            let page = Page { limit: 50, before: Some(before) };
            let (found, steps) = steps(&mut connection, |c| device_messages(c, "d", page).unwrap().unwrap());
            let found: Vec<_> = found.iter().map(|message| message.id).collect();
            let below = (1..MESSAGES.min(before.max(1) - 1) + 1).rev();
            let expected: Vec<_> = below.filter(|id| is_of(*id)).take(50).collect();
            assert_eq!(found, expected, "before {before}");
            assert!(steps < 10_000, "before {before}: {steps} steps");
        }
        let page = Page { limit: 50, before: Some(0) };
        assert!(device_messages(&connection, "unknown", page).unwrap().is_none());
    }

    #[test]
    fn waypoints_of_an_older_buffer_are_those_that_it_would_have() {
        let connection = buffer(1000, |id| format!("d{}", id % 7));
        let all = |c: &Connection| -> Vec<(Vec<u8>, i64)> {
            let mut statement = c.prepare("SELECT device, id FROM waypoints ORDER BY device, id").unwrap();
            statement
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
                .unwrap()
                .map(Result::unwrap)
                .collect()
        };
        let before = all(&connection);
        assert_eq!(before.len(), 14);
        connection.execute_batch("DELETE FROM waypoints").unwrap();
        waypoints::fill(&connection).unwrap();
        assert_eq!(all(&connection), before);
        waypoints::remove(&connection, "d1", 500).unwrap();
        assert_eq!(all(&connection).len(), 13);
    }

    #[test]
    fn the_devices_that_sent_last_are_found_without_looking_at_all() {
        let mut connection = buffer(20_000, |id| format!("d{id}"));
        for before in [None, Some(10_001), Some(51), Some(0)] {
            let page = Page { limit: 50, before };
            let (found, steps) = steps(&mut connection, |c| devices(c, page).unwrap());
            let found: Vec<_> = found.iter().map(|device| device.last.id).collect();
            let newest = before.map_or(20_000, |before| before - 1);
            assert_eq!(found, (1.max(newest - 49)..=newest).rev().collect::<Vec<_>>());
            assert!(steps < 10_000, "before {before:?}: {steps} steps");
        }
        // One that sends a lot, and others that were last heard long ago.
        let connection = buffer(10_000, |id| if id <= 3 { format!("d{id}") } else { "busy".into() });
        let found = devices(&connection, Page { limit: 50, before: None }).unwrap();
        assert_eq!(found.iter().map(|device| device.last.id).collect::<Vec<_>>(), [10_000, 3, 2, 1]);
    }
}
