//! The one error of this crate.

use dunnage_pson::Kind;
use dunnage_schema::Violation;
use std::fmt;

/// Why a message could not be encoded or decoded.
// A pointer, because every result on the way to success has room for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(Box<Fault>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Fault {
    kind: Kind,
    offset: usize,
    pointer: String,
    message: String,
}

impl Error {
    /// An error of `kind` at byte `offset` of the message; 0 when encoding.
    #[cold]
    pub(crate) fn new(kind: Kind, offset: usize, message: impl Into<String>) -> Self {
        Error(Box::new(Fault { kind, offset, pointer: String::new(), message: message.into() }))
    }

    /// What validation says of a message.
    #[cold]
    pub(crate) fn violation(kind: Kind, violation: &Violation) -> Self {
        let (pointer, message) = (violation.pointer().to_owned(), violation.message().to_owned());
        Error(Box::new(Fault { kind, offset: 0, pointer, message }))
    }

    /// The same error, one level further up: inside `key`.
    #[cold]
    pub(crate) fn under(mut self, key: &str) -> Self {
        let escaped = key.replace('~', "~0").replace('/', "~1");
        self.0.pointer.insert_str(0, &format!("/{escaped}"));
        self
    }

    /// The same error, inside the element at `index`.
    #[cold]
    pub(crate) fn at_index(self, index: usize) -> Self {
        self.under(&index.to_string())
    }

    /// What went wrong.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// Where, in bytes from the start of the message: the byte with the first bit of the part at fault.
    pub fn offset(&self) -> usize {
        self.0.offset
    }

    /// Which value: a JSON pointer (RFC 6901).
    pub fn pointer(&self) -> &str {
        &self.0.pointer
    }

    /// The reason, for people: the value and the limit.
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pointer() {
            "" => write!(f, "{}: {} at byte {}", self.kind(), self.message(), self.offset()),
            pointer => write!(f, "{}: {} at {pointer}", self.kind(), self.message()),
        }
    }
}

impl std::error::Error for Error {}

impl From<dunnage_pson::Error> for Error {
    fn from(e: dunnage_pson::Error) -> Self {
        Error::new(e.kind(), e.offset(), e.reason())
    }
}
