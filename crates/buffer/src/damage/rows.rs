//! Recognizes rows by the types of their columns, because recovery does not know to which table a page belongs.

use crate::{Formats, Totals, record::Record, register};
use dunnage_base::name::{is_device, is_name};
use rusqlite::types::ValueRef::{self, Blob, Integer, Null, Text};

/// A row of one of the tables.
pub enum Found<'a> {
    /// A message, and whether its row has a checksum.
    Message(Record<'a>, bool),
    NewQuarantined(i64),
    Totals(Box<Totals>),
    /// Messages, bytes and last message ID of a device, or messages, bytes and JSON bytes of a format.
    Counts(&'a str, [u64; 3]),
    /// Messages and bytes of a device, and when the first message was received.
    Device(&'a str, [u64; 2], Option<i64>),
    Cursor(&'a str, i64),
    DeadLetter(&'a str, i64, i64, &'a str),
    Layout(&'a str, u8, [u8; 32]),
    Gap(i64, i64),
    /// A device of the register, and its record.
    Registered(&'a str, &'a str),
}

/// Recognizes the row `id` with these `columns`. Returns `None` for a damaged row, or one of no table of the buffer. `formats` are the
/// names that the format of a message may have.
pub fn of<'a>(id: Option<i64>, columns: &'a [ValueRef<'a>], formats: Formats) -> Option<Found<'a>> {
    match (id, columns) {
        (Some(id), [Null, Integer(last)]) if (1..=*last).contains(&id) => Some(Found::Gap(id, *last)),
        (Some(1), [Null, numbers @ .., Integer(_)])
            if numbers.len() >= 7 && matches!(columns[7], Text(_)) =>
        {
            totals(columns)
        }
        (Some(id), [Null, Integer(_), Text(_), _, _, _, _, Blob(_), Text(_), ..]) if id > 0 => {
            message(id, columns, formats)
        }
        (Some(id), [Null, Integer(_), Text(_), _, _, Text(_), Text(_), _, Text(_), Blob(_), ..])
            if id > 0 =>
        {
            quarantined(id, columns)
        }
        (None, [Text(device), Text(about), Integer(check)]) => {
            let (device, about) = (std::str::from_utf8(device).ok()?, std::str::from_utf8(about).ok()?);
            (*check == register::check(device, about)).then_some(Found::Registered(device, about))
        }
        (None, [Text(output), Integer(id)]) => Some(Found::Cursor(name(output)?, *id)),
        (None, [Text(schema), Integer(slot), Blob(fingerprint)]) => {
            Some(Found::Layout(name(schema)?, u8::try_from(*slot).ok()?, (*fingerprint).try_into().ok()?))
        }
        (None, [Text(output), Integer(id), Integer(at), Text(reason)]) => {
            Some(Found::DeadLetter(name(output)?, *id, *at, std::str::from_utf8(reason).ok()?))
        }
        (None, [Text(key), Integer(a), Integer(b), Integer(c)]) => {
            Some(Found::Counts(name(key)?, [count(*a)?, count(*b)?, count(*c)?]))
        }
        (
            None,
            [Text(device), Integer(messages), Integer(bytes), Integer(_), first @ (Integer(_) | Null)],
        ) => {
            let device = std::str::from_utf8(device).ok().filter(|device| is_device(device))?;
            Some(Found::Device(device, [count(*messages)?, count(*bytes)?], first.as_i64_or_null().ok()?))
        }
        _ => None,
    }
}

/// Returns an entry of the quarantine, whose columns have its types, if its texts are ones and its device has a name.
fn quarantined<'a>(id: i64, columns: &[ValueRef<'a>]) -> Option<Found<'a>> {
    let [_, _, Text(device), schema, link, _, _, offset, _, _, rest @ ..] = columns else { return None };
    // The last column is a number: whether the sender was answered.
    let (rest, answered) = rest.split_at(rest.len().min(3));
    let texts = [schema, link].into_iter().chain(rest).all(|column| text(*column).is_some());
    let named = std::str::from_utf8(device).is_ok_and(is_device) && matches!(offset, Null | Integer(_));
    let readable = columns.iter().all(|column| !matches!(column, Text(t) if std::str::from_utf8(t).is_err()));
    (texts && named && readable && matches!(answered, [] | [Null | Integer(0 | 1)]))
        .then_some(Found::NewQuarantined(id))
}

/// Returns a message if its checksum matches. Messages from before version 4 of the tables have none; they must have a valid device, a
/// known format and valid JSON.
fn message<'a>(id: i64, columns: &[ValueRef<'a>], formats: Formats) -> Option<Found<'a>> {
    let column = |at: usize| columns.get(at).copied().unwrap_or(Null);
    let number = |at: usize| match column(at) {
        Null => Some(None),
        Integer(number) => Some(Some(number)),
        _ => None,
    };
    let record = Record {
        id,
        received_at: number(1)??,
        device: text(column(2))??,
        format: text(column(3))??,
        schema: text(column(4))?,
        link: text(column(5))?,
        previous: number(6)?,
        raw: column(7).as_blob().ok()?,
        json: text(column(8))??,
        key: text(column(9))?,
        request: text(column(10))?,
        origin: text(column(12))?,
        name: number(13)?.map(u16::try_from).transpose().ok()?,
        place: number(14)?,
    };
    let check = number(11)?;
    let sound = match check {
        Some(check) => check == i64::from(record.check()),
        None => {
            is_device(record.device)
                && formats.contains(&record.format)
                && serde_json::from_str::<serde::de::IgnoredAny>(record.json).is_ok()
        }
    };
    sound.then_some(Found::Message(record, check.is_some()))
}

fn totals(columns: &[ValueRef<'_>]) -> Option<Found<'static>> {
    let number = |at: usize| match columns.get(at) {
        None => Some(0),
        Some(Integer(number)) if *number >= 0 => Some(*number),
        _ => None,
    };
    let amount = |at: usize| number(at).map(i64::unsigned_abs);
    let name = text(columns[7])??;
    let named = name.len() == 8 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let totals = Totals {
        name: name.into(),
        last_message_id: number(1)?,
        last_quarantine_id: number(2)?,
        stored: amount(3)?,
        quarantined: amount(4)?,
        refused: amount(5)?,
        devices: amount(6)?,
        duplicates: amount(8)?,
        dropped: amount(9)?,
        dropped_to: number(10)?,
        lost: amount(11)?,
        damages: amount(12)?,
        ..Totals::default()
    };
    let sound = named && totals.dropped_to <= totals.last_message_id;
    sound.then(|| Found::Totals(Box::new(totals)))
}

/// Returns a text or NULL, and `None` for other types and invalid UTF-8.
fn text(column: ValueRef<'_>) -> Option<Option<&str>> {
    match column {
        Null => Some(None),
        Text(text) => std::str::from_utf8(text).ok().map(Some),
        _ => None,
    }
}

fn name(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().filter(|name| is_name(name))
}

fn count(number: i64) -> Option<u64> {
    u64::try_from(number).ok()
}
