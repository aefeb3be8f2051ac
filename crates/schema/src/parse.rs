//! Parses JSON to a tree that keeps the order of keys and the text of numbers.

use crate::{SchemaError, error::join, json_fault::describe, number::read_number};
use dunnage_pson::{DUPLICATE_KEY, Value};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// The longest text, in bytes.
pub(crate) const MAX_BYTES: usize = 1 << 20;
/// The deepest JSON nesting of a schema. Each object of a message uses two levels or more.
const MAX_DEPTH: usize = 128;

/// A JSON value of a schema or of a sample.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Null,
    Bool(bool),
    /// The number as text, because converting `1e-2` to a binary float would round it.
    Number(String),
    Text(String),
    Array(Vec<Node>),
    Object(Vec<(String, Node)>),
}

impl Node {
    /// Parses a text. A duplicate key is an error, because its meaning is undefined.
    pub(crate) fn parse(text: &str) -> Result<Node, SchemaError> {
        if text.len() > MAX_BYTES {
            let message = format!("the text has {} bytes; the limit is {MAX_BYTES}", text.len());
            return Err(SchemaError::new("", "", message));
        }
        let raw: &RawValue = serde_json::from_str(text).map_err(|e| not_json("", text, &e))?;
        read(raw, "", 0)
    }

    /// Returns the value under `key` of an object.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        match self {
            Node::Object(entries) => entries.iter().find(|(k, _)| k == key).map(|(_, node)| node),
            _ => None,
        }
    }

    /// Returns the value that a token of a JSON pointer names in an object or an array. The token is unescaped.
    pub(crate) fn part(&self, token: &str) -> Option<&Node> {
        match self {
            Node::Array(items) => items.get(token.parse::<usize>().ok()?),
            node => node.get(token),
        }
    }

    /// Sets `key` of an object to `value`: in place if the key exists, else as the first entry.
    pub(crate) fn set(&mut self, key: &str, value: Node) {
        if let Node::Object(entries) = self {
            match entries.iter_mut().find(|(k, _)| k == key) {
                Some((_, node)) => *node = value,
                None => entries.insert(0, (key.to_owned(), value)),
            }
        }
    }

    /// Removes `key` from an object.
    pub(crate) fn remove(&mut self, key: &str) {
        if let Node::Object(entries) = self {
            entries.retain(|(k, _)| k != key);
        }
    }

    /// Returns the text under `key` of an object, if it is text.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        match self.get(key) {
            Some(Node::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Converts to a message's value; `None` if no value keeps the digits of a number. Zero has no sign, as in JSON Schema.
    pub(crate) fn to_value(&self) -> Option<Value> {
        Some(match self {
            Node::Null => Value::Null,
            Node::Bool(b) => Value::Bool(*b),
            Node::Number(text) => match read_number(text)? {
                Value::F64(0.0) => Value::U64(0),
                number => number,
            },
            Node::Text(text) => Value::Text(text.clone()),
            Node::Array(items) => Value::Array(items.iter().map(Node::to_value).collect::<Option<_>>()?),
            Node::Object(entries) => {
                let entry = |(key, node): &(String, Node)| Some((key.clone(), node.to_value()?));
                Value::Map(entries.iter().map(entry).collect::<Option<_>>()?)
            }
        })
    }
}

fn read(raw: &RawValue, at: &str, depth: usize) -> Result<Node, SchemaError> {
    if depth > MAX_DEPTH {
        return Err(SchemaError::new(at, "", format!("the text is nested more than {MAX_DEPTH} deep")));
    }
    let text = raw.get();
    Ok(match text.as_bytes().first() {
        Some(b'{') => object(text, at, depth)?,
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(text).map_err(|e| not_json(at, text, &e))?;
            let item = |(i, raw): (usize, &&RawValue)| read(raw, &join(at, &i.to_string()), depth + 1);
            Node::Array(items.iter().enumerate().map(item).collect::<Result<_, _>>()?)
        }
        Some(b'"') => Node::Text(serde_json::from_str(text).map_err(|e| not_json(at, text, &e))?),
        Some(b't') => Node::Bool(true),
        Some(b'f') => Node::Bool(false),
        Some(b'n') => Node::Null,
        _ => Node::Number(text.to_owned()),
    })
}

fn object(text: &str, at: &str, depth: usize) -> Result<Node, SchemaError> {
    let Entries(entries) = serde_json::from_str(text).map_err(|e| not_json(at, text, &e))?;
    let mut keys = std::collections::HashSet::new();
    if let Some((key, _)) = entries.iter().find(|(key, _)| !keys.insert(key.as_str())) {
        return Err(SchemaError::new(at, key, format!("{DUPLICATE_KEY} {key:?}")));
    }
    let entry = |(key, raw): &(String, &RawValue)| Ok((key.clone(), read(raw, &join(at, key), depth + 1)?));
    Ok(Node::Object(entries.iter().map(entry).collect::<Result<_, _>>()?))
}

fn not_json(at: &str, text: &str, error: &serde_json::Error) -> SchemaError {
    SchemaError::new(at, "", format!("not JSON: {}", describe(error, text)))
}

/// The entries of an object in order, with unparsed values.
struct Entries<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Entries<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<'de>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_text_and_keys_their_order() {
        let node = Node::parse(r#" {"b": 1e-2, "a": [0.10, -5E+2, true, null, "\u00e9"]} "#).unwrap();
        let number = |text: &str| Node::Number(text.into());
        let items =
            vec![number("0.10"), number("-5E+2"), Node::Bool(true), Node::Null, Node::Text("é".into())];
        assert_eq!(node, Node::Object(vec![("b".into(), number("1e-2")), ("a".into(), Node::Array(items))]));
    }

    #[test]
    fn a_key_that_stands_twice_is_an_error() {
        let error = Node::parse(r#"{"a":{"x":1,"y":2,"x":3}}"#).unwrap_err();
        assert_eq!((error.pointer(), error.keyword()), ("/a/x", "x"));
    }

    #[test]
    fn what_is_not_json_or_too_large_or_too_deep_is_an_error() {
        for text in ["", "{", "{}x", "nul", "[1,]", "\u{feff}{}"] {
            assert!(Node::parse(text).is_err(), "{text:?}");
        }
        assert!(Node::parse(&format!("\"{}\"", "a".repeat(MAX_BYTES))).is_err());
        let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert!(Node::parse(&nested(MAX_DEPTH)).is_ok());
        assert!(Node::parse(&nested(MAX_DEPTH + 2)).is_err());
        assert!(Node::parse(&nested(MAX_BYTES / 2)).is_err());
    }

    #[test]
    fn values_take_the_type_of_their_number() {
        let value = |text: &str| Node::parse(text).unwrap().to_value();
        assert_eq!(value("18446744073709551615"), Some(Value::U64(u64::MAX)));
        assert_eq!(value("-9223372036854775808"), Some(Value::I64(i64::MIN)));
        assert_eq!(value("-0"), Some(Value::U64(0)));
        assert_eq!(value("1.5e0"), Some(Value::F64(1.5)));
        for text in ["1e999", "1e-400", "1.000000000000000005", "18446744073709551617"] {
            assert_eq!(value(text), None, "{text}");
        }
    }
}
