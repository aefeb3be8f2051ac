//! Text: times, numbers, choices, identifiers, or just text.

use super::{
    MANY, identifier, number_text, range, time_text,
    value::{Guesses, allows, counted},
    write,
};
use crate::parse::Node;
use dunnage_pson::Value;

/// Most choices of an enum.
const CHOICES: usize = 16;
/// Values per choice from which on the choices are all that there are.
const EACH: usize = 10;
/// Longest choice in characters.
const LONGEST_CHOICE: usize = 24;
/// Fewest characters that text is given room for.
const ROOM: usize = 20;

/// A schema and what it was guessed from.
type Guess = (Node, String);
/// Guesses from a field's path and its texts.
type Try = fn(&str, &[&str]) -> Option<Guess>;

/// The schema of texts. The first of the guesses that all of them obey is taken.
pub(super) fn infer(guesses: &mut Guesses, path: &str, texts: &[&str]) -> Node {
    let tries: [Try; 8] = [
        |_, texts| flag(texts),
        |_, texts| time_text::infer(texts),
        |_, texts| known(texts),
        number_text::one,
        number_text::several,
        |_, texts| choices(texts),
        |_, texts| pattern(texts),
        |_, texts| date_time(texts),
    ];
    let holds = |schema: &Node| allows(schema, texts.iter().map(|text| Some(Value::from(*text))));
    let guess = tries.into_iter().find_map(|guess| guess(path, texts).filter(|(schema, _)| holds(schema)));
    let guess = guess.filter(|(schema, _)| guesses.has_room_for(schema));
    let (schema, note) = guess.unwrap_or_else(|| free(texts));
    guesses.note(path, note);
    schema
}

/// A schema of text with one more keyword.
pub(super) fn with(keyword: &str, node: Node) -> Node {
    write::object([("type", write::text("string")), (keyword, node)])
}

/// `"0"` and `"1"`, both of them, in many values.
fn flag(texts: &[&str]) -> Option<Guess> {
    let is_flag = texts.len() >= MANY && texts.contains(&"0") && texts.contains(&"1");
    (is_flag && texts.iter().all(|text| matches!(*text, "0" | "1"))).then(|| {
        let choices = Node::Array(vec![write::text("0"), write::text("1")]);
        (with("enum", choices), format!("only \"0\" and \"1\" in {}: enum", counted(texts.len(), "value")))
    })
}

/// Few different texts in many values, none of which looks like a number or an identifier.
fn choices(texts: &[&str]) -> Option<Guess> {
    let mut different: Vec<&str> = Vec::new();
    for text in texts {
        if !different.contains(text) {
            different.push(text);
            let is_choice = !text.is_empty()
                && text.chars().count() <= LONGEST_CHOICE
                && text.bytes().filter(u8::is_ascii_digit).count() <= 2;
            if different.len() > CHOICES || !is_choice {
                return None;
            }
        }
    }
    let seen = counted(texts.len(), "value");
    if texts.len() < MANY.max(EACH * different.len()) {
        return None;
    }
    different.sort_unstable();
    Some(match different.as_slice() {
        // One text says little: of the same text from many devices, more values are asked for.
        [only] if texts.len() >= EACH * MANY => {
            (with("const", write::text(only)), format!("always {} in {seen}: const", write::quoted(only)))
        }
        [_] => return None,
        _ => {
            let note = format!("only {} different texts in {seen}: enum", different.len());
            (with("enum", Node::Array(different.into_iter().map(write::text).collect())), note)
        }
    })
}

fn known(texts: &[&str]) -> Option<Guess> {
    let (what, pattern) = identifier::known(texts)?;
    Some((with("pattern", write::text(pattern)), format!("{what}: pattern {pattern}")))
}

fn pattern(texts: &[&str]) -> Option<Guess> {
    let pattern = identifier::pattern(texts)?;
    let note = format!("looks like an identifier in {}: pattern {pattern}", counted(texts.len(), "value"));
    Some((with("pattern", write::text(&pattern)), note))
}

fn date_time(texts: &[&str]) -> Option<Guess> {
    let note =
        format!("times as in RFC 3339 in {}, in more than one notation", counted(texts.len(), "value"));
    (!texts.is_empty()).then(|| (with("format", write::text("date-time")), note))
}

fn free(texts: &[&str]) -> Guess {
    let longest = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
    let room = range::round_up((2 * longest).max(ROOM) as i128) as usize;
    let seen = counted(texts.len(), "value");
    let note = format!("up to {} in {seen}; {room} allowed with headroom", counted(longest, "character"));
    (with("maxLength", write::count(room)), note)
}
