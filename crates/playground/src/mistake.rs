//! Mistakes in what the user typed, with their place.

use crate::limits::sentence;
use dunnage_formats::Error;
use serde::Serialize;
use utoipa::ToSchema;

/// Which of the two texts has the mistake.
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
    /// What is wrong, for people.
    pub detail: String,
}

impl Mistake {
    /// Returns a mistake at the byte `offset` of `source`.
    pub fn new(text: Text, source: &str, offset: usize, kind: &'static str, detail: &str) -> Mistake {
        let (line, column) = place(source, offset);
        let detail = sentence(detail);
        Mistake { text, message: None, line, column, offset, pointer: None, kind, detail }
    }

    /// Returns the mistake for an error in the JSON that begins at the byte `start` of `source`.
    pub fn of_json(text: Text, source: &str, start: usize, error: &Error) -> Mistake {
        Mistake::new(text, source, start + error.offset(), error.kind().as_str(), &error.reason())
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

/// Returns the line and the column of a byte of `source`, both counted from 1.
fn place(source: &str, offset: usize) -> (usize, usize) {
    let before = &source[..source.floor_char_boundary(offset)];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.bytes().filter(|byte| *byte == b'\n').count() + 1, before[start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_in_characters_and_lines() {
        let source = "a\nשלום x\n";
        assert_eq!(place(source, 0), (1, 1));
        assert_eq!(place(source, 2), (2, 1));
        assert_eq!(place(source, 2 + "שלום ".len()), (2, 6));
        assert_eq!(place(source, 3), (2, 1), "within a character");
        assert_eq!(place(source, source.len()), (3, 1));
        assert_eq!(place(source, 999), (3, 1));
    }
}
