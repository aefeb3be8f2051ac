//! Messages with the names of the definition, in the form that Protobuf's JSON has (`spec/formats.md`, "A user's own .proto").

use super::known::{self, Known};
use super::plan::{Plan, Plans};
use super::shape::{FieldShape, Form, MessageShape, Scalar, Shapes};
use crate::{Budget, Error, Kind, Value, limits};

/// The names of a definition, and the keys that a schema gives its fields, if there is one.
#[derive(Clone, Copy)]
pub(super) struct Names<'a> {
    pub shapes: &'a Shapes,
    pub plans: Option<&'a Plans>,
}

impl<'a> Names<'a> {
    /// Turns a message into the tree of values.
    pub(super) fn to_record(self, message: &Value) -> Result<Value, Error> {
        self.lower_message(self.shapes.root(), Some(0), message, 0)
    }

    /// Turns a tree into a message, with all fields that are present or cannot be absent.
    pub(super) fn to_message(self, tree: Value, budget: &Budget) -> Result<Value, Error> {
        Reader { names: self, budget }.message(self.shapes.root(), Some(0), tree)
    }

    fn plan(self, index: Option<usize>) -> Option<&'a Plan> {
        self.plans?.get(index)
    }

    fn lower_message(
        self,
        shape: &MessageShape,
        plan: Option<usize>,
        value: &Value,
        depth: usize,
    ) -> Result<Value, Error> {
        if let Some(known) = shape.known {
            return self.lower_known(known, shape, value, depth);
        }
        let depth = limits::deeper(depth, 0)?;
        let Value::Map(entries) = value else { return Err(Error::new(Kind::Type, 0, "not an object")) };
        let plan = self.plan(plan);
        let mut values = vec![Value::Null; shape.fields.len()];
        for (key, value) in entries {
            let named = |at: &usize| match plan {
                Some(plan) => plan.keys[*at].as_ref() == Some(key),
                None => shape.fields[*at].descriptor.is_named(key),
            };
            let at = (0..shape.fields.len()).find(named);
            let at = at.ok_or_else(|| no_field(shape, key))?;
            let (field, inner) = (&shape.fields[at], plan.and_then(|plan| plan.inner[at]));
            let lowered = self.lower_field(field, inner, value, depth).map_err(|e| e.under(key))?;
            if lowered != Value::Null {
                let other = field.rivals.iter().chain([&at]).find(|other| values[**other] != Value::Null);
                if let Some(other) = other {
                    let reason =
                        format!("only one of {key} and {} can have a value", shape.fields[*other].name);
                    return Err(Error::new(Kind::Type, 0, reason));
                }
            }
            values[at] = lowered;
        }
        Ok(Value::Array(values))
    }

    fn lower_field(
        self,
        field: &FieldShape,
        plan: Option<usize>,
        value: &Value,
        depth: usize,
    ) -> Result<Value, Error> {
        match (field.form, value) {
            (Form::List, Value::Array(items)) => {
                let item =
                    |(at, item)| self.lower_value(field, plan, item, depth).map_err(|e| e.at_index(at));
                items.iter().enumerate().map(item).collect::<Result<_, _>>().map(Value::Array)
            }
            (Form::Map, Value::Map(entries)) => {
                let field = entry_value(self.shapes, field)?;
                let entry = |(k, v): &(String, Value)| {
                    Ok((k.clone(), self.lower_value(field, plan, v, depth).map_err(|e| e.under(k))?))
                };
                entries.iter().map(entry).collect::<Result<_, Error>>().map(Value::Map)
            }
            (Form::One, Value::Null) if is_value(self.shapes, field) => known::value_fields(value, depth),
            (Form::One, Value::Null) if field.is_null_value() => Ok(Value::U64(0)),
            (_, Value::Null) => Ok(Value::Null),
            (_, value) => self.lower_value(field, plan, value, depth),
        }
    }

    fn lower_value(
        self,
        field: &FieldShape,
        plan: Option<usize>,
        value: &Value,
        depth: usize,
    ) -> Result<Value, Error> {
        match (&field.kind, value) {
            (Scalar::Message(index), value) => {
                self.lower_message(self.shapes.message(*index), plan, value, depth)
            }
            (Scalar::Enum(_), Value::Null) if field.is_null_value() => Ok(Value::U64(0)),
            (Scalar::Enum(values), Value::Text(name)) => {
                let index = values.iter().position(|(_, known)| known == name);
                let unknown = || Error::new(Kind::Range, 0, format!("the enumeration has no value {name}"));
                index.map(|index| Value::U64(index as u64)).ok_or_else(unknown)
            }
            (Scalar::Enum(_), value) => match value.as_integer().map(i32::try_from) {
                Some(Ok(number)) => Ok(Value::F64(f64::from(number))),
                Some(Err(_)) => Err(Error::new(Kind::Range, 0, "an enumeration has numbers of 32 bits")),
                None => Err(Error::new(Kind::Type, 0, "not the name of a value")),
            },
            (Scalar::Bytes, Value::Text(text)) => known::from_base64(text),
            (_, value) => Ok(value.clone()),
        }
    }

    fn lower_known(
        self,
        known: Known,
        shape: &MessageShape,
        value: &Value,
        depth: usize,
    ) -> Result<Value, Error> {
        match (known, value) {
            (Known::Timestamp | Known::Duration, Value::Text(text)) => known::time_fields(known, text),
            (Known::FieldMask, Value::Text(text)) => Ok(known::mask_fields(text)),
            (Known::Wrapper, value) => match shape.fields.first() {
                Some(field) => Ok(Value::Array(vec![self.lower_value(field, None, value, depth)?])),
                None => Ok(Value::Array(Vec::new())),
            },
            (Known::Struct, value) => known::struct_fields(value, depth),
            (Known::Value, value) => known::value_fields(value, depth),
            (Known::ListValue, value) => known::list_fields(value, depth),
            _ => Err(Error::new(Kind::Type, 0, format!("not the text of a {known:?}"))),
        }
    }
}

