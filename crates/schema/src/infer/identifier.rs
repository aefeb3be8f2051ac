//! Infers patterns for identifiers: chunks of letters and digits with punctuation between them, such as `999-01-1-31D41`.

use super::MANY;
use std::collections::BTreeSet;

/// The longest identifier. Longer text is prose.
const LONGEST: usize = 64;
/// Shorter texts are words such as `3d` rather than identifiers, unless many distinct ones were seen.
const MIN_LENGTH: usize = 6;
/// The number of distinct texts from which on a common prefix of letters counts as fixed.
const VERY_MANY: usize = 200;
/// The headroom of a chunk: its length is multiplied by the first, and grows by at least the second. `SF7` is followed by `SF12`, 9.9.9 by
/// 9.10.100, and a counter gets another digit.
const LONGER: (usize, usize) = (2, 3);
/// The longest unit after a number, in characters, and the most digits of a number with a unit that cannot be a code.
const UNIT: usize = 4;
const CODE: usize = 3;
/// The most digits of a number with a plus sign. A telephone number has more.
const SIGNED: usize = 6;
/// The suffixes of a version's numbers: `-rc1`, `+build.57`.
const RELEASE: usize = 12;
/// The number of letters, all of them A to F, that are unlikely to be chance: `DEC` may be followed by `JAN`.
const HEX_LETTERS: usize = 6;

/// Hexadecimal digits without signs. Without a letter they may be a serial number, which gets longer.
const MAC_ALONE: &str = "12 hexadecimal digits, as of a MAC address";
const EUI_ALONE: &str = "16 hexadecimal digits, as of an EUI-64";

/// Well-known identifiers, whose lengths are fixed whatever the samples have. `H` is a hexadecimal digit, and `9` for one to three
/// decimal digits.
const KNOWN: [(&str, &str); 11] = [
    ("a UUID", "HHHHHHHH-HHHH-HHHH-HHHH-HHHHHHHHHHHH"),
    ("a MAC address", "HH:HH:HH:HH:HH:HH"),
    ("a MAC address", "HH-HH-HH-HH-HH-HH"),
    ("a MAC address", "HHHH.HHHH.HHHH"),
    ("an EUI-64", "HH:HH:HH:HH:HH:HH:HH:HH"),
    ("an EUI-64", "HH-HH-HH-HH-HH-HH-HH-HH"),
    (MAC_ALONE, "HHHHHHHHHHHH"),
    (EUI_ALONE, "HHHHHHHHHHHHHHHH"),
    ("an IPv4 address", "9.9.9.9"),
    ("an IPv4 address", "9.9.9.9:P"),
    ("a date", "DDDD-DD-DD"),
];

/// Returns the name and pattern of a well-known identifier, if all texts match it.
pub(super) fn known(texts: &[&str]) -> Option<(&'static str, String)> {
    KNOWN.into_iter().find_map(|(what, form)| {
        let pattern = known_pattern(form, texts);
        let regex = regex::Regex::new(&pattern).ok()?;
        let has_letter = || texts.iter().any(|text| text.bytes().any(|byte| byte.is_ascii_alphabetic()));
        let is_known = texts.iter().all(|text| regex.is_match(text));
        (is_known && (![MAC_ALONE, EUI_ALONE].contains(&what) || has_letter())).then_some((what, pattern))
    })
}

/// Returns the pattern of a form. Digits alone do not tell in which case letters will be.
fn known_pattern(form: &str, texts: &[&str]) -> String {
    let has = |is: fn(&u8) -> bool| texts.iter().any(|text| text.bytes().any(|byte| is(&byte)));
    let hex = match (has(u8::is_ascii_uppercase), has(u8::is_ascii_lowercase)) {
        (true, false) => "[0-9A-F]",
        (false, true) => "[0-9a-f]",
        _ => "[0-9A-Fa-f]",
    };
    let mut pattern = "^".to_owned();
    for run in form.as_bytes().chunk_by(|a, b| a == b) {
        let count = if run.len() > 1 { format!("{{{}}}", run.len()) } else { String::new() };
        match run.first() {
            Some(b'H') => pattern += &format!("{hex}{count}"),
            Some(b'D') => pattern += &format!("[0-9]{count}"),
            Some(b'9') => pattern += "[0-9]{1,3}",
            Some(b'P') => pattern += "[0-9]{1,5}",
            sign => pattern.extend(sign.into_iter().flat_map(|sign| escaped(char::from(*sign)))),
        }
    }
    pattern.push('$');
    pattern
}

