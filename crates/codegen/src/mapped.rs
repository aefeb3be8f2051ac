//! A model with its record.

use crate::{Error, Record, bind, derive::Derivation, rule::Rule};
use dunnage_pson::{Budget, Kind, Value};
use dunnage_schema::Model;

/// How a schema-driven format carries decimals and structured text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Mapping {
    /// As scaled integers. Lossless.
    #[default]
    Exact,
    /// As binary32, as in most hand-written definitions. Not lossless.
    Float32,
}

/// Converts the messages of a model to records, and back.
#[derive(Debug, Clone)]
pub struct Mapped {
    model: Model,
    record: Record,
    root: Rule,
}

/// Maximum nesting depth of maps and arrays, as in `spec/pson.md`.
const MAX_DEPTH: usize = 32;

impl Mapped {
    /// Derives the record of `model`'s messages. A message that is not an object becomes a record of one field, `value`.
    pub fn of(model: &Model, mapping: Mapping) -> Self {
        let (record, root) = Derivation::new(mapping).message(model);
        Mapped { model: model.clone(), record, root }
    }

    /// Maps `model`'s messages to a record that is defined elsewhere. Fields are matched by name, ignoring case and everything but letters
    /// and digits. Every required property needs a field.
    pub fn bind(model: &Model, record: Record) -> Result<Self, Error> {
        let root = bind::message(&model.root, &record)?;
        Ok(Mapped { model: model.clone(), record, root })
    }

    /// Returns the names of the fields of the record that a message would lose: the schema allows further properties, and does not name
    /// these fields. Only a record that is defined elsewhere has such fields.
    pub fn lost(&self) -> Vec<&str> {
        bind::lost(&self.model.root, &self.record)
    }

    /// Returns the record of the message.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Converts `message` to a value of the record. The message must be valid against the model.
    pub fn to_record(&self, message: &Value) -> Result<Value, Error> {
        self.check(message, Kind::Type)?;
        match &self.root {
            Rule::Constant(_) => Ok(Value::Array(Vec::new())),
            rule => rule.to_record(message),
        }
    }

    /// Converts a value of the record to a message. Returns an error if the message is not valid against the model.
    pub fn to_message(&self, record: Value) -> Result<Value, Error> {
        self.to_message_within(record, &Budget::default())
    }

    /// Like [`Mapped::to_message`], but charges what it allocates to `budget`. The record itself must already be charged.
    pub fn to_message_within(&self, record: Value, budget: &Budget) -> Result<Value, Error> {
        let message = self.root.to_message(record, budget)?;
        self.check(&message, Kind::Range)?;
        Ok(message)
    }

    /// Validates the message. `unknown` is the kind of error for a property that the schema does not have: only the caller of a writer can
    /// cause it.
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

/// Returns the nesting depth of maps and arrays.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Map(entries) => 1 + entries.iter().map(|(_, v)| depth(v)).max().unwrap_or(0),
        _ => 0,
    }
}
