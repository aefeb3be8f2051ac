//! Names of the alternatives of a union and of the values of an enumeration.

use super::names::{capitals, member};
use crate::notes;
use dunnage_pson::Value;
use dunnage_schema::{Object, Type};

/// Names an alternative among `kinds`. An object is named by its title, else by the constant value of a field that tells it from all
/// others, else by a required field that no other has. Anything else is named by its type.
pub(super) fn alternative(kind: &Type, kinds: &[Type]) -> String {
    let objects =
        |kinds: &[Type]| kinds.iter().filter(|kind| matches!(kind.unchecked(), Type::Object(_))).count();
    let Type::Object(object) = kind.unchecked() else { return type_name(kind).to_owned() };
    let title = object.title.0.as_deref().filter(|title| title.contains(|c: char| c.is_ascii_alphabetic()));
    if let Some(title) = title {
        return member(title.trim());
    }
    if objects(kinds) == 1 {
        return type_name(kind).to_owned();
    }
    let others = || {
        kinds.iter().filter_map(|other| match other.unchecked() {
            Type::Object(other) if !std::ptr::eq(other, object) => Some(other),
            _ => None,
        })
    };
    let required = || object.fields.iter().filter(|field| field.required);
    let constant = required().find_map(|field| match field.kind.unchecked() {
        Type::Const(value) => {
            let is_own = |other: &Object| {
                other
                    .fields
                    .iter()
                    .any(|of| of.name == field.name && of.kind.unchecked() != field.kind.unchecked())
            };
            others().all(is_own).then(|| match value {
                Value::Text(text) if text.contains(|c: char| c.is_ascii_alphabetic()) => text.clone(),
                other => format!("{} {}", field.name, word(other, 0)),
            })
        }
        _ => None,
    });
    let own =
        || required().find(|field| others().all(|other| other.fields.iter().all(|of| of.name != field.name)));
    let name = constant.or_else(|| own().map(|field| field.name.clone()));
    name.map_or_else(|| type_name(kind).to_owned(), |name| member(&name))
}

/// Returns the name of the JSON type.
fn type_name(kind: &Type) -> &'static str {
    match kind.unchecked() {
        Type::Null => "null",
        Type::Bool => "boolean",
        Type::Integer(_) => "integer",
        number if number.is_number() => "number",
        text if text.is_text() => "text",
        Type::Enum(_) => "choice",
        Type::Const(_) => "constant",
        Type::Array(_) | Type::Tuple(_) => "array",
        Type::Object(_) => "object",
        _ => "value",
    }
}

/// Returns a word for the value at position `index` of an enumeration.
pub(super) fn word(value: &Value, index: usize) -> String {
    let text = match value {
        Value::Array(_) | Value::Map(_) | Value::Bytes(_) => String::new(),
        scalar => notes::plain(scalar),
    };
    let number = matches!(value, Value::U64(_) | Value::I64(_) | Value::F64(_));
    let text = if number { text.replace('-', "MINUS_") } else { text };
    match text.contains(|c: char| c.is_ascii_alphanumeric()) {
        true => capitals(&text),
        false => format!("VALUE_{index}"),
    }
}
