//! A model together with its record.

use crate::{Error, Record, derive::Derivation, onto, rule::Rule};
use dunnage_pson::{Budget, Kind, Value};
use dunnage_schema::Model;

/// How a schema-driven format carries decimals and structured text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Mapping {
    /// As scaled integers: the message comes back as it was.
    #[default]
    Exact,
    /// As binary32, the mapping that people write by hand. Not lossless.
    Float32,
}

/// A model's messages as records.
#[derive(Debug, Clone)]
pub struct Mapped {
    model: Model,
    record: Record,
    root: Rule,
}

/// Most maps and arrays inside one another, as in `spec/pson.md`.
const MAX_DEPTH: usize = 32;

impl Mapped {
    /// The record of `model`'s messages. A message that is not an object stands in a record of one field, `value`.
    pub fn of(model: &Model, mapping: Mapping) -> Self {
        let (record, root) = Derivation::new(mapping).message(model);
        Mapped { model: model.clone(), record, root }
    }

    /// `model`'s messages in a record that somebody else defined. Fields are found by name, where case and what is
    /// neither letter nor digit do not matter; every required property needs one.
    pub fn onto(model: &Model, record: Record) -> Result<Self, Error> {
        let root = onto::message(&model.root, &record)?;
        Ok(Mapped { model: model.clone(), record, root })
    }

    /// The definition of the message.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// `message` as a value of the record. It must be valid against the model.
    pub fn lower(&self, message: &Value) -> Result<Value, Error> {
        self.check(message, Kind::Type)?;
        match &self.root {
            Rule::Constant(_) => Ok(Value::Array(Vec::new())),
            rule => rule.lower(message),
        }
    }

    /// The message that a value of the record is. It is valid against the model, or this is an error.
    pub fn raise(&self, record: Value) -> Result<Value, Error> {
        self.raise_within(record, &Budget::default())
    }

    /// The same, as long as `budget` lasts, of which the record has been taken already.
    pub fn raise_within(&self, record: Value, budget: &Budget) -> Result<Value, Error> {
        let message = self.root.raise(record, budget)?;
        self.check(&message, Kind::Range)?;
        Ok(message)
    }

    /// `unknown` is the kind of a property that the schema does not have: only a writer's caller has put it there.
    fn check(&self, message: &Value, unknown: Kind) -> Result<(), Error> {
        if depth(message) > MAX_DEPTH {
            return Err(Error::new(Kind::Limit, "nested more than 32 deep"));
        }
        self.model.validate(message).map_err(|v| {
            let kind = if v.is_unknown_field() { unknown } else { Kind::Range };
            Error::at(kind, v.pointer(), v.message())
        })
    }
}

/// How many maps and arrays are inside one another.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Map(entries) => 1 + entries.iter().map(|(_, v)| depth(v)).max().unwrap_or(0),
        _ => 0,
    }
}
