//! The messages in a text: one JSON value, an array of them, one after the other as in NDJSON, or CSV with a header.

use crate::{
    limits::{MESSAGES, MESSAGES_BYTES, MISTAKES},
    mistake::{Mistake, Text},
};
use dunnage_formats::{Csv, Error, Json, json_offset};
use dunnage_plan::Message;
use serde_json::{Deserializer, value::RawValue};
use std::borrow::Cow;

/// The messages of a text.
#[derive(Default)]
pub struct Messages<'a> {
    /// Those that can be read.
    pub found: Vec<Found<'a>>,
    /// The mistakes: of each message that cannot be read, and of the text.
    pub mistakes: Vec<Mistake>,
    /// How many messages cannot be read.
    pub unread: usize,
    csv: Option<Csv<'a>>,
}

/// A message and its place in the text.
pub struct Found<'a> {
    /// Its place among all messages, from 0.
    pub index: usize,
    /// Its JSON text.
    pub text: Cow<'a, str>,
    /// Its first byte.
    pub start: usize,
    /// Its value. Its name is its place.
    pub message: Message,
}

/// Reads all messages, up to the 20th that cannot be read.
pub fn read(source: &str) -> Messages<'_> {
    if source.len() > MESSAGES_BYTES {
        let detail = format!("the messages have {} bytes; at most {MESSAGES_BYTES} are read", source.len());
        return Messages::none(Mistake::new(Text::Messages, source, MESSAGES_BYTES, "limit", &detail));
    }
    if Csv::has_header(source) { rows(source) } else { texts(source) }
}

fn rows(source: &str) -> Messages<'_> {
    let csv = match Csv::new(source) {
        Ok(csv) => csv,
        Err(error) => return Messages::none(Mistake::of_json(Text::Messages, source, 0, &error)),
    };
    let mut messages = Messages::default();
    for row in csv.rows() {
        let is_read = match row.message {
            Ok(text) => {
                // The offset of an error in this JSON would say nothing.
                let at_row = |_: &Error| row.start;
                messages.add(source, row.start, Cow::Owned(text), at_row)
            }
            Err(error) => messages.miss(source, error.offset().unwrap_or_default(), &error),
        };
        if !is_read {
            break;
        }
    }
    messages.csv = Some(csv);
    messages
}

fn texts(source: &str) -> Messages<'_> {
    let body = source.trim_start_matches('\u{feff}').trim_ascii();
    let mut values = Deserializer::from_str(body).into_iter::<&RawValue>();
    let (is_whole, is_alone) = (matches!(values.next(), Some(Ok(_))), values.next().is_none());
    let is_array = body.starts_with('[') && (is_alone || !is_whole);
    let mut messages = Messages::default();
    let start = |text: &str| text.as_ptr().addr() - source.as_ptr().addr();
    for text in split(body, is_array) {
        let place = |error: &Error| start(text) + error.offset().unwrap_or_default();
        if !messages.add(source, start(text), Cow::Borrowed(text), place) {
            return messages;
        }
    }
    // The fault may be between the items.
    if is_array
        && !is_whole
        && messages.unread == 0
        && let Err(error) = Json.decode_sample(body.as_bytes())
    {
        messages.mistakes.push(Mistake::of_json(Text::Messages, source, start(body), &error));
    }
    messages
}

impl<'a> Messages<'a> {
    fn none(mistake: Mistake) -> Messages<'a> {
        Messages { mistakes: vec![mistake], ..Messages::default() }
    }

    /// How many messages there are.
    pub fn count(&self) -> usize {
        self.found.len() + self.unread
    }

    /// Returns the offset in the text of the value at `pointer` in a message.
    pub fn offset_of(&self, found: &Found<'_>, pointer: &str) -> usize {
        match &self.csv {
            Some(csv) => csv.offset_of(found.start, pointer),
            None => found.start + json_offset(found.text.as_bytes(), pointer).unwrap_or_default(),
        }
    }

    /// Adds the message `text`, which begins at the byte `start`. Returns whether others are read.
    fn add(
        &mut self,
        source: &str,
        start: usize,
        text: Cow<'a, str>,
        place: impl Fn(&Error) -> usize,
    ) -> bool {
        let index = self.count();
        if index == MESSAGES {
            let detail = format!("at most {MESSAGES} messages are read");
            let mistake = Mistake::new(Text::Messages, source, start, "limit", &detail);
            self.mistakes.push(mistake.of_message(MESSAGES));
            return false;
        }
        let message = Json.decode_sample(text.as_bytes());
        match message.and_then(|value| Message::new(format!("message {}", index + 1), value)) {
            Ok(message) => {
                self.found.push(Found { index, text, start, message });
                true
            }
            Err(error) => self.miss(source, place(&error), &error),
        }
    }

    /// Adds a message that cannot be read because of the byte `at`. Returns whether others are read.
    fn miss(&mut self, source: &str, at: usize, error: &Error) -> bool {
        let mistake = Mistake::new(Text::Messages, source, at, error.kind().as_str(), &error.reason());
        self.mistakes.push(mistake.of_message(self.count()));
        self.unread += 1;
        if self.unread == MISTAKES {
            let detail = format!("the rest is not read, because {MISTAKES} messages cannot be read");
            self.mistakes.push(Mistake::new(Text::Messages, source, at, "limit", &detail));
        }
        self.unread < MISTAKES
    }
}