/// Which lengths a pattern allows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lengths {
    /// From 1 to more than was seen.
    Roomy,
    /// Those that were seen.
    Seen,
}

/// Returns a pattern that all texts match, if they look like identifiers.
///
/// Common properties may be chance: digits that all texts share may be those of a year or of a network, and the next number may have another
/// digit. The pattern therefore has fixed characters only for punctuation, and for a prefix of letters that very many texts share; and the
/// length of no chunk is fixed.
pub(super) fn pattern(texts: &[&str]) -> Option<String> {
    looks_like(texts).then(|| pattern_with(texts, Lengths::Roomy))?
}

/// Returns the pattern of few texts, of which only a number differs, that occurred so often that no other text is expected: the devices of a
/// small fleet. Versions and quantities will have other forms.
pub(super) fn counted(texts: &[&str]) -> Option<String> {
    let form = without_digits(texts.first()?);
    let is_device = |text: &str| is_identifier(text) && !is_version(text) && !is_quantity(text);
    let are_alike = texts.iter().all(|text| is_device(text) && without_digits(text) == form);
    are_alike.then(|| pattern_with(texts, Lengths::Roomy))?
}

/// Returns a pattern that all texts match, with the lengths that they have.
pub(super) fn exact(texts: &[&str]) -> Option<String> {
    looks_like(texts).then(|| pattern_with(texts, Lengths::Seen))?
}

/// Whether the texts are identifiers, and not words or prose.
fn looks_like(texts: &[&str]) -> bool {
    let different: BTreeSet<&str> = texts.iter().copied().collect();
    let is_many = different.len() >= MANY;
    let few = |text: &str| has_word(text) || text.len() < MIN_LENGTH;
    different.iter().all(|text| is_identifier(text) && (is_many || !few(text)))
}

fn pattern_with(texts: &[&str], lengths: Lengths) -> Option<String> {
    let different: BTreeSet<&str> = texts.iter().copied().collect();
    if is_base64(&different) {
        return Some(format!("^[0-9A-Za-z+/=]{}$", repeated(&different, lengths, room)));
    }
    if different.iter().all(|text| is_quantity(text)) {
        // Another number may have the other sign, no decimals, or another prefix of the unit.
        return Some(format!("^{}{}$", any_of("-+./%", &different), repeated(&different, lengths, room)));
    }
    if different.iter().all(|text| is_version(text)) {
        let room = |longest| longest + RELEASE;
        return Some(format!("^{}{}$", any_of("-+.", &different), repeated(&different, lengths, room)));
    }
    if are_spans(texts) {
        return None;
    }
    let split: Vec<Vec<&str>> = different.iter().map(|text| pieces(text)).collect();
    let mut pattern = "^".to_owned();
    let first = split.first()?;
    if split.iter().any(|pieces| pieces.len() != first.len()) {
        return None;
    }
    for at in 0..first.len() {
        let column: Vec<&str> = split.iter().map(|pieces| pieces[at]).collect();
        let same = column.iter().all(|piece| *piece == first[at]);
        let prefix = if at == 0 && different.len() >= VERY_MANY { common_letters(&column) } else { 0 };
        if same && (prefix == first[at].len() || !is_chunk(first[at])) {
            pattern.extend(first[at].chars().flat_map(escaped));
        } else if column.iter().all(|piece| is_chunk(piece)) {
            pattern.push_str(&chunk(&column, prefix > 0, lengths));
        } else {
            return None;
        }
    }
    pattern.push('$');
    Some(pattern)
}

/// Whether the texts may be bytes in Base64, in which other characters may follow.
fn is_base64(texts: &BTreeSet<&str>) -> bool {
    let has = |is: fn(&u8) -> bool| texts.iter().any(|text| text.bytes().any(|byte| is(&byte)));
    let is_one = |text: &&str| {
        let body = text.trim_end_matches('=');
        text.len().is_multiple_of(4)
            && text.len() - body.len() <= 2
            && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
    };
    let is_mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    (is_mixed || has(|byte| *byte == b'=')) && texts.iter().all(is_one)
}

/// Returns a class of letters, digits and signs. Of `signs`, `+`, `/` and `%` are in it only if a text has them, and letters only if a text has
/// letters.
fn any_of(signs: &str, texts: &BTreeSet<&str>) -> String {
    let has = |c: char| texts.iter().any(|text| text.contains(c));
    let has_letters = texts.iter().any(|text| text.contains(|c: char| c.is_ascii_alphabetic()));
    let letters = if has_letters { "A-Za-z" } else { "" };
    let signs: String = signs.chars().filter(|sign| matches!(sign, '-' | '.') || has(*sign)).collect();
    format!("[{signs}0-9{letters}]")
}

