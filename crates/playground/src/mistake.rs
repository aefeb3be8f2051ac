//! Mistakes in the user's input, with their place.

use crate::limits::sentence;
use dunnage_formats::{Error, line_and_column};
use serde::Serialize;
use utoipa::ToSchema;

/// The text that has the mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Text {
    /// The messages.
    Messages,
    /// The schema.
    Schema,
}

/// A mistake in the messages or in the schema.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Mistake {
    /// The text that has it.
    #[serde(rename = "in")]
    pub text: Text,
    /// The message, counted from 0, if the mistake is in one.
    #[schema(required)]
    pub message: Option<usize>,
    /// The line of the text, counted from 1.
    pub line: usize,
    /// The column of the line, in characters, counted from 1.
    pub column: usize,
    /// The offset in the text, in bytes of UTF-8.
    pub offset: usize,
    /// The JSON pointer of the value in the schema or in the message; `null` if the text is not JSON.
    #[schema(required)]
    pub pointer: Option<String>,
    /// `truncated`, `malformed`, `type`, `range`, `limit`, or `schema` for a schema that means nothing and for a message that breaks it.
    pub kind: &'static str,
    /// The cause, for people.
    pub detail: String,
}

impl Mistake {
    /// Returns a mistake at the byte `offset` of `source`.
    pub fn new(text: Text, source: &str, offset: usize, kind: &'static str, detail: &str) -> Mistake {
        let (line, column) = line_and_column(source, offset);
        let detail = sentence(detail);
        Mistake { text, message: None, line, column, offset, pointer: None, kind, detail }
    }

    /// Returns the mistake for an error in the JSON that begins at the byte `start` of `source`.
    pub fn of_json(text: Text, source: &str, start: usize, error: &Error) -> Mistake {
        Mistake::new(
            text,
            source,
            start + error.offset().unwrap_or_default(),
            error.kind().as_str(),
            &error.reason(),
        )
    }

    /// Adds the message.
    pub fn of_message(self, index: usize) -> Mistake {
        Mistake { message: Some(index), ..self }
    }

    /// Adds the pointer.
    pub fn at(self, pointer: &str) -> Mistake {
        Mistake { pointer: Some(sentence(pointer)), ..self }
    }
}
