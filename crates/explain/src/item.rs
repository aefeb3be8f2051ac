//! The items that a walker reports, and the reasons why it stops.

use dunnage_formats::Error;
use std::io;

/// One item of a message. Its bytes exclude those of the items inside it.
#[derive(Debug, Default)]
pub struct Item<'a> {
    /// Offset from the start of the message, in bytes.
    pub offset: usize,
    /// Indentation level.
    pub depth: usize,
    /// Header and content.
    pub bytes: &'a [u8],
    /// The value or kind: `23.5`, `"text"`, `map`.
    pub meaning: String,
    /// The type or size: `binary32`, `6 entries`.
    pub about: String,
    /// A remark about an encoding that a stricter reader would reject or a better writer would shorten.
    pub note: Option<String>,
}

/// Receives the items in the order of their bytes.
pub trait Sink {
    /// Receives the next item.
    fn item(&mut self, item: &Item<'_>) -> io::Result<()>;
}

/// Why a walk ended early.
#[derive(Debug)]
pub enum Stop {
    /// The message is invalid.
    Error(Error),
    /// The items could not be written.
    Output(io::Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Error(error)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Stop::Output(error)
    }
}

/// `text` in quotes, escaped as in JSON. Characters that could move a terminal's cursor or reverse its text are escaped as well.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            hidden if commands_terminal(hidden) => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(hidden)));
            }
            plain => quoted.push(plain),
        }
    }
    quoted.push('"');
    quoted
}

/// Whether `c` could move a terminal's cursor or reverse its text: control characters, line separators, and
/// the marks that change the direction of text.
pub fn commands_terminal(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// `n` with the right form of its noun: `1 entry`, `2 entries`.
pub fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_text_cannot_reach_the_terminal() {
        assert_eq!(quoted("a\"\\\n\u{1b}[2J\u{9b}\u{202e}é"), r#""a\"\\\n\u001b[2J\u009b\u202eé""#);
    }
}
