//! The error of converting between a message and its record.

use std::fmt;

/// The message cannot be put into its record, or the record is not a valid message.
///
/// ```
/// use dunnage_codegen::{Mapped, Mapping};
/// use dunnage_pson::{Kind, Value};
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
/// let message = Value::Map(vec![("celsius".into(), Value::F64(85.01))]);
/// let error = Mapped::of(&model, Mapping::Exact).to_record(&message).unwrap_err();
/// assert_eq!(error.pointer(), "/celsius");
/// assert_eq!(error.message(), "85.01 is above the maximum 85.00");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    kind: dunnage_pson::Kind,
    pointer: String,
    message: String,
}

impl Error {
    pub(crate) fn new(kind: dunnage_pson::Kind, message: impl Into<String>) -> Self {
        Error { kind, pointer: String::new(), message: message.into() }
    }

    pub(crate) fn at(
        kind: dunnage_pson::Kind,
        pointer: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Error { kind, pointer: pointer.into(), message: message.into() }
    }

    pub(crate) fn of_type(expected: &str) -> Self {
        Error::new(dunnage_pson::Kind::Type, format!("not {expected}"))
    }

    /// Prefixes the pointer with `key`: the error is inside the entry of that key.
    pub(crate) fn under(mut self, key: &str) -> Self {
        self.pointer.insert_str(0, &format!("/{}", dunnage_schema::pointer::escape(key)));
        self
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> dunnage_pson::Kind {
        self.kind
    }

    /// Returns the value at fault in the message, as a JSON pointer (RFC 6901).
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// Returns the reason, for people.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pointer.as_str() {
            "" => write!(f, "{}: {}", self.kind, self.message),
            pointer => write!(f, "{}: {} at {pointer}", self.kind, self.message),
        }
    }
}

impl std::error::Error for Error {}

/// The budget is exhausted. The pointer locates the error, because a record has no byte offsets.
impl From<dunnage_pson::Error> for Error {
    fn from(e: dunnage_pson::Error) -> Self {
        Error::new(e.kind(), e.reason())
    }
}
