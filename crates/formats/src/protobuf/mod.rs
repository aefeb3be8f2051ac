//! Protocol Buffers, proto3. `dunnage_codegen` writes the definition, protox compiles it, and prost-reflect provides descriptors and writes
//! the bytes; `reader` reads them.
//!
//! A user's own `.proto` file can replace the derived definition: see [`Protobuf::from_definition`].

mod compile;
mod edition;
mod known;
mod outline;
mod plain;
mod plan;
mod reader;
mod shape;
mod user;
mod wire;
mod writer;

pub use compile::Definition;
pub use outline::{Outline, OutlineField, OutlineKind};

use crate::{Error, Format, Kind, Mapping, Reception, Value, limits};
use dunnage_codegen::Mapped;
use dunnage_schema::Model;
use plain::Names;
use plan::Plans;
use prost_reflect::prost::Message as _;
use shape::Shapes;

/// Protocol Buffers.
///
/// ```
/// # use dunnage_formats::{Format, Kind, Mapping, Value, Protobuf};
/// # use dunnage_schema::Model;
/// let model = Model::compile(r#"{
///     "type": "object",
///     "properties": {"celsius": {"type": "number", "multipleOf": 0.01, "minimum": -40, "maximum": 85}},
///     "required": ["celsius"],
///     "additionalProperties": false
/// }"#)?;
/// let message = Value::Map(vec![("celsius".into(), Value::F64(23.5))]);
/// let mut bytes = Vec::new();
/// Protobuf::new(&model, Mapping::Exact)?.encode(&message, &mut bytes)?;
/// assert_eq!(bytes, [0x08, 0xdc, 0x24]); // field 1, 2350 as a zigzag varint
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Protobuf {
    shapes: Shapes,
    keys: Keys,
}

/// How the fields of the definition become a message.
#[derive(Debug, Clone)]
enum Keys {
    /// As the record of a schema.
    Mapped(Box<Mapped>),
    /// With the names of the definition, in the form of Protobuf's JSON.
    Plain,
    /// In the same form, with the keys of a schema that the message has to match.
    Checked(Box<Model>, Plans),
}

impl Protobuf {
    /// Derives the definition from `model`.
    ///
    /// # Errors
    /// `malformed`: the library of Protobuf rejects the derived definition.
    pub fn new(model: &Model, mapping: Mapping) -> Result<Self, Error> {
        let mapped = Mapped::of(model, mapping);
        let definition = Definition::of(&dunnage_codegen::proto(&mapped), None)?;
        let shapes = Shapes::of(&definition.0, Some(mapped.record()))?;
        Ok(Protobuf { shapes, keys: Keys::Mapped(Box::new(mapped)) })
    }

    /// Uses the first message of a user's definition, a file that may import Google's well-known types.
    ///
    /// # Errors
    /// `malformed` if the definition does not compile, and those of [`Protobuf::from_definition`].
    ///
    /// ```
    /// # use dunnage_formats::{Format, Protobuf, Value};
    /// let codec = Protobuf::from_proto("syntax = \"proto3\"; message Reading { float celsius = 1; }", None)?;
    /// let message = codec.decode(b"\x0d\x00\x00\xbc\x41")?;
    /// assert_eq!(message.get("celsius"), Some(&Value::F64(23.5)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_proto(source: &str, model: Option<&Model>) -> Result<Self, Error> {
        Protobuf::from_definition(&Definition::of(source, None)?, model)
    }

    /// Uses a user's definition.
    ///
    /// Without a model, a message has the definition's names (`json_name` if the file gives one, else the name of the field) and the form
    /// of Protobuf's JSON.
    ///
    /// With a model, fields are matched to properties by name, ignoring case, hyphens and underscores (`ble-m` matches `ble_m`). Part x of
    /// a text of several numbers is matched to the name with the suffix `_x`. Every required property needs a field. Texts of numbers are
    /// decoded with the decimals of the schema. A model that cannot be matched so, or that allows further properties, describes the form of
    /// Protobuf's JSON.
    ///
    /// # Errors
    /// `type`: the model has a property that no field carries, and the form of Protobuf's JSON does not fit it either.
    pub fn from_definition(definition: &Definition, model: Option<&Model>) -> Result<Self, Error> {
        let descriptor = &definition.0;
        let Some(model) = model else {
            return Ok(Protobuf { shapes: Shapes::of(descriptor, None)?, keys: Keys::Plain });
        };
        let mapped = user::record(descriptor).and_then(|record| Ok(Mapped::bind(model, record)?));
        if let Ok(mapped) = &mapped
            && mapped.lost().is_empty()
        {
            let shapes = Shapes::of(descriptor, Some(mapped.record()))?;
            return Ok(Protobuf { shapes, keys: Keys::Mapped(Box::new(mapped.clone())) });
        }
        let shapes = Shapes::of(descriptor, None)?;
        let plans = Plans::of(model, &shapes).map_err(|e| match &mapped {
            Ok(mapped) => {
                let reason = format!(
                    "{}; the schema allows further properties, so it has to describe the fields as Protobuf's JSON has them. \
                     Set additionalProperties to false, which leaves out the fields {}",
                    e.message(),
                    mapped.lost().join(", ")
                );
                Error::of_value(Kind::Type, e.pointer(), reason)
            }
            Err(by_name) if by_name.pointer() == e.pointer() => e,
            Err(by_name) => {
                let reason = format!(
                    "{}; matched to the schema by names, the message does not fit either: {}",
                    e.message(),
                    by_name.reason()
                );
                Error::of_value(e.kind(), e.pointer(), reason)
            }
        })?;
        Ok(Protobuf { shapes, keys: Keys::Checked(Box::new(model.clone()), plans) })
    }

    fn names(&self) -> Names<'_> {
        let plans = match &self.keys {
            Keys::Checked(_, plans) => Some(plans),
            _ => None,
        };
        Names { shapes: &self.shapes, plans }
    }

    /// Validates a message against the schema that describes it, if there is one.
    fn check(&self, message: &Value) -> Result<(), Error> {
        let Keys::Checked(model, _) = &self.keys else { return Ok(()) };
        model
            .validate(message)
            .map_err(|violation| Error::of_value(Kind::Range, violation.pointer(), violation.message()))
    }
}

impl Format for Protobuf {
    fn encode(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        limits::bounded(out, |out| {
            let tree = match &self.keys {
                Keys::Mapped(mapped) => mapped.to_record(message)?,
                Keys::Plain | Keys::Checked(..) => {
                    self.check(message)?;
                    self.names().to_record(message)?
                }
            };
            out.extend_from_slice(&writer::write(&self.shapes, &tree)?.encode_to_vec());
            Ok(())
        })
    }

    fn decode_from(&self, bytes: &[u8], reception: &Reception<'_>) -> Result<Value, Error> {
        limits::check_size(bytes)?;
        let budget = reception.budget();
        let tree = reader::read(&self.shapes, bytes, &budget)?;
        if let Keys::Mapped(mapped) = &self.keys {
            return Ok(mapped.to_message_within(tree, &budget)?);
        }
        let message = self.names().to_message(tree, &budget)?;
        self.check(&message)?;
        Ok(message)
    }
}
