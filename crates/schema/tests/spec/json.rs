//! Converts JSON text to messages.

use dunnage_pson::Value;
use serde_json::Value as Json;

pub fn parse(text: &str) -> Json {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

pub fn message(text: &str) -> Value {
    value(&parse(text))
}

pub fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(b) => Value::Bool(*b),
        Json::Number(n) => match (n.as_u64(), n.as_i64(), n.as_f64()) {
            (Some(n), _, _) => Value::U64(n),
            (_, Some(n), _) => Value::I64(n),
            (_, _, f) => Value::F64(f.unwrap_or_else(|| panic!("{n} is not a binary64"))),
        },
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(items) => Value::Array(items.iter().map(value).collect()),
        Json::Object(map) => Value::Map(map.iter().map(|(k, v)| (k.clone(), value(v))).collect()),
    }
}
