//! `dunnage inspect`: what every byte of a message means.

mod cbor;
mod cursor;
mod item;
mod msgpack;
mod pson;
mod view;

use crate::{failure::Failure, input, output};
use clap::{Args, ValueEnum};
use cursor::Cursor;
use item::{Item, Sink, Stop};
use std::io::{self, Write};
use view::View;

/// Show what every byte of a message means
///
/// Reads a message from standard input and prints a row per item: its offset (decimal, as in error
/// messages), its bytes and what they mean, indented by nesting. Notes point out what a stricter reader
/// would refuse or a better writer would shorten. When the message is damaged, everything before the
/// damage is shown, then the error with its kind and offset, and the exit code is 1.
#[derive(Args)]
pub struct Inspect {
    /// Format of the message
    #[arg(long, value_enum, default_value_t = Wire::Pson)]
    format: Wire,
    /// The input is hex text
    #[arg(long)]
    hex: bool,
}

/// A format whose bytes tell what they are.
#[derive(Clone, Copy, ValueEnum)]
enum Wire {
    Pson,
    Cbor,
    Msgpack,
}

impl Inspect {
    pub fn run(self) -> Result<(), Failure> {
        let bytes = input::message(io::stdin().lock(), self.hex)?;
        let mut output = output::stdout();
        let outcome = inspect(self.format, &bytes, &mut output);
        // What was decoded stands before the error, wherever the two streams go.
        output.flush()?;
        match outcome {
            Ok(()) => Ok(()),
            Err(Stop::Output(error)) => Err(error.into()),
            Err(Stop::Error(error)) => Err(error.into()),
        }
    }
}

/// Writes the annotated view of `bytes`, up to the first error.
fn inspect(format: Wire, bytes: &[u8], output: &mut impl Write) -> Result<(), Stop> {
    let mut view = View::new(output)?;
    let mut cursor = Cursor::new(bytes);
    let outcome = match format {
        Wire::Pson => pson::walk(&mut cursor, &mut view),
        Wire::Cbor => cbor::walk(&mut cursor, &mut view),
        Wire::Msgpack => msgpack::walk(&mut cursor, &mut view),
    };
    let outcome = outcome.and_then(|()| cursor.end().map_err(Stop::Error));
    if let Err(Stop::Error(error)) = &outcome {
        view.rest(&bytes[view.end()..], error.offset())?;
    }
    outcome
}

#[cfg(test)]
mod tests;
