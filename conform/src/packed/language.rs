//! What the driver asks of a language, and what has to come back.

use anyhow::Result;
use dunnage_packed::Layout;
use dunnage_pson::Value;

/// A language with generated code.
pub trait Language {
    /// Its name for people.
    fn name(&self) -> &str;

    /// Generates and loads the code of a layout; false when the generator refuses the schema.
    fn load(&mut self, layout: &Layout) -> Result<bool>;

    /// The answers to all requests, in their order.
    fn ask(&mut self, requests: &[Request]) -> Result<Vec<Answer>>;

    /// The answer that is right.
    fn expected(&self, layout: &Layout, request: &Request) -> Answer {
        match request {
            Request::Encode { bytes, .. } => Answer::Bytes(bytes.clone()),
            Request::Decode { bytes, device } => match layout.decode(bytes, Some(device)) {
                Ok(message) => Answer::Message(message),
                Err(error) => Answer::Error { kind: error.kind().to_string(), offset: Some(error.offset()) },
            },
        }
    }
}

/// A question about one message.
#[derive(Debug)]
pub enum Request {
    /// The message's bytes, which are known.
    Encode {
        /// One that the schema allows.
        message: Value,
        /// What `crates/packed` makes of it.
        bytes: Vec<u8>,
    },
    /// The message that these bytes are, or the error.
    Decode {
        /// Perhaps damaged.
        bytes: Vec<u8>,
        /// The id of who sent them.
        device: String,
    },
}

/// What a language says.
#[derive(Debug, PartialEq)]
pub enum Answer {
    /// An encoded message.
    Bytes(Vec<u8>),
    /// A decoded message.
    Message(Value),
    /// Why there is none, and at which byte, if the language tells.
    Error {
        /// The name of the kind.
        kind: String,
        /// In bytes from the start of the message.
        offset: Option<usize>,
    },
}

impl Answer {
    /// Whether `given` says the same; an offset counts when it is given.
    pub fn is_met_by(&self, given: &Answer) -> bool {
        match (self, given) {
            (Answer::Error { kind, .. }, Answer::Error { kind: other, offset: None }) => kind == other,
            _ => self == given,
        }
    }
}
