//! The files of `spec/vectors` and their notation of values (`spec/vectors/README.md`).

use dunnage_pson::Value;
use serde_json::Value as Json;
use std::{fs, path::PathBuf};

/// `spec/vectors`.
pub fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/vectors"))
}

/// Returns the vectors of all files in the folder `name`.
#[allow(dead_code)] // not every test that has this module reads folders
pub fn load(name: &str) -> Vec<Json> {
    let mut files: Vec<_> =
        fs::read_dir(folder().join(name)).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    files.iter().flat_map(|file| vectors(&fs::read_to_string(file).unwrap())).collect()
}

/// Returns the vectors of one file.
pub fn vectors(text: &str) -> Vec<Json> {
    let file: Json = serde_json::from_str(text).unwrap();
    file["vectors"].as_array().unwrap().clone()
}

/// Returns the bytes of a vector's message.
pub fn message(vector: &Json) -> Vec<u8> {
    match vector.get("hex") {
        Some(text) => hex(text.as_str().unwrap()),
        None => {
            let parts = vector["hex_parts"].as_array().unwrap().iter();
            parts
                .flat_map(|part| hex(part[0].as_str().unwrap()).repeat(part[1].as_u64().unwrap() as usize))
                .collect()
        }
    }
}

/// Decodes hexadecimal digits.
pub fn hex(text: &str) -> Vec<u8> {
    assert_eq!(text.len() % 2, 0, "{text}");
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
}

/// Returns the value that `notation` describes.
#[allow(dead_code)] // interop.json has plain JSON
pub fn value(notation: &Json) -> Value {
    let object = match notation {
        Json::Null => return Value::Null,
        Json::Bool(b) => return Value::Bool(*b),
        Json::String(text) => return Value::Text(text.clone()),
        Json::Object(object) if object.len() == 1 => object,
        other => panic!("no such notation: {other}"),
    };
    let (kind, content) = object.iter().next().unwrap();
    let text = || content.as_str().unwrap();
    let list = || content.as_array().unwrap().iter();
    match kind.as_str() {
        "int" => text().parse().map_or_else(|_| Value::from(text().parse::<i64>().unwrap()), Value::U64),
        "float" => Value::F64(text().parse().unwrap()),
        "bytes" => Value::Bytes(hex(text())),
        "array" => Value::Array(list().map(value).collect()),
        "map" => Value::Map(list().map(|e| (e[0].as_str().unwrap().into(), value(&e[1]))).collect()),
        "repeat" => Value::Text(content[0].as_str().unwrap().repeat(content[1].as_u64().unwrap() as usize)),
        other => panic!("no such notation: {other}"),
    }
}
