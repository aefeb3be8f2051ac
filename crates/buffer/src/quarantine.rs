//! Queries for messages of the quarantine, and their removal.

use super::messages::{PAGE_BYTES, Page};
use crate::message::Quarantined;
use dunnage_base::name::fits;
use rusqlite::{Connection, OptionalExtension, Row};
use std::collections::HashMap;

/// Selects messages of the quarantine. A field that is `None` or empty accepts all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// A pattern for the device, where `*` matches any characters.
    pub device: Option<String>,
    /// Why they are in the quarantine: a kind of error.
    pub kind: Option<String>,
    /// Their IDs in the quarantine.
    pub ids: Vec<i64>,
}

impl Filter {
    fn takes(&self, message: &Quarantined) -> bool {
        self.device.as_deref().is_none_or(|pattern| fits(pattern, &message.device))
            && self.kind.as_deref().is_none_or(|kind| kind == message.kind)
            && (self.ids.is_empty() || self.ids.contains(&message.id))
    }
}

const COLUMNS: &str = "id, received_at, device, schema, link, content_type, kind, \"offset\", reason, raw, key, request, origin, answered";

/// Returns a page of the quarantine, newest first: of `device`, or of all devices, among those that `is_chosen` names.
pub fn newest(
    connection: &Connection,
    device: Option<&str>,
    is_chosen: impl Fn(&str) -> bool,
    page: Page,
) -> rusqlite::Result<Vec<Quarantined>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM quarantine WHERE (?1 IS NULL OR device = ?1) AND id < ?2 ORDER BY id DESC"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query((device, page.before.unwrap_or(i64::MAX)))?;
    let (mut found, mut bytes) = (Vec::new(), 0);
    while found.len() < page.limit as usize
        && bytes < PAGE_BYTES
        && let Some(row) = rows.next()?
    {
        if is_chosen(row.get_ref("device")?.as_str()?) {
            let kept = read(row)?;
            bytes += 2 * kept.raw.len();
            found.push(kept);
        }
    }
    Ok(found)
}

/// Returns the messages with an ID above `after` and up to `last` that `filter` and `also` accept: oldest first, at most `limit`. Ends
/// early after the message that exceeds [`PAGE_BYTES`].
pub fn find(
    connection: &Connection,
    filter: &Filter,
    also: impl Fn(&Quarantined) -> bool,
    (after, last): (i64, i64),
    limit: usize,
) -> rusqlite::Result<Vec<Quarantined>> {
    let sql = format!("SELECT {COLUMNS} FROM quarantine WHERE id > ? AND id <= ? ORDER BY id");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query((after, last))?;
    let (mut found, mut bytes) = (Vec::new(), 0);
    while found.len() < limit
        && bytes < PAGE_BYTES
        && let Some(row) = rows.next()?
    {
        let message = read(row)?;
        if filter.takes(&message) && also(&message) {
            bytes += message.raw.len();
            found.push(message);
        }
    }
    Ok(found)
}

/// Messages that leave the quarantine.
#[derive(Debug, Default)]
pub struct Left {
    /// Their raw bytes.
    pub bytes: u64,
    /// The device of each of them.
    pub devices: Vec<String>,
}

/// The quarantine counts of one device, for the list of devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InQuarantine {
    /// How many messages.
    pub messages: u64,
    /// When the last of them was received, in microseconds since 1970.
    pub received_at: i64,
}

/// Returns the counts of each device.
pub fn counts(connection: &Connection) -> rusqlite::Result<HashMap<String, InQuarantine>> {
    let mut statement = connection
        .prepare_cached("SELECT device, count(*), max(received_at) FROM quarantine GROUP BY device")?;
    let read =
        |row: &Row<'_>| Ok((row.get(0)?, InQuarantine { messages: row.get(1)?, received_at: row.get(2)? }));
    statement.query_map([], read)?.collect()
}

/// Returns how many messages there are, and their bytes.
pub fn size(connection: &Connection) -> rusqlite::Result<(u64, u64)> {
    let sql = "SELECT count(*), ifnull(sum(length(raw)), 0) FROM quarantine";
    connection.prepare_cached(sql)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// The quarantined messages of one device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfDevice {
    /// The device.
    pub device: String,
    /// How many messages.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The error kind of the newest one.
    pub kind: String,
}

/// Returns the quarantined messages by device, or of `device` only; the devices with the most messages first, at most `limit`.
pub fn by_device(
    connection: &Connection,
    device: Option<&str>,
    limit: u32,
) -> rusqlite::Result<Vec<OfDevice>> {
    // SQLite takes the bare column from the row with the maximum.
    let sql = "SELECT device, count(*) AS messages, sum(length(raw)), kind, max(id) FROM quarantine
               WHERE ?1 IS NULL OR device = ?1 GROUP BY device ORDER BY messages DESC, device LIMIT ?2";
    let read = |row: &Row<'_>| {
        Ok(OfDevice { device: row.get(0)?, messages: row.get(1)?, bytes: row.get(2)?, kind: row.get(3)? })
    };
    connection.prepare_cached(sql)?.query_map((device, limit), read)?.collect()
}

/// Removes a message and adds it to `left`. Returns whether it was there.
pub fn remove(connection: &Connection, id: i64, left: &mut Left) -> rusqlite::Result<bool> {
    let sql = "DELETE FROM quarantine WHERE id = ? RETURNING length(raw), device";
    let gone = connection.prepare_cached(sql)?.query_row([id], removed).optional()?;
    let is_gone = gone.is_some();
    gone.into_iter().for_each(|gone| left.add(gone));
    Ok(is_gone)
}

/// Removes the oldest message and adds it to `left`.
pub fn remove_oldest(connection: &Connection, left: &mut Left) -> rusqlite::Result<()> {
    let sql =
        "DELETE FROM quarantine WHERE id = (SELECT min(id) FROM quarantine) RETURNING length(raw), device";
    left.add(connection.prepare_cached(sql)?.query_row([], removed)?);
    Ok(())
}

fn removed(row: &Row<'_>) -> rusqlite::Result<(u64, String)> {
    Ok((row.get(0)?, row.get(1)?))
}

impl Left {
    fn add(&mut self, (bytes, device): (u64, String)) {
        self.bytes += bytes;
        self.devices.push(device);
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Quarantined> {
    Ok(Quarantined {
        id: row.get(0)?,
        received_at: row.get(1)?,
        device: row.get(2)?,
        schema: row.get(3)?,
        link: row.get(4)?,
        content_type: row.get(5)?,
        kind: row.get(6)?,
        offset: row.get(7)?,
        reason: row.get(8)?,
        raw: row.get(9)?,
        key: row.get(10)?,
        request: row.get::<_, Option<String>>(11)?.unwrap_or_default(),
        origin: row.get(12)?,
        is_answered: row.get::<_, Option<bool>>(13)?.unwrap_or_default(),
    })
}
