//! A model with its record.

use crate::{Error, Record, bind, derive::Derivation, rule::Rule};
use dunnage_pson::{Budget, Kind, Value};
use dunnage_schema::Model;

/// How a schema-driven format carries decimals and structured text.
///
/// ```
/// use dunnage_codegen::{FieldType, Mapped, Mapping};
/// # use dunnage_schema::Model;
/// let model = Model::compile(r#"{
///     "title": "Reading",
///     "type": "object",
///     "properties": {
///         "celsius": {"type": "number", "multipleOf": 0.01, "minimum": -40, "maximum": 85},
///         "door": {"enum": ["open", "closed"]}
///     },
///     "required": ["celsius"],
///     "additionalProperties": false
/// }"#)?;
/// let kind = |mapping| Mapped::of(&model, mapping).record().fields[0].kind.clone();
/// assert!(matches!(kind(Mapping::Exact), FieldType::Integer(n) if n.max == 8500));
/// assert_eq!(kind(Mapping::Float32), FieldType::Float32);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Mapping {
    /// As scaled integers. Lossless.
    #[default]
    Exact,
    /// As binary32, as in most hand-written definitions. Not lossless.
    Float32,
}

/// Converts the messages of a model to records, and back.
///
/// ```
/// use dunnage_codegen::{Mapped, Mapping};
/// use dunnage_pson::Value;
/// # use dunnage_schema::Model;
/// let model = Model::compile(r#"{
///     "title": "Reading",
///     "type": "object",
///     "properties": {
///         "celsius": {"type": "number", "multipleOf": 0.01, "minimum": -40, "maximum": 85},
///         "door": {"enum": ["open", "closed"]}
///     },
///     "required": ["celsius"],
///     "additionalProperties": false
/// }"#)?;
/// let mapped = Mapped::of(&model, Mapping::Exact);
/// let message = Value::Map(vec![("celsius".into(), Value::F64(23.5))]);
/// let record = mapped.to_record(&message)?;
/// assert_eq!(record, Value::Array(vec![Value::U64(2350), Value::Null])); // without a door
/// assert_eq!(mapped.to_message(record)?, message);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Mapped {
    model: Model,
    mapping: Mapping,
    record: Record,
    root: Rule,
}

/// Maximum nesting depth of maps and arrays, as in `spec/pson.md`.
const MAX_DEPTH: usize = 32;

impl Mapped {
    /// Derives the record of `model`'s messages. A message that is not an object becomes a record of one field, `value`.
    pub fn of(model: &Model, mapping: Mapping) -> Self {
        let (record, root) = Derivation::new(mapping).message(model);
        Mapped { model: model.clone(), mapping, record, root }
    }

    /// Maps `model`'s messages to a record that is defined elsewhere. Fields are matched by name, ignoring case and everything but letters
    /// and digits. Every required property needs a field.
    ///
    /// # Errors
    /// `type`: a required property has no field, or its field cannot carry it. The pointer names the property.
    ///
    /// ```
    /// # use dunnage_codegen::{Mapped, Mapping};
    /// # use dunnage_pson::Kind;
    /// # use dunnage_schema::Model;
    /// let model = |name| Model::compile(&format!(r#"{{
    ///     "type": "object",
    ///     "properties": {{"{name}": {{"type": "integer", "minimum": 0, "maximum": 9}}}},
    ///     "required": ["{name}"],
    ///     "additionalProperties": false
    /// }}"#));
    /// let theirs = Mapped::of(&model("doorCount")?, Mapping::Exact).record().clone();
    /// assert!(Mapped::bind(&model("door_count")?, theirs.clone()).is_ok());
    /// assert_eq!(Mapped::bind(&model("windows")?, theirs).unwrap_err().kind(), Kind::Type);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn bind(model: &Model, record: Record) -> Result<Self, Error> {
        let root = bind::message(model.root(), &record)?;
        Ok(Mapped { model: model.clone(), mapping: Mapping::Exact, record, root })
    }

    /// Returns the names of the fields of the record that a message would lose: the schema allows further properties, and does not name
    /// these fields. Only a record that is defined elsewhere has such fields.
    pub fn lost(&self) -> Vec<&str> {
        bind::lost(self.model.root(), &self.record)
    }

    pub(crate) fn mapping(&self) -> Mapping {
        self.mapping
    }

    /// Returns the record of the message.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Converts `message` to a value of the record. The message must be valid against the model.
    ///
    /// # Errors
    /// - `type`: a property that the schema does not have.
    /// - `range`: any other value that the schema does not allow.
    /// - `limit`: a message that is nested more than 32 deep.
    pub fn to_record(&self, message: &Value) -> Result<Value, Error> {
        self.check(message, Kind::Type)?;
        match &self.root {
            Rule::Constant(_) => Ok(Value::Array(Vec::new())),
            rule => rule.to_record(message),
        }
    }

    /// Converts a value of the record to a message.
    ///
    /// # Errors
    /// `type` if the value is not a record, and `range` if the message is not valid. Elements after the fields of the record are left out.
    pub fn to_message(&self, record: Value) -> Result<Value, Error> {
        self.to_message_within(record, &Budget::default())
    }

    /// Like [`Mapped::to_message`], but charges what it allocates to `budget`. The record itself must already be charged.
    ///
    /// # Errors
    /// As those of [`Mapped::to_message`], and `limit` if `budget` is used up.
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
