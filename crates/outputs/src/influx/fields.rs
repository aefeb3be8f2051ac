//! The fields of a schema's messages: their keys, and their types, which a database fixes with the first value.

use super::line::{self, Value};
use crate::{
    Catalog,
    leaves::Leaf,
    records::declared::{ColumnType, Declaration, Declared},
};
use dunnage_codegen::sql::{self, Decimals, Source, SqlType, Table};
use dunnage_schema::{Model, pointer};
use std::collections::HashMap;

/// The measurement of messages without a schema.
const UNTYPED: &str = "messages";
/// Field keys that tags have, or that a database keeps to itself.
const RESERVED: [&str; 5] = ["device", "device_name", "link", "time", BYTES];
/// The field that every point has: the length of the message as it arrived. A point needs a field.
pub const BYTES: &str = "message_bytes";
/// What the keys of the register's tags begin with.
pub const TAG: &str = "tag_";

/// The type of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Bool,
    Integer,
    Float,
    Text,
    /// As the value is; all numbers are floats.
    Open,
}

/// The fields of a schema's messages.
pub struct Fields<'c> {
    /// The measurement, as it is in a line.
    pub measurement: String,
    /// The key as it is in a line, and the type, by the JSON pointer of the values.
    known: HashMap<String, (String, Kind)>,
    /// The type of the elements of arrays of scalars, by the pointer of the array.
    elements: HashMap<String, Kind>,
    /// What the schema says about all other values.
    declared: Declared<'c>,
}

impl<'c> Fields<'c> {
    /// Returns the fields of the messages of `schema`. Those of a schema that `catalog` does not know are as without a schema.
    pub fn new(schema: Option<&str>, catalog: Option<&'c dyn Catalog>) -> Fields<'c> {
        let found = schema.zip(catalog).map(|(schema, catalog)| catalog.versions(schema).collect());
        let versions: Vec<&'c Model> = found.unwrap_or_default();
        let declared = Declared::new(versions.iter().copied());
        let (known, elements) = (HashMap::new(), HashMap::new());
        let mut fields = Fields { measurement: UNTYPED.into(), known, elements, declared };
        let Some(schema) = schema.filter(|_| !versions.is_empty()) else { return fields };
        // A schema may have the name that messages without one have.
        let name = if schema == UNTYPED { format!("{schema}_schema") } else { schema.to_owned() };
        fields.measurement = String::new();
        line::name(&name, &mut fields.measurement);
        for column in Table::new(&name, &versions, &[], Decimals::Numeric, false).columns {
            let Source::Field(path) = &column.source else { continue };
            let pointer: String = path.iter().map(|name| format!("/{}", pointer::escape(name))).collect();
            match (&column.kind, kind(&column.kind)) {
                (_, Some(kind)) => {
                    fields.known.insert(pointer, (key(path), kind));
                }
                (SqlType::Array(element), None) => {
                    fields.elements.extend(kind(element).map(|kind| (pointer, kind)));
                }
                _ => {}
            }
        }
        fields
    }

    /// Appends the field at `pointer` to a line, if it has a value. An error names the field.
    pub fn write(&self, pointer: &str, leaf: &Leaf, line: &mut String) -> Result<(), String> {
        if is_nothing(pointer, leaf) {
            return Ok(());
        }
        let found;
        let (key, kind) = match self.known.get(pointer) {
            Some((key, kind)) => (key.as_str(), *kind),
            None => {
                found = key(&path(pointer));
                (found.as_str(), self.kind(pointer))
            }
        };
        let named = |why: String| format!("field {key}: {why}");
        let value = value(leaf, kind).map_err(named)?;
        line.push(',');
        line.push_str(key);
        line.push('=');
        line::value(&value, line).map_err(named)
    }

    /// Returns the type of the values at a pointer that has no column: elements of arrays, and what the schema leaves open.
    fn kind(&self, pointer: &str) -> Kind {
        if let Some(kind) = pointer.rsplit_once('/').and_then(|(array, _)| self.elements.get(array)) {
            return *kind;
        }
        match self.declared.at(pointer) {
            Declaration::Column(ColumnType::Bool) => Kind::Bool,
            Declaration::Column(ColumnType::Integer) => Kind::Integer,
            Declaration::Column(ColumnType::Double) => Kind::Float,
            Declaration::Column(ColumnType::Time | ColumnType::Text) => Kind::Text,
            Declaration::Structure | Declaration::Open => Kind::Open,
        }
    }
}

/// Returns the type of a field whose column in SQL has this one; `None` for values with parts or of several types.
fn kind(column: &SqlType) -> Option<Kind> {
    match column {
        SqlType::Boolean => Some(Kind::Bool),
        SqlType::SmallInt | SqlType::Integer | SqlType::BigInt => Some(Kind::Integer),
        SqlType::Numeric(_) | SqlType::Double => Some(Kind::Float),
        SqlType::Time(_) | SqlType::Text => Some(Kind::Text),
        SqlType::Json | SqlType::Array(_) => None,
    }
}

fn path(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(pointer::unescape).collect()
}

/// Returns the key of the field at `path`, as it is in a line: the name of its column in SQL. One that begins with `_`, or that a tag has,
/// ends with `_` instead, as no column does.
fn key(path: &[String]) -> String {
    let name = sql::column_name(path);
    let plain = name.trim_start_matches('_');
    let is_reserved = RESERVED.contains(&plain) || plain.starts_with(TAG) || plain.len() < name.len();
    let mut key = String::new();
    line::name(plain, &mut key);
    if is_reserved {
        key.push('_');
    }
    key
}

/// Whether a field cannot have the value: null, an empty object or array, or a number that JSON lacks, which the JSON view has as
/// `{"$float":"NaN"}`.
fn is_nothing(pointer: &str, leaf: &Leaf) -> bool {
    match leaf {
        Leaf::Null | Leaf::Empty(_) => true,
        Leaf::Text(text) => {
            pointer.ends_with("/$float") && ["NaN", "Infinity", "-Infinity"].contains(&text.as_str())
        }
        Leaf::Bool(_) | Leaf::Number(_) => false,
    }
}

fn value(leaf: &Leaf, kind: Kind) -> Result<Value<'_>, String> {
    let (value, noun) = match (kind, leaf) {
        (Kind::Bool | Kind::Open, Leaf::Bool(value)) => (Some(Value::Bool(*value)), ""),
        (Kind::Bool, _) => (None, "a boolean"),
        (Kind::Text, Leaf::Bool(value)) => (Some(Value::Text(if *value { "true" } else { "false" })), ""),
        (Kind::Text, Leaf::Number(text)) | (Kind::Text | Kind::Open, Leaf::Text(text)) => {
            (Some(Value::Text(text)), "")
        }
        (Kind::Integer, Leaf::Number(text) | Leaf::Text(text)) => {
            (whole(text).map(Value::Integer), "an integer of 64 bits")
        }
        (Kind::Float, Leaf::Number(text) | Leaf::Text(text)) | (Kind::Open, Leaf::Number(text)) => {
            let number = text.parse().ok().filter(|number: &f64| number.is_finite());
            (number.map(Value::Float), "a number of 64 bits")
        }
        _ => (None, "a value of its type"),
    };
    value.ok_or_else(|| format!("{} is not {noun}", shown(leaf)))
}

