//! The vectors of `spec/vectors`, described in its README.md, as requests.

use crate::{
    answers,
    requests::{self, Limits, Request},
};
use anyhow::{Context, Result};
use dunnage_conform::{
    notation::{unhex, value},
    words,
};
use dunnage_pson::{Floats, Kind, Value};
use serde_json::Value as Json;
use std::{fs, path::Path};

pub struct Vectors {
    files: usize,
    all: Vec<Vector>,
}

struct Vector {
    name: String,
    message: Vec<u8>,
    json: Json,
}

impl Vectors {
    pub fn count(&self) -> usize {
        self.all.len()
    }

    pub fn files(&self) -> usize {
        self.files
    }

    /// The messages of all vectors.
    pub fn messages(&self) -> impl Iterator<Item = Vec<u8>> + '_ {
        self.all.iter().map(|vector| vector.message.clone())
    }

    /// Writes the messages to `folder` as seeds for a fuzzer. Those above 1024 bytes are left out, because they only make it
    /// slow.
    pub fn write_seeds(&self, folder: &Path) -> Result<()> {
        fs::create_dir_all(folder)?;
        for vector in self.all.iter().filter(|vector| vector.message.len() <= 1024) {
            fs::write(folder.join(vector.name.replace([' ', '/'], "-")), &vector.message)?;
            // The same message as text, for JSON readers.
            if let Some(json) = vector.json.get("json") {
                fs::write(folder.join(format!("{}.json", vector.name.replace(' ', "-"))), json.to_string())?;
            }
        }
        Ok(())
    }
}

pub fn load() -> Result<Vectors> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../spec/vectors"));
    let mut files = vec![root.join("interop.json")];
    for folder in ["pson", "invalid"] {
        for file in fs::read_dir(root.join(folder))? {
            files.push(file?.path());
        }
    }
    files.sort();
    let mut all = Vec::new();
    for file in &files {
        let json: Json = serde_json::from_str(&fs::read_to_string(file)?)?;
        let vectors =
            json["vectors"].as_array().with_context(|| format!("no vectors in {}", file.display()))?;
        for (i, json) in vectors.iter().enumerate() {
            let name = json["name"].as_str().map_or_else(|| format!("interop {i}"), str::to_owned);
            let message = message(json).with_context(|| name.clone())?;
            all.push(Vector { name, message, json: json.clone() });
        }
    }
    Ok(Vectors { files: files.len(), all })
}

/// All requests that the vectors make of a library with `limits`.
pub fn requests(vectors: &Vectors, limits: &Limits) -> Result<Vec<Request>> {
    let mut out = Vec::new();
    for vector in &vectors.all {
        ask(vector, limits, &mut out).with_context(|| vector.name.clone())?;
    }
    Ok(out)
}

fn ask(vector: &Vector, limits: &Limits, out: &mut Vec<Request>) -> Result<()> {
    let Vector { name, message, json } = vector;
    if let Some(read_as) = json["read_as"].as_str() {
        let expected = expected(json, "kind", "offset")?;
        out.push(requests::about(name, &format!("read {read_as}"), message, expected));
        return Ok(());
    }
    for (mode, strict) in [("lenient", false), ("strict", true)] {
        let options = limits.options(strict);
        let decoded = answers::decode(message, options);
        let expected = match &decoded {
            // A library may have lower limits than the specification.
            Err(error) if error.kind() == Kind::Limit => answers::line(decoded),
            _ if !strict => expected(json, "kind", "offset")?,
            _ if json["canonical"] == false => format!("error malformed {}", json["strict_offset"]),
            _ if json.get("strict_kind").is_some() => expected(json, "strict_kind", "strict_offset")?,
            _ => expected(json, "kind", "offset")?,
        };
        out.push(requests::about(name, &format!("decode {mode}"), message, expected));
        let walked = answers::line(answers::walk(message, options));
        out.push(requests::about(name, &format!("walk {mode}"), message, walked));
        let skipped = answers::line(answers::skip(message, options));
        out.push(requests::about(name, &format!("skip {mode}"), message, skipped));
    }
    ask_encoding(vector, limits, out)
}

fn ask_encoding(vector: &Vector, limits: &Limits, out: &mut Vec<Request>) -> Result<()> {
    let json = &vector.json;
    let value = if let Some(json) = json.get("json") {
        plain(json)?
    } else if let Some(notation) = json.get("value") {
        value(notation)?
    } else {
        return Ok(());
    };
    let canonical = json["canonical_hex"].as_str().map_or_else(|| hex_of(&vector.message), str::to_owned);
    let single = json["single_hex"].as_str().map_or_else(|| canonical.clone(), str::to_owned);
    let by_pson = |floats| requests::encode(&vector.name, &value, floats, limits);
    for (floats, bytes) in [(Floats::Lossless, canonical), (Floats::Single, single)] {
        let mut request = by_pson(floats);
        // The vectors of interop.json do not cover the single policy.
        let told = json.get("json").is_none() || floats == Floats::Lossless;
        if told && !request.expected.starts_with("error limit") {
            request.expected = format!("ok {bytes}");
        }
        out.push(request);
    }
    Ok(())
}

/// The answer that a vector expects: its value or its error.
fn expected(json: &Json, kind: &str, offset: &str) -> Result<String> {
    if let Some(kind) = json[kind].as_str() {
        return Ok(format!("error {kind} {}", json[offset]));
    }
    let value = match json.get("json") {
        Some(json) => plain(json)?,
        None => value(&json["value"])?,
    };
    let mut told = String::from("ok");
    words::value(&mut told, &value, false);
    Ok(told)
}

fn hex_of(bytes: &[u8]) -> String {
    let mut text = String::new();
    words::hex(&mut text, bytes);
    text
}

fn message(json: &Json) -> Result<Vec<u8>> {
    if let Some(text) = json["hex"].as_str() {
        return unhex(text);
    }
    let mut message = Vec::new();
    for part in json["hex_parts"].as_array().context("no message")? {
        let count = part[1].as_u64().context("no count")?;
        message.extend(unhex(part[0].as_str().context("no hex")?)?.repeat(count as usize));
    }
    Ok(message)
}

/// Converts plain JSON to a value, with its keys sorted.
fn plain(json: &Json) -> Result<Value> {
    Ok(match json {
        Json::Null => Value::Null,
        Json::Bool(b) => Value::Bool(*b),
        Json::String(text) => Value::Text(text.clone()),
        Json::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(n), _) => Value::U64(n),
            (None, Some(n)) => Value::I64(n),
            _ => Value::F64(number.as_f64().context("no number")?),
        },
        Json::Array(elements) => Value::Array(elements.iter().map(plain).collect::<Result<_>>()?),
        Json::Object(entries) => {
            let mut entries = entries
                .iter()
                .map(|(key, json)| Ok((key.clone(), plain(json)?)))
                .collect::<Result<Vec<_>>>()?;
            entries.sort_by(|(a, _), (b, _)| a.cmp(b));
            Value::Map(entries)
        }
    })
}
