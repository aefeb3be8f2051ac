//! The value of a record: JSON, or Avro or Protobuf in Confluent's wire format
//! (<https://docs.confluent.io/platform/current/schema-registry/fundamentals/serdes-develop/index.html#wire-format>).

use super::{registry::Registry, settings::Payload};
use crate::{Catalog, Failed, Message, envelope};
use bytes::Bytes;
use dunnage_codegen::{Mapped, Mapping};
use dunnage_formats::{Avro, Format, Json, Protobuf};
use dunnage_schema::Model;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

/// The first byte.
const MAGIC: u8 = 0;
/// The place of the message in its definition: the first one, whose list of indexes is written as one zero.
const FIRST_MESSAGE: u8 = 0;

/// Writes the values of records.
pub enum Values {
    /// The message as JSON.
    Json,
    /// The object that the output to HTTP sends.
    Envelope,
    /// By the schema of the message.
    Typed(Box<Typed>),
}

/// Writes values by the schemas of messages, which are in a registry.
pub struct Typed {
    kind: Kind,
    pub registry: Registry,
    /// The versions of each schema.
    codecs: Mutex<HashMap<String, Vec<Arc<Codec>>>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Avro,
    Protobuf,
}

/// A version of a schema.
struct Codec {
    model: Model,
    definition: String,
    format: Box<dyn Format>,
}

impl Kind {
    /// Returns the name in the registry.
    fn name(self) -> &'static str {
        match self {
            Kind::Avro => "AVRO",
            Kind::Protobuf => "PROTOBUF",
        }
    }

    fn definition(self, model: &Model) -> String {
        let mapped = Mapped::of(model, Mapping::Exact);
        match self {
            Kind::Avro => dunnage_codegen::avro(&mapped),
            Kind::Protobuf => dunnage_codegen::proto(&mapped),
        }
    }

    fn format(self, model: &Model) -> Result<Box<dyn Format>, String> {
        Ok(match self {
            Kind::Avro => Box::new(Avro::new(model).map_err(|e| e.to_string())?),
            Kind::Protobuf => Box::new(Protobuf::new(model, Mapping::Exact).map_err(|e| e.to_string())?),
        })
    }
}

impl Values {
    pub fn new(payload: Payload, registry: Option<Registry>) -> Result<Values, String> {
        let kind = match (payload, &registry) {
            (Payload::Json, None) => return Ok(Values::Json),
            (Payload::Envelope, None) => return Ok(Values::Envelope),
            (Payload::Json | Payload::Envelope, Some(_)) => {
                return Err("registry: requires payload = \"avro\" or \"protobuf\"".into());
            }
            (Payload::Avro, _) => Kind::Avro,
            (Payload::Protobuf, _) => Kind::Protobuf,
        };
        let registry = registry.ok_or("registry: must be set with this payload")?;
        Ok(Values::Typed(Box::new(Typed { kind, registry, codecs: Mutex::default() })))
    }

    /// Returns the value of `message`.
    pub async fn of(&self, message: &Message, catalog: Option<&Arc<dyn Catalog>>) -> Result<Bytes, Failed> {
        match self {
            Values::Json => Ok(Bytes::copy_from_slice(message.payload().as_bytes())),
            Values::Envelope => {
                let mut body = Vec::new();
                envelope::write(message, &mut body).map_err(|e| Failed::refused(e.to_string()))?;
                Ok(body.into())
            }
            Values::Typed(typed) => {
                let (codec, datum) = typed.encode(message, catalog).map_err(Failed::refused)?;
                let id = typed.registry.id(typed.kind.name(), &codec.definition).await?;
                let mut bytes = vec![MAGIC];
                bytes.extend_from_slice(&id.to_be_bytes());
                if typed.kind == Kind::Protobuf {
                    bytes.push(FIRST_MESSAGE);
                }
                bytes.extend_from_slice(&datum);
                Ok(bytes.into())
            }
        }
    }
}

impl Typed {
    /// Encodes a message by the last version of its schema that fits it. An error says why it never can be.
    fn encode(
        &self,
        message: &Message,
        catalog: Option<&Arc<dyn Catalog>>,
    ) -> Result<(Arc<Codec>, Vec<u8>), String> {
        let schema = message.schema.as_deref().ok_or("the message has no schema")?;
        let value = Json.decode(message.json.as_bytes()).map_err(|e| e.to_string())?;
        let versions: Vec<&Model> =
            catalog.map(|catalog| catalog.versions(schema).collect()).unwrap_or_default();
        let mut failed = format!("no version of the schema {schema} is known that has a layout");
        for model in versions.into_iter().rev() {
            if let Err(violation) = model.validate(&value) {
                failed = format!("schema {schema}: {}: {}", violation.pointer(), violation.message());
                continue;
            }
            let mut datum = Vec::new();
            let encoded = self.codec(schema, model).and_then(|codec| {
                codec.format.encode(&value, &mut datum).map_err(|e| e.to_string())?;
                Ok(codec)
            });
            match encoded {
                Ok(codec) => return Ok((codec, datum)),
                Err(why) => failed = format!("schema {schema}: {why}"),
            }
        }
        Err(failed)
    }

    fn codec(&self, schema: &str, model: &Model) -> Result<Arc<Codec>, String> {
        let mut codecs = self.codecs.lock().unwrap_or_else(PoisonError::into_inner);
        let known = codecs.get(schema).and_then(|known| known.iter().find(|codec| codec.model == *model));
        if let Some(codec) = known {
            return Ok(Arc::clone(codec));
        }
        let (model, definition, format) =
            (model.clone(), self.kind.definition(model), self.kind.format(model)?);
        let codec = Arc::new(Codec { model, definition, format });
        codecs.entry(schema.to_owned()).or_default().push(Arc::clone(&codec));
        Ok(codec)
    }
}
