//! The schemas: those that are built in, and those of `[schemas] path`.

use crate::{config, name::is_name, profile::ProfileError, slots::Slots};
use dunnage_schema::Model;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

/// A schema.
pub struct Schema {
    /// Its first version, with which every format but packed is read.
    pub model: Model,
    /// The packed layouts of all its versions.
    pub slots: Arc<Slots>,
}

impl Schema {
    fn new(name: &str, origin: &str, text: &str) -> Result<Schema, ProfileError> {
        let model = compile(origin, text)?;
        let mut slots = Slots::new(name);
        slots.add(origin, &model)?;
        Ok(Schema { model, slots: Arc::new(slots) })
    }
}

/// Compiles the bundled schemas and those of the folder, which take precedence.
pub fn load(config: &config::Schemas) -> Result<BTreeMap<String, Schema>, ProfileError> {
    let bundled = dunnage_schema::bundled().iter();
    let mut schemas = bundled
        .map(|(name, text)| Ok(((*name).to_owned(), Schema::new(name, name, text)?)))
        .collect::<Result<_, _>>()?;
    if !config.path.as_os_str().is_empty() {
        read_folder(&config.path, &mut schemas)?;
    }
    Ok(schemas)
}

/// Adds the files `NAME.json`, and the further versions of their schemas, `NAME.SUFFIX.json`.
fn read_folder(folder: &Path, schemas: &mut BTreeMap<String, Schema>) -> Result<(), ProfileError> {
    let (further, first): (Vec<_>, Vec<_>) =
        files(folder)?.into_iter().partition(|(stem, _)| stem.contains('.'));
    for (name, path) in first {
        let schema = Schema::new(&name, &path.display().to_string(), &read(&path)?)?;
        schemas.insert(name, schema);
    }
    for (stem, path) in further {
        let name = stem.split('.').next().unwrap_or_default();
        let Some(schema) = schemas.get_mut(name) else {
            let message = format!("another version of the schema {name:?}, of which there is no {name}.json");
            return Err(failed(&path, message));
        };
        let origin = path.display().to_string();
        Arc::make_mut(&mut schema.slots).add(&origin, &compile(&origin, &read(&path)?)?)?;
    }
    Ok(())
}

/// The JSON files of `folder` by their names without `.json`, in the order of these.
fn files(folder: &Path) -> Result<Vec<(String, PathBuf)>, ProfileError> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|e| failed(folder, e.to_string()))? {
        let path = entry.map_err(|e| failed(folder, e.to_string()))?.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        if !is_name(stem) {
            return Err(failed(&path, "the file's name must be a schema's name".into()));
        }
        files.push((stem.to_owned(), path));
    }
    files.sort();
    Ok(files)
}

fn read(path: &Path) -> Result<String, ProfileError> {
    std::fs::read_to_string(path).map_err(|e| failed(path, e.to_string()))
}

fn compile(origin: &str, text: &str) -> Result<Model, ProfileError> {
    Model::compile(text).map_err(|e| ProfileError { origin: origin.into(), message: e.to_string() })
}

fn failed(path: &Path, message: String) -> ProfileError {
    ProfileError { origin: path.display().to_string(), message }
}
