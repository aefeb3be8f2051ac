//! Protocol Buffers, proto3: `dunnage_codegen` writes the definition, protox compiles it, prost-reflect describes it and
//! writes the bytes; `reader` reads them.
//!
//! A user's own `.proto` can take the place of the derived definition: see [`Protobuf::from_proto`].

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
    /// Without a model, the message has the names of the definition.
    mapped: Option<Mapped>,
}

impl Protobuf {
    /// The definition derived from `model`.
    pub fn new(model: &Model, mapping: Mapping) -> Result<Self, Error> {
        let mapped = Mapped::of(model, mapping);
        let descriptor = compile::first_message(&dunnage_codegen::proto(mapped.record(), mapping))?;
        let shapes = Shapes::of(&descriptor, Some(mapped.record()))?;
        Ok(Protobuf { shapes, mapped: Some(mapped) })
    }

    /// A user's definition: one `.proto` file, of which the first message counts. It may import Google's well-known types.
    ///
    /// With a model, fields are matched to properties by name, where case, hyphens and underscores do not matter
    /// (`ble-m` is `ble_m`), and part x of a text of several numbers to the name with `_x` behind it. Every required
    /// property needs a field. Number texts come back with the schema's decimals.
    ///
    /// Without, a message has the definition's names: `json_name` where the file gives one, else the field's name.
    pub fn from_proto(source: &str, model: Option<&Model>) -> Result<Self, Error> {
        let descriptor = compile::first_message(source)?;
        let Some(model) = model else {
            return Ok(Protobuf { shapes: Shapes::of(&descriptor, None)?, mapped: None });
        };
        let record = user::record(&descriptor)?;
        let mapped = Mapped::onto(model, record)?;
        let shapes = Shapes::of(&descriptor, Some(mapped.record()))?;
        Ok(Protobuf { shapes, mapped: Some(mapped) })
    }
}

impl Format for Protobuf {
    fn encode(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        limits::bounded(out, |out| {
            let dynamic = match &self.mapped {
                Some(mapped) => writer::write(&self.shapes, &mapped.lower(message)?)?,
                None => writer::write(&self.shapes, &plain::lower(&self.shapes, message)?)?,
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
            Some(mapped) => Ok(mapped.raise_within(tree, &budget)?),
            None => plain::raise(&self.shapes, tree, &budget),
        }
    }
}
