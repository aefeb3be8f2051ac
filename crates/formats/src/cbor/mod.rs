//! CBOR (RFC 8949).
//!
//! - Written in preferred serialization (section 4.1): the shortest integers, lengths and floats, binary16 included,
//!   that are exact. (Many encoders always write binary64.) Floats stay floats: 2.0 is not written as an integer.
//!   Maps keep their order.
//! - Read: also indefinite lengths and longer forms. `undefined` is read as null, as section 6.1 has it. The tag
//!   55799, "this is CBOR", may stand first and is skipped. Times, bignums, decimal fractions and what else JSON has text
//!   or a number for are read as that (`spec/formats.md`, "Times and other types"). Other tags and simple values are
//!   `type` errors, and so are keys that are not text. A key that stands twice is `malformed`.

mod reader;
mod writer;

use crate::{Budget, Error, Format, Reception, Value, limits};
use minicbor::Encoder;

/// CBOR.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cbor;

/// The text key that an integer key stands for; `None` if it stands for nothing that is known.
type Labels = fn(i128) -> Option<&'static str>;

impl Cbor {
    /// The message that `bytes` are, where integer keys of maps stand for the text of `labels`. An integer that it does not
    /// know is left out with its value.
    pub(crate) fn decode_labelled(
        self,
        bytes: &[u8],
        labels: Labels,
        budget: &Budget,
    ) -> Result<Value, Error> {
        reader::read(bytes, Some(labels), budget)
    }
}

impl Format for Cbor {
    fn encode(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        limits::bounded(out, |out| writer::write(message, &mut Encoder::new(out), 0))
    }

    fn decode_from(&self, bytes: &[u8], reception: &Reception<'_>) -> Result<Value, Error> {
        reader::read(bytes, None, &reception.budget())
    }
}

#[cfg(test)]
mod tests;
