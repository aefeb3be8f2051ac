//! `dunnage inspect`: what every byte of a message means.

mod bit_view;
mod cbor;
mod cursor;
mod item;
mod msgpack;
mod packed;
mod pson;
mod view;

use crate::{failure::Failure, input, output};
use clap::{Args, ValueEnum};
use cursor::Cursor;
use dunnage_packed::Layout;
use item::{Item, Sink, Stop};
use std::io::{self, Write};
use view::View;

/// Show what every byte of a message means
///
/// Reads a message from standard input and prints a row per item: its offset (decimal, as in error
/// messages), its bytes and what they mean, indented by nesting. Notes point out what a stricter reader
/// would refuse or a better writer would shorten. Packed is read with its schema and has a row per part: byte
/// and bit, how many bits, the bytes that hold them, the field and its value. When the message is damaged, everything before the
/// damage is shown, then the error with its kind and offset, and the exit code is 1.
#[derive(Args)]
pub struct Inspect {
    /// Format of the message
    #[arg(long, value_enum, default_value_t = Wire::Pson)]
    format: Wire,
    /// Schema of the message, for packed: a JSON Schema file, or the name of a bundled one
    #[arg(long, value_name = "SCHEMA")]
    schema: Option<String>,
    /// Device that sent the message, for fields that packed leaves out because the receiver knows them
    #[arg(long, value_name = "ID")]
    device: Option<String>,
    /// The input is hex text
    #[arg(long)]
    hex: bool,
}

/// A format whose bytes tell what they are, or bits by their schema.
#[derive(Clone, Copy, ValueEnum)]
enum Wire {
    Pson,
    Cbor,
    Msgpack,
    Packed,
}

impl Inspect {
    pub fn run(self) -> Result<(), Failure> {
        let reader = self.reader()?;
        let bytes = input::message(io::stdin().lock(), self.hex)?;
        let mut output = output::stdout();
        let outcome = match reader {
            Reader::Items(walk) => inspect(walk, &bytes, &mut output),
            Reader::Bits(layout) => packed::inspect(&layout, &bytes, self.device.as_deref(), &mut output),
        };
        // What was decoded stands before the error, wherever the two streams go.
        output.flush()?;
        match outcome {
            Ok(()) => Ok(()),
            Err(Stop::Output(error)) => Err(error.into()),
            Err(Stop::Error(error)) => Err(error.into()),
        }
    }

    fn reader(&self) -> Result<Reader, Failure> {
        Ok(match (self.format, &self.schema) {
            (Wire::Pson, _) => Reader::Items(pson::walk),
            (Wire::Cbor, _) => Reader::Items(cbor::walk),
            (Wire::Msgpack, _) => Reader::Items(msgpack::walk),
            (Wire::Packed, Some(schema)) => Reader::Bits(Box::new(Layout::new(&input::schema(schema)?))),
            (Wire::Packed, None) => {
                return Err(Failure::Usage("packed needs the schema of the message: --schema".into()));
            }
        })
    }
}

/// Reports every item of the message at the cursor.
type Walker = fn(&mut Cursor<'_>, &mut dyn Sink) -> Result<(), Stop>;

/// How a message is taken apart.
enum Reader {
    Items(Walker),
    Bits(Box<Layout>),
}

/// Writes the annotated view of `bytes`, up to the first error.
fn inspect(walk: Walker, bytes: &[u8], output: &mut impl Write) -> Result<(), Stop> {
    let mut view = View::new(output)?;
    let mut cursor = Cursor::new(bytes);
    let outcome = walk(&mut cursor, &mut view);
    let outcome = outcome.and_then(|()| cursor.end().map_err(Stop::Error));
    if let Err(Stop::Error(error)) = &outcome {
        view.rest(&bytes[view.end()..], error.offset())?;
    }
    outcome
}

#[cfg(test)]
mod tests;
