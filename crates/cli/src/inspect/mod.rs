//! `dunnage inspect`: explains every byte of a message.

mod bit_view;
mod guess;
mod view;

use crate::{
    failure::Failure,
    input::{self, Source},
    known::KnownTexts,
    output,
    proto::Proto,
};
use bit_view::BitView;
use clap::{Args, ValueEnum};
use dunnage_explain::{Reader, Stop};
use dunnage_formats::{Error, Format, Id, Known, Mapping};
use dunnage_packed::Layout;
use dunnage_schema::Model;
use std::io::Write;
use view::View;

/// Show the meaning of every byte of a message
///
/// Reads a message from the file or from standard input and prints one row per item: its offset (decimal, as in error
/// messages), its bytes and their meaning, indented by nesting. Notes mark what a stricter reader would reject or a better
/// writer would shorten. Avro and struct need the schema, Protobuf can be read with it, with --proto or with neither; integers are shown as on
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
    proto: Proto,
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

/// A format whose bytes are self-describing, or are described by their schema.
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
}

impl Inspect {
    pub fn run(self) -> Result<(), Failure> {
        let (id, model) =
            (self.format.id(), self.schema.as_deref().map(|name| self.schemas.model(name)).transpose()?);
        if self.proto.file().is_some() && id != Id::Protobuf {
            return Err(Failure::Usage("--proto is for --format protobuf".into()));
        }
        let own = self.proto.codec(model.as_ref())?;
        let reader = match self.proto.definition()? {
            Some(definition) => Ok(Some(Reader::Outline(Box::new(definition.outline()?)))),
            None => Reader::of(id, model.as_ref(), Mapping::Exact),
        };
        let reader = reader.map_err(|error| Failure::about("the schema", input::schema_reason(&error)))?;
        let Some(reader) = reader else {
            return Err(Failure::Usage(format!("{id} needs the schema of the message: --schema")));
        };
        let texts = self.known.texts()?;
        let bytes = self.source.message(self.hex)?;
        let mut output = output::stdout();
        let mut outcome = match &reader {
            Reader::Bits(layout) => bits(layout, &bytes, Known::from(&texts), &mut output),
            _ => inspect(&reader, &bytes, &mut output),
        };
        if let (Ok(()), Reader::Record(..) | Reader::Fields(Some(_)) | Reader::Outline(_)) =
            (&outcome, &reader)
        {
            // The fields are well-formed. Decoding checks whether they are a message of the schema.
            let message = match &own {
                Some(own) => own.decode(&bytes),
                None => id.open(model.as_ref(), Mapping::Exact).and_then(|format| format.decode(&bytes)),
            };
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

/// Writes the annotated view of `bytes`, up to the first error.
fn inspect(reader: &Reader, bytes: &[u8], output: &mut impl Write) -> Result<(), Stop> {
    let mut view = View::new(output)?;
    let outcome = reader.items(bytes, &mut view);
    if let Err(Stop::Error(error)) = &outcome {
        view.rest(&bytes[view.end()..], error.offset().unwrap_or_default())?;
    }
    outcome
}

/// Writes the parts of `bytes`, a packed message, up to the first error.
fn bits(layout: &Layout, bytes: &[u8], known: Known<'_>, output: &mut impl Write) -> Result<(), Stop> {
    let mut view = BitView::new(output, bytes)?;
    let outcome = dunnage_explain::packed(layout, bytes, known, &mut view);
    if let Err(Stop::Error(error)) = &outcome {
        view.rest(error.offset().unwrap_or_default())?;
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;
    use dunnage_formats::Kind;

    #[test]
    fn the_view_ends_with_the_bytes_that_were_not_decoded() {
        let mut output = anstream::StripStream::new(Vec::new());
        let reader = Reader::of(Id::Pson, None, Mapping::Exact).unwrap().unwrap();
        let Err(Stop::Error(error)) = inspect(&reader, &[0xe2, 0x01, 0x63, 0x7f], &mut output) else {
            panic!()
        };
        assert_eq!((error.kind(), error.offset()), (Kind::Malformed, Some(2)));
        let text = String::from_utf8(output.into_inner()).unwrap();
        assert!(text.ends_with("2  63 7f                       not decoded: error at byte 2\n"), "{text}");
    }
}
