//! Which codecs a message is read with: by its format, its schema, and its device's profile.

use crate::{
    config::{Config, Profile},
    name::{fits, is_name},
};
use dunnage_formats::{Error, Format, Id, Mapping, Protobuf};
use dunnage_schema::Model;
use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, OnceLock},
};

/// The codecs of one schema and mapping, each made when it is first needed.
pub struct Codecs {
    /// The schema's name; `None` for messages without one.
    pub schema: Option<Arc<str>>,
    /// The schema.
    pub model: Option<Model>,
    mapping: Mapping,
    opened: Vec<OnceLock<Result<Box<dyn Format>, Error>>>,
}

impl Codecs {
    fn new(schema: Option<Arc<str>>, model: Option<Model>, mapping: Mapping) -> Self {
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
        let mut models = HashMap::new();
        for (name, text) in dunnage_schema::bundled() {
            models.insert(name.to_string(), compile(name, text)?);
        }
        if !config.schemas.path.as_os_str().is_empty() {
            read_folder(&config.schemas.path, &mut models)?;
        }
        let rules = config.profiles.iter().map(|profile| rule(profile, &models)).collect::<Result<_, _>>()?;
        let schemas = models
            .into_iter()
            .map(|(name, model)| (name.clone(), Codecs::new(Some(name.into()), Some(model), Mapping::Exact)))
            .collect();
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

fn compile(origin: &str, text: &str) -> Result<Model, ProfileError> {
    Model::compile(text).map_err(|e| ProfileError { origin: origin.into(), message: e.to_string() })
}

fn read_folder(folder: &Path, models: &mut HashMap<String, Model>) -> Result<(), ProfileError> {
    let failed = |path: &Path, message: String| ProfileError { origin: path.display().to_string(), message };
    let entries = std::fs::read_dir(folder).map_err(|e| failed(folder, e.to_string()))?;
    for entry in entries {
        let path = entry.map_err(|e| failed(folder, e.to_string()))?.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        if !is_name(name) {
            return Err(failed(&path, "the file's name must be a schema's name".into()));
        }
        let text = std::fs::read_to_string(&path).map_err(|e| failed(&path, e.to_string()))?;
        models.insert(name.into(), compile(&path.display().to_string(), &text)?);
    }
    Ok(())
}

fn rule(profile: &Profile, models: &HashMap<String, Model>) -> Result<(String, Codecs), ProfileError> {
    let failed = |message: String| ProfileError {
        origin: format!("[[profile]] device = {:?}", profile.device),
        message,
    };
    let model = models.get(&profile.schema).ok_or_else(|| {
        let mut names: Vec<_> = models.keys().map(String::as_str).collect();
        names.sort_unstable();
        failed(format!("there is no schema {:?}; there are {}", profile.schema, names.join(", ")))
    })?;
    let codecs =
        Codecs::new(Some(profile.schema.as_str().into()), Some(model.clone()), profile.mapping.into());
    if let Some(path) = &profile.proto {
        let failed = |message: String| failed(format!("{}: {message}", path.display()));
        let source = std::fs::read_to_string(path).map_err(|e| failed(e.to_string()))?;
        let protobuf = Protobuf::from_proto(&source, Some(model)).map_err(|e| failed(e.message().into()))?;
        let _ = codecs.opened[Id::Protobuf as usize].set(Ok(Box::new(protobuf)));
    }
    Ok((profile.device.clone(), codecs))
}
