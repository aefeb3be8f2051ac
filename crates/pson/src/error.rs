//! Errors: a kind, a byte offset and a reason.

use core::fmt;

/// What went wrong. The kinds are the same in every Dunnage library and are part of its contract;
/// the wording of an error is not (`spec/pson.md`, "Errors").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// The bytes end before the message does, or the buffer is full.
    Truncated,
    /// The bytes are not a message of this format.
    Malformed,
    /// The message holds another type than the one asked for.
    Type,
    /// The value does not fit the type asked for.
    Range,
    /// Nesting or size is over the limit.
    Limit,
}

impl Kind {
    /// The name used in vectors, on the wire and in metrics: `truncated`, `malformed`, `type`, `range`, `limit`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::Truncated => "truncated",
            Kind::Malformed => "malformed",
            Kind::Type => "type",
            Kind::Range => "range",
            Kind::Limit => "limit",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An error at a byte offset of the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    kind: Kind,
    offset: usize,
    reason: &'static str,
}

impl Error {
    /// An error of `kind` at `offset` bytes from the start of the message; `reason` is for people.
    pub const fn new(kind: Kind, offset: usize, reason: &'static str) -> Self {
        Error { kind, offset, reason }
    }

    /// What went wrong.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// Where, in bytes from the start of the message.
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// Why, for people.
    pub const fn reason(&self) -> &'static str {
        self.reason
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} at byte {}", self.kind, self.reason, self.offset)
    }
}

impl core::error::Error for Error {}
