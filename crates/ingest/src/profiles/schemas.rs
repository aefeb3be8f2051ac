//! Loads the schemas: the bundled ones, and those of `[schemas] path`.

use crate::profiles::{
    settings::{ProfileError, SchemaSettings},
    slots::Slots,
};
use dunnage_base::name::is_name;
use dunnage_schema::{Folders, Model, Options, read_text};
use std::{
    collections::BTreeMap,
    ops::Deref,
    path::{Path, PathBuf},
    sync::Arc,
};

/// A schema.
pub struct Schema {
    /// Its first version, which all formats but packed use.
    pub model: Model,
    /// The packed layouts of all its versions.
    pub slots: Arc<Slots>,
    /// The units of its values, by pointer.
    pub units: Arc<[(String, String)]>,
}

impl Schema {
    fn new(config: &SchemaSettings, name: &str, origin: &str, text: &str) -> Result<Schema, ProfileError> {
        let model = compile(config, origin, text)?;
        let mut slots = Slots::new(name, config.require_check);
        slots.add(origin, &model)?;
        Ok(Schema { model, slots: Arc::new(slots), units: dunnage_schema::units(text).into() })
    }
}

/// All schemas by name; `None` for one that cannot be used.
type ByName = BTreeMap<String, Option<Schema>>;

/// All schemas.
pub struct Schemas {
    by_name: ByName,
    /// The folder of those that are not bundled; empty if there is none.
    folder: PathBuf,
}

impl Schemas {
    /// Describes that there is no schema `name`: which ones there are, and where others would be.
    pub fn missing(&self, name: &str) -> String {
        let names: Vec<_> = self.by_name.keys().map(String::as_str).collect();
        let place = match self.folder.as_os_str().is_empty() {
            true => "and [schemas] path names no folder of others".to_owned(),
            false => format!("and no {name}.json in {}", self.folder.display()),
        };
        format!("there is no schema {name:?}, {place}; there are {}", names.join(", "))
    }
}

impl Deref for Schemas {
    type Target = ByName;

    fn deref(&self) -> &ByName {
        &self.by_name
    }
}

/// Compiles the bundled schemas and those of the folder, which take precedence. Also returns the mistakes in them.
pub fn load(config: &SchemaSettings) -> (Schemas, Vec<ProfileError>) {
    let mut wrong = Vec::new();
    let bundled = dunnage_schema::bundled().iter();
    let bundled = bundled.map(|(name, text)| ((*name).to_owned(), Schema::new(config, name, name, text)));
    let mut by_name = bundled.map(|(name, schema)| (name, noted(schema, &mut wrong))).collect();
    if !config.path.as_os_str().is_empty() {
        match files(&config.path, &mut wrong) {
            Ok(files) => read_files(config, files, &mut by_name, &mut wrong),
            Err(error) => wrong.push(error),
        }
    }
    (Schemas { by_name, folder: config.path.clone() }, wrong)
}

/// Returns the value, recording any error.
fn noted<T>(result: Result<T, ProfileError>, wrong: &mut Vec<ProfileError>) -> Option<T> {
    result.map_err(|error| wrong.push(error)).ok()
}

/// Adds the schemas of the files `NAME.json`, and their further versions, `NAME.SUFFIX.json`.
fn read_files(
    config: &SchemaSettings,
    files: Vec<(String, PathBuf)>,
    schemas: &mut ByName,
    wrong: &mut Vec<ProfileError>,
) {
    let (further, first): (Vec<_>, Vec<_>) = files.into_iter().partition(|(stem, _)| stem.contains('.'));
    for (name, path) in first {
        let origin = path.display().to_string();
        let schema = read(config, &path).and_then(|text| Schema::new(config, &name, &origin, &text));
        schemas.insert(name, noted(schema, wrong));
    }
    for (stem, path) in further {
        let name = stem.split('.').next().unwrap_or_default();
        let added = match schemas.get_mut(name) {
            Some(Some(schema)) => add_version(config, schema, &path),
            Some(None) => Ok(()),
            None => {
                let message =
                    format!("this is another version of the schema {name:?}, but {name}.json is missing");
                Err(failed(&path, message))
            }
        };
        noted(added, wrong);
    }
}

fn add_version(config: &SchemaSettings, schema: &mut Schema, path: &Path) -> Result<(), ProfileError> {
    let origin = path.display().to_string();
    Arc::make_mut(&mut schema.slots).add(&origin, &compile(config, &origin, &read(config, path)?)?)
}

/// Returns the JSON files of `folder` with their names without `.json`, sorted by name.
fn files(folder: &Path, wrong: &mut Vec<ProfileError>) -> Result<Vec<(String, PathBuf)>, ProfileError> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|e| failed(folder, e.to_string()))? {
        let path = entry.map_err(|e| failed(folder, e.to_string()))?.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        if !is_name(stem) {
            wrong.push(failed(&path, "the file's name must be the name of a schema and .json".into()));
            continue;
        }
        files.push((stem.to_owned(), path));
    }
    files.sort();
    Ok(files)
}

/// Returns the schema of a file, bundled with the files of the schema folder that it refers to.
fn read(config: &SchemaSettings, path: &Path) -> Result<String, ProfileError> {
    let text = std::fs::File::open(path).and_then(read_text).map_err(|e| failed(path, e.to_string()))?;
    let folders =
        Folders::new(std::slice::from_ref(&config.path)).map_err(|e| failed(path, e.to_string()))?;
    let folders = match config.map.as_os_str().is_empty() {
        true => folders,
        false => folders.with_map(&config.map).map_err(|e| failed(path, e.to_string()))?,
    };
    folders.bundle(path, &text).map_err(|e| failed(path, e.to_string()))
}

fn compile(config: &SchemaSettings, origin: &str, text: &str) -> Result<Model, ProfileError> {
    let options = Options { assert_formats: config.assert_formats, ..Options::default() };
    let model = Model::compile_with(text, options);
    model.map_err(|e| ProfileError { origin: origin.into(), message: e.to_string() })
}

fn failed(path: &Path, message: String) -> ProfileError {
    ProfileError { origin: path.display().to_string(), message }
}
