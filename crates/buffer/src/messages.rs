//! Queries for messages: by device, by ID, and after an ID.

use super::{
    missing_ids,
    record::{COLUMNS, Record},
    waypoints,
};
use crate::message::{Last, Message, Sent, stable_id};
use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension, Row, types::Value};
use std::{ops::Range, sync::Arc};

/// Bytes of messages after which an answer ends early. The last message may exceed it.
pub(super) const PAGE_BYTES: usize = 1 << 20;

/// A page of a list, newest first.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    /// Largest number of entries.
    pub limit: u32,
    /// Only entries with a smaller ID.
    pub before: Option<i64>,
}

/// A range of receipt times, in microseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// The first one that belongs to it.
    pub from: i64,
    /// The first one that no longer belongs to it.
    pub until: i64,
}

impl Times {
    /// All times.
    pub const ALL: Times = Times { from: i64::MIN, until: i64::MAX };

    /// Returns the IDs of the messages that were received in this range. IDs ascend with the times, except where the clock was set back: then
    /// the boundaries are at one of the messages with that time.
    pub(super) fn ids(self, connection: &Connection) -> rusqlite::Result<Range<i64>> {
        let first = if self.from == i64::MIN { 1 } else { first_at(connection, self.from)? };
        let end = if self.until == i64::MAX { i64::MAX } else { first_at(connection, self.until)? };
        Ok(first..end)
    }
}

/// Returns the first ID whose message was received at `time` or later, or the ID after the last message. Finds it by bisection.
fn first_at(connection: &Connection, time: i64) -> rusqlite::Result<i64> {
    let last: i64 =
        connection.prepare_cached("SELECT last_message_id FROM totals")?.query_row([], |row| row.get(0))?;
    let sql = "SELECT id, received_at FROM messages WHERE id >= ? ORDER BY id LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let (mut low, mut high) = (1, last + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        let found = statement.query_row([middle], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)));
        match found.optional()? {
            Some((id, received_at)) if received_at < time => low = id + 1,
            _ => high = middle,
        }
    }
    Ok(low)
}

/// Returns a page of the messages of all devices that were received at `times`.
pub fn messages(
    connection: &Connection,
    buffer: &Arc<str>,
    page: Page,
    times: Times,
) -> rusqlite::Result<Vec<Message>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM messages m WHERE m.id >= ?1 AND m.id < ?2 ORDER BY m.id DESC LIMIT ?3"
    );
    let snapshot = connection.unchecked_transaction()?;
    let ids = times.ids(&snapshot)?;
    let end = page.before.map_or(ids.end, |before| before.min(ids.end));
    let values = [ids.start, end, page.limit.into()].map(Value::Integer).into();
    let found = collect(&snapshot, &sql, values, |row| message(row, 0, buffer), Message::size)?;
    let after = found.last().map_or(ids.start, |oldest| oldest.id) - 1;
    missing_ids::check(&snapshot, after, found.iter().rev().map(|message| message.id), Some(end))?;
    Ok(found)
}

/// Returns a page of the messages of one device that were received at `times`, or `None` for an unknown device. Follows `previous`, from the
/// device's last message or from the one before the page.
pub fn device_messages(
    connection: &Connection,
    buffer: &Arc<str>,
    device: &str,
    page: Page,
    times: Times,
) -> rusqlite::Result<Option<Vec<Message>>> {
    let last = "SELECT last_id FROM devices WHERE device = ?";
    let last: Option<i64> =
        connection.prepare_cached(last)?.query_row([device], |row| row.get(0)).optional()?;
    let Some(last) = last else { return Ok(None) };
    let ids = times.ids(connection)?;
    let end = page.before.map_or(ids.end, |before| before.min(ids.end));
    let mut next = if end > last { Some(last) } else { before(connection, device, last, end)? };
    let sql = format!("SELECT {COLUMNS} FROM messages m WHERE m.id = ?");
    let mut statement = connection.prepare_cached(&sql)?;
    let (mut found, mut bytes) = (Vec::new(), 0);
    while bytes < PAGE_BYTES
        && found.len() < page.limit as usize
        && let Some(id) = next
    {
        if id < ids.start {
            break;
        }
        let read = |row: &Row<'_>| Ok((message(row, 0, buffer)?, row.get("previous")?));
        // Retention may have dropped the messages before it.
        let Some((item, previous)) = statement.query_row([id], read).optional()? else { break };
        next = previous;
        if id < end {
            bytes += item.size();
            found.push(item);
        }
    }
    Ok(Some(found))
}

/// Returns a message of `device` from which a walk reaches all its messages below the ID `end`. `last`, its last message, is not below `end`.
pub(super) fn before(
    connection: &Connection,
    device: &str,
    last: i64,
    end: i64,
) -> rusqlite::Result<Option<i64>> {
    let link = "SELECT previous FROM messages WHERE id = ? AND device = ?";
    match connection.prepare_cached(link)?.query_row((end, device), |row| row.get(0)).optional()? {
        Some(previous) => Ok(previous),
        // There are no IDs below 1.
        None if end <= 1 => Ok(None),
        // `end` belongs to another device or was dropped.
        None => Ok(waypoints::at_or_above(connection, device, end)?.or(Some(last))),
    }
}

/// Returns the next `limit` messages with an ID above `after`, oldest first.
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

/// Messages of a device, and whether there are more of them.
pub type Part = (Vec<Message>, bool);

