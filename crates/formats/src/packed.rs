//! Packed: the fewest bits that the schema requires (`spec/packed.md`).

use crate::{Error, Format, Reception, RoundTrip, Value, limits};
use dunnage_packed::{Layout, Node, Shape};
use dunnage_schema::{Model, SchemaError};

/// Packed.
#[derive(Debug, Clone)]
pub struct Packed {
    layout: Layout,
}

impl Packed {
    /// Computes the layout of `model`'s messages. The error is about `x-dunnage-statistics`.
    pub fn new(model: &Model) -> Result<Self, SchemaError> {
        Ok(Packed { layout: Layout::new(model)? })
    }

    /// Returns the layout.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }
}

/// Finds the first text in `value` that the receiver already knows. Such fields are always required, and only objects have them.
fn known<'v>(node: &Node, value: &'v Value) -> Option<&'v str> {
    match (&node.shape, value) {
        (Shape::Known, Value::Text(text)) => Some(text),
        (Shape::Object(object), value) => {
            object.fields.iter().find_map(|field| known(&field.node, value.get(&field.name)?))
        }
        _ => None,
    }
}

impl Format for Packed {
    fn encode(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        limits::bounded(out, |out| Ok(self.layout.encode(message, out)?))
    }

    fn decode_from(&self, bytes: &[u8], reception: &Reception<'_>) -> Result<Value, Error> {
        limits::check_size(bytes)?;
        Ok(self.layout.decode_within(bytes, reception.device, &reception.budget())?)
    }

    /// Decodes with the sender that `message` itself names, because a receiver knows the sender.
    fn round_trip(&self, message: &Value) -> Result<RoundTrip, Error> {
        let mut bytes = Vec::new();
        self.encode(message, &mut bytes)?;
        let device = known(self.layout.root(), message);
        let back = self.decode_from(&bytes, &Reception { device, ..Reception::default() });
        Ok(RoundTrip { bytes, lossless: back.is_ok_and(|back| back == *message) })
    }
}
