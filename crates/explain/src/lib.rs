//! Explains every byte of a message, for people who look for a fault or compare formats.
//!
//! Most formats are explained item by item ([`Reader::items`]), with the bytes that each takes. The parts of a packed message are bits, or
//! share the bits of a coded body ([`packed`], [`delta`]).

mod avro;
mod cbor;
mod cursor;
mod explanation;
mod item;
mod msgpack;
mod packed;
mod protobuf;
mod pson;
mod record;
mod structure;

pub use explanation::{Explanation, Part};
pub use item::{Item, Sink, Stop, commands_terminal};
pub use packed::{Bits, walk as packed, walk_delta as delta};

use cursor::Cursor;
use dunnage_codegen::{Mapped, Record};
use dunnage_formats::{Id, Mapping, Outline};
use dunnage_packed::Layout;
use dunnage_schema::{Model, SchemaError};

/// Reports every item of the message at the cursor.
type Walker = fn(&mut Cursor<'_>, &mut dyn Sink) -> Result<(), Stop>;
/// Reports every item of a record's message at the cursor.
type RecordWalker = fn(&Record, &mut Cursor<'_>, &mut dyn Sink) -> Result<(), Stop>;

/// How a message is read.
pub enum Reader {
    /// By bytes that are self-describing.
    Items(Walker),
    /// By the schema.
    Record(Box<Mapped>, RecordWalker),
    /// Protobuf fields, with their names if there is a record.
    Fields(Option<Box<Record>>),
    /// Protobuf fields of a user's own definition.
    Outline(Box<Outline>),
    /// By the layout of packed messages, with [`packed`].
    Bits(Box<Layout>),
}

impl Reader {
    /// Returns the reader for `format`, or `None` if the format cannot be explained, or needs a schema and `model` is `None`.
    ///
    /// # Errors
    /// The model has no packed layout.
    pub fn of(format: Id, model: Option<&Model>, mapping: Mapping) -> Result<Option<Reader>, SchemaError> {
        let record = || model.map(|model| Box::new(Mapped::of(model, mapping)));
        Ok(Some(match format {
            Id::Pson => Reader::Items(pson::walk),
            Id::Cbor => Reader::Items(cbor::walk),
            Id::Msgpack => Reader::Items(msgpack::walk),
            Id::Packed => match model {
                Some(model) => Reader::Bits(Box::new(Layout::new(model)?)),
                None => return Ok(None),
            },
            Id::Protobuf => Reader::Fields(record().map(|mapped| Box::new(mapped.record().clone()))),
            Id::Avro => return Ok(record().map(|record| Reader::Record(record, avro::walk))),
            Id::Struct => return Ok(record().map(|record| Reader::Record(record, structure::walk))),
            _ => return Ok(None),
        }))
    }

    /// Reports every item of `bytes`, up to the first error. A packed message has parts instead.
    ///
    /// # Errors
    /// The message is invalid, or `sink` fails.
    pub fn items(&self, bytes: &[u8], sink: &mut dyn Sink) -> Result<(), Stop> {
        let mut cursor = Cursor::new(bytes);
        match self {
            Reader::Items(walk) => walk(&mut cursor, sink)?,
            Reader::Record(mapped, walk) => walk(mapped.record(), &mut cursor, sink)?,
            Reader::Fields(record) => protobuf::walk(record.as_deref(), &mut cursor, sink)?,
            Reader::Outline(outline) => protobuf::own::walk(outline, &mut cursor, sink)?,
            Reader::Bits(_) => return Ok(()),
        }
        cursor.end().map_err(Stop::Error)
    }
}

#[cfg(test)]
mod tests;
