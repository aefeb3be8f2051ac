//! CBOR (RFC 8949).
//!
//! - Writing uses preferred serialization (section 4.1): the shortest exact form of integers, lengths and floats, including binary16. (Many
//!   encoders always write binary64.) Floats stay floats: 2.0 is not written as an integer. Maps keep their order.
//! - Reading also accepts indefinite lengths and longer forms. `undefined` is read as null, as section 6.1 recommends. A leading tag 55799
//!   (self-described CBOR) is skipped. Times, bignums, decimal fractions and other tagged items are read as the text or number that JSON
//!   has for them ([spec/formats.md](https://github.com/dunnage/dunnage/blob/main/spec/formats.md), "Times and other types"). Other tags and simple values are `type` errors, and so are keys that
//!   are neither text nor integers; an integer is read as the text of its digits. A duplicate key is `malformed`.

mod half;
mod reader;
mod writer;

use crate::{Budget, Error, Format, Numbers, Reception, Value, limits};
use minicbor::Encoder;

/// CBOR.
///
/// ```
/// use dunnage_formats::{Cbor, Format, Kind, Value};
///
/// let message = Cbor.decode(b"\xa1\x61t\xf9\x4d\xe0")?; // binary16
/// assert_eq!(message.get("t"), Some(&Value::F64(23.5)));
///
/// let error = Cbor.decode(b"\xa2\x61t\x01\x61t\x02").unwrap_err(); // the key "t" twice
/// assert_eq!(error.kind(), Kind::Malformed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Cbor;

/// Returns the text key that an integer key represents, or `None` if the integer is unknown.
type Labels = fn(i128) -> Option<&'static str>;

impl Cbor {
    /// Decodes a message in which integer keys of maps represent the text that `labels` returns. An entry with an unknown integer key is
    /// dropped.
    pub(crate) fn decode_labelled(
        self,
        bytes: &[u8],
        labels: Labels,
        budget: &Budget,
        numbers: Numbers<'_>,
    ) -> Result<Value, Error> {
        reader::read(bytes, Some(labels), budget, numbers)
    }
}

impl Format for Cbor {
    fn encode(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        limits::bounded(out, |out| writer::write(message, &mut Encoder::new(out), 0))
    }

    fn decode_from(&self, bytes: &[u8], reception: &Reception<'_>) -> Result<Value, Error> {
        reader::read(bytes, None, &reception.budget(), reception.numbers)
    }
}

#[cfg(test)]
mod tests;
