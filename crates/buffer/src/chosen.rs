//! The newest messages of some devices, of which a client may read no others.
//!
//! The lists of few devices are merged: a page reads as many messages as it has, however many others are between them. The messages of many
//! devices are close to each other in the buffer, and are searched for there.

use super::{
    messages::{PAGE_BYTES, Page, Times, before, message},
    record::COLUMNS,
};
use crate::message::Message;
use rusqlite::{Connection, OptionalExtension, Row};
use std::{collections::BinaryHeap, ops::Range, sync::Arc};

/// Most devices with newer messages than a page whose lists are entered in the middle. Each takes at most some hundred steps.
const ENTERED: usize = 1000;
/// After how many messages a search ends early, if it has found any.
const EXAMINED: usize = 100_000;

/// Returns a page of the messages, received at `times`, of the devices that `is_chosen` names. Reads the whole table of devices.
pub fn messages(
    connection: &Connection,
    buffer: &Arc<str>,
    is_chosen: impl Fn(&str) -> bool,
    page: Page,
    times: Times,
) -> rusqlite::Result<Vec<Message>> {
    let snapshot = connection.unchecked_transaction()?;
    let ids = times.ids(&snapshot)?;
    let end = page.before.map_or(ids.end, |before| before.min(ids.end));
    let ids = ids.start..end;
    let limit = page.limit as usize;
    match entries(&snapshot, &is_chosen, end)? {
        Some(entries) => merge(&snapshot, buffer, entries, ids, limit),
        None => search(&snapshot, buffer, is_chosen, ids, limit),
    }
}

/// Returns for each device a message from which a walk reaches its messages below the ID `end`, or `None` if there are too many to look for.
fn entries(
    connection: &Connection,
    is_chosen: impl Fn(&str) -> bool,
    end: i64,
) -> rusqlite::Result<Option<BinaryHeap<i64>>> {
    let mut devices = connection.prepare_cached("SELECT device, last_id FROM devices")?;
    let mut rows = devices.query([])?;
    let (mut entries, mut entered) = (BinaryHeap::new(), 0);
    while let Some(row) = rows.next()? {
        let device = row.get_ref(0)?.as_str()?;
        if !is_chosen(device) {
            continue;
        }
        let last = row.get(1)?;
        if last < end {
            entries.push(last);
            continue;
        }
        entered += 1;
        if entered > ENTERED {
            return Ok(None);
        }
        entries.extend(before(connection, device, last, end)?);
    }
    Ok(Some(entries))
}

/// Returns the newest messages with these IDs that a walk from `next` reaches.
fn merge(
    connection: &Connection,
    buffer: &Arc<str>,
    mut next: BinaryHeap<i64>,
    ids: Range<i64>,
    limit: usize,
) -> rusqlite::Result<Vec<Message>> {
    let mut link = connection.prepare_cached("SELECT previous FROM messages WHERE id = ?")?;
    let mut statement =
        connection.prepare_cached(&format!("SELECT {COLUMNS} FROM messages m WHERE m.id = ?"))?;
    let (mut found, mut bytes) = (Vec::new(), 0);
    while found.len() < limit
        && bytes < PAGE_BYTES
        && let Some(id) = next.pop().filter(|id| *id >= ids.start)
    {
        if id >= ids.end {
            let previous = link.query_row([id], |row| row.get::<_, Option<i64>>(0)).optional()?;
            next.extend(previous.flatten());
            continue;
        }
        let read = |row: &Row<'_>| Ok((message(row, 0, buffer)?, row.get::<_, Option<i64>>("previous")?));
        // Retention may have dropped it, and those before it.
        let Some((item, previous)) = statement.query_row([id], read).optional()? else { continue };
        next.extend(previous);
        bytes += item.size();
        found.push(item);
    }
    Ok(found)
}

/// Returns the newest of the messages with these IDs whose devices are chosen.
fn search(
    connection: &Connection,
    buffer: &Arc<str>,
    is_chosen: impl Fn(&str) -> bool,
    ids: Range<i64>,
    limit: usize,
) -> rusqlite::Result<Vec<Message>> {
    let sql = format!("SELECT {COLUMNS} FROM messages m WHERE m.id >= ? AND m.id < ? ORDER BY m.id DESC");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query((ids.start, ids.end))?;
    let (mut found, mut bytes, mut examined) = (Vec::new(), 0, 0);
    while found.len() < limit
        && bytes < PAGE_BYTES
        && (examined < EXAMINED || found.is_empty())
        && let Some(row) = rows.next()?
    {
        examined += 1;
        if is_chosen(row.get_ref("device")?.as_str()?) {
            let item = message(row, 0, buffer)?;
            bytes += item.size();
            found.push(item);
        }
    }
    Ok(found)
}

/// Returns the device of a message; `None` if the message is not in the buffer.
pub fn device_of(connection: &Connection, id: i64) -> rusqlite::Result<Option<String>> {
    let sql = "SELECT device FROM messages WHERE id = ?";
    connection.prepare_cached(sql)?.query_row([id], |row| row.get(0)).optional()
}
