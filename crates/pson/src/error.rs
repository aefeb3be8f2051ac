//! The error type: a kind, a byte offset and a reason.

use core::fmt;

/// The kind of an error. The kinds are the same in every Dunnage library and are part of its contract.
/// The wording of an error is not ([spec/pson.md](https://github.com/dunnage/dunnage/blob/main/spec/pson.md), "Errors").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// The bytes end before the message does, or the buffer is full.
    Truncated,
    /// The bytes are not a message of this format.
    Malformed,
    /// The message has another type than the one asked for.
    Type,
    /// The value does not fit the type asked for.
    Range,
    /// The nesting or size is above the limit.
    Limit,
    /// The message refers to another one that is not known. Only deltas of packed messages do.
    Reference,
}

impl Kind {
    /// Returns the name used in vectors, on the wire and in metrics: `truncated`, `malformed`, `type`, `range`, `limit`, `reference`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::Truncated => "truncated",
            Kind::Malformed => "malformed",
            Kind::Type => "type",
            Kind::Range => "range",
            Kind::Limit => "limit",
            Kind::Reference => "reference",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The reason of every error about a duplicate key, in all crates of Dunnage.
#[doc(hidden)]
pub const DUPLICATE_KEY: &str = "duplicate key";

/// An error at a byte offset of the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(Place<Fault>);

/// With an allocator an error is boxed, because every `Result` on the path to success has room for it.
#[cfg(feature = "alloc")]
type Place<T> = alloc::boxed::Box<T>;
#[cfg(not(feature = "alloc"))]
type Place<T> = T;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Fault {
    kind: Kind,
    offset: usize,
    reason: &'static str,
    /// The message of a type that implements serde's traits. It replaces `reason`.
    #[cfg(feature = "alloc")]
    detail: Option<alloc::boxed::Box<str>>,
}

impl Error {
    /// Creates an error of `kind` at `offset` bytes from the start of the message. `reason` is for people.
    #[cold]
    #[cfg_attr(not(feature = "alloc"), allow(clippy::useless_conversion))]
    pub fn new(kind: Kind, offset: usize, reason: &'static str) -> Self {
        let fault = Fault {
            kind,
            offset,
            reason,
            #[cfg(feature = "alloc")]
            detail: None,
        };
        Error(fault.into())
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// Returns the offset in bytes from the start of the message.
    pub fn offset(&self) -> usize {
        self.0.offset
    }

    /// Returns the reason, for people.
    pub fn reason(&self) -> &str {
        #[cfg(feature = "alloc")]
        if let Some(detail) = &self.0.detail {
            return detail;
        }
        self.0.reason
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} at byte {}", self.kind(), self.reason(), self.offset())
    }
}

impl core::error::Error for Error {}

/// Errors of types that implement serde's traits. They have no offset at first; the codec adds it.
#[cfg(feature = "serde")]
mod serde {
    use super::{DUPLICATE_KEY, Error, Kind};
    use core::fmt;
    use serde::{de, ser};

    const NOWHERE: usize = usize::MAX;
    /// The placeholder for the offset of the last key.
    const AT_KEY: usize = usize::MAX - 1;

    impl Error {
        /// Sets the offset of this error, unless it has one.
        #[cold]
        pub(crate) fn or_at(mut self, offset: usize) -> Self {
            if self.0.offset == NOWHERE {
                self.0.offset = offset;
            }
            self
        }

        /// Sets the offset of this error, if it is about the last key.
        #[cold]
        pub(crate) fn or_at_key(mut self, offset: usize) -> Self {
            if self.0.offset == AT_KEY {
                self.0.offset = offset;
            }
            self
        }

        /// Creates an error without an offset. Its text is `detail` with an allocator, and `reason` without one.
        #[cold]
        #[cfg_attr(not(feature = "alloc"), allow(unused_variables))]
        fn saying(kind: Kind, reason: &'static str, detail: impl fmt::Display) -> Self {
            #[cfg_attr(not(feature = "alloc"), allow(unused_mut))]
            let mut error = Error::new(kind, NOWHERE, reason);
            #[cfg(feature = "alloc")]
            {
                error.0.detail = Some(alloc::format!("{detail}").into());
            }
            error
        }
    }

    impl ser::Error for Error {
        fn custom<T: fmt::Display>(message: T) -> Self {
            Error::saying(Kind::Type, "the value refuses to be serialized", message)
        }
    }

    impl de::Error for Error {
        fn custom<T: fmt::Display>(message: T) -> Self {
            Error::saying(Kind::Type, "the type refuses the message", message)
        }

        fn invalid_value(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
            let detail = format_args!("{found}, expected {expected}");
            Error::saying(Kind::Range, "a value that the type does not allow", detail)
        }

        fn duplicate_field(field: &'static str) -> Self {
            let detail = format_args!("{DUPLICATE_KEY} {field}");
            let mut error = Error::saying(Kind::Malformed, DUPLICATE_KEY, detail);
            error.0.offset = AT_KEY;
            error
        }
    }
}
