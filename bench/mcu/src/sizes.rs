//! The size of a message in the formats that need no schema.

use crate::shape::{Floats, rounded};
use dunnage_formats::{Cbor, Format, Json, Msgpack, Pson};
use dunnage_pson::Value;

/// Bytes of one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// PSON.
    pub pson: usize,
    /// MessagePack.
    pub msgpack: usize,
    /// CBOR.
    pub cbor: usize,
    /// Compact JSON, with the numbers as they were written.
    pub json: usize,
}

impl Sizes {
    /// The sizes of `message`. Except in JSON, its numbers that are not integers are binary32, as on small devices. `None` if a format cannot
    /// encode the message.
    pub fn of(message: &Value) -> Option<Sizes> {
        let narrow = rounded(message, Floats::Single);
        let size = |format: &dyn Format, value: &Value| {
            let mut bytes = Vec::new();
            format.encode(value, &mut bytes).ok().map(|()| bytes.len())
        };
        Some(Sizes {
            pson: size(&Pson, &narrow)?,
            msgpack: size(&Msgpack, &narrow)?,
            cbor: size(&Cbor, &narrow)?,
            json: size(&Json, message)?,
        })
    }

    /// The size in `format`; `None` for a format that is not among them.
    pub fn in_format(&self, format: &str) -> Option<usize> {
        match format {
            "pson" => Some(self.pson),
            "msgpack" => Some(self.msgpack),
            "cbor" => Some(self.cbor),
            "json" => Some(self.json),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_float_takes_five_bytes_and_a_whole_number_is_encoded_as_an_integer() {
        let message: Value = serde_json::from_str(r#"{"a":1.03,"b":48.0}"#).expect("it is JSON");
        // Map, 2 keys of 2 bytes, binary32 of 5, integer 48 of 2 bytes (PSON, CBOR) or 1 (MessagePack), and 48 in JSON.
        let sizes = Sizes::of(&message).expect("every format has these values");
        assert_eq!(sizes, Sizes { pson: 12, msgpack: 11, cbor: 12, json: 17 });
        assert_eq!(sizes.in_format("msgpack"), Some(11));
        assert_eq!(sizes.in_format("protobuf"), None);
    }
}
