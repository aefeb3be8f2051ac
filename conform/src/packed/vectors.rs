//! The schemas and bytes of `spec/vectors/packed`, as requests. The tests of `crates/packed` cover the same vectors.

use crate::language::Request;
use anyhow::{Context, Result};
use dunnage_packed::Layout;
use dunnage_schema::{DEVICE, Model};
use serde::Deserialize;
use std::{collections::BTreeMap, fs, path::Path};

const FILES: [&str; 5] = ["numbers", "structure", "text", "invalid", "coded"];

#[derive(Deserialize)]
struct File {
    vectors: Vec<Vector>,
}

#[derive(Deserialize)]
struct Vector {
    schema: serde_json::Value,
    hex: String,
    #[serde(default)]
    device: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    known: BTreeMap<String, String>,
}

/// The layout of each vector, with requests to decode its bytes and to encode the decoded message.
///
/// A schema for a message that is not an object becomes the only property of an object schema, which takes no bits.
pub fn load() -> Result<Vec<(Layout, Vec<Request>)>> {
    let mut all = Vec::new();
    for file in FILES {
        for vector in read(file)?.vectors {
            all.extend(questions(&vector)?);
        }
    }
    Ok(all)
}

/// A layout, the known texts, and the bytes of a message.
pub type Message = (Layout, BTreeMap<String, String>, Vec<u8>);

/// The bytes of each vector.
pub fn messages() -> Result<Vec<Message>> {
    let requests = load()?.into_iter().flat_map(|(layout, requests)| {
        requests.into_iter().filter_map(move |request| match request {
            Request::Decode { bytes, known } => Some((layout.clone(), known, bytes)),
            Request::Encode { .. } => None,
        })
    });
    Ok(requests.collect())
}

/// The bytes of each vector of a modelled layout, which depend on the numbers of the nodes: its schema is used as it is.
pub fn modelled() -> Result<Vec<Message>> {
    let mut all = Vec::new();
    for file in ["modelled", "formats", "invalid"] {
        for vector in read(file)?.vectors {
            let Ok(model) = Model::compile(&vector.schema.to_string()) else { continue };
            let layout = Layout::new(&model)?;
            if !layout.is_plain() {
                all.push((layout, known(&vector), from_hex(&vector.hex).context("hex")?));
            }
        }
    }
    Ok(all)
}

fn read(file: &str) -> Result<File> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../spec/vectors/packed/{file}.json"));
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    serde_json::from_str(&text).with_context(|| path.display().to_string())
}

/// Returns the texts that the receiver of a vector knows.
fn known(vector: &Vector) -> BTreeMap<String, String> {
    let mut known = vector.known.clone();
    known.insert(DEVICE.to_owned(), vector.device.clone());
    known
}

fn questions(vector: &Vector) -> Result<Option<(Layout, Vec<Request>)>> {
    // A codec returns a message without the texts that a receiver knows, so it does not notice that one is missing.
    if vector.kind == "type" {
        return Ok(None);
    }
    // Inside an object, a reference to the root of the schema has no target. Such vectors are left out.
    let Ok(model) = Model::compile(&in_object(&vector.schema).to_string()) else { return Ok(None) };
    let layout = Layout::new(&model).expect("a layout");
    let bytes = from_hex(&vector.hex).context("hex")?;
    let known = known(vector);
    let mut requests = Vec::new();
    if let Ok(message) = layout.decode(&bytes, &known) {
        // Generated encoders have mode 0 alone.
        let mut plain = Vec::new();
        layout.encode_without_statistics(&message, &mut plain)?;
        requests.push(Request::Encode { message, bytes: plain });
    }
    requests.push(Request::Decode { bytes, known });
    Ok(Some((layout, requests)))
}

fn in_object(schema: &serde_json::Value) -> serde_json::Value {
    if schema["type"] == "object" {
        return schema.clone();
    }
    let mut inner = schema.clone();
    let mut outer =
        serde_json::json!({"type": "object", "required": ["value"], "additionalProperties": false});
    for keyword in ["x-dunnage-slot", "x-dunnage-slot-from", "x-dunnage-check", "$defs"] {
        if let Some(value) = inner.as_object_mut().and_then(|inner| inner.remove(keyword)) {
            outer[keyword] = value;
        }
    }
    outer["properties"] = serde_json::json!({"value": inner});
    outer
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}
