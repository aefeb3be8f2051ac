//! Maps a model to a record that is defined elsewhere.

use crate::{
    Enumeration, Error, Field, FieldType, Record, derive, notes,
    rule::{Absent, Plan, Presence, Property, Rule, Width},
};
use dunnage_pson::{Kind, Value};
use dunnage_schema::{NumberText, NumbersText, Object, Type};

/// Why an optional property has no field without presence.
const IMPLICIT: &str = "the schema does not require this property, or allows null, but its field always has a value (0, false \
    or empty, if it is not sent); declare the field `optional`, or require the property and do not allow null";

/// Returns the rule that converts a message of this type to `record`.
pub(crate) fn message(kind: &Type, record: &Record) -> Result<Rule, Error> {
    match kind.carried() {
        Type::Object(object) => plan(object, record).map(Rule::Object),
        _ => Err(unfit("an object only")),
    }
}

/// Returns the names of the fields that a message of this type would lose: it may have more properties than the schema names, and no
/// property has these fields.
pub(crate) fn lost<'r>(kind: &Type, record: &'r Record) -> Vec<&'r str> {
    let mut lost = Vec::new();
    let Type::Object(object) = kind.bare() else { return lost };
    let mut free: Vec<_> = (0..record.fields.len()).collect();
    for field in &object.fields {
        let Ok(Some(property)) = property(field, record) else { continue };
        free.retain(|at| !property.fields.contains(at));
        for inner in property.fields.iter().map(|at| &record.fields[*at].kind) {
            if let FieldType::Record(inner) = inner.element() {
                lost.extend(lost_inside(element(&field.kind), inner));
            }
        }
    }
    if object.additional.is_some() {
        lost.extend(free.into_iter().map(|at| &*record.fields[at].name));
    }
    lost
}

/// Returns what is lost of a message inside a message. One that holds itself is a record without fields.
fn lost_inside<'r>(kind: &Type, record: &'r Record) -> Vec<&'r str> {
    match kind.carried() {
        Type::Object(object) if object.additional.is_some() && record.fields.is_empty() => vec![&record.name],
        _ => lost(kind, record),
    }
}

/// Returns the type of an array's elements, or the type itself if it is not an array.
fn element(kind: &Type) -> &Type {
    match kind.bare() {
        Type::Array(array) => element(&array.items),
        other => other,
    }
}

fn plan(object: &Object, record: &Record) -> Result<Plan, Error> {
    let properties =
        object.fields.iter().map(|field| property(field, record).map_err(|e| e.under(&field.name)));
    // An optional property without a field cannot be carried: a message that has it is rejected.
    let properties = properties.filter_map(Result::transpose).collect::<Result<_, _>>()?;
    Ok(Plan { properties, additional: None, fields: record.fields.len() })
}

fn property(field: &dunnage_schema::Field, record: &Record) -> Result<Option<Property>, Error> {
    let kind = field.kind.carried();
    let nullable = kind.nullable().is_some();
    let inner = kind.nullable().map_or(kind, Type::carried);
    let absent = match (field.required, nullable) {
        (true, false) => None,
        (true, true) => Some(Absent::Null),
        (false, _) => Some(Absent::Missing),
    };
    let property = |rule, fields: Vec<usize>| {
        let implicit = fields.iter().any(|&at| !record.fields[at].optional);
        if absent.is_some() && implicit {
            return Err(Error::new(Kind::Type, IMPLICIT));
        }
        let presence = absent.map_or(Presence::Always, Presence::Optional);
        Ok(Some(Property { key: field.name.clone(), rule, fields, presence }))
    };
    if let Some(at) = find(record, &field.name) {
        return property(rule(inner, &record.fields[at].kind)?, vec![at]);
    }
    if let Type::NumbersText(text) = inner {
        let suffixed = |(part, _): &(String, NumberText)| find(record, &format!("{}_{part}", field.name));
        if let Some(fields) = text.parts.iter().map(suffixed).collect::<Option<Vec<_>>>() {
            return property(parts(text, &record.fields, &fields)?, fields);
        }
    }
    match inner {
        Type::Const(value) if absent.is_none() => Ok(Some(Property {
            key: field.name.clone(),
            rule: Rule::Constant(value.clone()),
            fields: Vec::new(),
            presence: Presence::Always,
        })),
        _ if absent == Some(Absent::Missing) => Ok(None),
        _ => Err(Error::new(
            Kind::Type,
            "the schema requires this property, and the definition has no field of its name",
        )),
    }
}

fn parts(text: &NumbersText, fields: &[Field], at: &[usize]) -> Result<Rule, Error> {
    let rules =
        text.parts.iter().zip(at).map(|((_, part), &at)| match number_text(part, &fields[at].kind)? {
            Rule::Same => Err(unfit("text; a part has to be a number")),
            rule => Ok(rule),
        });
    Ok(Rule::Parts(text.clone(), rules.collect::<Result<_, _>>()?))
}