/// Returns the repetitions of a class. `room` is the length that is allowed for the longest chunk.
fn repeated<'a>(
    chunks: impl IntoIterator<Item = &'a &'a str>,
    lengths: Lengths,
    room: impl Fn(usize) -> usize,
) -> String {
    let seen = chunks.into_iter().map(|chunk| chunk.len());
    let (shortest, longest) = seen.fold((usize::MAX, 0), |(least, most), n| (least.min(n), most.max(n)));
    match lengths {
        Lengths::Roomy => format!("{{1,{}}}", room(longest)),
        Lengths::Seen if shortest == longest => format!("{{{longest}}}"),
        Lengths::Seen => format!("{{{shortest},{longest}}}"),
    }
}

/// Whether the text is a number with a unit, `21.5C`, `99%`, `-3dB`, `9km/h`, or with a plus sign.
fn is_quantity(text: &str) -> bool {
    let number = text.strip_prefix(['-', '+']).unwrap_or(text);
    let unit = number.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let number = &number[..number.len() - unit.len()];
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_unit =
        unit.len() <= UNIT && unit.bytes().all(|b| b.is_ascii_alphabetic() || matches!(b, b'/' | b'%'));
    let most = match unit {
        "" if text.starts_with(['-', '+']) => SIGNED,
        "" => return false,
        "%" => usize::MAX,
        // More digits may be a code, `14405E`.
        _ => CODE,
    };
    is_number(whole) && is_number(decimals) && is_unit && (number.contains('.') || whole.len() <= most)
}

/// Whether the text is a version of software: `1.9.0`, `v2.1`.
fn is_version(text: &str) -> bool {
    let numbers = text.strip_prefix(['v', 'V']).unwrap_or(text);
    let parts: Vec<&str> = numbers.split('.').collect();
    let is_part = |part: &&str| (1..=3).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    (2..=4).contains(&parts.len()) && parts.iter().all(is_part)
}

/// Whether the texts are spans of time with hours that are not padded: `0:15:00`. Python prints `1 day, 0:00:00` after `23:59:59`.
pub(super) fn are_spans(texts: &[&str]) -> bool {
    texts.iter().all(|text| is_span(text))
}

fn is_span(text: &str) -> bool {
    let digits = |text: &str, count: usize| text.len() == count && text.bytes().all(|b| b.is_ascii_digit());
    match text.split(':').collect::<Vec<_>>()[..] {
        [hours, minutes, seconds] => {
            let seconds = seconds.split('.').next().unwrap_or_default();
            (digits(hours, 1) || digits(hours, 2) && ("10".."24").contains(&hours))
                && digits(minutes, 2)
                && digits(seconds, 2)
        }
        _ => false,
    }
}

/// Whether the keys are numbers, dates or identifiers of one form, each with a digit.
pub(super) fn are_numbered(keys: &[&str]) -> bool {
    known(keys).is_some()
        || keys.iter().all(|key| !key.is_empty() && key.bytes().all(|b| b.is_ascii_digit()))
        || pattern(keys).is_some()
}

/// Whether the texts count something, so that there may be more of them: numbers with a unit, or two texts of which only a number differs,
/// `node-17` and `node-18`, `node1` and `node2`. The number of a short code, `E1` and `E2`, is none.
pub(super) fn are_counted(texts: &[&str]) -> bool {
    let is_number = |piece: &str| digits(piece) > 2 || digits(piece) == piece.len() || has_word(piece);
    let is_next = |a: &[&str], b: &[&str]| {
        a.len() == b.len() && a.iter().zip(b).any(|(a, b)| a != b && (is_number(a) || is_number(b)))
    };
    texts.iter().all(|text| is_quantity(text))
        || texts.iter().enumerate().any(|(at, text)| {
            let alike = texts[..at].iter().filter(|other| without_digits(other) == without_digits(text));
            alike.into_iter().any(|other| is_next(&pieces(text), &pieces(other)))
        })
}

fn without_digits(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_digit()).collect()
}

fn digits(text: &str) -> usize {
    text.bytes().filter(u8::is_ascii_digit).count()
}

fn is_identifier(text: &str) -> bool {
    text.len() <= LONGEST
        && text.bytes().all(|b| b.is_ascii_graphic())
        && text.bytes().any(|b| b.is_ascii_digit())
}

