//! Identifiers as patterns: chunks of letters and digits with signs between, such as `999-01-1-31D41`.

use super::MANY;
use std::collections::BTreeSet;

/// Longest identifier; what is longer is prose.
const LONGEST: usize = 64;

/// Identifiers that are known by their look: all of one length, whatever the samples have.
const KNOWN: [(&str, &str); 6] = [
    ("a UUID", "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"),
    ("a UUID", "^[0-9A-F]{8}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{12}$"),
    ("a MAC address", "^[0-9A-F]{2}:[0-9A-F]{2}:[0-9A-F]{2}:[0-9A-F]{2}:[0-9A-F]{2}:[0-9A-F]{2}$"),
    ("a MAC address", "^[0-9a-f]{2}:[0-9a-f]{2}:[0-9a-f]{2}:[0-9a-f]{2}:[0-9a-f]{2}:[0-9a-f]{2}$"),
    ("an IPv4 address", "^[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}$"),
    ("a date", "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"),
];

/// The pattern of texts that look like a well-known identifier, and what that is.
pub(super) fn known(texts: &[&str]) -> Option<(&'static str, &'static str)> {
    KNOWN.into_iter().find(|(_, pattern)| {
        regex::Regex::new(pattern).is_ok_and(|regex| texts.iter().all(|text| regex.is_match(text)))
    })
}

/// The pattern that all texts have, if they look like identifiers.
pub(super) fn pattern(texts: &[&str]) -> Option<String> {
    let different: BTreeSet<&str> = texts.iter().copied().collect();
    let is_many = different.len() >= MANY;
    if different.iter().any(|text| !is_identifier(text) || !is_many && has_word(text)) {
        return None;
    }
    let split: Vec<Vec<&str>> = different.iter().map(|text| pieces(text)).collect();
    let first = split.first()?;
    if split.iter().any(|pieces| pieces.len() != first.len()) {
        return None;
    }
    let has_signs = first.len() > 1;
    let mut pattern = "^".to_owned();
    for at in 0..first.len() {
        let column: Vec<&str> = split.iter().map(|pieces| pieces[at]).collect();
        let same = column.iter().all(|piece| *piece == first[at]);
        if same && (is_many || !is_chunk(first[at])) {
            pattern.extend(first[at].chars().flat_map(escaped));
        } else if column.iter().all(|piece| is_chunk(piece)) {
            // A chunk between signs has its own length by chance, unless many say otherwise.
            pattern.push_str(&chunk(&column, has_signs && !is_many));
        } else {
            return None;
        }
    }
    pattern.push('$');
    Some(pattern)
}

/// Whether these are numbers, dates or identifiers of one look, each with a digit.
pub(super) fn are_numbered(keys: &[&str]) -> bool {
    known(keys).is_some()
        || keys.iter().all(|key| !key.is_empty() && key.bytes().all(|b| b.is_ascii_digit()))
        || pattern(keys).is_some()
}

fn is_identifier(text: &str) -> bool {
    text.len() <= LONGEST
        && text.bytes().all(|b| b.is_ascii_graphic())
        && text.bytes().any(|b| b.is_ascii_digit())
}

/// Whether three lower-case letters stand in a row, as in words.
fn has_word(text: &str) -> bool {
    text.as_bytes().windows(3).any(|three| three.iter().all(u8::is_ascii_lowercase))
}

/// `c` as an expression. ECMA-262 with the flag `u` lets a backslash stand before no other characters.
fn escaped(c: char) -> impl Iterator<Item = char> {
    Some('\\').filter(|_| "^$\\.*+?()[]{}|/".contains(c)).into_iter().chain([c])
}

fn is_chunk(piece: &str) -> bool {
    piece.starts_with(|c: char| c.is_ascii_alphanumeric())
}

/// Runs of letters and digits, and runs of other characters between them.
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

/// The expression of chunks in one place; `roomy` lets them be shorter and longer.
fn chunk(chunks: &[&str], roomy: bool) -> String {
    // Letters and then a number, in each of them: the number's length is its own.
    let letters =
        |chunk: &str| chunk.len() - chunk.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
    let split: Vec<(&str, &str)> = chunks.iter().map(|chunk| chunk.split_at(letters(chunk))).collect();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let could_be_hex = chunks.iter().all(|chunk| chunk.bytes().all(|b| b.is_ascii_hexdigit()));
    if !could_be_hex && split.iter().all(|(letters, digits)| !letters.is_empty() && is_number(digits)) {
        let (letters, digits): (Vec<&str>, Vec<&str>) = split.into_iter().unzip();
        return run(&letters, roomy) + &run(&digits, roomy);
    }
    run(chunks, roomy)
}

