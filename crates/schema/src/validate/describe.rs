//! Describes values and types for the text of a violation.

use crate::{
    Type,
    alike::alike,
    kinds::{Kinds, noun},
    same,
};
use dunnage_pson::Value;
use std::fmt;

/// The most characters of a value that a violation quotes.
const QUOTED: usize = 40;

/// Lists the types of a union: "a string, an integer".
pub(super) fn nouns(kinds: &[Type]) -> String {
    let mut nouns: Vec<_> = kinds
        .iter()
        .map(|kind| match noun(kind) {
            "allowed" => "the values allowed",
            noun => noun,
        })
        .collect();
    nouns.dedup();
    nouns.join(", ")
}

/// Describes an unknown field, and suggests the one of `names` that it may be a misspelling of.
pub(super) fn unknown<'a>(key: &str, names: impl Iterator<Item = &'a str>) -> String {
    let meant = alike(key, names).map_or(String::new(), |name| format!("; did you mean {}?", Quoted(name)));
    format!("there is no field {}{meant}", Quoted(key))
}

/// Whether the type allows values of the same kind as `v`.
pub(super) fn is_about(kind: &Type, v: &Value, definitions: &[Type]) -> bool {
    Kinds::of(kind, definitions).meets(Kinds::of_value(v))
}

/// Whether a field of `v` has a value that the field's `const` or `enum` in `kind` does not list. Such fields tell the objects of a union
/// apart.
pub(super) fn has_other_constant(kind: &Type, v: &Value) -> bool {
    match kind.unchecked() {
        Type::Object(object) => object.fields.iter().any(|field| match (&field.kind, v.get(&field.name)) {
            (Type::Const(only), Some(value)) => !same(only, value),
            (Type::Enum(values), Some(value)) => !values.iter().any(|one| same(one, value)),
            _ => false,
        }),
        _ => false,
    }
}

/// A value for people: scalars as JSON, long text truncated, arrays and objects as their number of entries.
pub(super) struct Brief<'a>(pub &'a Value);

impl fmt::Display for Brief<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Null => f.write_str("null"),
            Value::Bool(b) => write!(f, "{b}"),
            Value::U64(n) => write!(f, "{n}"),
            Value::I64(n) => write!(f, "{n}"),
            Value::F64(n) => write!(f, "{n:?}"),
            Value::Text(text) => Quoted(text).fmt(f),
            Value::Bytes(bytes) => write!(f, "a byte string of {}", bytes.len()),
            Value::Array(items) => write!(f, "an array of {}", items.len()),
            Value::Map(entries) => write!(f, "an object of {}", entries.len()),
        }
    }
}

/// Text in quotes, truncated if it is long.
pub(super) struct Quoted<'a>(pub &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.char_indices().nth(QUOTED) {
            None => write!(f, "{:?}", self.0),
            Some((end, _)) => write!(f, "{:?}…", &self.0[..end]),
        }
    }
}

/// A listed value for people: as JSON, truncated if it is long.
pub(super) struct Listed<'a>(pub &'a Value);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let json = match self.0 {
            Value::Array(_) | Value::Map(_) => serde_json::to_string(self.0).ok(),
            _ => None,
        };
        match json.as_deref().map(|json| (json, json.char_indices().nth(QUOTED))) {
            None => Brief(self.0).fmt(f),
            Some((json, None)) => f.write_str(json),
            Some((json, Some((end, _)))) => write!(f, "{}…", &json[..end]),
        }
    }
}