/// Splits `source` into the JSON values that follow each other, or into the items of the array that it is. Text that is not JSON ends before
/// the next line that has the indentation of its first line and does not continue an object or array.
fn split(source: &str, is_array: bool) -> impl Iterator<Item = &str> {
    let mut rest = if is_array { &source[1..] } else { source };
    std::iter::from_fn(move || {
        rest = rest.trim_ascii_start();
        if is_array {
            rest = rest.strip_prefix(',').unwrap_or(rest).trim_ascii_start();
        }
        if rest.is_empty() || is_array && rest == "]" {
            return None;
        }
        let value = Deserializer::from_str(rest).into_iter::<&RawValue>().next();
        let text = match value {
            Some(Ok(value)) => value.get(),
            _ => &rest[..end(source, source.len() - rest.len())],
        };
        rest = &rest[text.len()..];
        Some(text.trim_ascii_end())
    })
}

/// Returns the length of the text that is not JSON and begins at the byte `start`.
fn end(source: &str, start: usize) -> usize {
    let line = source[..start].rfind('\n').map_or(0, |at| at + 1);
    let indent = &source[line..start];
    let indent = &indent[..indent.len() - indent.trim_ascii_start().len()];
    let begins = |line: &str| {
        line.strip_prefix(indent)
            .is_some_and(|rest| !rest.starts_with([' ', '\t', '\r', '\n', '}', ']', ',', '"']))
    };
    let mut at = start;
    for line in source[start..].split_inclusive('\n') {
        if at > start && begins(line) {
            break;
        }
        at += line.len();
    }
    at - start
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<String> {
        read(source).found.into_iter().map(|found| found.text.into_owned()).collect()
    }

    #[track_caller]
    fn mistake(source: &str) -> (Option<usize>, usize, usize, &'static str) {
        let messages = read(source);
        let first = messages.mistakes.first().expect("a mistake");
        (first.message, first.line, first.column, first.kind)
    }

    #[test]
    fn one_value_an_array_lines_and_rows_are_messages() {
        assert_eq!(texts(" {\"a\":\n1}\n"), ["{\"a\":\n1}"]);
        assert_eq!(texts("[{\"a\":1}, 2 ,[3]]"), ["{\"a\":1}", "2", "[3]"]);
        assert_eq!(texts("{}\n\n{}\r\n7"), ["{}", "{}", "7"]);
        assert_eq!(texts("[1]\n[2]"), ["[1]", "[2]"]);
        assert_eq!(texts("\u{feff}{\"a\":1}"), ["{\"a\":1}"]);
        assert_eq!(
            texts("t,door\n21.50,open\n,closed\n"),
            ["{\"t\":21.50,\"door\":\"open\"}", "{\"door\":\"closed\"}"]
        );
        assert!(texts("").is_empty() && texts("[]").is_empty());
    }

    #[test]
    fn a_mistake_has_its_line_column_and_message() {
        assert_eq!(mistake("{\"a\":1}\n{\"b\":tru}"), (Some(1), 2, 9, "malformed"));
        assert_eq!(mistake("{\"a\":"), (Some(0), 1, 6, "truncated"));
        assert_eq!(mistake("{\"a\":1}\n {\"é\":1e999}"), (Some(1), 2, 7, "range"));
        assert_eq!(mistake("[1,\n\"\\ud800\"]"), (Some(1), 2, 8, "malformed"));
        assert_eq!(mistake("{\"a\":1,\"a\":2}").3, "malformed");
        assert_eq!(mistake(&"[".repeat(100_000)).3, "limit");
        assert_eq!(mistake(&format!("{}{}", "[".repeat(40), "]".repeat(40))).3, "limit");
        assert_eq!(mistake(&"1\n".repeat(MESSAGES + 1)), (Some(MESSAGES), MESSAGES + 1, 1, "limit"));
        assert_eq!(mistake(&format!("[{}1]", "1,".repeat(MESSAGES))).0, Some(MESSAGES));
        assert_eq!(mistake(&" ".repeat(MESSAGES_BYTES + 1)).3, "limit");
        assert_eq!(mistake("t,door\n1,open\n2\n"), (Some(1), 3, 1, "malformed"));
        assert_eq!(mistake("t,t\n1,open\n"), (None, 1, 3, "malformed"));
    }

    #[test]
    fn a_message_that_cannot_be_read_leaves_the_others() {
        for (source, rest) in [
            ("{\"a\":1}\n{\"b\":tru}\n{\"c\":3}", "{\"a\":1} {\"c\":3}"),
            ("x=1\n{\"a\":1}\n", "{\"a\":1}"),
            ("{\"a\":1}\n{\"b\":\n{\"c\":3}\n", "{\"a\":1} {\"c\":3}"),
            ("{\n  \"a\": tru\n}\n{\n  \"b\": 1\n}\n", "{\n  \"b\": 1\n}"),
            ("[\n  {\"a\": 1},\n  {\"b\":\n    tru\n  },\n  {\"c\": 3}\n]", "{\"a\": 1} {\"c\": 3}"),
            ("[1,2", "1 2"),
            ("[1 2]", "1 2"),
            ("[1,\n2,\n]", "1 2"),
            ("t,u\n1,2\n3\n5,6", "{\"t\":1,\"u\":2} {\"t\":5,\"u\":6}"),
        ] {
            assert_eq!(texts(source).join(" "), rest, "{source}");
            assert_eq!(read(source).mistakes.len(), 1, "{source}");
        }
        let indices: Vec<_> = read("1\nx\n3").found.iter().map(|found| found.index).collect();
        assert_eq!(indices, [0, 2]);
        let many = read(&"{\"a\":\n".repeat(60_000)).mistakes;
        assert_eq!((many.len(), many[MISTAKES].kind), (MISTAKES + 1, "limit"));
    }
}
