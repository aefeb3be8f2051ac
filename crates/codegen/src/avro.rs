//! Writes the record as an Apache Avro schema.

use crate::{Field, FieldType, Integer, Mapped, Record};
use serde_json::{Map, Value, json};

/// Returns the text of an `.avsc` file.
///
/// ```
/// use dunnage_codegen::{Mapped, Mapping, avro};
/// # use dunnage_schema::Model;
/// let model = Model::compile(r#"{
///     "title": "Reading",
///     "type": "object",
///     "properties": {
///         "celsius": {"type": "number", "multipleOf": 0.01, "minimum": -40, "maximum": 85},
///         "door": {"enum": ["open", "closed"]}
///     },
///     "required": ["celsius"],
///     "additionalProperties": false
/// }"#)?;
/// let schema: serde_json::Value = serde_json::from_str(&avro(&Mapped::of(&model, Mapping::Exact)))?;
/// assert_eq!(schema["fields"][0]["name"], "celsius");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn avro(mapped: &Mapped) -> String {
    format!("{:#}\n", schema(mapped.record()))
}

fn schema(record: &Record) -> Value {
    let fields: Vec<_> = record.fields.iter().map(field).collect();
    json!({"type": "record", "name": record.name, "fields": fields})
}

fn field(field: &Field) -> Value {
    let mut entry = Map::new();
    entry.insert("name".to_owned(), json!(field.name));
    let mut notes = field.notes.clone();
    if matches!(field.kind.element(), FieldType::Integer(range) if range.max > i128::from(i64::MAX)) {
        notes.push("Without sign: a negative number stands for itself plus 2^64.".to_owned());
    }
    if !notes.is_empty() {
        entry.insert(
            "doc".to_owned(),
            json!(notes.iter().map(|note| sentence(note)).collect::<Vec<_>>().join(" ")),
        );
    }
    let kind = kind(&field.kind);
    if field.optional {
        entry.insert("type".to_owned(), json!(["null", kind]));
        entry.insert("default".to_owned(), Value::Null);
    } else {
        entry.insert("type".to_owned(), kind);
    }
    Value::Object(entry)
}

fn kind(of: &FieldType) -> Value {
    match of {
        FieldType::Bool => json!("boolean"),
        FieldType::Integer(range) => json!(integer(*range)),
        FieldType::Float32 => json!("float"),
        FieldType::Float64 => json!("double"),
        FieldType::Text => json!("string"),
        FieldType::Bytes => json!("bytes"),
        FieldType::Enum(enumeration) => {
            json!({"type": "enum", "name": enumeration.name, "symbols": enumeration.symbols})
        }
        FieldType::List(list) => json!({"type": "array", "items": kind(&list.item)}),
        FieldType::Record(inner) => schema(inner),
    }
}

fn integer(range: Integer) -> &'static str {
    if range.signed_bytes() <= 4 { "int" } else { "long" }
}

/// Ends the note with a full stop, so that another one can follow.
fn sentence(note: &str) -> String {
    if note.ends_with(['.', '!', '?']) { note.to_owned() } else { format!("{note}.") }
}
