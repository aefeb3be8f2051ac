//! Protocol Buffers, proto3. `dunnage_codegen` writes the definition, protox compiles it, and prost-reflect provides descriptors and writes
//! the bytes; `reader` reads them.
//!
//! A user's own `.proto` file can replace the derived definition: see [`Protobuf::from_proto`].

mod compile;
mod plain;
mod reader;
mod shape;
mod user;
mod wire;
mod writer;

use crate::{Error, Format, Mapping, Reception, Value, limits};
use dunnage_codegen::Mapped;
use dunnage_schema::Model;
use prost_reflect::prost::Message as _;
use shape::Shapes;

/// Protocol Buffers.
#[derive(Debug, Clone)]
pub struct Protobuf {
    shapes: Shapes,
    /// `None` if there is no model: the message then uses the names of the definition.
    mapped: Option<Mapped>,
}

impl Protobuf {
    /// Derives the definition from `model`.
    pub fn new(model: &Model, mapping: Mapping) -> Result<Self, Error> {
        let mapped = Mapped::of(model, mapping);
        let descriptor = compile::first_message(&dunnage_codegen::proto(mapped.record(), mapping))?;
        let shapes = Shapes::of(&descriptor, Some(mapped.record()))?;
        Ok(Protobuf { shapes, mapped: Some(mapped) })
    }

    /// Uses a user's definition: the first message of one `.proto` file, which may import Google's well-known types.
    ///
    /// With a model, fields are matched to properties by name, ignoring case, hyphens and underscores (`ble-m` matches `ble_m`). Part x of
    /// a text of several numbers is matched to the name with the suffix `_x`. Every required property needs a field. Texts of numbers are
    /// decoded with the decimals of the schema.
    ///
    /// Without a model, a message has the definition's names: `json_name` if the file gives one, else the name of the field.
    pub fn from_proto(source: &str, model: Option<&Model>) -> Result<Self, Error> {
        let descriptor = compile::first_message(source)?;
        let Some(model) = model else {
            return Ok(Protobuf { shapes: Shapes::of(&descriptor, None)?, mapped: None });
        };
        let record = user::record(&descriptor)?;
        let mapped = Mapped::bind(model, record)?;
        let shapes = Shapes::of(&descriptor, Some(mapped.record()))?;
        Ok(Protobuf { shapes, mapped: Some(mapped) })
    }
}

impl Format for Protobuf {
    fn encode(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        limits::bounded(out, |out| {
            let dynamic = match &self.mapped {
                Some(mapped) => writer::write(&self.shapes, &mapped.to_record(message)?)?,
                None => writer::write(&self.shapes, &plain::to_record(&self.shapes, message)?)?,
            };
            out.extend_from_slice(&dynamic.encode_to_vec());
            Ok(())
        })
    }

    fn decode_from(&self, bytes: &[u8], reception: &Reception<'_>) -> Result<Value, Error> {
        limits::check_size(bytes)?;
        let budget = reception.budget();
        let tree = reader::read(&self.shapes, bytes, &budget)?;
        match &self.mapped {
            Some(mapped) => Ok(mapped.to_message_within(tree, &budget)?),
            None => plain::to_message(&self.shapes, tree, &budget),
        }
    }
}