fn no_field(shape: &MessageShape, key: &str) -> Error {
    let reason = format!(
        "the message {} has no field {key}; proto_message (--proto-message) chooses another message of the file",
        shape.descriptor.full_name()
    );
    Error::new(Kind::Type, 0, reason)
}

/// Adds names to the values of a tree.
struct Reader<'a> {
    names: Names<'a>,
    budget: &'a Budget,
}

impl Reader<'_> {
    fn message(&self, shape: &MessageShape, plan: Option<usize>, tree: Value) -> Result<Value, Error> {
        let Value::Array(values) = tree else { return Err(Error::new(Kind::Type, 0, "not a record")) };
        if let Some(known) = shape.known {
            return self.known(known, shape, values);
        }
        let plan = self.names.plan(plan);
        let mut entries = Vec::with_capacity(values.len());
        for (at, (field, value)) in shape.fields.iter().zip(values).enumerate() {
            let key = plan.map_or(Some(&field.name), |plan| plan.keys[at].as_ref());
            let inner = plan.and_then(|plan| plan.inner[at]);
            let (Some(key), false) = (key, value == Value::Null) else { continue };
            let value = self.field(field, inner, value).map_err(|e| e.under(key))?;
            self.take(key)?;
            entries.push((key.clone(), value));
        }
        Ok(Value::Map(entries))
    }

    fn field(&self, field: &FieldShape, plan: Option<usize>, value: Value) -> Result<Value, Error> {
        match (field.form, value) {
            (Form::List, Value::Array(items)) => {
                let items = items.into_iter().map(|item| self.value(field, plan, item));
                items.collect::<Result<_, _>>().map(Value::Array)
            }
            (Form::Map, Value::Map(entries)) => {
                let field = entry_value(self.names.shapes, field)?;
                let entries = entries.into_iter().map(|(k, v)| Ok((k, self.value(field, plan, v)?)));
                entries.collect::<Result<_, Error>>().map(Value::Map)
            }
            (_, value) => self.value(field, plan, value),
        }
    }

    fn value(&self, field: &FieldShape, plan: Option<usize>, value: Value) -> Result<Value, Error> {
        match (&field.kind, value) {
            (Scalar::Message(index), value) => self.message(self.names.shapes.message(*index), plan, value),
            (Scalar::Enum(_), _) if field.is_null_value() => Ok(Value::Null),
            (Scalar::Enum(values), Value::U64(index)) => {
                let value = usize::try_from(index).ok().and_then(|index| values.get(index));
                let (_, name) = value.ok_or_else(|| Error::new(Kind::Range, 0, "an index of no value"))?;
                self.take(name)?;
                Ok(Value::from(name.as_str()))
            }
            (Scalar::Enum(_), Value::F64(number)) => Ok(Value::from(number as i64)),
            (Scalar::Bytes, Value::Bytes(bytes)) => known::base64(&bytes, self.budget),
            (_, value) => Ok(value),
        }
    }

    fn known(&self, known: Known, shape: &MessageShape, values: Vec<Value>) -> Result<Value, Error> {
        match known {
            Known::Timestamp | Known::Duration => known::time_text(known, &values, self.budget),
            Known::FieldMask => known::mask_text(values, self.budget),
            Known::Wrapper | Known::Struct | Known::ListValue => {
                let first = shape.fields.first().zip(values.into_iter().next());
                first.map_or(Ok(Value::Null), |(field, value)| self.field(field, None, value))
            }
            Known::Value => match values.iter().position(|value| *value != Value::Null) {
                // The first is `null_value`.
                None | Some(0) => Ok(Value::Null),
                Some(at) => {
                    let value = values.into_iter().nth(at).unwrap_or(Value::Null);
                    self.field(&shape.fields[at], None, value)
                }
            },
        }
    }

    /// Charges the budget for a name and the value that it belongs to.
    fn take(&self, name: &str) -> Result<(), Error> {
        self.budget.value(0)?;
        Ok(self.budget.content(name.len(), 0)?)
    }
}

fn is_value(shapes: &Shapes, field: &FieldShape) -> bool {
    matches!(field.kind, Scalar::Message(index) if shapes.message(index).known == Some(Known::Value))
}

fn entry_value<'a>(shapes: &'a Shapes, field: &FieldShape) -> Result<&'a FieldShape, Error> {
    let Scalar::Message(entry) = field.kind else { return Err(Error::new(Kind::Type, 0, "not a map")) };
    shapes.message(entry).fields.get(1).ok_or_else(|| Error::new(Kind::Type, 0, "not a map"))
}
