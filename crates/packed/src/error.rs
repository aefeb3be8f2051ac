//! The error type of this crate.

use dunnage_pson::Kind;
use dunnage_schema::Violation;
use std::fmt;

/// The reason why a message could not be encoded or decoded.
// Boxed, because every `Result` on the path to success has room for it.
///
/// ```
/// # use dunnage_packed::{Kind, Layout, Value};
/// # use dunnage_schema::Model;
/// let layout = Layout::new(&Model::compile(r#"{"type": "integer", "minimum": 0, "maximum": 1000}"#)?)?;
/// let error = layout.decode(&[0x01], None).unwrap_err();
/// assert_eq!((error.kind(), error.offset()), (Kind::Truncated, Some(1)));
/// let error = layout.encode(&Value::U64(1001), &mut Vec::new()).unwrap_err();
/// assert_eq!((error.kind(), error.offset(), error.message()), (Kind::Range, None, "1001 is above the maximum 1000"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(Box<Fault>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Fault {
    kind: Kind,
    offset: Option<usize>,
    pointer: String,
    message: String,
}

impl Error {
    /// Creates an error of `kind` at byte `offset` of the message.
    #[cold]
    pub(crate) fn new(kind: Kind, offset: usize, message: impl Into<String>) -> Self {
        let (pointer, message) = (String::new(), message.into());
        Error(Box::new(Fault { kind, offset: Some(offset), pointer, message }))
    }

    /// Creates an error from a violation that validation reports.
    #[cold]
    pub(crate) fn violation(kind: Kind, violation: &Violation) -> Self {
        let (pointer, message) = (violation.pointer().to_owned(), violation.message().to_owned());
        Error(Box::new(Fault { kind, offset: Some(0), pointer, message }))
    }

    /// Returns the error without its offset: an error of encoding has no bytes to count.
    #[cold]
    pub(crate) fn without_offset(mut self) -> Self {
        self.0.offset = None;
        self
    }

    /// Returns the error with `key` put before its pointer.
    #[cold]
    pub(crate) fn under(mut self, key: &str) -> Self {
        self.0.pointer.insert_str(0, &format!("/{}", dunnage_schema::pointer::escape(key)));
        self
    }

    /// Returns the error with the element `index` put before its pointer.
    #[cold]
    pub(crate) fn at_index(self, index: usize) -> Self {
        self.under(&index.to_string())
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// Returns the offset, in bytes from the start of the message, of the byte with the first bit of the invalid part. It is 0 if only the
    /// whole message shows the error, and `None` if the error is not about bytes: that of an encoder.
    pub fn offset(&self) -> Option<usize> {
        self.0.offset
    }

    /// Returns a JSON pointer (RFC 6901) to the invalid value.
    pub fn pointer(&self) -> &str {
        &self.0.pointer
    }

    /// Returns the reason for people: the value and the limit.
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind(), self.message())?;
        match (self.pointer(), self.offset()) {
            ("", Some(offset)) => write!(f, " at byte {offset}"),
            ("", None) => Ok(()),
            (pointer, _) => write!(f, " at {pointer}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<dunnage_pson::Error> for Error {
    fn from(e: dunnage_pson::Error) -> Self {
        Error::new(e.kind(), e.offset(), e.reason())
    }
}
