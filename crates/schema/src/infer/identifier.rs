//! Infers patterns for identifiers: chunks of letters and digits with punctuation between them, such as `999-01-1-31D41`.

use super::MANY;
use std::collections::BTreeSet;

/// The longest identifier. Longer text is prose.
const LONGEST: usize = 64;
/// Shorter texts are words such as `3d` rather than identifiers, unless many distinct ones were seen.
const MIN_LENGTH: usize = 6;
/// The number of distinct texts from which on a common prefix of letters counts as fixed.
const VERY_MANY: usize = 200;
/// Numbers with at least this many digits, all of one length, keep that length. Shorter numbers may grow.
const FIXED_DIGITS: usize = 6;
/// The number of letters, all of them A to F, that are unlikely to be chance: three random letters are in one case of eighty.
const HEX_LETTERS: usize = 3;

/// Well-known identifiers. Their patterns have fixed lengths, whatever the samples have.
const KNOWN: [(&str, &str); 6] = [
    ("a UUID", "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"),
    ("a UUID", "^[0-9A-F]{8}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{12}$"),
    ("a MAC address", "^[0-9A-F]{2}:[0-9A-F]{2}:[0-9A-F]{2}:[0-9A-F]{2}:[0-9A-F]{2}:[0-9A-F]{2}$"),
    ("a MAC address", "^[0-9a-f]{2}:[0-9a-f]{2}:[0-9a-f]{2}:[0-9a-f]{2}:[0-9a-f]{2}:[0-9a-f]{2}$"),
    ("an IPv4 address", "^[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}$"),
    ("a date", "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"),
];

/// Returns the name and pattern of a well-known identifier, if all texts match it.
pub(super) fn known(texts: &[&str]) -> Option<(&'static str, &'static str)> {
    KNOWN.into_iter().find(|(_, pattern)| {
        regex::Regex::new(pattern).is_ok_and(|regex| texts.iter().all(|text| regex.is_match(text)))
    })
}

/// Returns a pattern that all texts match, if they look like identifiers.
///
/// Common properties may be chance: digits that all texts share may be those of a year or of a network. The pattern therefore has fixed
/// characters only for punctuation, and for a prefix of letters that very many texts share.
pub(super) fn pattern(texts: &[&str]) -> Option<String> {
    let different: BTreeSet<&str> = texts.iter().copied().collect();
    let is_many = different.len() >= MANY;
    let few = |text: &str| has_word(text) || text.len() < MIN_LENGTH;
    if different.iter().any(|text| !is_identifier(text) || !is_many && few(text)) {
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
        let is_prefix =
            at == 0 && different.len() >= VERY_MANY && !first[at].bytes().any(|b| b.is_ascii_digit());
        if same && (is_prefix || !is_chunk(first[at])) {
            pattern.extend(first[at].chars().flat_map(escaped));
        } else if column.iter().all(|piece| is_chunk(piece)) {
            // The length of a chunk between punctuation may be chance, unless many texts have it.
            pattern.push_str(&chunk(&column, has_signs && !is_many));
        } else {
            return None;
        }
    }
    pattern.push('$');
    Some(pattern)
}

/// Whether the keys are numbers, dates or identifiers of one form, each with a digit.
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

/// Returns the expression for the chunks at one position. With `roomy`, it allows other lengths, too.
fn chunk(chunks: &[&str], roomy: bool) -> String {
    // If each chunk is letters and then a number, the number has a length of its own.
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

/// Returns the expression of one class with its repetitions.
fn run(chunks: &[&str], roomy: bool) -> String {
    let lengths = || chunks.iter().map(|chunk| chunk.len());
    let (least, most) = (lengths().min().unwrap_or(0), lengths().max().unwrap_or(0));
    let class = class(chunks);
    match (least, most) {
        _ if roomy || class == "[0-9]" && grows(chunks, most) || least < most => {
            format!("{class}{{1,{}}}", 2 * most)
        }
        (1, 1) => class.to_owned(),
        _ => format!("{class}{{{most}}}"),
    }
}

/// Whether the numbers may get more digits: they are short and not padded with zeros.
fn grows(numbers: &[&str], most: usize) -> bool {
    most < FIXED_DIGITS && !numbers.iter().any(|number| number.starts_with('0'))
}

/// Returns the smallest class with all characters. Enough letters, all of them A to F, count as hexadecimal.
fn class(chunks: &[&str]) -> &'static str {
    let letters = chunks.iter().flat_map(|chunk| chunk.bytes()).filter(u8::is_ascii_alphabetic).count();
    let is_hex = letters >= HEX_LETTERS;
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
mod tests {
    use super::*;

    #[test]
    fn letters_and_then_digits_keep_their_counts() {
        assert_eq!(pattern(&["LMCU1231237"]).unwrap(), "^[A-Z]{4}[0-9]{7}$");
        assert_eq!(pattern(&["PISA01", "LIVE70"]).unwrap(), "^[A-Z]{4}[0-9]{2}$");
        assert_eq!(pattern(&["PISA01", "LIVER7"]).unwrap(), "^[A-Z]{1,10}[0-9]{1,4}$");
        assert_eq!(pattern(&["393600504805"]).unwrap(), "^[0-9]{12}$");
    }

    #[test]
    fn some_letters_up_to_f_are_hexadecimal_and_one_is_not() {
        assert_eq!(pattern(&["14405E"]).unwrap(), "^[0-9A-Z]{6}$");
        assert_eq!(pattern(&["00ff3a", "12345b"]).unwrap(), "^[0-9a-f]{6}$");
        assert_eq!(pattern(&["F90001", "DEAD1E"]).unwrap(), "^[0-9A-F]{6}$");
        assert_eq!(pattern(&["3d"]), None);
    }

    #[test]
    fn chunks_between_signs_get_room_until_many_were_seen() {
        assert_eq!(
            pattern(&["999-01-1-31D41"]).unwrap(),
            "^[0-9]{1,6}-[0-9]{1,4}-[0-9]{1,2}-[0-9A-Z]{1,10}$"
        );
        let cells: Vec<String> =
            (0..20).map(|n| format!("222-01-{:X}-{:05X}", n % 12, 0x31000 + n * 41)).collect();
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        assert_eq!(pattern(&cells).unwrap(), "^[0-9]{1,6}-[0-9]{2}-[0-9A-Z]-[0-9A-F]{5}$");
    }

    #[test]
    fn digits_that_all_share_are_not_frozen_and_neither_are_the_letters_of_few() {
        let of = |count: usize, text: &dyn Fn(usize) -> String| {
            let texts: Vec<String> = (0..count).map(text).collect();
            pattern(&texts.iter().map(String::as_str).collect::<Vec<_>>()).unwrap()
        };
        let month = of(400, &|n| format!("2026-05-{:02}T{:02}:{:02}", 1 + n / 96, n / 4 % 24, 15 * (n % 4)));
        assert_eq!(month, "^[0-9]{1,8}-[0-9]{2}-[0-9A-Z]{5}:[0-9]{2}$");
        assert_eq!(of(40, &|n| format!("dev-{n}")), "^[a-z]{3}-[0-9]{1,4}$");
        assert_eq!(of(400, &|n| format!("dev-{n:04}")), "^dev-[0-9]{4}$");
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
