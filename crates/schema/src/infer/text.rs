//! Infers text: times, numbers, enumerations, identifiers, or any text.

use super::{
    MANY,
    guesses::{Guesses, allows, counted},
    identifier, number, number_text, range, time_text, write,
};
use crate::parse::Node;
use dunnage_pson::Value;
use std::collections::BTreeSet;

/// The most values of an enumeration.
const CHOICES: usize = 16;
/// The number of values from which on the distinct ones count as complete, if each was seen often enough.
const ALL: usize = 200;
/// How many values there must be for each distinct one, and how many if one of these occurs less than [`RAREST`] times: a value that occurs
/// once suggests unseen ones, unless it is the alarm among very many.
const EACH: usize = 10;
const EACH_WITH_RARE: usize = 50;
const RAREST: usize = 3;
/// How often distinct values occur on average that a note names.
const AGAIN: usize = 3;
/// The longest value of an enumeration, in characters.
const LONGEST_CHOICE: usize = 24;
/// The least length, in characters, that text is allowed.
const ROOM: usize = 20;
/// The headroom: the longest of few distinct texts is multiplied by the first, the longest of many by the second.
const LONGER: (usize, usize) = (4, 2);

/// A schema and the note about it.
pub(super) type Guess = (Node, String);
/// A guess from a field's path and its texts.
type Try = fn(&str, &[&str]) -> Option<Guess>;

/// Infers the schema of texts: the first of the guesses that all of them obey, but for a few odd ones.
pub(super) fn infer(guesses: &mut Guesses, path: &str, texts: &[&str]) -> Node {
    let (guess, odd) = match guess(path, texts) {
        None => without_odd(path, texts).map_or((None, Vec::new()), |(guess, odd)| (Some(guess), odd)),
        guess => (guess, Vec::new()),
    };
    let guess = guess.filter(|(schema, _)| guesses.has_room_for(schema));
    let (schema, mut note) = match guess {
        Some(guess) => {
            guesses.note_odd(path, &odd, texts.len());
            guess
        }
        None => free(texts),
    };
    if let Some(few) = few(texts).filter(|_| schema.get("enum").is_none()) {
        let named = few.iter().map(|text| write::quoted(text)).collect::<Vec<_>>().join(", ");
        note.push_str(&format!(
            "; {} different texts: if there are no others, write \"enum\": [{named}]",
            few.len()
        ));
    }
    guesses.note(path, note);
    schema
}

/// Returns the first guess that all texts obey.
pub(super) fn guess(path: &str, texts: &[&str]) -> Option<Guess> {
    let tries: [Try; 8] = [
        |_, texts| flag(texts),
        |_, texts| time_text::infer(texts),
        |_, texts| known(texts),
        number_text::one,
        number_text::comma,
        number_text::several,
        |_, texts| choices(texts),
        |_, texts| pattern(texts),
    ];
    tries.into_iter().find_map(|guess| guess(path, texts).filter(|guess| holds(guess, texts)))
}

/// Returns the different texts, if they are few enough to be an enumeration and occur again and again.
pub(super) fn few<'a>(texts: &[&'a str]) -> Option<Vec<&'a str>> {
    different(texts).filter(|different| texts.len() >= AGAIN * different.len())
}

/// Returns the different texts, if they are few enough to be an enumeration and each is one word: a state, and not a remark.
pub(super) fn words<'a>(texts: &[&'a str]) -> Option<Vec<&'a str>> {
    different(texts).filter(|different| !different.iter().any(|text| text.contains(char::is_whitespace)))
}

fn different<'a>(texts: &[&'a str]) -> Option<Vec<&'a str>> {
    let different: BTreeSet<&str> = texts.iter().copied().collect();
    let is_choice = |text: &&str| !text.is_empty() && text.chars().count() <= LONGEST_CHOICE;
    let is_few = (2..=CHOICES).contains(&different.len());
    (is_few && different.iter().all(is_choice)).then(|| different.into_iter().collect())
}

fn holds((schema, _): &Guess, texts: &[&str]) -> bool {
    allows(schema, texts.iter().map(|text| Some(Value::from(*text))))
}

