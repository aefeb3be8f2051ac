//! The error type of all formats.

use dunnage_pson::Kind;
use dunnage_schema::SchemaError;
use std::fmt;

/// Why a message could not be encoded or decoded.
// Boxed, because every `Result` has room for its error, also on success.
///
/// ```
/// use dunnage_formats::{Cbor, Format, Json, Kind, Value};
///
/// let error = Cbor.decode(b"\xa1\x61t\xf9\x4d").unwrap_err();
/// assert_eq!((error.kind(), error.offset()), (Kind::Truncated, Some(5)));
///
/// // An error of encoding has no bytes to count, but a place in the message.
/// let message = Value::Map(vec![("t".into(), Value::F64(f64::NAN))]);
/// let error = Json.encode(&message, &mut Vec::new()).unwrap_err();
/// assert_eq!((error.kind(), error.offset(), error.pointer()), (Kind::Range, None, "/t"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(Box<Fault>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Fault {
    kind: Kind,
    offset: Option<usize>,
    pointer: String,
    message: String,
    numbers: Option<&'static str>,
}

impl Error {
    /// Makes an error of `kind` at byte `offset` of the message; 0 if the format's library reports no offset.
    #[cold]
    pub fn new(kind: Kind, offset: usize, message: impl Into<String>) -> Self {
        let (offset, pointer) = (Some(offset), String::new());
        Error(Box::new(Fault { kind, offset, pointer, message: message.into(), numbers: None }))
    }

    /// Makes an error of `kind` in the value at `pointer`, without an offset.
    #[cold]
    pub fn of_value(kind: Kind, pointer: &str, message: impl Into<String>) -> Self {
        let (pointer, message) = (pointer.into(), message.into());
        Error(Box::new(Fault { kind, offset: None, pointer, message, numbers: None }))
    }

    /// Prefixes the pointer with `key`: the error is inside the entry of that key.
    #[cold]
    pub fn under(mut self, key: &str) -> Self {
        self.0.pointer.insert_str(0, &format!("/{}", dunnage_schema::pointer::escape(key)));
        self
    }

    /// Prefixes the pointer with `index`: the error is inside that element.
    #[cold]
    pub fn at_index(self, index: usize) -> Self {
        self.under(&index.to_string())
    }

    /// Prefixes the message with the name of the field that it concerns.
    #[cold]
    pub(crate) fn in_field(mut self, name: &str) -> Self {
        self.0.message.insert_str(0, &format!("{name}: "));
        self
    }

    /// Removes the offset: an error of encoding has no bytes to count.
    #[cold]
    pub fn without_offset(mut self) -> Self {
        self.0.offset = None;
        self
    }

    /// Changes the offset, if there is one.
    #[cold]
    pub(crate) fn moved(mut self, to: impl FnOnce(usize) -> usize) -> Self {
        self.0.offset = self.0.offset.map(to);
        self
    }

    /// Sets the offset to byte `offset`.
    #[cold]
    pub fn at_offset(mut self, offset: usize) -> Self {
        self.0.offset = Some(offset);
        self
    }

    /// Adds the choice of numbers with which the number at fault is read.
    #[cold]
    pub(crate) fn readable_with(mut self, numbers: Option<&'static str>) -> Self {
        self.0.numbers = numbers;
        self
    }

    /// Returns the setting of numbers, `nearest` or `lenient`, that would accept the number at fault.
    pub fn numbers(&self) -> Option<&'static str> {
        self.0.numbers
    }

    /// Sets the offset to that of the value in the JSON `text` that the pointer names, if there is a pointer and no offset yet.
    #[cfg(feature = "json")]
    pub fn in_json(mut self, text: &[u8]) -> Self {
        if self.0.offset.is_none() && !self.0.pointer.is_empty() {
            self.0.offset = crate::json_offset(text, &self.0.pointer);
        }
        self
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// Returns where the error is, in bytes from the start of the message, if known.
    pub fn offset(&self) -> Option<usize> {
        self.0.offset
    }

    /// Returns the value at fault as a JSON pointer (RFC 6901). It is empty for the whole message, or if unknown.
    pub fn pointer(&self) -> &str {
        &self.0.pointer
    }

    /// Returns the message, followed by the JSON pointer if there is one.
    pub fn reason(&self) -> String {
        match self.pointer() {
            "" => self.message().to_owned(),
            pointer => format!("{} at {pointer}", self.message()),
        }
    }

    /// Returns the reason, for people.
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind(), self.reason())?;
        match (self.pointer(), self.offset()) {
            (_, None) => Ok(()),
            ("", Some(offset)) => write!(f, " at byte {offset}"),
            (_, Some(offset)) => write!(f, ", byte {offset}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<dunnage_pson::Error> for Error {
    fn from(e: dunnage_pson::Error) -> Self {
        Error::new(e.kind(), e.offset(), e.reason())
    }
}

impl From<dunnage_codegen::Error> for Error {
    fn from(e: dunnage_codegen::Error) -> Self {
        Error::of_value(e.kind(), e.pointer(), e.message())
    }
}

impl From<SchemaError> for Error {
    fn from(e: SchemaError) -> Self {
        Error::of_value(Kind::Malformed, e.pointer(), e.message())
    }
}

#[cfg(feature = "packed")]
impl From<dunnage_packed::Error> for Error {
    fn from(e: dunnage_packed::Error) -> Self {
        let mut error = Error::of_value(e.kind(), e.pointer(), e.message());
        error.0.offset = e.offset();
        error
    }
}
