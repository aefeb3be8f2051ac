//! The one error of this crate.

use dunnage_pson::Kind;
use std::fmt;

/// Why a message could not be encoded or decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    kind: Kind,
    offset: usize,
    pointer: String,
    message: String,
}

impl Error {
    /// An error of `kind` at byte `offset` of the message; 0 when encoding.
    pub(crate) fn new(kind: Kind, offset: usize, message: impl Into<String>) -> Self {
        Error { kind, offset, pointer: String::new(), message: message.into() }
    }

    /// The same error, one level further up: inside `key`.
    pub(crate) fn under(mut self, key: &str) -> Self {
        let escaped = key.replace('~', "~0").replace('/', "~1");
        self.pointer.insert_str(0, &format!("/{escaped}"));
        self
    }

    /// What went wrong.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Where, in bytes from the start of the message: the byte with the first bit of the part at fault.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Which value: a JSON pointer (RFC 6901).
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// The reason, for people: the value and the limit.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pointer.as_str() {
            "" => write!(f, "{}: {} at byte {}", self.kind, self.message, self.offset),
            pointer => write!(f, "{}: {} at {pointer}", self.kind, self.message),
        }
    }
}

impl std::error::Error for Error {}
