//! Which codecs a message is read with: by its format, its schema, and its device's profile.

use crate::{config::Config, name::fits};
use dunnage_formats::{Error, Format, Id, Mapping};
use dunnage_schema::Model;
use std::{collections::HashMap, sync::OnceLock};

/// The codecs of one schema and mapping, each made when it is first needed.
pub struct Codecs {
    /// The schema's name; `None` for messages without one.
    pub schema: Option<String>,
    /// The schema.
    pub model: Option<Model>,
    mapping: Mapping,
    opened: Vec<OnceLock<Result<Box<dyn Format>, Error>>>,
}

impl Codecs {
    fn new(schema: Option<String>, model: Option<Model>, mapping: Mapping) -> Self {
        Codecs { schema, model, mapping, opened: Id::all().map(|_| OnceLock::new()).collect() }
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
        if !config.profiles.is_empty() || !config.schemas.path.as_os_str().is_empty() {
            return Err(ProfileError {
                origin: "[schemas]".into(),
                message: "schemas are not read yet".into(),
            });
        }
        let (schemas, rules) = (HashMap::new(), Vec::new());
        Ok(Profiles { without_schema: Codecs::new(None, None, Mapping::Exact), schemas, rules })
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
