//! Which codecs a message is read with: by its format, its schema, and its device's profile.

use crate::{
    config::{Config, Profile},
    name::fits,
    schemas::{self, Schema},
    slots::{LayoutKey, Slot, Slots},
};
use dunnage_formats::{Error, Format, Id, Mapping, Protobuf};
use dunnage_schema::Model;
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, OnceLock},
};

/// The codecs of one schema and mapping, each made when it is first needed.
pub struct Codecs {
    /// The schema's name; `None` for messages without one.
    pub schema: Option<Arc<str>>,
    /// The schema.
    pub model: Option<Model>,
    /// The packed layouts of all versions of the schema.
    pub slots: Option<Arc<Slots>>,
    mapping: Mapping,
    opened: Vec<OnceLock<Result<Box<dyn Format>, Error>>>,
}

impl Codecs {
    fn none() -> Self {
        Codecs { schema: None, model: None, slots: None, mapping: Mapping::Exact, opened: unopened() }
    }

    fn of(name: &str, schema: &Schema, mapping: Mapping) -> Self {
        let slots = Some(Arc::clone(&schema.slots));
        let (schema, model) = (Some(name.into()), Some(schema.model.clone()));
        Codecs { schema, model, slots, mapping, opened: unopened() }
    }

    /// The codec for `format`. An error says why this format cannot carry messages of this schema.
    pub fn get(&self, format: Id) -> Result<&dyn Format, &Error> {
        let open = || format.open(self.model.as_ref(), self.mapping_of(format));
        self.opened[format as usize].get_or_init(open).as_deref()
    }

    /// The mapping exists for three formats only.
    fn mapping_of(&self, format: Id) -> Mapping {
        match format {
            Id::Protobuf | Id::Struct | Id::StructZlib => self.mapping,
            _ => Mapping::Exact,
        }
    }
}

/// All schemas and profiles.
pub struct Profiles {
    without_schema: Codecs,
    schemas: HashMap<String, Codecs>,
    rules: Vec<(String, Codecs)>,
}

/// A schema or a profile that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{origin}: {message}")]
pub struct ProfileError {
    /// The file or the profile.
    pub origin: String,
    /// Why.
    pub message: String,
}

impl Profiles {
    /// Compiles the bundled schemas, those of `[schemas] path`, which take precedence, and the profiles.
    pub fn load(config: &Config) -> Result<Profiles, ProfileError> {
        let schemas = schemas::load(&config.schemas)?;
        let rules =
            config.profiles.iter().map(|profile| rule(profile, &schemas)).collect::<Result<_, _>>()?;
        let codecs =
            |(name, schema): (&String, &Schema)| (name.clone(), Codecs::of(name, schema, Mapping::Exact));
        let schemas = schemas.iter().map(codecs).collect();
        Ok(Profiles { without_schema: Codecs::none(), schemas, rules })
    }

    /// The layout that has taken the place of `key`: another one in the same slot of the same schema.
    pub fn instead_of(&self, key: &LayoutKey) -> Option<&Slot> {
        let slots = self.schemas.get(&*key.schema)?.slots.as_ref()?;
        slots.all().iter().find(|slot| slot.key.slot == key.slot && *slot.key != *key)
    }

    /// The codecs for a message: of the schema it names, else of its device's profile, else those that need no schema.
    /// `None` when there is no schema of that name.
    pub fn pick(&self, device: &str, schema: Option<&str>) -> Option<&Codecs> {
        let rule = self.rules.iter().find(|(pattern, _)| fits(pattern, device)).map(|(_, codecs)| codecs);
        match schema {
            None => Some(rule.unwrap_or(&self.without_schema)),
            // The profile of the same schema knows more: its mapping and its .proto.
            Some(name) => {
                rule.filter(|r| r.schema.as_deref() == Some(name)).or_else(|| self.schemas.get(name))
            }
        }
    }
}

fn unopened() -> Vec<OnceLock<Result<Box<dyn Format>, Error>>> {
    Id::all().map(|_| OnceLock::new()).collect()
}

fn rule(profile: &Profile, schemas: &BTreeMap<String, Schema>) -> Result<(String, Codecs), ProfileError> {
    let failed = |message: String| ProfileError {
        origin: format!("[[profile]] device = {:?}", profile.device),
        message,
    };
    let schema = schemas.get(&profile.schema).ok_or_else(|| {
        let names: Vec<_> = schemas.keys().map(String::as_str).collect();
        failed(format!("there is no schema {:?}; there are {}", profile.schema, names.join(", ")))
    })?;
    let codecs = Codecs::of(&profile.schema, schema, profile.mapping.into());
    if let Some(path) = &profile.proto {
        let failed = |message: String| failed(format!("{}: {message}", path.display()));
        let source = std::fs::read_to_string(path).map_err(|e| failed(e.to_string()))?;
        let protobuf =
            Protobuf::from_proto(&source, Some(&schema.model)).map_err(|e| failed(e.message().into()))?;
        let _ = codecs.opened[Id::Protobuf as usize].set(Ok(Box::new(protobuf)));
    }
    Ok((profile.device.clone(), codecs))
}
