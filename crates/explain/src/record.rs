//! Shared code of the schema-driven formats: walks a record whose field names are not in the bytes.

use super::{
    Cursor, Item, Sink, Stop,
    item::{counted, quoted},
};
use dunnage_codegen::{Field, FieldType, Record};

/// A walk over a message of a record.
pub struct Walk<'c, 'a> {
    pub cursor: &'c mut Cursor<'a>,
    pub sink: &'c mut dyn Sink,
}

/// The name of an item and its indentation.
#[derive(Clone, Copy)]
pub struct Place<'n> {
    pub name: &'n str,
    pub depth: usize,
}

impl<'n> Place<'n> {
    /// The place of `field`, a field of the message.
    pub fn of(field: &'n Field, depth: usize) -> Place<'n> {
        Place { name: &field.name, depth }
    }

    /// The place of an element of the list at this place.
    pub fn element(self) -> Place<'n> {
        Place { name: "-", depth: self.depth + 1 }
    }
}

impl Walk<'_, '_> {
    /// Reports the bytes from `start` to the current position.
    pub fn report(
        &mut self,
        place: Place<'_>,
        start: usize,
        meaning: &str,
        about: impl Into<String>,
    ) -> Result<(), Stop> {
        let name = if place.name.is_empty() { String::new() } else { format!("{}: ", place.name) };
        Ok(self.sink.item(&Item {
            offset: start,
            depth: place.depth,
            bytes: self.cursor.since(start),
            meaning: format!("{name}{meaning}"),
            about: about.into(),
            note: None,
        })?)
    }

    /// Reports `length` bytes of text. The item, including the length prefix, begins at `start`.
    pub fn text(&mut self, place: Place<'_>, start: usize, length: u64) -> Result<(), Stop> {
        let content = self.cursor.at();
        let text = quoted(self.cursor.text(length, content)?);
        self.report(place, start, &text, counted(length, "byte of text", "bytes of text"))
    }

    /// Reports `length` bytes. The item, including the length prefix, begins at `start`.
    pub fn bytes(&mut self, place: Place<'_>, start: usize, length: u64) -> Result<(), Stop> {
        self.cursor.take(length)?;
        self.report(place, start, "bytes", counted(length, "byte", "bytes"))
    }
}

/// The name of value `index` of an enumeration.
pub fn symbol(kind: &FieldType, index: u64) -> String {
    let FieldType::Enum(enumeration) = kind else { return index.to_string() };
    let symbol = usize::try_from(index).ok().and_then(|index| enumeration.symbols.get(index));
    symbol.cloned().unwrap_or_else(|| format!("{index}, without a name"))
}

/// The type of a field's value, for people. Numbers with decimals are scaled integers; the definition's notes give the factor.
pub fn noun(kind: &FieldType) -> &'static str {
    match kind {
        FieldType::Bool => "boolean",
        FieldType::Integer(_) => "integer",
        FieldType::Float32 => "binary32",
        FieldType::Float64 => "binary64",
        FieldType::Text => "text",
        FieldType::Bytes => "bytes",
        FieldType::Enum(_) => "enum",
        FieldType::List(_) => "list",
        FieldType::Record(_) => "record",
    }
}

/// The type of a value, with its scale factor if the field's notes give one: `integer, times 100`.
pub fn scaled(field: Option<&Field>, kind: &FieldType) -> String {
    let times = field.into_iter().flat_map(|field| &field.notes).flat_map(|note| note.split(['.', ',']));
    let times = times.map(str::trim).find(|note| note.starts_with("Times "));
    match (kind, times) {
        (FieldType::Integer(_), Some(times)) => format!("integer, t{}", &times[1..]),
        _ => noun(kind).to_owned(),
    }
}

/// The optional fields of a record, in order.
pub fn optional(record: &Record) -> impl Iterator<Item = &Field> {
    record.fields.iter().filter(|field| field.optional)
}
