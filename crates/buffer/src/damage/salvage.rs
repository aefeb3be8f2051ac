//! Writes a new buffer from the remains of a damaged one. The buffer ID, the message IDs and the cursors stay the same.

use super::{
    Known, Salvaged,
    pages::Pages,
    remains::Remains,
    rows::{self, Found},
};
use crate::{
    Formats, Totals,
    record::{self, Record},
    register, tables, waypoints,
};
use rusqlite::{Connection, ErrorCode, params_from_iter, types::ToSqlOutput, types::ValueRef};
use std::{collections::HashMap, path::Path};

/// How many IDs are skipped when the last one is unknown. A lost message may have been delivered, so its ID must not be reused.
const SKIP: i64 = 1 << 24;

/// The counts of a device, the ID of its last message, and when the first one was received, if that is known.
#[derive(Default)]
struct Device {
    messages: u64,
    bytes: u64,
    last_id: i64,
    first_at: Option<i64>,
}

type Devices = HashMap<String, Device>;

/// The messages that are missing in the new buffer.
struct Missing {
    /// Ranges of IDs that no message has.
    gaps: Vec<(i64, i64)>,
    /// How many messages are lost by this damage.
    lost: u64,
}

/// Writes a buffer to `new` with everything in `pages`. `uncertain` means that the last transactions may be missing. `known` is the state
/// of the writer of an open buffer, and takes precedence over the pages. `name` is the buffer ID if no other source has it.
pub fn salvage(
    mut pages: Pages,
    new: &Path,
    uncertain: bool,
    name: Option<String>,
    known: Option<&Known>,
    formats: Formats,
) -> rusqlite::Result<Salvaged> {
    let remains = Remains::find(&mut pages, formats);
    let mut connection = Connection::open(new)?;
    // An incomplete file is removed by the next recovery, and a complete one is synchronized by `recover`.
    connection
        .execute_batch("PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
    let transaction = connection.transaction()?;
    tables::make_tables(&transaction)?;
    let found = known.map(|known| known.totals.clone()).or(remains.totals.clone());
    let mut totals = found.clone().unwrap_or_default();
    let devices = write_messages(&transaction, &mut pages, &remains, &mut totals, formats)?;
    write_rejects(&transaction, &mut pages, &remains)?;

    let newest = |rows: &[(i64, _)], last: i64| rows.last().map_or(last, |(id, _)| last.max(*id));
    totals.last_message_id = newest(&remains.messages, totals.last_message_id);
    totals.last_quarantine_id = newest(&remains.rejects, totals.last_quarantine_id);
    let cursors = cursors(&remains, known, totals.last_message_id);
    if found.is_none() {
        // Messages that every output has resolved may have been dropped or lost; there is no way to tell.
        totals.dropped_to = cursors.values().copied().min().unwrap_or_default();
    }
    let mut missing = missing(&remains, &totals);
    if found.is_none() {
        totals.stored = remains.messages.len() as u64 + missing.lost;
        totals.quarantined = totals.last_quarantine_id.unsigned_abs();
    }
    if known.is_none() && (found.is_none() || uncertain) {
        missing.gaps.push((totals.last_message_id + 1, totals.last_message_id + SKIP));
        totals.last_message_id += SKIP;
        totals.last_quarantine_id += SKIP;
    }
    totals.lost += missing.lost;
    totals.damages += 1;
    totals.devices = devices.len() as u64;
    if totals.name.is_empty() {
        let made = || transaction.query_row("SELECT name FROM totals", [], |row| row.get::<_, String>(0));
        totals.name = name.map_or_else(made, Ok)?.into();
    }
    write_rest(&transaction, &remains, &totals, &devices, &cursors, &missing)?;
    transaction.commit()?;
    connection.close().map_err(|(_, e)| e)?;
    let undelivered = cursors.values().copied().min().unwrap_or_default();
    let undelivered = missing.gaps.iter().filter(|(_, last)| *last > undelivered).count();
    Ok(Salvaged {
        messages: remains.messages.len() as u64,
        lost: missing.lost,
        gaps: missing.gaps.len(),
        undelivered_gaps: undelivered,
    })
}

/// Writes the messages in ascending order of IDs, linked to the device's previous message that is left. Returns the counts by device.
/// Counts of devices and formats are the stored ones, or those of the messages where these are larger.
fn write_messages(
    connection: &Connection,
    pages: &mut Pages,
    remains: &Remains,
    totals: &mut Totals,
    formats: Formats,
) -> rusqlite::Result<Devices> {
    let mut statement = connection.prepare_cached(record::INSERT)?;
    let mut devices = Devices::new();
    let mut counted = Totals::default();
    let aside: std::collections::HashSet<i64> = remains.undelivered.keys().map(|(_, id)| *id).collect();
    for (id, cell) in &remains.messages {
        let Some(row) = pages.row(*cell) else { continue };
        let Some(columns) = row.columns() else { continue };
        let Some(Found::Message(record, _)) = rows::of(row.id, &columns, formats) else { continue };
        // Free pages still contain messages that were dropped.
        let stays = || remains.last.get(record.device) == Some(id) || aside.contains(id);
        if *id <= totals.dropped_to && !stays() {
            continue;
        }
        if !devices.contains_key(record.device) {
            let first_at = record.previous.is_none().then_some(record.received_at);
            devices.insert(record.device.to_owned(), Device { first_at, ..Device::default() });
        }
        let Some(device) = devices.get_mut(record.device) else { continue };
        let previous = (device.last_id > 0).then_some(device.last_id);
        Record { previous, ..record }.insert(&mut statement)?;
        // A place stays what it was, and no message after it has a smaller one.
        let next = device.messages + 1;
        device.messages = record.place.map_or(next, |place| place.unsigned_abs().max(next));
        device.bytes += record.raw.len() as u64;
        device.last_id = *id;
        waypoints::add(connection, record.device, device.messages, *id)?;
        counted.add(record.format, record.raw.len(), record.json.len());
    }
    for (name, device) in &mut devices {
        let [messages, bytes] = remains.devices.get(name).copied().unwrap_or_default();
        (device.messages, device.bytes) = (device.messages.max(messages), device.bytes.max(bytes));
        device.first_at = remains.first.get(name).copied().or(device.first_at);
    }
    let found = remains.formats.iter().map(|(format, counts)| (*format, counts));
    for (format, counts) in found.chain(counted.formats.iter().map(|(format, counts)| (&**format, counts))) {
        let known = totals.formats.entry(format.to_owned()).or_default();
        if known.messages < counts.messages {
            *known = *counts;
        }
    }
    Ok(devices)
}

fn write_rejects(connection: &Connection, pages: &mut Pages, remains: &Remains) -> rusqlite::Result<()> {
    let sql = "INSERT INTO quarantine VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    let mut statement = connection.prepare_cached(sql)?;
    for (id, cell) in &remains.rejects {
        let Some(row) = pages.row(*cell) else { continue };
        let Some(mut columns) = row.columns() else { continue };
        columns[0] = ValueRef::Integer(*id);
        columns.resize(14, ValueRef::Null);
        match statement.execute(params_from_iter(columns.into_iter().map(ToSqlOutput::Borrowed))) {
            Err(e) if e.sqlite_error_code() != Some(ErrorCode::ConstraintViolation) => return Err(e),
            _ => {}
        }
    }
    Ok(())
}

/// Returns the cursors of outputs. A cursor in the file that is beyond the last message is invalid.
fn cursors(remains: &Remains, known: Option<&Known>, last: i64) -> HashMap<String, i64> {
    let mut cursors = remains.cursors.clone();
    cursors.retain(|_, id| (0..=last).contains(id));
    if let Some(known) = known {
        cursors.extend(known.cursors.iter().map(|(output, id)| (output.to_string(), *id)));
    }
    cursors
}

/// Returns which IDs are missing, and how many of them were not missing before.
fn missing(remains: &Remains, totals: &Totals) -> Missing {
    let mut gaps = Vec::new();
    let mut expected = totals.dropped_to + 1;
    let ids = remains.messages.iter().map(|(id, _)| *id).chain([totals.last_message_id + 1]);
    for id in ids.filter(|id| *id > totals.dropped_to) {
        if id > expected {
            gaps.push((expected, id - 1));
        }
        expected = id + 1;
    }
    let all: i64 = gaps.iter().map(|(first, last)| last - first + 1).sum();
    let before: i64 =
        gaps.iter().map(|gap| remains.gaps.iter().map(|known| overlap(*gap, *known)).sum::<i64>()).sum();
    Missing { gaps, lost: (all - before).max(0).unsigned_abs() }
}

fn overlap(a: (i64, i64), b: (i64, i64)) -> i64 {
    (a.1.min(b.1) - a.0.max(b.0) + 1).max(0)
}

fn write_rest(
    connection: &Connection,
    remains: &Remains,
    totals: &Totals,
    devices: &Devices,
    cursors: &HashMap<String, i64>,
    missing: &Missing,
) -> rusqlite::Result<()> {
    totals.save(&Totals::default(), connection)?;
    let sql = "UPDATE totals SET name = ?, lost = ?, damages = ?";
    connection.execute(sql, (&*totals.name, totals.lost, totals.damages))?;
    let mut statement = connection.prepare("INSERT INTO devices VALUES (?, ?, ?, ?, ?)")?;
    for (name, Device { messages, bytes, last_id, first_at }) in devices {
        statement.execute((name, messages, bytes, last_id, first_at))?;
    }
    let mut statement = connection.prepare("INSERT INTO cursors VALUES (?, ?)")?;
    for cursor in cursors {
        statement.execute(cursor)?;
    }
    let mut statement = connection.prepare("INSERT INTO undelivered VALUES (?, ?, ?, ?)")?;
    for ((output, id), (at, reason)) in &remains.undelivered {
        statement.execute((output, id, at, reason))?;
    }
    let mut statement = connection.prepare("INSERT INTO layouts VALUES (?, ?, ?)")?;
    for ((schema, slot), fingerprint) in &remains.layouts {
        statement.execute((schema, slot, fingerprint))?;
    }
    let registered = remains.registered.iter().map(|(device, about)| (device.clone(), Some(about.clone())));
    register::save(connection, &registered.collect::<Vec<_>>())?;
    let mut statement = connection.prepare("INSERT INTO gaps VALUES (?, ?)")?;
    for gap in &missing.gaps {
        statement.execute(*gap)?;
    }
    Ok(())
}
