//! From a decoded message to the tree of values.

use super::shape::{FieldShape, Form, MessageShape, Scalar, Shapes};
use crate::{Error, Kind, Value, limits};
use prost_reflect::{DynamicMessage, MapKey, Value as Wire};

pub(super) fn read(shapes: &Shapes, message: DynamicMessage) -> Result<Value, Error> {
    Reader { shapes }.message(shapes.root(), message, 0)
}

struct Reader<'a> {
    shapes: &'a Shapes,
}

impl Reader<'_> {
    fn message(
        &self,
        shape: &MessageShape,
        mut message: DynamicMessage,
        depth: usize,
    ) -> Result<Value, Error> {
        let depth = limits::deeper(depth, 0)?;
        let mut values = Vec::with_capacity(shape.fields.len());
        for field in &shape.fields {
            values.push(match message.take_field(&field.descriptor) {
                Some(value) => self.field(field, value, depth)?,
                None if field.optional => Value::Null,
                None => self.default(field, depth)?,
            });
        }
        Ok(Value::Array(values))
    }

    fn field(&self, field: &FieldShape, value: Wire, depth: usize) -> Result<Value, Error> {
        match (field.form, value) {
            (Form::One, value) => self.value(&field.kind, value, depth),
            (Form::List, Wire::List(items)) => {
                let items = items.into_iter().map(|item| self.value(&field.kind, item, depth));
                items.collect::<Result<_, _>>().map(Value::Array)
            }
            (Form::Map, Wire::Map(entries)) => {
                let Scalar::Message(entry) = field.kind else { return Err(mismatch()) };
                let kind = &self.shapes.message(entry).fields.get(1).ok_or_else(mismatch)?.kind;
                let mut map: Vec<_> = entries
                    .into_iter()
                    .map(|(key, value)| Ok((key_text(key), self.value(kind, value, depth)?)))
                    .collect::<Result<_, Error>>()?;
                map.sort_by(|a, b| a.0.cmp(&b.0)); // the map has no order of its own
                Ok(Value::Map(map))
            }
            _ => Err(mismatch()),
        }
    }

    fn value(&self, kind: &Scalar, value: Wire, depth: usize) -> Result<Value, Error> {
        Ok(match (kind, value) {
            (_, Wire::Bool(b)) => Value::Bool(b),
            (_, Wire::I32(n)) => Value::from(i64::from(n)),
            (_, Wire::I64(n)) => Value::from(n),
            (_, Wire::U32(n)) => Value::U64(u64::from(n)),
            (_, Wire::U64(n)) => Value::U64(n),
            (_, Wire::F32(f)) => Value::F64(f64::from(f)),
            (_, Wire::F64(f)) => Value::F64(f),
            (_, Wire::String(text)) => Value::Text(text),
            (_, Wire::Bytes(bytes)) => Value::Bytes(bytes.into()),
            (Scalar::Enum(numbers), Wire::EnumNumber(number)) => {
                let index = numbers.iter().position(|n| *n == number);
                let index = index
                    .ok_or_else(|| Error::new(Kind::Range, 0, format!("no value is numbered {number}")))?;
                Value::U64(index as u64)
            }
            (Scalar::Message(index), Wire::Message(inner)) => {
                self.message(self.shapes.message(*index), inner, depth)?
            }
            _ => return Err(mismatch()),
        })
    }

    /// What a field that is not on the wire holds.
    fn default(&self, field: &FieldShape, depth: usize) -> Result<Value, Error> {
        if let (Form::One, Scalar::Message(index)) = (field.form, &field.kind) {
            let shape = self.shapes.message(*index);
            return self.message(shape, DynamicMessage::new(shape.descriptor.clone()), depth);
        }
        self.field(field, field.descriptor.default_value(), depth)
    }
}

fn key_text(key: MapKey) -> String {
    match key {
        MapKey::Bool(b) => b.to_string(),
        MapKey::I32(n) => n.to_string(),
        MapKey::I64(n) => n.to_string(),
        MapKey::U32(n) => n.to_string(),
        MapKey::U64(n) => n.to_string(),
        MapKey::String(text) => text,
    }
}

fn mismatch() -> Error {
    Error::new(Kind::Type, 0, "not what the definition has here")
}
