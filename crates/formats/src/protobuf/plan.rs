//! The keys of fields in messages that a schema describes with the names of the definition, or with other spellings of them.

use super::known::Known;
use super::shape::{FieldShape, Form, MessageShape, Scalar, Shapes};
use crate::{Error, Kind, Value};
use dunnage_schema::{Decimal, Model, Object, Type};
use std::collections::HashMap;

/// The keys of the fields of one message type, in the order of its shape.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    /// The key of each field; `None` for one that the schema does not allow.
    pub keys: Vec<Option<String>>,
    /// The plan of the messages in each field.
    pub inner: Vec<Option<usize>>,
}

/// The plans of a schema; the first is that of the message.
#[derive(Debug, Clone)]
pub(super) struct Plans(Vec<Plan>);

impl Plans {
    /// Finds a property for each field. An error says which part of the schema no message of the definition can have.
    pub(super) fn of(model: &Model, shapes: &Shapes) -> Result<Plans, Error> {
        let mut survey = Survey { model, shapes, plans: Vec::new(), seen: HashMap::new() };
        if survey.message(model.root(), shapes.root(), 0)?.is_none() {
            survey.plans.push(Some(Plan { keys: Vec::new(), inner: Vec::new() }));
        }
        Ok(Plans(survey.plans.into_iter().flatten().collect()))
    }

    /// Returns a plan. `None` and a plan without keys mean the names of the definition.
    pub(super) fn get(&self, index: Option<usize>) -> Option<&Plan> {
        self.0.get(index?).filter(|plan| !plan.keys.is_empty())
    }
}

/// Why an optional property has no field without presence.
const IMPLICIT: &str = "the schema does not require this property, or allows null, but its field always has a value (0, false or \
    empty, if it is not sent); declare the field `optional`, or require the property and do not allow null";

struct Survey<'a> {
    model: &'a Model,
    shapes: &'a Shapes,
    plans: Vec<Option<Plan>>,
    seen: HashMap<(*const Object, usize), usize>,
}

impl<'a> Survey<'a> {
    /// Plans the messages of the shape with this index. `None`: the schema says nothing about their properties.
    fn message(
        &mut self,
        kind: &'a Type,
        shape: &'a MessageShape,
        index: usize,
    ) -> Result<Option<usize>, Error> {
        let object = match self.bare(kind) {
            Type::Object(object) => object,
            Type::Any | Type::Union(_) => return Ok(None),
            _ => return Err(unfit("the schema allows no object, and the field holds a message")),
        };
        if let Some(known) = self.seen.get(&(std::ptr::from_ref(object), index)) {
            return Ok(Some(*known));
        }
        let at = self.plans.len();
        self.plans.push(None);
        self.seen.insert((std::ptr::from_ref(object), index), at);
        let has_field = |name: &str| shape.fields.iter().any(|field| is_named(field, name));
        if let Some(missing) =
            object.fields.iter().find(|property| property.required && !has_field(&property.name))
        {
            let reason = format!(
                "the schema requires this property, and the message {} (proto_message) has no field of its name",
                shape.descriptor.full_name()
            );
            return Err(unfit(&reason).under(&missing.name));
        }
        let mut plan = Plan { keys: Vec::new(), inner: Vec::new() };
        for field in &shape.fields {
            let named =
                |name: &str| is_named(field, name) && !plan.keys.iter().flatten().any(|key| key == name);
            let property = object.fields.iter().find(|property| named(&property.name));
            let (key, kind) = match (property, &object.additional) {
                (Some(property), _) => {
                    let has_presence =
                        field.optional || field.form != Form::One || message_of(field).is_some();
                    let nullable = property.kind.nullable().is_some();
                    if !has_presence && (!property.required || nullable) {
                        return Err(unfit(IMPLICIT).under(&property.name));
                    }
                    (Some(property.name.clone()), Some(&property.kind))
                }
                (None, Some(rest)) => (Some(field.name.clone()), Some(&**rest)),
                (None, None) => (None, None),
            };
            let inner = match (kind, &key) {
                (Some(kind), Some(key)) => self.field(kind, field).map_err(|e| e.under(key))?,
                _ => None,
            };
            plan.keys.push(key);
            plan.inner.push(inner);
        }
        self.plans[at] = Some(plan);
        Ok(Some(at))
    }

    fn field(&mut self, kind: &'a Type, field: &'a FieldShape) -> Result<Option<usize>, Error> {
        match (field.form, self.bare(kind)) {
            (_, Type::Any | Type::Union(_) | Type::Const(_)) => Ok(None),
            (Form::One, _) => self.element(kind, field),
            (Form::List, Type::Array(array)) => self.element(&array.items, field),
            (Form::List, Type::Tuple(_)) => Ok(None),
            (Form::List, _) => Err(unfit("the schema allows no array, and the field is repeated")),
            (Form::Map, Type::Object(object)) => {
                let Scalar::Message(entry) = field.kind else { return Ok(None) };
                let Some(value) = self.shapes.message(entry).fields.get(1) else { return Ok(None) };
                match &object.additional {
                    Some(rest) => self.element(rest, value),
                    None => Ok(None),
                }
            }
            (Form::Map, _) => Err(unfit("the schema allows no object, and the field is a map")),
        }
    }

