//! The codecs of a schema.

use super::{
    Wrong, every,
    schemas::{Schema, Schemas},
    settings::{self, Profile},
    slots::Slots,
};
use dunnage_formats::{Avro, Definition, Error, Format, Id, Mapping, Protobuf};
use dunnage_schema::Model;
use std::sync::{Arc, OnceLock};

/// The codecs of one schema and mapping. Each is created when it is first needed.
pub struct Codecs {
    /// The schema's name; `None` for messages without one.
    pub schema: Option<Arc<str>>,
    /// The schema.
    pub model: Option<Model>,
    /// The packed layouts of all versions of the schema.
    pub slots: Option<Arc<Slots>>,
    /// The time between two messages that the schema says, in microseconds.
    pub(super) every: Option<i64>,
    /// The units of the values, by pointer.
    pub(super) units: Arc<[(String, String)]>,
    mapping: Mapping,
    opened: Vec<OnceLock<Result<Box<dyn Format>, Error>>>,
}

impl Codecs {
    /// Returns the codecs of messages without a schema.
    pub(super) fn none() -> Self {
        let (mapping, units) = (Mapping::Exact, Arc::default());
        Codecs { schema: None, model: None, slots: None, every: None, units, mapping, opened: unopened() }
    }

    /// Returns those of the schema `name`.
    pub(super) fn of(name: &str, schema: &Schema, mapping: Mapping) -> Self {
        let (slots, units) = (Some(Arc::clone(&schema.slots)), Arc::clone(&schema.units));
        let (schema, model) = (Some(name.into()), Some(schema.model.clone()));
        let every = model.as_ref().and_then(every::every);
        Codecs { schema, model, slots, every, units, mapping, opened: unopened() }
    }

    /// Returns the codec for `format`. An error says why this format cannot carry messages of this schema.
    pub fn get(&self, format: Id) -> Result<&dyn Format, &Error> {
        let open = || format.open(self.model.as_ref(), self.mapping_of(format));
        self.opened[format as usize].get_or_init(open).as_deref()
    }

    /// Returns the mapping for `format`. Only three formats have another one than the exact one.
    pub fn mapping_of(&self, format: Id) -> Mapping {
        match format {
            Id::Protobuf | Id::Struct | Id::StructZlib => self.mapping,
            _ => Mapping::Exact,
        }
    }
}

fn unopened() -> Vec<OnceLock<Result<Box<dyn Format>, Error>>> {
    Id::readable().map(|_| OnceLock::new()).collect()
}

/// Returns the codecs of `profile`. Records what is wrong with its keys.
pub(super) fn read(profile: &Profile, schemas: &Schemas, wrong: &mut Wrong) -> Codecs {
    let Some(name) = &profile.schema else {
        let alone = [
            ("slots", !profile.slots.is_empty()),
            ("known", profile.known.is_some()),
            ("avro_header", profile.avro_header != settings::AvroHeader::None),
            ("mapping", profile.mapping != settings::Mapping::Exact),
        ];
        let given = alone.iter().filter(|(_, given)| *given);
        wrong.extend(given.map(|(key, _)| (*key, format!("{key} needs a schema"))));
        return with_proto(Codecs::none(), profile, wrong);
    };
    let schema = match schemas.get(name) {
        Some(Some(schema)) => schema,
        // The mistake in it has been reported.
        Some(None) => return Codecs::none(),
        None => {
            wrong.push(("schema", schemas.missing(name)));
            return Codecs::none();
        }
    };
    let mut codecs = Codecs::of(name, schema, profile.mapping.into());
    if !profile.slots.is_empty() {
        match schema.slots.only(&profile.slots) {
            Ok(slots) => codecs.slots = Some(Arc::new(slots)),
            Err(message) => wrong.push(("slots", message)),
        }
    }
    if profile.avro_header != settings::AvroHeader::None {
        let avro = Avro::new(&schema.model).map(|avro| avro.with_header(profile.avro_header.into()));
        let _ = codecs.opened[Id::Avro as usize].set(avro.map(|avro| Box::new(avro) as Box<dyn Format>));
    }
    with_proto(codecs, profile, wrong)
}

/// Sets the codec of Protobuf to that of the profile's own definition, if it has one.
fn with_proto(codecs: Codecs, profile: &Profile, wrong: &mut Wrong) -> Codecs {
    let Some(path) = &profile.proto else {
        let alone = [
            ("proto_message", profile.proto_message.is_some()),
            ("proto_path", !profile.proto_path.is_empty()),
        ];
        let given = alone.iter().filter(|(_, given)| *given);
        wrong.extend(given.map(|(key, _)| (*key, format!("{key} needs proto"))));
        return codecs;
    };
    let definition = Definition::read(path, &profile.proto_path, profile.proto_message.as_deref());
    match definition.and_then(|definition| Protobuf::from_definition(&definition, codecs.model.as_ref())) {
        Ok(protobuf) => {
            let _ = codecs.opened[Id::Protobuf as usize].set(Ok(Box::new(protobuf)));
        }
        Err(e) => wrong.push(("proto", format!("{}: {}", path.display(), e.reason()))),
    }
    codecs
}