/// Whether the text has three lower-case letters in a row, as words do.
fn has_word(text: &str) -> bool {
    text.as_bytes().windows(3).any(|three| three.iter().all(u8::is_ascii_lowercase))
}

/// Escapes `c` for a regular expression. ECMA-262 with the flag `u` allows a backslash before these characters only.
fn escaped(c: char) -> impl Iterator<Item = char> {
    Some('\\').filter(|_| "^$\\.*+?()[]{}|/".contains(c)).into_iter().chain([c])
}

fn is_chunk(piece: &str) -> bool {
    piece.starts_with(|c: char| c.is_ascii_alphanumeric())
}

/// Splits text into runs of letters and digits, and the runs of other characters between them.
fn pieces(text: &str) -> Vec<&str> {
    text.as_bytes()
        .chunk_by(|a, b| a.is_ascii_alphanumeric() == b.is_ascii_alphanumeric())
        .scan(0, |start, piece| {
            let range = *start..*start + piece.len();
            *start = range.end;
            text.get(range)
        })
        .collect()
}

/// Returns how many letters the chunks begin with, if all begin with the same ones.
fn common_letters(chunks: &[&str]) -> usize {
    let letters = |chunk: &'_ str| chunk.bytes().take_while(u8::is_ascii_alphabetic).count();
    let first = chunks.first().map_or("", |first| &first[..letters(first)]);
    let is_same = chunks.iter().all(|chunk| chunk.get(..letters(chunk)) == Some(first));
    if is_same { first.len() } else { 0 }
}

/// Returns the expression for the chunks at one position. With `is_prefix`, letters that precede digits are literal: all chunks have the same ones.
fn chunk(chunks: &[&str], is_prefix: bool, lengths: Lengths) -> String {
    // If each chunk is letters and then a number, the number has a length of its own.
    let letters =
        |chunk: &str| chunk.len() - chunk.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
    let split: Vec<(&str, &str)> = chunks.iter().map(|chunk| chunk.split_at(letters(chunk))).collect();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let could_be_hex = chunks.iter().all(|chunk| chunk.bytes().all(|b| b.is_ascii_hexdigit()));
    if !could_be_hex && split.iter().all(|(letters, digits)| !letters.is_empty() && is_number(digits)) {
        let (letters, digits): (Vec<&str>, Vec<&str>) = split.into_iter().unzip();
        let letters = if is_prefix { letters[0].to_owned() } else { run(&letters, lengths) };
        return letters + &run(&digits, lengths);
    }
    run(chunks, lengths)
}

/// Returns the expression of one class with its repetitions.
fn run(chunks: &[&str], lengths: Lengths) -> String {
    format!("{}{}", class(chunks), repeated(chunks, lengths, room))
}

fn room(length: usize) -> usize {
    (LONGER.0 * length).max(length + LONGER.1)
}

/// Whether different chunks have letters at the same places, as `01DEC26` and `02FEB26`.
fn has_letters_in_place(chunks: &[&str]) -> bool {
    let places = |chunk: &str| -> Vec<bool> { chunk.bytes().map(|b| b.is_ascii_alphabetic()).collect() };
    let differ = chunks.iter().any(|chunk| *chunk != chunks[0]);
    differ && chunks.iter().all(|chunk| places(chunk) == places(chunks[0]))
}

/// Returns the smallest class with all characters. Enough letters, all of them A to F, count as hexadecimal.
fn class(chunks: &[&str]) -> &'static str {
    let letters = chunks.iter().flat_map(|chunk| chunk.bytes()).filter(u8::is_ascii_alphabetic).count();
    let is_hex = letters >= HEX_LETTERS && !has_letters_in_place(chunks);
    let has = |range: std::ops::RangeInclusive<u8>| {
        chunks.iter().any(|chunk| chunk.bytes().any(|b| range.contains(&b)))
    };
    let (digits, upper, lower) = (has(b'0'..=b'9'), has(b'A'..=b'Z'), has(b'a'..=b'z'));
    match (digits, upper, lower) {
        (_, false, false) => "[0-9]",
        (false, true, false) => "[A-Z]",
        (false, false, true) => "[a-z]",
        (false, true, true) => "[A-Za-z]",
        (true, true, false) if is_hex && !has(b'G'..=b'Z') => "[0-9A-F]",
        (true, true, false) => "[0-9A-Z]",
        (true, false, true) if is_hex && !has(b'g'..=b'z') => "[0-9a-f]",
        (true, false, true) => "[0-9a-z]",
        (true, true, true) => "[0-9A-Za-z]",
    }
}

#[cfg(test)]
mod tests;