/// Returns a number without a fraction: `17`, `17.0` and `1e3` have none.
fn whole(number: &str) -> Option<i64> {
    let range = -(i64::MAX as f64)..i64::MAX as f64;
    let double =
        || number.parse().ok().filter(|double: &f64| double.fract() == 0.0 && range.contains(double));
    number.parse().ok().or_else(|| double().filter(|_| !is_digits(number)).map(|double| double as i64))
}

/// Whether `number` is only digits, so that as an `f64` it would be rounded.
fn is_digits(number: &str) -> bool {
    number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

fn shown(leaf: &Leaf) -> String {
    match leaf {
        Leaf::Null => "null".into(),
        Leaf::Bool(value) => value.to_string(),
        Leaf::Number(text) | Leaf::Text(text) | Leaf::Empty(text) => {
            let short: String = text.chars().take(40).collect();
            let dots = if short.len() < text.len() { "..." } else { "" };
            format!("{short}{dots}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pointer: &str) -> String {
        key(&path(pointer))
    }

    #[test]
    fn keys_are_those_of_columns_and_none_is_a_tags() {
        for (pointer, expected) in [
            ("/t", "t"),
            ("/wind/speed", "wind__speed"),
            ("/list/0", "list__0"),
            ("", "value"),
            ("/a b", "a\\ b"),
            ("/time", "time_"),
            ("/device", "device_"),
            ("/tag_site", "tag_site_"),
            ("/message_bytes", "message_bytes_"),
            ("/wind/time", "wind__time"),
            ("/#x", "#x"),
        ] {
            assert_eq!(of(pointer), expected, "{pointer}");
        }
        assert!(of("/_id").starts_with("id_") && of("/_id").ends_with('_'), "{}", of("/_id"));
        assert_ne!(of("/time_"), "time_");
    }

    #[test]
    fn values_have_the_type_of_their_field_or_are_refused() {
        let number = |text: &str| Leaf::Number(text.into());
        let text = |text: &str| Leaf::Text(text.into());
        for (kind, leaf, expected) in [
            (Kind::Integer, number("17.0"), Value::Integer(17)),
            (Kind::Integer, number("-9223372036854775808"), Value::Integer(i64::MIN)),
            (Kind::Integer, number("1e3"), Value::Integer(1000)),
            (Kind::Integer, text("0060"), Value::Integer(60)),
            (Kind::Float, number("17"), Value::Float(17.0)),
            (Kind::Float, text("-07.50"), Value::Float(-7.5)),
            (Kind::Open, number("18446744073709551615"), Value::Float(18_446_744_073_709_551_615.0)),
            (Kind::Open, number("17"), Value::Float(17.0)),
            (Kind::Open, text("17"), Value::Text("17")),
            (Kind::Text, number("1.50"), Value::Text("1.50")),
            (Kind::Text, Leaf::Bool(true), Value::Text("true")),
        ] {
            assert_eq!(value(&leaf, kind).as_ref(), Ok(&expected), "{leaf:?}");
        }
        for (kind, leaf, expected) in [
            (
                Kind::Integer,
                number("9223372036854775808"),
                "9223372036854775808 is not an integer of 64 bits",
            ),
            (Kind::Integer, number("1e19"), "1e19 is not an integer of 64 bits"),
            (Kind::Integer, number("1.5"), "1.5 is not an integer of 64 bits"),
            (Kind::Integer, Leaf::Bool(true), "true is not a value of its type"),
            (Kind::Float, number("1e999"), "1e999 is not a number of 64 bits"),
            (Kind::Float, text("NaN"), "NaN is not a number of 64 bits"),
            (Kind::Bool, number("1"), "1 is not a boolean"),
        ] {
            assert_eq!(value(&leaf, kind), Err(expected.into()), "{leaf:?}");
        }
        assert!(is_nothing("/f/$float", &text("NaN")) && !is_nothing("/f", &text("NaN")));
        assert!(value(&text(&"é".repeat(1 << 20)), Kind::Float).unwrap_err().len() < 200);
    }
}
