//! The interface between the driver and a language.

use anyhow::Result;
use dunnage_packed::Layout;
use dunnage_pson::Value;
use std::collections::BTreeMap;

/// A language for which code is generated.
pub trait Language {
    /// The name that is printed.
    fn name(&self) -> &str;

    /// Generates and loads the code for a layout. Returns false if the generator rejects the schema.
    fn load(&mut self, layout: &Layout) -> Result<bool>;

    /// Answers all requests, in their order.
    fn ask(&mut self, requests: &[Request]) -> Result<Vec<Answer>>;

    /// The expected answer.
    fn expected(&self, layout: &Layout, request: &Request) -> Answer {
        match request {
            Request::Encode { bytes, .. } => Answer::Bytes(bytes.clone()),
            Request::Decode { bytes, known } => match layout.decode(bytes, known) {
                Ok(message) => Answer::Message(message),
                Err(error) => Answer::Error { kind: error.kind().to_string(), offset: error.offset() },
            },
        }
    }
}

/// A request about one message.
#[derive(Debug)]
pub enum Request {
    /// Encode a message whose bytes are known.
    Encode {
        /// A message that is valid against the schema.
        message: Value,
        /// The bytes that `crates/packed` encodes it to.
        bytes: Vec<u8>,
    },
    /// Decode bytes to a message or an error.
    Decode {
        /// The bytes, which may be damaged.
        bytes: Vec<u8>,
        /// The texts that the receiver knows about the device, by name.
        known: BTreeMap<String, String>,
    },
}

/// The answer of a language.
#[derive(Debug, PartialEq)]
pub enum Answer {
    /// An encoded message.
    Bytes(Vec<u8>),
    /// A decoded message.
    Message(Value),
    /// The error of encoding or decoding.
    Error {
        /// The name of the error kind.
        kind: String,
        /// The offset from the start of the message in bytes, if the language reports one.
        offset: Option<usize>,
    },
}

impl Answer {
    /// Whether `given` is this answer. An offset is compared only if `given` has one.
    pub fn is_met_by(&self, given: &Answer) -> bool {
        match (self, given) {
            (Answer::Error { kind, .. }, Answer::Error { kind: other, offset: None }) => kind == other,
            _ => self == given,
        }
    }
}
