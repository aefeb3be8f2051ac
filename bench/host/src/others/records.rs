//! Messages as the records that the project derives from a schema.

use dunnage_codegen::{FieldType, Mapped, Mapping, Record};
use dunnage_formats::{Error, Format, Reception, Value};
use dunnage_schema::Model;

/// Writes and reads values of a record.
pub trait RecordCodec: Send + Sync {
    /// Appends the bytes of `tree`, a value of `record`.
    ///
    /// # Errors
    /// The format cannot carry a value.
    fn write(&self, record: &Record, tree: &Value, out: &mut Vec<u8>) -> Result<(), Error>;

    /// Reads a value of `record`.
    ///
    /// # Errors
    /// The bytes are not a valid value of the record.
    fn read(&self, record: &Record, bytes: &[u8]) -> Result<Value, Error>;
}

/// How a record carries what it has no type for.
pub const AS_PSON: &str = "what the record has no type for is PSON in a field of bytes";

/// Whether the record of the schema has such a field.
pub fn has_pson(model: &Model) -> bool {
    let mapped = Mapped::of(model, Mapping::Exact);
    let mut fields = mapped.record().with_nested().into_iter().flat_map(|record| &record.fields);
    fields.any(|field| *field.kind.element() == FieldType::Bytes)
}

/// A format for the records of one schema.
pub struct Records<C> {
    mapped: Mapped,
    codec: C,
}

impl<C: RecordCodec> Records<C> {
    /// Derives the record, without a loss of digits.
    pub fn new(model: &Model, codec: C) -> Self {
        Records { mapped: Mapped::of(model, Mapping::Exact), codec }
    }
}

impl<C: RecordCodec> Format for Records<C> {
    fn encode(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        let tree = self.mapped.to_record(message)?;
        self.codec.write(self.mapped.record(), &tree, out)
    }

    fn decode_from(&self, bytes: &[u8], _: &Reception<'_>) -> Result<Value, Error> {
        Ok(self.mapped.to_message(self.codec.read(self.mapped.record(), bytes)?)?)
    }
}