    fn element(&mut self, kind: &'a Type, field: &'a FieldShape) -> Result<Option<usize>, Error> {
        let bare = self.bare(kind);
        let held = match &field.kind {
            Scalar::Message(index) => {
                let (index, shape) = (*index, self.shapes.message(*index));
                match shape.known {
                    None => return self.message(kind, shape, index),
                    Some(Known::Timestamp | Known::Duration | Known::FieldMask) => "text",
                    Some(Known::Wrapper) => match shape.fields.first() {
                        Some(value) => return self.element(kind, value),
                        None => return Ok(None),
                    },
                    // Their content is known only when a message arrives.
                    Some(Known::Struct | Known::Value | Known::ListValue) => return Ok(None),
                }
            }
            Scalar::Bool => "a boolean",
            Scalar::Int32 | Scalar::Int64 | Scalar::Uint32 | Scalar::Uint64 => "an integer",
            Scalar::Float => "a float",
            Scalar::Double => "a double",
            Scalar::String | Scalar::Bytes => "text",
            Scalar::Enum(_) => "the name of a value",
        };
        let way_out = match (bare, held) {
            (Type::Enum(_), "the name of a value") => {
                "; each value must be a name of the definition, and of several names of one number the first"
            }
            (Type::Decimal(_), "a float") => {
                "; x-dunnage-round: true rounds it to the decimals of multipleOf"
            }
            _ => "",
        };
        match fits(bare, &field.kind, held) {
            true => Ok(None),
            false => Err(unfit(&format!(
                "the schema has {} here, and the field holds {held}{way_out}",
                name(bare)
            ))),
        }
    }

    /// Returns the type without what does not change which values it allows besides null.
    fn bare(&self, kind: &'a Type) -> &'a Type {
        let mut kind = kind;
        // A chain of definitions without a type in between has been rejected by the compiler.
        loop {
            kind = match kind {
                Type::Definition(at) => match self.model.definitions().get(*at) {
                    Some(definition) => definition,
                    None => return &Type::Any,
                },
                other => match other.inner() {
                    Some(inner) => inner,
                    None => return other,
                },
            };
        }
    }
}

/// Returns whether a value of the type can be what the field holds. A message is checked against the whole schema when it arrives.
fn fits(kind: &Type, field: &Scalar, held: &str) -> bool {
    match (kind, held) {
        (Type::Any | Type::Union(_) | Type::Const(_), _) => true,
        (Type::Bool, "a boolean") | (Type::Integer(_) | Type::Float(_), "an integer") => true,
        // A scaled integer, or a binary32 that has to be rounded, needs the schema's decimals.
        (Type::Decimal(Decimal { places, round, .. }), _) => match held {
            "an integer" => *places == 0,
            "a double" => true,
            "a float" => *round,
            _ => false,
        },
        (Type::Integer(_) | Type::Float(_), "a double" | "a float") => true,
        (kind, "text") if kind.is_text() => true,
        (Type::Text(_), "the name of a value") => true,
        (Type::Enum(values), "the name of a value") => {
            let Scalar::Enum(names) = field else { return false };
            // A message has the first name of a number, so a schema that has another name only would reject it.
            let first_name = |text: &String| {
                let (number, _) = names.iter().find(|(_, name)| name == text)?;
                names.iter().find(|(other, _)| other == number).map(|(_, name)| Value::from(name.as_str()))
            };
            let is_read = |text: &String| first_name(text).is_some_and(|name| values.contains(&name));
            values.iter().all(|value| matches!(value, Value::Text(text) if is_read(text)))
        }
        (Type::Enum(values), "text") => values.iter().any(|value| matches!(value, Value::Text(_))),
        (Type::Enum(values), "an integer") => values.iter().any(|value| value.as_integer().is_some()),
        _ => false,
    }
}

fn message_of(field: &FieldShape) -> Option<usize> {
    if let Scalar::Message(index) = field.kind { Some(index) } else { None }
}

/// Whether the field has the name of a property, in any spelling.
fn is_named(field: &FieldShape, property: &str) -> bool {
    let plain = |name: &str| {
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>()
    };
    field.descriptor.is_named(property) || plain(field.descriptor.name()) == plain(property)
}

fn name(kind: &Type) -> &'static str {
    match kind {
        Type::Null => "null",
        Type::Bool => "a boolean",
        Type::Integer(_) => "an integer",
        Type::Decimal(_) => "a number with decimals",
        Type::Float(_) => "a number",
        Type::Text(_) => "text",
        Type::NumberText(_) | Type::NumbersText(_) => "numbers in text",
        Type::TimeText(_) => "a time in text",
        Type::Enum(_) => "one of several values",
        Type::Array(_) | Type::Tuple(_) => "an array",
        Type::Object(_) => "an object",
        _ => "a value",
    }
}

fn unfit(reason: &str) -> Error {
    Error::of_value(Kind::Type, "", reason)
}
