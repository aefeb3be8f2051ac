//! Collects the guesses and writes the notes about them.

use super::{Note, write};
use crate::{Model, compile::MAX_PATTERNS, parse::Node};
use dunnage_pson::Value;
use std::collections::HashSet;

/// The most odd values of a field that a note names.
const NAMED: usize = 3;

/// The guesses so far.
#[derive(Default)]
pub(super) struct Guesses {
    pub(super) notes: Vec<Note>,
    /// The number of values that the schema does not allow because they differ from all others.
    pub(super) odd: usize,
    /// Whether the samples are the messages of a decoder, which also decoded mutated frames.
    pub(super) are_decoded: bool,
    patterns: HashSet<String>,
}

impl Guesses {
    /// Notes a guess about the field at `path`. The empty path is the message.
    pub(super) fn note(&mut self, path: &str, text: String) {
        let field = if path.is_empty() { "$" } else { path };
        self.notes.push(Note { field: field.to_owned(), text });
    }

    /// Notes the values `odd`, of `count` values of the field at `path`, that the schema does not allow.
    pub(super) fn note_odd(&mut self, path: &str, odd: &[&str], count: usize) {
        if odd.is_empty() {
            return;
        }
        self.odd += odd.len();
        let mut different: Vec<String> = odd.iter().map(|value| write::quoted(value)).collect();
        different.sort_unstable();
        different.dedup();
        let more = if different.len() > NAMED { ", ..." } else { "" };
        different.truncate(NAMED);
        let text = format!(
            "{}{more} in {} of {count} is unlike the others: not allowed, as all messages would pay for it",
            different.join(", "),
            odd.len()
        );
        self.note(path, text);
    }

    /// Whether the pattern of `schema` still fits the limit on distinct patterns of a whole schema. Counts a new pattern.
    pub(super) fn has_room_for(&mut self, schema: &Node) -> bool {
        let Some(pattern) = schema.text("pattern") else { return true };
        if self.patterns.len() < MAX_PATTERNS {
            self.patterns.insert(pattern.to_owned());
        }
        self.patterns.contains(pattern)
    }
}

/// Writes `one message` or `40 messages`, for nouns whose plural takes an s.
pub(super) fn counted(n: usize, noun: &str) -> String {
    if n == 1 { format!("one {noun}") } else { format!("{n} {noun}s") }
}

/// Returns the path of the field `key` of the object at `path`.
pub(super) fn below(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Whether `schema` compiles and allows all of `values`.
pub(super) fn allows(schema: &Node, values: impl IntoIterator<Item = Option<Value>>) -> bool {
    let Ok(model) = Model::compile(&write::schema(schema)) else { return false };
    values.into_iter().all(|value| value.is_some_and(|value| model.validate(&value).is_ok()))
}
