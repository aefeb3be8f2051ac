//! What the API asks of the buffer.

use super::{
    gaps,
    record::{COLUMNS, Record},
};
use crate::{
    outputs::message::{self, Message},
    profile::Profiles,
};
use dunnage_formats::Id;
use rusqlite::{Connection, OptionalExtension, Row, types::Value};

/// Most bytes of messages in one answer; a page ends early rather than exceed it by more than a message.
pub(super) const PAGE_BYTES: usize = 4 << 20;

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
    let found = collect(&snapshot, &sql, values, |row| message(row, 0), |m| m.json.len())?;
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
        // An id that is not this device's is looked for along the chain.
        next = link.query_row((before, device), |row| row.get(0)).optional()?.unwrap_or(next);
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
            bytes += item.json.len();
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
        raw: record.raw.to_owned(),
        json: record.json.to_owned(),
        origin: record.origin.map(str::to_owned),
    })
}

/// When the oldest message arrived, in microseconds since 1970.
pub fn oldest(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT received_at FROM messages ORDER BY id LIMIT 1";
    connection.prepare_cached(sql)?.query_row([], |row| row.get(0)).optional()
}

/// Devices, the one that sent last first; `before` is the id of a last message.
pub fn devices(connection: &Connection, page: Page) -> rusqlite::Result<Vec<Device>> {
    let sql = format!(
        "SELECT d.messages, d.bytes, {COLUMNS}
         FROM (SELECT * FROM devices WHERE last_id < ? ORDER BY last_id DESC LIMIT ?) d
         JOIN messages m ON m.id = d.last_id ORDER BY d.last_id DESC"
    );
    let values = vec![Value::Integer(page.before.unwrap_or(i64::MAX)), Value::Integer(page.limit.into())];
    let device =
        |row: &Row<'_>| Ok(Device { messages: row.get(0)?, bytes: row.get(1)?, last: message(row, 2)? });
    collect(connection, &sql, values, device, |d| d.last.json.len())
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
