//! Whether two types exclude each other, as far as that shows without a message.

use dunnage_pson::Value;
use dunnage_schema::{Object, Type};

/// Whether no value is allowed by both. False when that cannot be told.
pub(super) fn disjoint(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Checked(a), b) => disjoint(&a.kind, b),
        (a, Type::Checked(b)) => disjoint(a, &b.kind),
        (Type::Nullable(inner), other) | (other, Type::Nullable(inner)) => {
            disjoint(inner, other) && disjoint(&Type::Null, other)
        }
        (Type::Union(kinds), other) | (other, Type::Union(kinds)) => {
            kinds.iter().all(|kind| disjoint(kind, other))
        }
        (Type::Enum(values), other) | (other, Type::Enum(values)) => {
            values.iter().all(|value| disjoint(&Type::Const(value.clone()), other))
        }
        (Type::Const(a), Type::Const(b)) => a != b,
        (Type::Const(value), other) | (other, Type::Const(value)) => excludes(other, value),
        (Type::Object(a), Type::Object(b)) => apart(a, b) || apart(b, a),
        (Type::Integer(a), Type::Integer(b)) => a.max < b.min || b.max < a.min,
        (a, b) => matches!((class(a), class(b)), (Some(a), Some(b)) if a != b),
    }
}

/// Whether `value` is of another JSON type than `kind`, or plainly not allowed by it.
fn excludes(kind: &Type, value: &Value) -> bool {
    let of_value = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::U64(_) | Value::I64(_) | Value::F64(_) => "number",
        Value::Text(_) => "string",
        Value::Array(_) => "array",
        Value::Map(_) => "object",
        Value::Bytes(_) => return false,
    };
    if class(kind).is_some_and(|class| class != of_value) {
        return true;
    }
    match (kind, value) {
        (Type::Integer(n), value) => value.as_integer().is_none_or(|value| !n.contains(value)),
        (Type::Decimal(decimal), value) => decimal.scaled(value).is_none(),
        (Type::NumberText(text), Value::Text(value)) => text.parse(value).is_none(),
        (Type::TimeText(text), Value::Text(value)) => text.parse(value).is_none(),
        (Type::Text(text), Value::Text(value)) => {
            let length = value.chars().count();
            length < text.min_length as usize
                || text.max_length.is_some_and(|max| length > max as usize)
                || text.pattern.as_ref().is_some_and(|pattern| !pattern.is_match(value))
        }
        _ => false,
    }
}

/// Whether `a` requires a field that `b` cannot have, or not with such a value.
fn apart(a: &Object, b: &Object) -> bool {
    a.fields.iter().filter(|field| field.required).any(|field| {
        match b.fields.iter().find(|other| other.name == field.name) {
            Some(other) => disjoint(&field.kind, &other.kind),
            None => b.additional.is_none(),
        }
    })
}

/// The JSON type of all values of `kind`.
fn class(kind: &Type) -> Option<&'static str> {
    Some(match kind {
        Type::Null => "null",
        Type::Bool => "boolean",
        Type::Integer(_) | Type::Decimal(_) | Type::Float(_) => "number",
        Type::Text(_) | Type::NumberText(_) | Type::NumbersText(_) | Type::TimeText(_) => "string",
        Type::Array(_) | Type::Tuple(_) => "array",
        Type::Object(_) => "object",
        _ => return None,
    })
}