/// One class, so many times.
fn run(chunks: &[&str], roomy: bool) -> String {
    let lengths = || chunks.iter().map(|chunk| chunk.len());
    let (least, most) = (lengths().min().unwrap_or(0), lengths().max().unwrap_or(0));
    let class = class(chunks);
    match (least, most) {
        _ if roomy => format!("{class}{{1,{}}}", 2 * most),
        (1, 1) => class.to_owned(),
        _ if least == most => format!("{class}{{{most}}}"),
        _ => format!("{class}{{{least},{most}}}"),
    }
}

/// The smallest class with all characters. Letters up to F beside digits are hexadecimal.
fn class(chunks: &[&str]) -> &'static str {
    let has = |range: std::ops::RangeInclusive<u8>| {
        chunks.iter().any(|chunk| chunk.bytes().any(|b| range.contains(&b)))
    };
    let (digits, upper, lower) = (has(b'0'..=b'9'), has(b'A'..=b'Z'), has(b'a'..=b'z'));
    match (digits, upper, lower) {
        (_, false, false) => "[0-9]",
        (false, true, false) => "[A-Z]",
        (false, false, true) => "[a-z]",
        (false, true, true) => "[A-Za-z]",
        (true, true, false) if !has(b'G'..=b'Z') => "[0-9A-F]",
        (true, true, false) => "[0-9A-Z]",
        (true, false, true) if !has(b'g'..=b'z') => "[0-9a-f]",
        (true, false, true) => "[0-9a-z]",
        (true, true, true) => "[0-9A-Za-z]",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_and_then_digits_keep_their_counts() {
        assert_eq!(pattern(&["LMCU1231237"]).unwrap(), "^[A-Z]{4}[0-9]{7}$");
        assert_eq!(pattern(&["PISA01", "LIV7"]).unwrap(), "^[A-Z]{3,4}[0-9]{1,2}$");
        assert_eq!(pattern(&["393600504805"]).unwrap(), "^[0-9]{12}$");
    }

    #[test]
    fn letters_up_to_f_are_hexadecimal() {
        assert_eq!(pattern(&["14405E"]).unwrap(), "^[0-9A-F]{6}$");
        assert_eq!(pattern(&["00ff3a", "12345b"]).unwrap(), "^[0-9a-f]{6}$");
        assert_eq!(pattern(&["F9000", "DEAD1"]).unwrap(), "^[0-9A-F]{5}$");
    }

    #[test]
    fn chunks_between_signs_get_room_until_many_were_seen() {
        assert_eq!(
            pattern(&["999-01-1-31D41"]).unwrap(),
            "^[0-9]{1,6}-[0-9]{1,4}-[0-9]{1,2}-[0-9A-F]{1,10}$"
        );
        let cells: Vec<String> =
            (0..20).map(|n| format!("222-01-{:X}-{:05X}", n % 12, 0x31000 + n)).collect();
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        assert_eq!(pattern(&cells).unwrap(), "^222-01-[0-9A-F]-[0-9A-F]{5}$");
    }

    #[test]
    fn words_are_no_identifiers_and_neither_is_another_structure() {
        for texts in
            [&["quay"][..], &["Quay lamp 7"], &["lamp-7.lan", "x-1"], &["A-1", "A1"], &["1", ""], &["é1"]]
        {
            assert_eq!(pattern(texts), None, "{texts:?}");
        }
    }

    #[test]
    fn well_known_ones_have_the_length_they_always_have() {
        assert_eq!(known(&["192.0.2.57"]).unwrap().0, "an IPv4 address");
        assert_eq!(known(&["02:00:5E:10:2B:01"]).unwrap().0, "a MAC address");
        assert_eq!(known(&["8c0a1e04-7d4b-4b52-9d2e-000000000001"]).unwrap().0, "a UUID");
        assert_eq!(known(&["192.0.2.57", "localhost"]), None);
    }
}
