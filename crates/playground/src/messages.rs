//! The messages in a text: one JSON value, an array of them, or one after the other as in NDJSON.

use crate::{
    limits::{MESSAGES, MESSAGES_BYTES, MISTAKES},
    mistake::{Mistake, Text},
};
use dunnage_formats::Json;
use dunnage_plan::Message;
use serde_json::{Deserializer, value::RawValue};

/// A message and its place in the text.
pub struct Found<'a> {
    /// It as it stands there.
    pub text: &'a str,
    /// Its first byte.
    pub start: usize,
    /// It as a value, named by its line.
    pub message: Message,
}

/// Reads all messages. Errors have the place of each message that is none.
pub fn read(source: &str) -> Result<Vec<Found<'_>>, Vec<Mistake>> {
    if source.len() > MESSAGES_BYTES {
        let detail = format!("the messages have {} bytes; at most {MESSAGES_BYTES} are read", source.len());
        return Err(vec![Mistake::new(Text::Messages, source, MESSAGES_BYTES, "limit", &detail)]);
    }
    let mut texts = values(source).map_err(|mistake| vec![mistake])?;
    if let [only] = texts.as_slice()
        && only.starts_with('[')
    {
        texts = items(source, only).map_err(|mistake| vec![mistake])?;
    }
    let (mut found, mut mistakes) = (Vec::with_capacity(texts.len()), Vec::new());
    for (index, text) in texts.into_iter().enumerate() {
        let start = offset(source, text);
        let message = Json.decode_sample(text.as_bytes());
        match message.and_then(|value| Message::new(format!("message {}", index + 1), value)) {
            Ok(message) => found.push(Found { text, start, message }),
            Err(error) => {
                mistakes.push(Mistake::of_json(Text::Messages, source, start, &error).of_message(index));
            }
        }
        if mistakes.len() == MISTAKES {
            break;
        }
    }
    if mistakes.is_empty() { Ok(found) } else { Err(mistakes) }
}

/// Returns the JSON values that follow each other in `source`.
fn values(source: &str) -> Result<Vec<&str>, Mistake> {
    let mut texts = Vec::new();
    for next in Deserializer::from_str(source).into_iter::<&RawValue>() {
        texts.push(next.map_err(|error| malformed(source, &error))?.get());
        bounded(source, &texts)?;
    }
    Ok(texts)
}

/// Returns the items of the JSON array `array`, a part of `source`.
fn items<'a>(source: &str, array: &'a str) -> Result<Vec<&'a str>, Mistake> {
    let items: Vec<&RawValue> = serde_json::from_str(array).map_err(|error| malformed(source, &error))?;
    let texts: Vec<&str> = items.into_iter().map(RawValue::get).collect();
    bounded(source, &texts)?;
    Ok(texts)
}

fn bounded(source: &str, texts: &[&str]) -> Result<(), Mistake> {
    let Some(first) = texts.get(MESSAGES) else { return Ok(()) };
    let detail = format!("at most {MESSAGES} messages are read");
    let mistake = Mistake::new(Text::Messages, source, offset(source, first), "limit", &detail);
    Err(mistake.of_message(MESSAGES))
}

/// Returns the offset of `part`, which is a part of `source`.
fn offset(source: &str, part: &str) -> usize {
    part.as_ptr().addr() - source.as_ptr().addr()
}

/// Returns the mistake for text that is not JSON.
fn malformed(source: &str, error: &serde_json::Error) -> Mistake {
    let line: usize = source.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let kind = if error.is_eof() { "truncated" } else { "malformed" };
    let reason = error.to_string();
    // serde_json writes the place behind the reason.
    let reason = reason.split(" at line ").next().unwrap_or_default();
    Mistake::new(Text::Messages, source, line + error.column().saturating_sub(1), kind, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<&str> {
        read(source).unwrap_or_default().iter().map(|found| found.text).collect()
    }

    #[track_caller]
    fn mistake(source: &str) -> (Option<usize>, usize, usize, &'static str) {
        let mistakes = read(source).err().expect("a mistake");
        let first = &mistakes[0];
        (first.message, first.line, first.column, first.kind)
    }

    #[test]
    fn one_value_an_array_and_lines_are_messages() {
        assert_eq!(texts(" {\"a\":\n1}\n"), ["{\"a\":\n1}"]);
        assert_eq!(texts("[{\"a\":1}, 2 ,[3]]"), ["{\"a\":1}", "2", "[3]"]);
        assert_eq!(texts("{}\n\n{}\r\n7"), ["{}", "{}", "7"]);
        assert_eq!(texts("[1]\n[2]"), ["[1]", "[2]"]);
        assert!(texts("").is_empty() && texts("[]").is_empty());
    }

    #[test]
    fn a_mistake_has_its_line_column_and_message() {
        assert_eq!(mistake("{\"a\":1}\n{\"b\":tru}"), (None, 2, 9, "malformed"));
        assert_eq!(mistake("{\"a\":"), (None, 1, 5, "truncated"));
        assert_eq!(mistake("{\"a\":1}\n {\"é\":1e999}"), (Some(1), 2, 7, "range"));
        assert_eq!(mistake("[1,\n\"\\ud800\"]"), (Some(1), 2, 8, "malformed"));
        assert_eq!(mistake("{\"a\":1,\"a\":2}").3, "malformed");
        assert_eq!(mistake(&"[".repeat(100_000)).3, "truncated");
        assert_eq!(mistake(&format!("{}{}", "[".repeat(40), "]".repeat(40))).3, "limit");
        assert_eq!(mistake(&"1\n".repeat(MESSAGES + 1)), (Some(MESSAGES), MESSAGES + 1, 1, "limit"));
        assert_eq!(mistake(&format!("[{}1]", "1,".repeat(MESSAGES))).0, Some(MESSAGES));
        assert_eq!(mistake(&" ".repeat(MESSAGES_BYTES + 1)).3, "limit");
    }
}
