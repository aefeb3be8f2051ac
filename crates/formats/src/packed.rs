//! Packed: the fewest bits that the schema requires (`spec/packed.md`).

use crate::{Error, Format, Reception, RoundTrip, Value, limits};
use dunnage_packed::Layout;
use dunnage_schema::{Model, SchemaError};

/// Packed.
///
/// ```
/// # use dunnage_formats::{Format, Kind, Mapping, Value, Packed};
/// # use dunnage_schema::Model;
/// let model = Model::compile(r#"{
///     "type": "object",
///     "properties": {"celsius": {"type": "number", "multipleOf": 0.01, "minimum": -40, "maximum": 85}},
///     "required": ["celsius"],
///     "additionalProperties": false
/// }"#)?;
/// let message = Value::Map(vec![("celsius".into(), Value::F64(23.5))]);
/// let mut bytes = Vec::new();
/// Packed::new(&model)?.encode(&message, &mut bytes)?;
/// assert_eq!(bytes.len(), 3); // a slot byte and 14 bits
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Packed {
    layout: Layout,
}

impl Packed {
    /// Computes the layout of `model`'s messages.
    ///
    /// # Errors
    /// As those of [`Layout::new`].
    pub fn new(model: &Model) -> Result<Self, SchemaError> {
        Ok(Packed { layout: Layout::new(model)? })
    }

    /// Returns the layout.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }
}

impl Format for Packed {
    fn encode(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        limits::bounded(out, |out| Ok(self.layout.encode(message, out)?))
    }

    fn decode_from(&self, bytes: &[u8], reception: &Reception<'_>) -> Result<Value, Error> {
        limits::check_size(bytes)?;
        Ok(self.layout.decode_within(bytes, reception.known, &reception.budget())?)
    }

    /// Decodes with the known texts of `message` itself, because a receiver knows them.
    fn round_trip(&self, message: &Value) -> Result<RoundTrip, Error> {
        let mut bytes = Vec::new();
        self.encode(message, &mut bytes)?;
        let texts = self.layout.root().known_texts(message);
        let back = self.decode_from(&bytes, &Reception { known: (&texts).into(), ..Reception::default() });
        Ok(RoundTrip { bytes, lossless: back.is_ok_and(|back| back == *message) })
    }
}