/// Returns for each of `devices` its messages with IDs above the one beside it and up to `up_to`, oldest first, at most `limit` of each. The
/// answer ends early, after the device that exceeds [`PAGE_BYTES`].
pub fn of_devices(
    connection: &Connection,
    buffer: &Arc<str>,
    devices: &[(Arc<str>, i64)],
    up_to: i64,
    limit: usize,
) -> rusqlite::Result<Vec<Part>> {
    let snapshot = connection.unchecked_transaction()?;
    let sql = format!("SELECT {COLUMNS} FROM messages m WHERE m.id = ?");
    let mut statement = snapshot.prepare_cached(&sql)?;
    let (mut parts, mut bytes) = (Vec::new(), 0);
    for (device, after) in devices {
        let (mut found, mut after, mut more) = (Vec::new(), *after, true);
        while more && found.len() < limit && bytes < PAGE_BYTES {
            let (ids, further) = ids_after(&snapshot, device, (after, up_to))?;
            more = further;
            for id in ids {
                if found.len() == limit || bytes >= PAGE_BYTES {
                    more = true;
                    break;
                }
                let message = statement.query_row([id], |row| message(row, 0, buffer))?;
                bytes += message.size();
                after = id;
                found.push(message);
            }
        }
        parts.push((found, more));
        if bytes >= PAGE_BYTES {
            break;
        }
    }
    Ok(parts)
}

/// Returns how many messages with IDs above `after` and up to `up_to` a device has.
pub fn count_of(
    connection: &Connection,
    device: &str,
    (mut after, up_to): (i64, i64),
) -> rusqlite::Result<u64> {
    let mut count = 0;
    loop {
        let (ids, more) = ids_after(connection, device, (after, up_to))?;
        count += ids.len() as u64;
        match ids.last() {
            Some(last) if more => after = *last,
            _ => return Ok(count),
        }
    }
}

/// Returns the IDs of the next messages of a device above `after` and up to `up_to`, in ascending order, and whether there are more. They are
/// those before a waypoint, so at most twice its stride is walked.
pub(super) fn ids_after(
    connection: &Connection,
    device: &str,
    (after, up_to): (i64, i64),
) -> rusqlite::Result<(Vec<i64>, bool)> {
    let waypoint = waypoints::at_or_above(connection, device, after + 1)?;
    let last = "SELECT last_id FROM devices WHERE device = ?";
    let mut next = match waypoint {
        Some(id) => Some(id),
        None => connection.prepare_cached(last)?.query_row([device], |row| row.get(0)).optional()?,
    };
    let mut statement = connection.prepare_cached("SELECT previous FROM messages WHERE id = ?")?;
    let mut ids = Vec::new();
    while let Some(id) = next.filter(|id| *id > after) {
        next = match statement.query_row([id], |row| row.get(0)).optional()? {
            Some(previous) => previous,
            None => {
                // A message that is missing for no known reason means damage.
                missing_ids::check(connection, id - 1, [id + 1].into_iter(), None)?;
                break;
            }
        };
        if id <= up_to {
            ids.push(id);
        }
    }
    ids.reverse();
    Ok((ids, waypoint.is_some_and(|id| id < up_to)))
}

/// Returns the messages with these IDs, in the order of `ids`; `None` for one that is no longer in the buffer. The answer ends early, after
/// the message that exceeds [`PAGE_BYTES`].
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
            // A message that is missing for no known reason means damage.
            None => missing_ids::check(&snapshot, id - 1, [id + 1].into_iter(), None)?,
        }
        found.push(message);
        if bytes >= PAGE_BYTES {
            break;
        }
    }
    Ok(found)
}

/// Returns when the oldest message arrived, in microseconds since 1970.
pub fn oldest(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT received_at FROM messages ORDER BY id LIMIT 1";
    connection.prepare_cached(sql)?.query_row([], |row| row.get(0)).optional()
}

/// Returns the last message of `device`, or `None` if it has stored none. Retention never drops the last message of a device.
pub fn last_of(connection: &Connection, device: &str) -> rusqlite::Result<Option<Last>> {
    let sql = "SELECT m.key, m.received_at, m.origin FROM devices d JOIN messages m ON m.id = d.last_id WHERE d.device = ?";
    let read = |row: &Row<'_>| Ok(Last { key: row.get(0)?, received_at: row.get(1)?, origin: row.get(2)? });
    connection.prepare_cached(sql)?.query_row([device], read).optional()
}

/// Returns devices, when each last sent, in microseconds since 1970, and what `read` makes of it and the origin of its last message: at most
/// `most` devices for which that is something. `may_be` says whether it may be for a device, whose last message is then read.
pub fn last_heard<T>(
    connection: &Connection,
    may_be: impl Fn(&str) -> bool,
    read: impl Fn(Sent<'_>) -> Option<T>,
    most: usize,
) -> rusqlite::Result<Vec<(String, i64, T)>> {
    let mut devices = connection.prepare_cached("SELECT device, last_id FROM devices")?;
    let mut received = connection.prepare_cached("SELECT received_at, origin FROM messages WHERE id = ?")?;
    let mut rows = devices.query([])?;
    let mut heard = Vec::new();
    while let Some(row) = rows.next()?
        && heard.len() < most
    {
        let device = row.get_ref(0)?.as_str()?;
        if may_be(device) {
            let last = |row: &Row<'_>| Ok((row.get(0)?, read((device, row.get_ref(1)?.as_str_or_null()?))));
            let (at, found) = received.query_row([row.get::<_, i64>(1)?], last)?;
            heard.extend(found.map(|found| (device.to_owned(), at, found)));
        }
    }
    Ok(heard)
}

/// Returns the times of receipt and the origins of the newest messages that have an origin, newest first, at most `most`. Stops at the
/// first message that was received at or before `since`.
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

fn collect<T>(
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

pub(super) fn message(row: &Row<'_>, first: usize, buffer: &Arc<str>) -> rusqlite::Result<Message> {
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
        name: record.name,
    })
}

#[cfg(test)]
mod tests;
