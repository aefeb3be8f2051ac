//! The one error of every format.

use dunnage_pson::Kind;
use std::fmt;

/// Why a message could not be encoded or decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    kind: Kind,
    offset: usize,
    message: String,
}

impl Error {
    /// An error of `kind` at byte `offset` of the message; 0 when encoding, or when the format's library does not tell.
    pub fn new(kind: Kind, offset: usize, message: impl Into<String>) -> Self {
        Error { kind, offset, message: message.into() }
    }

    /// What went wrong.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Where, in bytes from the start of the message.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The reason, for people.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} at byte {}", self.kind, self.message, self.offset)
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
        let message = match e.pointer() {
            "" => e.message().to_owned(),
            pointer => format!("{pointer}: {}", e.message()),
        };
        Error::new(e.kind(), 0, message)
    }
}

impl From<dunnage_packed::Error> for Error {
    fn from(e: dunnage_packed::Error) -> Self {
        let message = match e.pointer() {
            "" => e.message().to_owned(),
            pointer => format!("{pointer}: {}", e.message()),
        };
        Error::new(e.kind(), e.offset(), message)
    }
}
