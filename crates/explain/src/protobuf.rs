//! Protocol Buffers, field by field (<https://protobuf.dev/programming-guides/encoding/>), with or without the names of a schema.

pub mod own;

use super::{
    Cursor, Sink, Stop,
    item::{counted, quoted},
    record::{Place, Walk, scaled, symbol},
};
use dunnage_codegen::{Field, FieldType, Record};
use dunnage_formats::{Error, Kind};

/// Reports every field of the message at the cursor. Without a `record`, fields are named by their numbers.
pub fn walk(record: Option<&Record>, cursor: &mut Cursor<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
    let end = cursor.at() + cursor.left();
    message(&mut Walk { cursor, sink }, record, end, 0)
}

/// Reports the fields up to the offset `end`.
fn message(walk: &mut Walk<'_, '_>, record: Option<&Record>, end: usize, depth: usize) -> Result<(), Stop> {
    while walk.cursor.at() < end {
        let start = walk.cursor.at();
        let nesting = walk.cursor.enter(depth, start)?;
        let tag = walk.cursor.varint()?;
        let number = u32::try_from(tag >> 3).ok().filter(|number| *number > 0);
        let number = number.ok_or_else(|| malformed(start, "no field has this number"))?;
        let field = record.and_then(|record| record.fields.iter().find(|field| field.number == number));
        let name =
            field.map_or_else(|| format!("field {number}"), |field| format!("{number} {}", field.name));
        let place = Place { name: &name, depth };
        match tag & 7 {
            0 => {
                let n = walk.cursor.varint()?;
                let (meaning, about) = varint(n, field);
                walk.report(place, start, &meaning, about)?;
            }
            1 => {
                let bits: [u8; 8] = walk.cursor.array()?;
                walk.report(place, start, &f64::from_le_bytes(bits).to_string(), "binary64")?;
            }
            2 => delimited(walk, place, start, field, nesting)?,
            5 => {
                let bits: [u8; 4] = walk.cursor.array()?;
                walk.report(place, start, &f32::from_le_bytes(bits).to_string(), "binary32")?;
            }
            wire => return Err(malformed(start, format!("wire type {wire} is not in proto3"))),
        }
    }
    match walk.cursor.at() {
        at if at > end => Err(malformed(end, "the field is longer than its message")),
        _ => Ok(()),
    }
}

/// The meaning of a varint and a description of its type. Without the field, it is unknown whether the number is zigzag-encoded.
fn varint(n: u64, field: Option<&Field>) -> (String, String) {
    let kind = field.map(|field| field.kind.element());
    let meaning = match kind {
        Some(FieldType::Bool) => (n != 0).to_string(),
        Some(FieldType::Integer(range)) if range.signed() => zigzag(n).to_string(),
        Some(kind @ FieldType::Enum(_)) => symbol(kind, n),
        _ => n.to_string(),
    };
    let about = match kind {
        Some(kind) => scaled(field, kind),
        None if n > 1 => format!("varint, or {} as zigzag", zigzag(n)),
        None => "varint".to_owned(),
    };
    (meaning, about)
}

fn zigzag(n: u64) -> i64 {
    (n >> 1) as i64 ^ -((n & 1) as i64)
}

/// Reports a length-delimited field: text, bytes, a message, or a packed list of numbers.
fn delimited(
    walk: &mut Walk<'_, '_>,
    place: Place<'_>,
    start: usize,
    field: Option<&Field>,
    nesting: usize,
) -> Result<(), Stop> {
    let length = walk.cursor.varint()?;
    let content = walk.cursor.at();
    match field.map(|field| (&field.kind, field.kind.element())) {
        Some((_, FieldType::Text)) => walk.text(place, start, length),
        Some((_, FieldType::Record(record))) => {
            walk.report(place, start, "message", counted(length, "byte", "bytes"))?;
            let end = content.saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
            if end > content + walk.cursor.left() {
                walk.cursor.take(length)?;
            }
            message(walk, Some(record), end, nesting)
        }
        Some((FieldType::List(_), kind)) if !matches!(kind, FieldType::Bytes) => {
            numbers(walk, place, start, (length, field, kind))
        }
        None => {
            // Without the field, it is unknown whether this is text, bytes or a message.
            let text = std::str::from_utf8(walk.cursor.take(length)?).ok().map(quoted);
            let meaning = text.unwrap_or_else(|| "bytes".to_owned());
            walk.report(place, start, &meaning, counted(length, "byte", "bytes"))
        }
        Some(_) => walk.bytes(place, start, length),
    }
}

/// Reports a packed list: numbers one after the other, without tags.
fn numbers(
    walk: &mut Walk<'_, '_>,
    place: Place<'_>,
    start: usize,
    (length, field, kind): (u64, Option<&Field>, &FieldType),
) -> Result<(), Stop> {
    walk.report(place, start, "list", counted(length, "byte", "bytes"))?;
    let end = walk.cursor.at().saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
    while walk.cursor.at() < end {
        let start = walk.cursor.at();
        let (meaning, about) = match kind {
            FieldType::Float32 => {
                (f32::from_le_bytes(walk.cursor.array()?).to_string(), "binary32".to_owned())
            }
            FieldType::Float64 => {
                (f64::from_le_bytes(walk.cursor.array()?).to_string(), "binary64".to_owned())
            }
            _ => varint(walk.cursor.varint()?, field),
        };
        walk.report(place.element(), start, &meaning, about)?;
    }
    Ok(())
}

fn malformed(start: usize, reason: impl Into<String>) -> Stop {
    Stop::Error(Error::new(Kind::Malformed, start, reason))
}
