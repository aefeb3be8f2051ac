//! Messages without a schema, which use the names of the definition.

use super::shape::{FieldShape, Form, MessageShape, Scalar, Shapes};
use crate::{Budget, Error, Kind, Value, limits};
use prost_reflect::{FieldDescriptor, Kind as FieldKind};

/// Turns a message whose keys are names of fields into the tree of values.
pub(super) fn to_record(shapes: &Shapes, message: &Value) -> Result<Value, Error> {
    lower_message(shapes, shapes.root(), message, 0)
}

/// Turns a tree into a message keyed by field names, with all fields that are present or cannot be absent.
pub(super) fn to_message(shapes: &Shapes, tree: Value, budget: &Budget) -> Result<Value, Error> {
    Names { shapes, budget }.message(shapes.root(), tree)
}

fn lower_message(shapes: &Shapes, shape: &MessageShape, value: &Value, depth: usize) -> Result<Value, Error> {
    let depth = limits::deeper(depth, 0)?;
    let Value::Map(entries) = value else { return Err(Error::new(Kind::Type, 0, "not an object")) };
    let mut values = vec![Value::Null; shape.fields.len()];
    for (key, value) in entries {
        let named =
            |field: &FieldShape| field.descriptor.name() == key || field.descriptor.json_name() == key;
        let at = shape.fields.iter().position(named);
        let at = at.ok_or_else(|| Error::new(Kind::Type, 0, format!("the definition has no field {key}")))?;
        let field = &shape.fields[at];
        values[at] = match (field.form, value) {
            (_, Value::Null) => Value::Null,
            (Form::List, Value::Array(items)) => {
                let item = |(at, item)| {
                    lower_value(shapes, field, item, depth).map_err(|e| e.at_index(at).under(key))
                };
                Value::Array(items.iter().enumerate().map(item).collect::<Result<_, _>>()?)
            }
            (Form::Map, Value::Map(entries)) => {
                let field = entry_value(shapes, field)?;
                let entry = |(k, v): &(String, Value)| {
                    let value = lower_value(shapes, field, v, depth);
                    Ok((k.clone(), value.map_err(|e| e.under(k).under(key))?))
                };
                Value::Map(entries.iter().map(entry).collect::<Result<_, Error>>()?)
            }
            (_, value) => lower_value(shapes, field, value, depth).map_err(|e| e.under(key))?,
        };
    }
    Ok(Value::Array(values))
}

fn lower_value(shapes: &Shapes, field: &FieldShape, value: &Value, depth: usize) -> Result<Value, Error> {
    match (&field.kind, value, field.descriptor.kind()) {
        (Scalar::Message(index), value, _) => lower_message(shapes, shapes.message(*index), value, depth),
        (Scalar::Enum(_), Value::Text(name), FieldKind::Enum(values)) => {
            let index = values.values().position(|value| value.name() == name);
            let unknown = || Error::new(Kind::Range, 0, format!("{} has no value {name}", values.name()));
            index.map(|index| Value::U64(index as u64)).ok_or_else(unknown)
        }
        (Scalar::Enum(_), _, _) => Err(Error::new(Kind::Type, 0, "not the name of a value")),
        (_, value, _) => Ok(value.clone()),
    }
}

/// Adds names to the values of a tree.
struct Names<'a> {
    shapes: &'a Shapes,
    budget: &'a Budget,
}

impl Names<'_> {
    fn message(&self, shape: &MessageShape, tree: Value) -> Result<Value, Error> {
        let Value::Array(values) = tree else { return Err(Error::new(Kind::Type, 0, "not a record")) };
        let mut entries = Vec::with_capacity(values.len());
        for (field, value) in shape.fields.iter().zip(values) {
            let value = match (field.form, value) {
                (_, Value::Null) => continue,
                (Form::List, Value::Array(items)) => {
                    let items = items.into_iter().map(|item| self.value(field, item));
                    Value::Array(items.collect::<Result<_, _>>()?)
                }
                (Form::Map, Value::Map(entries)) => {
                    let field = entry_value(self.shapes, field)?;
                    let entries = entries.into_iter().map(|(k, v)| Ok((k, self.value(field, v)?)));
                    Value::Map(entries.collect::<Result<_, Error>>()?)
                }
                (_, value) => self.value(field, value)?,
            };
            let name = name(&field.descriptor);
            self.take(name)?;
            entries.push((name.to_owned(), value));
        }
        Ok(Value::Map(entries))
    }

    fn value(&self, field: &FieldShape, value: Value) -> Result<Value, Error> {
        match (&field.kind, value, field.descriptor.kind()) {
            (Scalar::Message(index), value, _) => self.message(self.shapes.message(*index), value),
            (Scalar::Enum(_), Value::U64(index), FieldKind::Enum(values)) => {
                let value = usize::try_from(index).ok().and_then(|index| values.values().nth(index));
                let value = value.ok_or_else(|| Error::new(Kind::Range, 0, "an index of no value"))?;
                self.take(value.name())?;
                Ok(Value::from(value.name()))
            }
            (_, value, _) => Ok(value),
        }
    }

    /// Charges the budget for a name and the value that it belongs to.
    fn take(&self, name: &str) -> Result<(), Error> {
        self.budget.value(0)?;
        Ok(self.budget.content(name.len(), 0)?)
    }
}

fn entry_value<'a>(shapes: &'a Shapes, field: &FieldShape) -> Result<&'a FieldShape, Error> {
    let Scalar::Message(entry) = field.kind else { return Err(Error::new(Kind::Type, 0, "not a map")) };
    shapes.message(entry).fields.get(1).ok_or_else(|| Error::new(Kind::Type, 0, "not a map"))
}

/// Returns the field's explicit `json_name` if the file gives one, else its own name.
fn name(field: &FieldDescriptor) -> &str {
    let derived = |json: &str| json.eq_ignore_ascii_case(&field.name().replace('_', ""));
    if derived(field.json_name()) { field.name() } else { field.json_name() }
}
