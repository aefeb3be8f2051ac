//! Messages of `bench/corpus`.

use crate::container::Failed;
use dunnage_formats::{Id, Mapping, Value};
use dunnage_plan::Message;
use dunnage_schema::{Model, bundled_named, infer};
use std::{fs, path::Path};

/// The ten messages of the paper, each with the schema that is inferred from it, and the container's with the bundled one.
pub fn paper_and_container() -> Result<Vec<(Message, Model)>, Failed> {
    let mut messages = Vec::new();
    let paper = read("pson-paper.json")?;
    for (name, value) in entries(member(paper, "payloads")?)? {
        let message = Message::new(name.to_string(), value)?;
        let schema = infer(&[String::from_utf8(message.text.clone())?], Some(&message.name))?.schema;
        messages.push((message, Model::compile(&schema)?));
    }
    messages.push(container()?);
    Ok(messages)
}

/// The container's message with the bundled schema.
pub fn container() -> Result<(Message, Model), Failed> {
    let schema = bundled_named("container").ok_or("no bundled schema container")?;
    Ok((Message::new("container".to_owned(), read("container.json")?)?, Model::compile(schema)?))
}

/// The messages of a folder, by name: each is a folder with `document.json` and `schema.json`.
pub fn folder(name: &str) -> Result<Vec<(Message, Model)>, Failed> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus").join(name);
    let mut paths: Vec<_> =
        fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_, std::io::Error>>()?;
    paths.retain(|path| path.is_dir());
    paths.sort();
    let message = |path: &std::path::PathBuf| {
        let id = path.file_name().unwrap_or_default().to_string_lossy();
        let schema = fs::read_to_string(path.join("schema.json"))?;
        let value = read(&format!("{name}/{id}/document.json"))?;
        Ok((Message::new(id.into_owned(), value)?, Model::compile(&schema)?))
    };
    paths.iter().map(message).collect()
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
