//! Apache Avro: one datum in the binary encoding, without a container file or an embedded schema.

mod header;
mod reader;
mod scan;
mod writer;

pub use header::AvroHeader;

use crate::{Error, Format, Kind, Mapping, Reception, Value, limits};
use apache_avro::Schema;
use dunnage_codegen::Mapped;
use dunnage_schema::Model;

/// Apache Avro.
///
/// ```
/// # use dunnage_formats::{Format, Kind, Mapping, Value, Avro};
/// # use dunnage_schema::Model;
/// let model = Model::compile(r#"{
///     "type": "object",
///     "properties": {"celsius": {"type": "number", "multipleOf": 0.01, "minimum": -40, "maximum": 85}},
///     "required": ["celsius"],
///     "additionalProperties": false
/// }"#)?;
/// let message = Value::Map(vec![("celsius".into(), Value::F64(23.5))]);
/// let mut bytes = Vec::new();
/// Avro::new(&model)?.encode(&message, &mut bytes)?;
/// assert_eq!(bytes, [0xdc, 0x24]); // 2350 as a zigzag varint
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Avro {
    mapped: Mapped,
    schema: Schema,
    header: AvroHeader,
}

impl Avro {
    /// Derives the Avro schema from `model`.
    ///
    /// # Errors
    /// `malformed`: the library of Avro rejects the derived schema.
    pub fn new(model: &Model) -> Result<Self, Error> {
        let mapped = Mapped::of(model, Mapping::Exact);
        let schema = Schema::parse_str(&dunnage_codegen::avro(&mapped))
            .map_err(|e| Error::new(Kind::Malformed, 0, format!("the Avro schema does not compile: {e}")))?;
        Ok(Avro { mapped, schema, header: AvroHeader::None })
    }

    /// Reads messages that begin with `header`, and writes none.
    pub fn with_header(self, header: AvroHeader) -> Self {
        Avro { header, ..self }
    }
}

impl Format for Avro {
    fn encode(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        if self.header != AvroHeader::None {
            let reason = "a header names a schema of a registry, which is not known here";
            return Err(Error::new(Kind::Type, 0, reason).without_offset());
        }
        let datum = writer::record(self.mapped.record(), &self.mapped.to_record(message)?)?;
        let bytes = apache_avro::to_avro_datum(&self.schema, datum)
            .map_err(|e| Error::new(Kind::Type, 0, format!("not what the Avro schema has: {e}")))?;
        limits::bounded(out, |out| {
            out.extend_from_slice(&bytes);
            Ok(())
        })
    }

    fn decode_from(&self, bytes: &[u8], reception: &Reception<'_>) -> Result<Value, Error> {
        limits::check_size(bytes)?;
        let before = self.header.length(bytes)?;
        self.datum(&bytes[before..], reception).map_err(|e| e.moved(|at| before + at))
    }
}

impl Avro {
    fn datum(&self, bytes: &[u8], reception: &Reception<'_>) -> Result<Value, Error> {
        let budget = reception.budget();
        scan::check(&self.schema, bytes, &budget)?;
        let datum = apache_avro::from_avro_datum(&self.schema, &mut &*bytes, None)
            .map_err(|e| Error::new(Kind::Malformed, 0, e.to_string()))?;
        Ok(self.mapped.to_message_within(reader::record(self.mapped.record(), datum)?, &budget)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_where_it_is_expected() {
        let schema = r#"{"type":"object","properties":{"t":{"type":"integer","minimum":0,"maximum":99}},"required":["t"],"additionalProperties":false}"#;
        let avro = Avro::new(&Model::compile(schema).unwrap()).unwrap();
        let message = Value::Map(vec![("t".into(), Value::U64(21))]);
        let registry = avro.clone().with_header(AvroHeader::Registry);
        let single = avro.clone().with_header(AvroHeader::SingleObject);
        assert_eq!(avro.decode(b"\x2a"), Ok(message.clone()));
        assert_eq!(registry.decode(b"\0\0\0\0\x01\x2a"), Ok(message.clone()));
        assert_eq!(single.decode(b"\xc3\x01\x01\x02\x03\x04\x05\x06\x07\x08\x2a"), Ok(message.clone()));
        for (bytes, kind, offset) in [
            (&b"\x2a"[..], Kind::Malformed, 0),
            (b"", Kind::Truncated, 0),
            (b"\0\0\0", Kind::Truncated, 3),
            (b"\0\0\0\0\x01", Kind::Truncated, 5),
            (b"\0\0\0\0\x01\x2a\0", Kind::Malformed, 6),
        ] {
            let e = registry.decode(bytes).unwrap_err();
            assert_eq!((e.kind(), e.offset().unwrap()), (kind, offset), "{bytes:?}");
        }
        assert_eq!(registry.encode(&message, &mut Vec::new()).unwrap_err().kind(), Kind::Type);
    }
}
