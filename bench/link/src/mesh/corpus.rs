//! The messages: `bench/corpus/pson-paper.json` and `container.json`.

use crate::container::Failed;
use dunnage_formats::{Id, Mapping, Value};
use dunnage_plan::Message;
use dunnage_schema::{Model, bundled_named, infer};
use std::{fs, path::Path};

/// The ten messages of the paper, each with the schema that is inferred from it, and the container's with the bundled one.
pub fn messages() -> Result<Vec<(Message, Model)>, Failed> {
    let mut messages = Vec::new();
    let paper = read("pson-paper.json")?;
    for (name, value) in entries(member(paper, "payloads")?)? {
        let message = Message::new(name.to_string(), value)?;
        let schema = infer(&[String::from_utf8(message.text.clone())?], Some(&message.name))?.schema;
        messages.push((message, Model::compile(&schema)?));
    }
    let schema = bundled_named("container").ok_or("no bundled schema container")?;
    messages.push((Message::new("container".to_owned(), read("container.json")?)?, Model::compile(schema)?));
    Ok(messages)
}

fn read(name: &str) -> Result<Value, Failed> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus").join(name);
    let text = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Id::Json.open(None, Mapping::Exact)?.decode(&text)?)
}

fn member(value: Value, name: &str) -> Result<Value, Failed> {
    let found = entries(value)?.into_iter().find(|(key, _)| key == name);
    Ok(found.ok_or_else(|| format!("no member {name}"))?.1)
}

fn entries(value: Value) -> Result<Vec<(String, Value)>, Failed> {
    match value {
        Value::Map(entries) => Ok(entries.into_iter().map(|(key, value)| (key.to_string(), value)).collect()),
        _ => Err("not an object".into()),
    }
}
