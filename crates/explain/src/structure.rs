//! The struct format: packed fields, one after the other (`spec/formats.md`, "struct").

use super::{
    Cursor, Sink, Stop,
    item::counted,
    record::{Place, Walk, optional, scaled, symbol},
};
use dunnage_codegen::{Field, FieldType, List, Record};
use dunnage_formats::{Error, Kind};

/// A list whose maximum is at most this many elements has a length of one byte.
const MAX_ONE_BYTE_LENGTH: u32 = 0xff;

/// Reports every field of the message at the cursor.
pub fn walk(record: &Record, cursor: &mut Cursor<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
    let mut fields = Fields { walk: Walk { cursor, sink }, texts: Vec::new() };
    fields.record(record, 0)?;
    let texts = std::mem::take(&mut fields.texts);
    for Text { name, length, is_text } in texts {
        let (place, start) = (Place { name: &name, depth: 0 }, fields.walk.cursor.at());
        match is_text {
            true => fields.walk.text(place, start, length)?,
            false => fields.walk.bytes(place, start, length)?,
        }
    }
    Ok(())
}

/// A text or byte field. The contents come after all other fields.
struct Text {
    name: String,
    length: u64,
    is_text: bool,
}

struct Fields<'c, 'a> {
    walk: Walk<'c, 'a>,
    texts: Vec<Text>,
}

impl Fields<'_, '_> {
    fn record(&mut self, record: &Record, depth: usize) -> Result<(), Stop> {
        let start = self.walk.cursor.at();
        let bits = self.walk.cursor.take(optional(record).count().div_ceil(8) as u64)?.to_vec();
        let is_there = |bit: usize| bits.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1);
        if !bits.is_empty() {
            let there: Vec<_> = optional(record)
                .enumerate()
                .filter(|(bit, _)| is_there(*bit))
                .map(|(_, f)| f.name.as_str())
                .collect();
            let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
            self.walk.report(Place { name: "", depth }, start, &there, "optional fields that are present")?;
        }
        let mut bit = 0;
        for field in &record.fields {
            let present = !field.optional || is_there(bit);
            bit += usize::from(field.optional);
            if present {
                self.value(Place::of(field, depth), Some(field), &field.kind)?;
            }
        }
        Ok(())
    }

    fn value(&mut self, place: Place<'_>, field: Option<&Field>, kind: &FieldType) -> Result<(), Stop> {
        let start = self.walk.cursor.at();
        let meaning = match kind {
            FieldType::Bool => match self.walk.cursor.byte()? {
                0 => "false".to_owned(),
                1 => "true".to_owned(),
                _ => {
                    let reason = "a boolean that is neither 0 nor 1";
                    return Err(Stop::Error(Error::new(Kind::Malformed, start, reason)));
                }
            },
            FieldType::Integer(range) => {
                let (bytes, n) = (range.bytes(), self.unsigned(range.bytes())?);
                let unused = 64 - 8 * bytes as u32;
                if range.signed() { ((n << unused) as i64 >> unused).to_string() } else { n.to_string() }
            }
            FieldType::Enum(enumeration) => {
                let bytes = if enumeration.symbols.len() <= 256 { 1 } else { 2 };
                symbol(kind, self.unsigned(bytes)?)
            }
            FieldType::Float32 => f32::from_be_bytes(self.walk.cursor.array()?).to_string(),
            FieldType::Float64 => f64::from_be_bytes(self.walk.cursor.array()?).to_string(),
            FieldType::Text | FieldType::Bytes => {
                let length = self.unsigned(2)?;
                let is_text = matches!(kind, FieldType::Text);
                self.texts.push(Text { name: place.name.to_owned(), length, is_text });
                format!("{} after the fields", counted(length, "byte", "bytes"))
            }
            FieldType::List(list) => return self.list(place, list),
            FieldType::Record(record) => {
                self.walk.report(place, start, "record", "")?;
                return self.record(record, place.depth + 1);
            }
        };
        self.walk.report(place, start, &meaning, scaled(field, kind))
    }

    fn list(&mut self, place: Place<'_>, list: &List) -> Result<(), Stop> {
        let start = self.walk.cursor.at();
        let count = match list.max {
            Some(max) if max == list.min => u64::from(max),
            Some(max) if max <= MAX_ONE_BYTE_LENGTH => self.unsigned(1)?,
            _ => self.unsigned(2)?,
        };
        self.walk.report(place, start, "list", counted(count, "element", "elements"))?;
        (0..count).try_for_each(|_| self.value(place.element(), None, &list.item))
    }

    fn unsigned(&mut self, bytes: usize) -> Result<u64, Error> {
        Ok(self.walk.cursor.take(bytes as u64)?.iter().fold(0, |n, &byte| n << 8 | u64::from(byte)))
    }
}
