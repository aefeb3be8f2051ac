//! Turns the tree of values into a message that prost-reflect can encode.

use super::shape::{Descriptor, FieldShape, Form, MessageShape, Scalar, Shapes};
use crate::{Error, Kind, Value};
use prost_reflect::{DynamicMessage, Kind as FieldKind, MapKey, Value as Wire};
use std::collections::HashMap;

pub(super) fn write(shapes: &Shapes, tree: &Value) -> Result<DynamicMessage, Error> {
    Writer { shapes }.message(shapes.root(), tree)
}

struct Writer<'a> {
    shapes: &'a Shapes,
}

impl Writer<'_> {
    fn message(&self, shape: &MessageShape, tree: &Value) -> Result<DynamicMessage, Error> {
        let Value::Array(values) = tree else { return Err(mismatch()) };
        let mut message = DynamicMessage::new(shape.descriptor.clone());
        for (field, value) in shape.fields.iter().zip(values) {
            if matches!(value, Value::Null) {
                if field.descriptor.is_required() {
                    return Err(Error::new(Kind::Type, 0, "the definition requires this field")
                        .in_field(field.descriptor.name()));
                }
                continue;
            }
            let wire = self.field(field, value).map_err(|e| e.in_field(field.descriptor.name()))?;
            let set = match &field.descriptor {
                Descriptor::Field(field) => message.try_set_field(field, wire),
                // The value was made for the type of the extension; any other would panic.
                Descriptor::Extension(extension) => {
                    message.set_extension(extension, wire);
                    Ok(())
                }
            };
            set.map_err(|_| mismatch().in_field(field.descriptor.name()))?;
        }
        Ok(message)
    }

    fn field(&self, field: &FieldShape, value: &Value) -> Result<Wire, Error> {
        match (field.form, value) {
            (Form::One, value) => self.value(&field.kind, value),
            (Form::List, Value::Array(items)) => items
                .iter()
                .map(|item| self.value(&field.kind, item))
                .collect::<Result<_, _>>()
                .map(Wire::List),
            (Form::Map, Value::Map(entries)) => {
                let Scalar::Message(entry) = field.kind else { return Err(mismatch()) };
                let [key, value] = self.shapes.message(entry).fields.as_slice() else {
                    return Err(mismatch());
                };
                let kind = key.descriptor.kind();
                let entry = |(k, v): &(String, Value)| Ok((map_key(&kind, k)?, self.value(&value.kind, v)?));
                entries.iter().map(entry).collect::<Result<HashMap<_, _>, Error>>().map(Wire::Map)
            }
            _ => Err(mismatch()),
        }
    }

    fn value(&self, kind: &Scalar, value: &Value) -> Result<Wire, Error> {
        match (kind, value) {
            (Scalar::Bool, Value::Bool(b)) => Ok(Wire::Bool(*b)),
            (Scalar::Int32, value) => integer(value).map(Wire::I32),
            (Scalar::Int64, value) => integer(value).map(Wire::I64),
            (Scalar::Uint32, value) => integer(value).map(Wire::U32),
            (Scalar::Uint64, value) => integer(value).map(Wire::U64),
            (Scalar::Float, value) => match float(value)? {
                f if f.is_finite() && !(f as f32).is_finite() => Err(range("a number", "float")),
                f => Ok(Wire::F32(f as f32)),
            },
            (Scalar::Double, value) => match float(value)? {
                f if Value::F64(f) == *value => Ok(Wire::F64(f)),
                _ => Err(range("an integer that no binary64 holds exactly", "double")),
            },
            (Scalar::String, Value::Text(text)) => Ok(Wire::String(text.clone())),
            (Scalar::Bytes, Value::Bytes(bytes)) => Ok(Wire::Bytes(bytes.clone().into())),
            // A number without a name.
            (Scalar::Enum(_), Value::F64(number)) => Ok(Wire::EnumNumber(*number as i32)),
            (Scalar::Enum(values), value) => {
                let index: usize = integer(value)?;
                values.get(index).map(|(n, _)| Wire::EnumNumber(*n)).ok_or_else(|| range("an index", "enum"))
            }
            (Scalar::Message(index), value) => {
                self.message(self.shapes.message(*index), value).map(Wire::Message)
            }
            _ => Err(mismatch()),
        }
    }
}

fn integer<T: TryFrom<i128>>(value: &Value) -> Result<T, Error> {
    let n = value.as_integer().ok_or_else(mismatch)?;
    T::try_from(n).map_err(|_| range(&n.to_string(), "field"))
}

fn float(value: &Value) -> Result<f64, Error> {
    match *value {
        Value::F64(f) => Ok(f),
        Value::U64(n) => Ok(n as f64),
        Value::I64(n) => Ok(n as f64),
        _ => Err(mismatch()),
    }
}

fn map_key(kind: &FieldKind, key: &str) -> Result<MapKey, Error> {
    // Two spellings of one number, such as 1 and 01, would be two entries with one key.
    fn parsed<T: std::str::FromStr + ToString>(key: &str) -> Result<T, Error> {
        let parsed = key.parse().ok().filter(|parsed: &T| parsed.to_string() == key);
        parsed.ok_or_else(|| Error::new(Kind::Type, 0, format!("{key:?} is not a key of this map")))
    }
    Ok(match kind {
        FieldKind::Bool => MapKey::Bool(parsed(key)?),
        FieldKind::Int32 | FieldKind::Sint32 | FieldKind::Sfixed32 => MapKey::I32(parsed(key)?),
        FieldKind::Int64 | FieldKind::Sint64 | FieldKind::Sfixed64 => MapKey::I64(parsed(key)?),
        FieldKind::Uint32 | FieldKind::Fixed32 => MapKey::U32(parsed(key)?),
        FieldKind::Uint64 | FieldKind::Fixed64 => MapKey::U64(parsed(key)?),
        _ => MapKey::String(key.to_owned()),
    })
}

fn mismatch() -> Error {
    Error::new(Kind::Type, 0, "not what the definition has here")
}

fn range(what: &str, target: &str) -> Error {
    Error::new(Kind::Range, 0, format!("{what} does not fit the {target}"))
}
