//! The messages of `bench/corpus`, each with its schema.

use dunnage_formats::{Error, Id, Mapping, Value};
use dunnage_links::fleet::Fleet;
use dunnage_schema::{Model, bundled_named, infer};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The kinds of JSON on which JSON and MessagePack are usually compared.
const KINDS: [&str; 10] = [
    "short-int",
    "short-json",
    "short-null",
    "array-int",
    "array-strings",
    "medium-mixed",
    "long-and-mixed",
    "json-org",
    "wot",
    "tasmota-status",
];
/// The number of containers in the fleet, and how many reports each of them sends.
const CONTAINERS: usize = 250;
const REPORTS: usize = 4;
/// The seconds between two reports.
const SECONDS: f64 = 900.0;
/// The seed of the fleet.
const SEED: u64 = 7;

/// Messages that are measured together, with their schema.
pub struct MessageSet {
    /// The name in the records.
    pub name: String,
    /// The messages.
    pub messages: Vec<Value>,
    /// The compiled schema.
    pub model: Model,
    /// Where the schema comes from.
    pub schema: SchemaSource,
}

/// Where a schema comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaSource {
    /// A schema that was written for such messages.
    Written,
    /// `dunnage schema infer` read the message itself.
    Inferred,
}

impl SchemaSource {
    /// The words for the field `options` of a record.
    pub fn words(self) -> &'static str {
        match self {
            SchemaSource::Written => "schema written for such messages",
            SchemaSource::Inferred => "schema inferred from the message",
        }
    }
}

type Failure = Box<dyn std::error::Error>;

/// Returns all messages: the ten tests of the PSON paper, the kinds of JSON, the telemetry, the real documents, the nested
/// messages, those of the smart grid, and a fleet of containers.
pub fn message_sets() -> Result<Vec<MessageSet>, Failure> {
    let corpus = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../corpus"));
    let mut sets = Vec::new();
    let paper = decode(&fs::read(corpus.join("pson-paper.json"))?)?;
    for (name, message) in entries(member(paper, "payloads")?)? {
        sets.push(inferred(name, message)?);
    }
    // The mobile suite measures these on the JVM.
    let objects = decode(&fs::read(corpus.join("book-video.json"))?)?;
    for (name, object) in entries(objects)? {
        match name.as_str() {
            "book" => sets.push(inferred("Book".into(), object)?),
            "video" => sets.push(inferred("Video".into(), object)?),
            _ => {}
        }
    }
    sets.push(bundled("container", &fs::read(corpus.join("container.json"))?)?);
    for kind in KINDS {
        let message = decode(&fs::read(corpus.join(kind).with_extension("json"))?)?;
        sets.push(inferred(kind.to_owned(), message)?);
    }
    for file in sorted(&corpus.join("telemetry"))? {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        sets.push(bundled(&name, &fs::read(&file)?)?);
    }
    let folders = ["real", "nested", "smart-grid"].map(|name| sorted(&corpus.join(name)));
    let documents = folders.into_iter().collect::<io::Result<Vec<_>>>()?.concat();
    for folder in documents.into_iter().filter(|path| path.is_dir()) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let model = Model::compile(&fs::read_to_string(folder.join("schema.json"))?)?;
        let messages = vec![decode(&fs::read(folder.join("document.json"))?)?];
        sets.push(MessageSet { name, messages, model, schema: SchemaSource::Written });
    }
    sets.push(fleet()?);
    Ok(sets)
}

/// The reports of a simulated fleet.
fn fleet() -> Result<MessageSet, Failure> {
    let mut fleet = Fleet::new(SEED, CONTAINERS);
    let mut messages = Vec::new();
    for _ in 0..REPORTS {
        fleet.step(SECONDS);
        messages.extend(fleet.containers().iter().map(|container| container.message()));
    }
    let model = Model::compile(bundled_named("container").ok_or("no bundled schema container")?)?;
    Ok(MessageSet { name: "container-fleet".into(), messages, model, schema: SchemaSource::Written })
}

/// A message with the bundled schema of this name.
fn bundled(name: &str, text: &[u8]) -> Result<MessageSet, Failure> {
    let schema = bundled_named(name).ok_or_else(|| format!("no bundled schema {name}"))?;
    let model = Model::compile(schema)?;
    let messages = vec![decode(text)?];
    Ok(MessageSet { name: name.to_owned(), messages, model, schema: SchemaSource::Written })
}

/// A message with a schema that is inferred from it.
fn inferred(name: String, message: Value) -> Result<MessageSet, Failure> {
    let mut text = Vec::new();
    Id::Json.open(None, Mapping::Exact)?.encode(&message, &mut text)?;
    let schema = infer(&[String::from_utf8(text)?], Some(&name))?.schema;
    let model = Model::compile(&schema)?;
    Ok(MessageSet { name, messages: vec![message], model, schema: SchemaSource::Inferred })
}

fn decode(text: &[u8]) -> Result<Value, Error> {
    Id::Json.open(None, Mapping::Exact)?.decode(text)
}

fn entries(value: Value) -> Result<Vec<(String, Value)>, Failure> {
    match value {
        Value::Map(entries) => Ok(entries.into_iter().map(|(key, value)| (key.to_string(), value)).collect()),
        _ => Err("not an object".into()),
    }
}

fn member(value: Value, name: &str) -> Result<Value, Failure> {
    let found = entries(value)?.into_iter().find(|(key, _)| key == name);
    Ok(found.ok_or_else(|| format!("no member {name}"))?.1)
}

/// The files and folders in a folder, by name.
fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_and_documents_with_schemas_are_measured_with_the_schemas_beside_them() {
        let sets = message_sets().expect("the corpus");
        for name in [
            "container-nested",
            "dcsa-iot-event",
            "fhir-blood-pressure",
            "vehicle-diagnostics",
            "geojson",
            "openadr3-event",
            "goose",
        ] {
            let set = sets.iter().find(|set| set.name == name).expect(name);
            assert_eq!(set.schema, SchemaSource::Written);
            assert!(set.model.validate(&set.messages[0]).is_ok(), "{name}");
        }
    }
}
