//! Apache Avro: one datum in the binary encoding, without a container file or an embedded schema.

mod reader;
mod scan;
mod writer;

use crate::{Error, Format, Kind, Mapping, Reception, Value, limits};
use apache_avro::Schema;
use dunnage_codegen::Mapped;
use dunnage_schema::Model;

/// Apache Avro.
#[derive(Debug, Clone)]
pub struct Avro {
    mapped: Mapped,
    schema: Schema,
}

impl Avro {
    /// Derives the Avro schema from `model`.
    pub fn new(model: &Model) -> Result<Self, Error> {
        let mapped = Mapped::of(model, Mapping::Exact);
        let schema = Schema::parse_str(&dunnage_codegen::avro(mapped.record()))
            .map_err(|e| Error::new(Kind::Malformed, 0, format!("the Avro schema does not compile: {e}")))?;
        Ok(Avro { mapped, schema })
    }
}

impl Format for Avro {
    fn encode(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
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
        let budget = reception.budget();
        scan::check(&self.schema, bytes, &budget)?;
        let datum = apache_avro::from_avro_datum(&self.schema, &mut &*bytes, None)
            .map_err(|e| Error::new(Kind::Malformed, 0, e.to_string()))?;
        Ok(self.mapped.to_message_within(reader::record(self.mapped.record(), datum)?, &budget)?)
    }
}
