//! Avro's binary encoding, field by field (<https://avro.apache.org/docs/1.12.0/specification/#binary-encoding>).

use super::{
    Cursor, Sink, Stop,
    item::counted,
    record::{Place, Walk, scaled, symbol},
};
use dunnage_codegen::{Field, FieldType, Record};
use dunnage_formats::{Error, Kind};

/// Reports every field of the message at the cursor.
pub fn walk(record: &Record, cursor: &mut Cursor<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
    fields(&mut Walk { cursor, sink }, record, 0)
}

fn fields(walk: &mut Walk<'_, '_>, record: &Record, depth: usize) -> Result<(), Stop> {
    for field in &record.fields {
        let place = Place::of(field, depth);
        let start = walk.cursor.at();
        if field.optional {
            match long(walk.cursor)? {
                0 => {
                    walk.report(place, start, "none", "branch 0 of the union: null")?;
                    continue;
                }
                1 => {}
                branch => return Err(malformed(start, format!("the union has no branch {branch}"))),
            }
        }
        value(walk, place, start, Some(field), &field.kind)?;
    }
    Ok(())
}

/// Reports a value. Its bytes begin at `start`, including the branch index of its union.
fn value(
    walk: &mut Walk<'_, '_>,
    place: Place<'_>,
    start: usize,
    field: Option<&Field>,
    kind: &FieldType,
) -> Result<(), Stop> {
    let meaning = match kind {
        FieldType::Bool => match walk.cursor.byte()? {
            0 => "false".to_owned(),
            1 => "true".to_owned(),
            _ => return Err(malformed(start, "a boolean that is neither 0 nor 1")),
        },
        FieldType::Integer(range) => {
            let n = long(walk.cursor)?;
            if range.max > i128::from(i64::MAX) { (n as u64).to_string() } else { n.to_string() }
        }
        FieldType::Enum(_) => {
            let index = long(walk.cursor)?;
            symbol(kind, u64::try_from(index).map_err(|_| malformed(start, "a negative index"))?)
        }
        FieldType::Float32 => f32::from_le_bytes(walk.cursor.array()?).to_string(),
        FieldType::Float64 => f64::from_le_bytes(walk.cursor.array()?).to_string(),
        FieldType::Text => {
            let length = length(walk.cursor)?;
            return walk.text(place, start, length);
        }
        FieldType::Bytes => {
            let length = length(walk.cursor)?;
            return walk.bytes(place, start, length);
        }
        FieldType::List(list) => return blocks(walk, place, start, &list.item),
        FieldType::Record(record) => {
            walk.report(place, start, "record", "")?;
            return fields(walk, record, place.depth + 1);
        }
    };
    walk.report(place, start, &meaning, scaled(field, kind))
}

/// Reports the blocks of a list. The last block is empty.
fn blocks(walk: &mut Walk<'_, '_>, place: Place<'_>, mut start: usize, item: &FieldType) -> Result<(), Stop> {
    loop {
        let count = long(walk.cursor)?;
        if count < 0 {
            // A negative count is followed by the size of the block in bytes, for readers that skip the block.
            long(walk.cursor)?;
        }
        let count = count.unsigned_abs();
        let meaning = if count == 0 { "end of the list" } else { "list" };
        walk.report(place, start, meaning, counted(count, "element", "elements"))?;
        if count == 0 {
            return Ok(());
        }
        for _ in 0..count {
            let start = walk.cursor.at();
            // Every element needs at least one byte, so the end of the message bounds the loop, whatever the count is.
            walk.cursor.peek()?;
            value(walk, place.element(), start, None, item)?;
        }
        start = walk.cursor.at();
    }
}

fn length(cursor: &mut Cursor<'_>) -> Result<u64, Stop> {
    let start = cursor.at();
    u64::try_from(long(cursor)?).map_err(|_| malformed(start, "a negative length"))
}

/// Reads a zigzag varint.
fn long(cursor: &mut Cursor<'_>) -> Result<i64, Stop> {
    let n = cursor.varint()?;
    Ok((n >> 1) as i64 ^ -((n & 1) as i64))
}

fn malformed(start: usize, reason: impl Into<String>) -> Stop {
    Stop::Error(Error::new(Kind::Malformed, start, reason))
}
