//! Messages of a user's own definition.

use super::{Place, Walk, delimited, malformed, varint, zigzag};
use crate::{Cursor, Sink, Stop, item::counted};
use dunnage_formats::{Outline, OutlineField, OutlineKind};

/// Reports every field of the message at the cursor.
pub fn walk(outline: &Outline, cursor: &mut Cursor<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
    let end = cursor.at() + cursor.left();
    message(&mut Walk { cursor, sink }, (outline, 0), (end, None), 0)
}

/// Reports the fields of the message with an index, up to the offset `end`, or to the end of the group with a number.
fn message(
    walk: &mut Walk<'_, '_>,
    (outline, index): (&Outline, usize),
    (end, group): (usize, Option<u32>),
    depth: usize,
) -> Result<(), Stop> {
    while walk.cursor.at() < end || group.is_some() {
        let start = walk.cursor.at();
        let nesting = walk.cursor.enter(depth, start)?;
        let tag = walk.cursor.varint()?;
        let number = u32::try_from(tag >> 3).ok().filter(|number| *number > 0);
        let number = number.ok_or_else(|| malformed(start, "no field has this number"))?;
        let field = outline.find(index, number);
        let name =
            field.map_or_else(|| format!("field {number}"), |field| format!("{number} {}", field.name));
        let place = Place { name: &name, depth };
        match (tag & 7, field) {
            (2, Some(field)) => content(walk, place, (outline, field), start, nesting)?,
            (2, None) => delimited(walk, place, start, None, nesting)?,
            (3, Some(OutlineField { kind: OutlineKind::Message(index), .. })) => {
                walk.report(place, start, "message", "group")?;
                message(walk, (outline, *index), (end, Some(number)), nesting)?;
            }
            (4, _) if group == Some(number) => {
                return walk.report(place, start, "the group ends", String::new());
            }
            (wire @ (0 | 1 | 5), field) => {
                let (meaning, about) = scalar(walk, wire, field.map(|field| &field.kind))?;
                walk.report(place, start, &meaning, about)?;
            }
            (wire, _) => return Err(malformed(start, format!("wire type {wire} is not supported"))),
        }
    }
    match walk.cursor.at() {
        at if at > end => Err(malformed(end, "the field is longer than its message")),
        _ => Ok(()),
    }
}

/// Reads a number of the wire type, and returns its meaning and a description of its type.
fn scalar(walk: &mut Walk<'_, '_>, wire: u64, kind: Option<&OutlineKind>) -> Result<(String, String), Stop> {
    let (meaning, about) = match (wire, kind) {
        (0, kind) => {
            let n = walk.cursor.varint()?;
            match kind {
                Some(OutlineKind::Bool) => ((n != 0).to_string(), "bool"),
                Some(OutlineKind::Signed) => ((n as i64).to_string(), "integer"),
                Some(OutlineKind::Zigzag) => (zigzag(n).to_string(), "integer, zigzag"),
                Some(OutlineKind::Unsigned) => (n.to_string(), "integer"),
                Some(OutlineKind::Enum(names)) => {
                    let name = names.iter().find(|(number, _)| *number == n as i32);
                    (name.map_or_else(|| n.to_string(), |(_, name)| name.clone()), "enum")
                }
                _ => return Ok(varint(n, None)),
            }
        }
        (5, kind) => {
            let bytes: [u8; 4] = walk.cursor.array()?;
            match kind {
                Some(OutlineKind::SignedFixed) => (i32::from_le_bytes(bytes).to_string(), "fixed integer"),
                Some(OutlineKind::UnsignedFixed) => (u32::from_le_bytes(bytes).to_string(), "fixed integer"),
                _ => (f32::from_le_bytes(bytes).to_string(), "binary32"),
            }
        }
        (_, kind) => {
            let bytes: [u8; 8] = walk.cursor.array()?;
            match kind {
                Some(OutlineKind::SignedFixed) => (i64::from_le_bytes(bytes).to_string(), "fixed integer"),
                Some(OutlineKind::UnsignedFixed) => (u64::from_le_bytes(bytes).to_string(), "fixed integer"),
                _ => (f64::from_le_bytes(bytes).to_string(), "binary64"),
            }
        }
    };
    Ok((meaning, about.to_owned()))
}

/// Reports a length-delimited field: text, bytes, packed numbers, or a message.
fn content(
    walk: &mut Walk<'_, '_>,
    place: Place<'_>,
    (outline, field): (&Outline, &OutlineField),
    start: usize,
    nesting: usize,
) -> Result<(), Stop> {
    let length = walk.cursor.varint()?;
    let end = walk.cursor.at().saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
    match (&field.kind, field.packed) {
        (OutlineKind::Text, _) => walk.text(place, start, length),
        (OutlineKind::Message(index), _) => {
            walk.report(place, start, "message", counted(length, "byte", "bytes"))?;
            if end > walk.cursor.at() + walk.cursor.left() {
                walk.cursor.take(length)?;
            }
            message(walk, (outline, *index), (end, None), nesting)
        }
        (kind, Some(wire)) => {
            walk.report(place, start, "list", counted(length, "byte", "bytes"))?;
            while walk.cursor.at() < end {
                let start = walk.cursor.at();
                let (meaning, about) = scalar(walk, wire, Some(kind))?;
                walk.report(place.element(), start, &meaning, about)?;
            }
            Ok(())
        }
        _ => walk.bytes(place, start, length),
    }
}
