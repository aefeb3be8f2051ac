//! Reading messages: by device, by ID, and from an ID on.

use super::{
    missing_ids,
    record::{COLUMNS, Record},
    waypoints,
};
use crate::message::{Device, Last, Message, stable_id};
use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension, Row, types::Value};
use std::sync::Arc;

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

/// Messages of all devices.
pub fn messages(connection: &Connection, buffer: &Arc<str>, page: Page) -> rusqlite::Result<Vec<Message>> {
    let sql = format!("SELECT {COLUMNS} FROM messages m WHERE m.id < ?1 ORDER BY m.id DESC LIMIT ?2");
    let values = vec![Value::Integer(page.before.unwrap_or(i64::MAX)), Value::Integer(page.limit.into())];
    let snapshot = connection.unchecked_transaction()?;
    let found = collect(&snapshot, &sql, values, |row| message(row, 0, buffer), Message::size)?;
    let after = found.last().map_or(0, |oldest| oldest.id - 1);
    missing_ids::check(
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
    buffer: &Arc<str>,
    device: &str,
    page: Page,
) -> rusqlite::Result<Option<Vec<Message>>> {
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
        let read = |row: &Row<'_>| Ok((message(row, 0, buffer)?, row.get("previous")?));
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

/// The next `limit` messages with an ID above `after`, oldest first.
pub fn after(
    connection: &Connection,
    buffer: &Arc<str>,
    after: i64,
    limit: u32,
) -> rusqlite::Result<Vec<Message>> {
    let snapshot = connection.unchecked_transaction()?;
    let sql = format!("SELECT {COLUMNS} FROM messages m WHERE m.id > ? ORDER BY m.id LIMIT ?");
    let values = vec![Value::Integer(after), Value::Integer(limit.into())];
    let found = collect(&snapshot, &sql, values, |row| message(row, 0, buffer), Message::size)?;
    let end = found.is_empty().then_some(i64::MAX);
    missing_ids::check(&snapshot, after, found.iter().map(|message| message.id), end)?;
    Ok(found)
}

/// The messages with these ids, in their order; `None` for one that has left the buffer. The answer ends early when it is
/// large: after the first message that makes it so.
pub fn by_ids(
    connection: &Connection,
    buffer: &Arc<str>,
    ids: &[i64],
) -> rusqlite::Result<Vec<Option<Message>>> {
    let snapshot = connection.unchecked_transaction()?;
    let sql = format!("SELECT {COLUMNS} FROM messages m WHERE m.id = ?");
    let mut statement = snapshot.prepare_cached(&sql)?;
    let (mut found, mut bytes) = (Vec::new(), 0);
    for id in ids {
        let message = statement.query_row([id], |row| message(row, 0, buffer)).optional()?;
        match &message {
            Some(message) => bytes += message.size(),
            // Unless it is known to have left, this is damage.
            None => missing_ids::check(&snapshot, id - 1, [id + 1].into_iter(), None)?,
        }
        found.push(message);
        if bytes >= PAGE_BYTES {
            break;
        }
    }
    Ok(found)
}

/// When the oldest message arrived, in microseconds since 1970.
pub fn oldest(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT received_at FROM messages ORDER BY id LIMIT 1";
    connection.prepare_cached(sql)?.query_row([], |row| row.get(0)).optional()
}

/// The last message of `device`, which no retention drops; none if nothing of it has been stored.
pub fn last_of(connection: &Connection, device: &str) -> rusqlite::Result<Option<Last>> {
    let sql = "SELECT m.key, m.received_at, m.origin FROM devices d JOIN messages m ON m.id = d.last_id WHERE d.device = ?";
    let read = |row: &Row<'_>| Ok(Last { key: row.get(0)?, received_at: row.get(1)?, origin: row.get(2)? });
    connection.prepare_cached(sql)?.query_row([device], read).optional()
}

/// When devices last sent, of those that `is_wanted`: at most `most`.
pub fn last_heard(
    connection: &Connection,
    is_wanted: impl Fn(&str) -> bool,
    most: usize,
) -> rusqlite::Result<Vec<(String, i64)>> {
    let mut devices = connection.prepare_cached("SELECT device, last_id FROM devices")?;
    let mut received = connection.prepare_cached("SELECT received_at FROM messages WHERE id = ?")?;
    let mut rows = devices.query([])?;
    let mut heard = Vec::new();
    while let Some(row) = rows.next()?
        && heard.len() < most
    {
        let device = row.get_ref(0)?.as_str()?;
        if is_wanted(device) {
            let at = received.query_row([row.get::<_, i64>(1)?], |row| row.get(0))?;
            heard.push((device.to_owned(), at));
        }
    }
    Ok(heard)
}

/// The time of receipt and the origin of messages, newest first, until one was received before `since`: of those that have an origin,
/// at most `most`.
pub fn origins(connection: &Connection, since: i64, most: usize) -> rusqlite::Result<Vec<(i64, String)>> {
    let mut statement = connection.prepare("SELECT received_at, origin FROM messages ORDER BY id DESC")?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while found.len() < most
        && let Some(row) = rows.next()?
    {
        let received_at = row.get(0)?;
        if received_at <= since {
            break;
        }
        found.extend(row.get::<_, Option<String>>(1)?.map(|origin| (received_at, origin)));
    }
    Ok(found)
}

/// How many messages are looked at for devices, before all devices are.
const LOOK: usize = 4096;

/// Devices, the one that sent last first; `before` is the id of a last message.
pub fn devices(connection: &Connection, buffer: &Arc<str>, page: Page) -> rusqlite::Result<Vec<Device>> {
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
        let device = |row: &Row<'_>| {
            Ok(Device { messages: row.get(0)?, bytes: row.get(1)?, last: message(row, 2, buffer)? })
        };
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

fn message(row: &Row<'_>, first: usize, buffer: &Arc<str>) -> rusqlite::Result<Message> {
    let record = Record::read(row, first)?;
    Ok(Message {
        id: record.id,
        buffer: Arc::clone(buffer),
        stable_id: stable_id(buffer, record.id, record.device, record.key),
        device: record.device.to_owned(),
        received_at: record.received_at,
        format: record.format.to_owned(),
        schema: record.schema.map(str::to_owned),
        link: record.link.map(str::to_owned),
        request: record.request.unwrap_or_default().to_owned(),
        raw: Bytes::copy_from_slice(record.raw),
        json: record.json.into(),
        origin: record.origin.map(str::to_owned),
    })
}

#[cfg(test)]
mod tests;