/// Returns the rule that carries a value of the type in a field of that kind.
fn rule(of: &Type, kind: &FieldType) -> Result<Rule, Error> {
    let width = match kind {
        FieldType::Float32 => Width::Binary32,
        _ => Width::Binary64,
    };
    match (of.carried(), kind) {
        (Type::Any | Type::Union(_) | Type::Tuple(_) | Type::Definition(_), FieldType::Bytes) => {
            Ok(Rule::Pson)
        }
        (Type::Bool, FieldType::Bool) => Ok(Rule::Same),
        (Type::Integer(_), FieldType::Integer(_)) => Ok(Rule::Integer),
        (Type::Integer(_) | Type::Float(_), FieldType::Float32 | FieldType::Float64) => {
            Ok(Rule::Float(width))
        }
        (Type::Decimal(number), FieldType::Integer(_)) => Ok(Rule::Scaled(number.clone())),
        (Type::Decimal(number), FieldType::Float32 | FieldType::Float64) => {
            Ok(Rule::FloatDecimal(number.clone(), width))
        }
        (Type::NumberText(text), kind) => number_text(text, kind),
        (Type::Text(_) | Type::NumbersText(_) | Type::TimeText(_), FieldType::Text) => Ok(Rule::Same),
        (Type::NumbersText(text), FieldType::List(list)) if matches!(*list.item, FieldType::Integer(_)) => {
            Ok(Rule::NumbersText(text.clone()))
        }
        (Type::TimeText(text), FieldType::Integer(range)) => Ok(Rule::Time(text.clone(), *range)),
        (Type::Enum(values), FieldType::Text) if values.iter().all(|v| matches!(v, Value::Text(_))) => {
            Ok(Rule::Same)
        }
        (Type::Enum(values), FieldType::Integer(_)) if values.iter().all(|v| v.as_integer().is_some()) => {
            Ok(Rule::Integer)
        }
        (Type::Enum(values), FieldType::Integer(_)) => match derive::whole_numbers(values) {
            Some(number) => Ok(Rule::NumberText(number)),
            None => Err(unfit("one of some texts; the field holds an integer")),
        },
        (Type::Enum(values), FieldType::Enum(enumeration)) => choice(values, enumeration),
        (Type::Const(value), kind) => constant(value, kind),
        (Type::Array(array), FieldType::List(list)) => {
            Ok(Rule::List(Box::new(rule(&array.items, &list.item)?)))
        }
        (Type::Object(object), FieldType::Record(record))
            if record.fields.is_empty() && !object.fields.is_empty() =>
        {
            Err(unfit("an object with properties; the message has no fields, or holds itself"))
        }
        (Type::Object(object), FieldType::Record(record)) => plan(object, record).map(Rule::Object),
        (_, kind) => Err(unfit(&format!("of another type than the field, which holds {}", name(kind)))),
    }
}

fn number_text(text: &NumberText, kind: &FieldType) -> Result<Rule, Error> {
    match kind {
        FieldType::Integer(_) => Ok(Rule::NumberText(text.clone())),
        FieldType::Float32 => Ok(Rule::FloatText(text.clone(), Width::Binary32)),
        FieldType::Float64 => Ok(Rule::FloatText(text.clone(), Width::Binary64)),
        FieldType::Text => Ok(Rule::Same),
        kind => Err(unfit(&format!("a number in text; the field holds {}", name(kind)))),
    }
}

/// Matches values to the names of an enumeration: a value's own name, or one with a prefix (`DOOR_OPEN` for `open`).
fn choice(values: &[Value], enumeration: &Enumeration) -> Result<Rule, Error> {
    let names: Vec<_> = values.iter().map(|value| plain_name(&notes::plain(value))).collect();
    let own: Vec<_> = enumeration
        .symbols
        .iter()
        .map(|symbol| {
            let own = |name: &String| plain_name(symbol) == *name;
            let prefixed =
                |name: &String| symbol.rsplit('_').next().is_some_and(|last| plain_name(last) == *name);
            names.iter().position(own).or_else(|| names.iter().position(prefixed))
        })
        .collect();
    // Another name of the same value carries what its own name does not.
    let first = |at: usize| enumeration.aliases.get(at).copied().unwrap_or(at);
    let alias = |at: usize| (0..own.len()).find(|other| own[*other].is_some() && first(*other) == first(at));
    let carried: Vec<_> = (0..own.len()).map(|at| own[at].or_else(|| own[alias(at)?])).collect();
    match (0..values.len()).find(|index| !carried.contains(&Some(*index))) {
        Some(index) => Err(unfit(&format!(
            "{:?} at times; the enumeration has no such name",
            notes::plain(&values[index])
        ))),
        None => Ok(Rule::Choice(carried.into_iter().map(|index| index.map(|i| values[i].clone())).collect())),
    }
}

fn constant(value: &Value, kind: &FieldType) -> Result<Rule, Error> {
    match (value, kind) {
        (Value::Text(_), FieldType::Text) | (Value::Bool(_), FieldType::Bool) => Ok(Rule::Same),
        (value, FieldType::Integer(_)) if value.as_integer().is_some() => Ok(Rule::Integer),
        (_, kind) => Err(unfit(&format!("a constant; the field holds {}", name(kind)))),
    }
}

fn find(record: &Record, key: &str) -> Option<usize> {
    let exact = record.fields.iter().position(|field| field.name == key || field.key == key);
    exact.or_else(|| record.fields.iter().position(|field| plain_name(&field.name) == plain_name(key)))
}

/// Removes the parts of a name that languages spell differently.
fn plain_name(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn name(kind: &FieldType) -> &'static str {
    match kind {
        FieldType::Bool => "a boolean",
        FieldType::Integer(_) => "an integer",
        FieldType::Float32 | FieldType::Float64 => "a float",
        FieldType::Text => "text",
        FieldType::Bytes => "bytes",
        FieldType::Enum(_) => "an enumeration",
        FieldType::List(_) => "a list",
        FieldType::Record(_) => "a record",
    }
}

fn unfit(what: &str) -> Error {
    Error::new(Kind::Type, format!("the schema says that this is {what}"))
}
