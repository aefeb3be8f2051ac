//! `dunnage inspect`: explains every byte of a message.

mod avro;
mod bit_view;
mod cbor;
mod cursor;
mod guess;
mod item;
mod msgpack;
mod packed;
mod protobuf;
mod pson;
mod record;
mod structure;
mod view;

use crate::{
    failure::Failure,
    input::{self, Source},
    known::KnownTexts,
    output,
};
use clap::{Args, ValueEnum};
use cursor::Cursor;
use dunnage_codegen::Mapped;
use dunnage_formats::{Error, Id, Known, Mapping};
use dunnage_packed::Layout;
use dunnage_schema::{Model, SchemaError};
use item::{Item, Sink, Stop};
use std::io::Write;
use view::View;

/// Show the meaning of every byte of a message
///
/// Reads a message from the file or from standard input and prints one row per item: its offset (decimal, as in error
/// messages), its bytes and their meaning, indented by nesting. Notes mark what a stricter reader would reject or a better
/// writer would shorten. Avro and struct need the schema, Protobuf can be read with or without it; integers are shown as on
/// the wire, scaled. Packed needs the schema and has one row per part: byte and bit, number of bits, the bytes that contain
/// them, the field and its value. If the message is damaged, shows everything before the damage, then the error with its
/// kind and offset, and another format that the bytes look like; the exit code is 1.
#[derive(Args)]
pub struct Inspect {
    /// Format of the message
    #[arg(long, value_enum, default_value_t = Wire::Pson)]
    format: Wire,
    /// Schema of the message, for packed, avro, struct and protobuf: a JSON Schema file, the name of a bundled one, or - for standard input
    #[arg(long, value_name = "SCHEMA")]
    schema: Option<String>,
    #[command(flatten)]
    schemas: input::Schemas,
    #[command(flatten)]
    known: KnownTexts,
    /// The input is hex text
    #[arg(long)]
    hex: bool,
    #[command(flatten)]
    source: Source,
}

/// A format whose bytes tell what they are, or do so by their schema.
#[derive(Clone, Copy, ValueEnum)]
enum Wire {
    Pson,
    Cbor,
    Msgpack,
    Packed,
    Protobuf,
    Avro,
    Struct,
}

impl Wire {
    fn id(self) -> Id {
        match self {
            Wire::Pson => Id::Pson,
            Wire::Cbor => Id::Cbor,
            Wire::Msgpack => Id::Msgpack,
            Wire::Packed => Id::Packed,
            Wire::Protobuf => Id::Protobuf,
            Wire::Avro => Id::Avro,
            Wire::Struct => Id::Struct,
        }
    }

    /// The reader for this format; `None` if the format needs a schema and there is no model.
    fn reader(self, model: Option<&Model>) -> Result<Option<Reader>, SchemaError> {
        let record = || model.map(|model| Box::new(Mapped::of(model, Mapping::Exact)));
        Ok(Some(match self {
            Wire::Pson => Reader::Items(pson::walk),
            Wire::Cbor => Reader::Items(cbor::walk),
            Wire::Msgpack => Reader::Items(msgpack::walk),
            Wire::Packed => match model {
                Some(model) => Reader::Bits(Box::new(Layout::new(model)?)),
                None => return Ok(None),
            },
            Wire::Protobuf => Reader::Fields(record()),
            Wire::Avro => return Ok(record().map(|record| Reader::Record(record, avro::walk))),
            Wire::Struct => return Ok(record().map(|record| Reader::Record(record, structure::walk))),
        }))
    }
}

impl Inspect {
    pub fn run(self) -> Result<(), Failure> {
        let (id, model) =
            (self.format.id(), self.schema.as_deref().map(|name| self.schemas.model(name)).transpose()?);
        let reader = self.format.reader(model.as_ref());
        let reader = reader.map_err(|error| Failure::about("the schema", input::schema_reason(&error)))?;
        let Some(reader) = reader else {
            return Err(Failure::Usage(format!("{id} needs the schema of the message: --schema")));
        };
        let texts = self.known.texts()?;
        let bytes = self.source.message(self.hex)?;
        let mut output = output::stdout();
        let mut outcome = match &reader {
            Reader::Bits(layout) => packed::inspect(layout, &bytes, Known::from(&texts), &mut output),
            _ => inspect(&reader, &bytes, &mut output),
        };
        if let (Ok(()), Reader::Record(..) | Reader::Fields(Some(_))) = (&outcome, &reader) {
            // The fields are well-formed. Decoding checks whether they are a message of the schema.
            let message = id.open(model.as_ref(), Mapping::Exact).and_then(|format| format.decode(&bytes));
            outcome = message.map(|_| ()).map_err(Stop::Error);
        }
        // Flushed first, so that the decoded part precedes the error even if both streams go to the same place.
        output.flush()?;
        match outcome {
            Ok(()) => Ok(()),
            Err(Stop::Output(error)) => Err(error.into()),
            Err(Stop::Error(error)) => Err(self.source.blame(failure(&error, &bytes, id, model.as_ref()))),
        }
    }
}

/// The failure to read `bytes`, with a hint at the format that they look like.
fn failure(error: &Error, bytes: &[u8], taken: Id, model: Option<&Model>) -> Failure {
    match guess::hint(bytes, taken, model) {
        Some(hint) => Failure::Failed(format!("{error}; {hint}")),
        None => Failure::Failed(error.to_string()),
    }
}

/// Reports every item of the message at the cursor.
type Walker = fn(&mut Cursor<'_>, &mut dyn Sink) -> Result<(), Stop>;
/// Reports every item of a record's message at the cursor.
type RecordWalker = fn(&dunnage_codegen::Record, &mut Cursor<'_>, &mut dyn Sink) -> Result<(), Stop>;

/// How a message is read.
enum Reader {
    Items(Walker),
    Record(Box<Mapped>, RecordWalker),
    /// Protobuf fields, with their names if there is a record.
    Fields(Option<Box<Mapped>>),
    Bits(Box<Layout>),
}

impl Reader {
    fn walk(&self, cursor: &mut Cursor<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
        match self {
            Reader::Items(walk) => walk(cursor, sink),
            Reader::Record(mapped, walk) => walk(mapped.record(), cursor, sink),
            Reader::Fields(mapped) => {
                protobuf::walk(mapped.as_ref().map(|mapped| mapped.record()), cursor, sink)
            }
            // Packed messages have their own view.
            Reader::Bits(_) => Ok(()),
        }
    }
}

/// Writes the annotated view of `bytes`, up to the first error.
fn inspect(reader: &Reader, bytes: &[u8], output: &mut impl Write) -> Result<(), Stop> {
    let mut view = View::new(output)?;
    let mut cursor = Cursor::new(bytes);
    let outcome = reader.walk(&mut cursor, &mut view);
    let outcome = outcome.and_then(|()| cursor.end().map_err(Stop::Error));
    if let Err(Stop::Error(error)) = &outcome {
        view.rest(&bytes[view.end()..], error.offset())?;
    }
    outcome
}

#[cfg(test)]
mod tests;
