//! Errors of codecs.

use crate::limits;
use dunnage_pson::Kind;
use std::{fmt, sync::Arc};

/// Why a codec could not be loaded, or did not decode a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// `malformed` if the codec threw or returned errors, `limit` if it took too much, `type` or `range` if its result has no form as a
    /// message.
    pub kind: Kind,
    /// The file of the codec.
    pub file: Arc<str>,
    /// The line in the file, from 1, if it is known.
    pub line: Option<u32>,
    /// The invalid value in the result, as a JSON pointer.
    pub pointer: String,
    /// The cause, for people.
    pub message: String,
}

impl Error {
    /// Creates an error of the codec `file`. The message is cut to a size that people read.
    pub(crate) fn new(kind: Kind, file: &Arc<str>, line: Option<u32>, message: &str) -> Error {
        let message = message.chars().take(limits::TEXT).collect();
        Error { kind, file: Arc::clone(file), line, pointer: String::new(), message }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for Error {}