/// Infers numbers or times from all texts but a few odd ones. Returns the guess and the odd texts.
fn without_odd<'a>(path: &str, texts: &[&'a str]) -> Option<(Guess, Vec<&'a str>)> {
    let (others, odd): (Vec<&str>, Vec<&str>) = texts.iter().partition(|text| number_text::is_number(text));
    let numbers = number::is_odd(&odd, texts.len()).then(|| number_text::one(path, &others)).flatten();
    if let Some(guess) = numbers.filter(|guess| holds(guess, &others)) {
        return Some((guess, odd));
    }
    // At least one of these three is a time, unless the odd texts are the times.
    [0, texts.len() / 2, texts.len() - 1].into_iter().find_map(|at| {
        let (others, odd) = time_text::split(texts, texts[at])?;
        let times = number::is_odd(&odd, texts.len()).then(|| time_text::infer(&others)).flatten();
        Some((times.filter(|guess| holds(guess, &others))?, odd))
    })
}

/// Infers a flag: `"0"` and `"1"`, both of them, in many values.
fn flag(texts: &[&str]) -> Option<Guess> {
    let is_flag = texts.len() >= ALL && texts.contains(&"0") && texts.contains(&"1");
    (is_flag && texts.iter().all(|text| matches!(*text, "0" | "1"))).then(|| {
        let choices = Node::Array(vec![write::text("0"), write::text("1")]);
        (
            write::text_with("enum", choices),
            format!("only \"0\" and \"1\" in {}: enum", counted(texts.len(), "value")),
        )
    })
}

/// Infers an enumeration of few distinct texts in many values, or a pattern if only a number differs: the next device has the next number.
fn choices(texts: &[&str]) -> Option<Guess> {
    let mut different: Vec<&str> = Vec::new();
    for text in texts {
        if !different.contains(text) {
            different.push(text);
            let is_choice = !text.is_empty() && text.chars().count() <= LONGEST_CHOICE;
            if different.len() > CHOICES || !is_choice {
                return None;
            }
        }
    }
    let rarest = different.iter().map(|choice| texts.iter().filter(|text| *text == choice).count()).min();
    let each = if rarest >= Some(RAREST) { EACH } else { EACH_WITH_RARE };
    let is_all = texts.len() >= ALL.max(each * different.len());
    // A single text may be specific to one device, or to one release of its firmware.
    if !is_all || different.len() < 2 {
        return None;
    }
    if identifier::are_counted(&different) {
        return identifier::counted(&different).map(|pattern| identifiers(texts, &pattern));
    }
    different.sort_unstable();
    let note = format!("only {} different texts in {}: enum", different.len(), counted(texts.len(), "value"));
    Some((write::text_with("enum", Node::Array(different.into_iter().map(write::text).collect())), note))
}

fn known(texts: &[&str]) -> Option<Guess> {
    let (what, pattern) = identifier::known(texts)?;
    let seen = counted(texts.len(), "value");
    Some((write::text_with("pattern", write::text(&pattern)), format!("{what} in {seen}: pattern {pattern}")))
}

fn pattern(texts: &[&str]) -> Option<Guess> {
    Some(identifiers(texts, &identifier::pattern(texts)?))
}

fn identifiers(texts: &[&str], pattern: &str) -> Guess {
    let note = format!("looks like an identifier in {}: pattern {pattern}", counted(texts.len(), "value"));
    (write::text_with("pattern", write::text(pattern)), note)
}

pub(super) fn free(texts: &[&str]) -> Guess {
    let longest = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
    let different = texts.iter().collect::<BTreeSet<_>>().len();
    let factor = if different < MANY { LONGER.0 } else { LONGER.1 };
    let room = range::round_up((factor * longest).max(ROOM) as i128) as usize;
    let seen = counted(texts.len(), "value");
    let only = if different == 1 && texts.len() >= MANY { ", always the same" } else { "" };
    let note =
        format!("up to {} in {seen}{only}; {room} allowed with headroom", counted(longest, "character"));
    (write::text_with("maxLength", write::count(room)), note)
}
