//! The one error of every format.

use dunnage_pson::Kind;
use std::fmt;

/// Why a message could not be encoded or decoded.
// A pointer, because every result on the way to success has room for it.
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
    /// An error of `kind` at byte `offset` of the message; 0 when the format's library does not tell.
    #[cold]
    pub fn new(kind: Kind, offset: usize, message: impl Into<String>) -> Self {
        let (offset, pointer) = (Some(offset), String::new());
        Error(Box::new(Fault { kind, offset, pointer, message: message.into() }))
    }

    /// An error of `kind` in the value at `pointer`, wherever its bytes are.
    #[cold]
    pub(crate) fn of_value(kind: Kind, pointer: &str, message: impl Into<String>) -> Self {
        Error(Box::new(Fault { kind, offset: None, pointer: pointer.into(), message: message.into() }))
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

    /// The same error without an offset: when encoding there are no bytes that it could count.
    #[cold]
    pub(crate) fn without_offset(mut self) -> Self {
        self.0.offset = None;
        self
    }

    /// The same error at byte `offset`.
    #[cold]
    pub(crate) fn at_offset(mut self, offset: usize) -> Self {
        self.0.offset = Some(offset);
        self
    }

    /// The same error at the value of the JSON `text` that its pointer names, if it has a pointer and no offset yet.
    pub fn in_json(mut self, text: &[u8]) -> Self {
        if self.0.offset.is_none() && !self.0.pointer.is_empty() {
            self.0.offset = crate::json_offset(text, &self.0.pointer);
        }
        self
    }

    /// What went wrong.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// Where, in bytes from the start of the message; 0 where that is not known.
    pub fn offset(&self) -> usize {
        self.0.offset.unwrap_or(0)
    }

    /// Where, in bytes from the start of the message, if that is known.
    pub fn known_offset(&self) -> Option<usize> {
        self.0.offset
    }

    /// In which value: a JSON pointer (RFC 6901). Empty for the whole message, and where that is not known.
    pub fn pointer(&self) -> &str {
        &self.0.pointer
    }

    /// The reason and the value that it is about, for people.
    pub fn reason(&self) -> String {
        match self.pointer() {
            "" => self.message().to_owned(),
            pointer => format!("{} at {pointer}", self.message()),
        }
    }

    /// The reason, for people.
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind(), self.reason())?;
        match (self.pointer(), self.known_offset()) {
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

impl From<dunnage_packed::Error> for Error {
    fn from(e: dunnage_packed::Error) -> Self {
        let mut error = Error::new(e.kind(), e.offset(), e.message());
        error.0.pointer = e.pointer().to_owned();
        error
    }
}
