//! Infers text that holds one number, or several with a separator.

use super::{
    guesses::counted,
    identifier,
    number::{last_name, seen, step},
    range::{self, Range, extent},
    write,
};
use crate::{number_text::plain, parse::Node};

/// The most digits of a whole number. Longer ones are identifiers, unless decimals follow.
const WHOLE_DIGITS: usize = 6;
/// The most digits of a number.
const DIGITS: usize = 15;
/// The most numbers in one text.
const NUMBERS: usize = 16;
/// Two whole numbers with a comma between them.
const COMMA: &str = "^-{0,1}[0-9]{1,9},-{0,1}[0-9]{1,9}$";
const LIMITS: (i128, i128) = (i64::MIN as i128, i64::MAX as i128);

/// Numbers of one notation.
struct Numbers {
    places: u32,
    /// The fewest digits before the point.
    digits: usize,
    scaled: Vec<i128>,
}

/// The notation of one text, and its number.
struct Notation {
    places: usize,
    /// The number of digits before the point.
    whole: usize,
    /// Whether they have a leading zero.
    padded: bool,
    scaled: i128,
}

/// Infers text that is one number: `"17.00"`, `"06"`.
pub(super) fn one(path: &str, texts: &[&str]) -> Option<(Node, String)> {
    let numbers = Numbers::of(texts.iter().copied())?;
    let (members, range) = numbers.members(last_name(path), &numbers.scaled);
    let seen = seen(&numbers.scaled, numbers.places);
    let padded = if numbers.digits > 1 { format!(" with {} digits", numbers.digits) } else { String::new() };
    let note = format!("numbers as text{padded}, {seen}; range {range}");
    Some((write::text_with("x-dunnage-number", Node::Object(members)), note))
}

/// Whether the text is a number in the notation of `x-dunnage-number`.
pub(super) fn is_number(text: &str) -> bool {
    notation(text).is_some()
}

/// Infers text that is several numbers with one separator: `"-993.9269 -27.1004 -52.0035"`.
pub(super) fn several(path: &str, texts: &[&str]) -> Option<(Node, String)> {
    let separator = separator(texts.first()?).filter(|_| !identifier::are_spans(texts))?;
    let split: Vec<Vec<&str>> = texts.iter().map(|text| text.split(separator).collect()).collect();
    let count = split.first()?.len();
    if !(2..=NUMBERS).contains(&count) || split.iter().any(|parts| parts.len() != count) {
        return None;
    }
    let columns = (0..count).map(|at| Numbers::of(split.iter().map(|parts| parts[at])));
    let columns = columns.collect::<Option<Vec<_>>>()?;
    let mut ranges = Vec::new();
    let items = columns.iter().enumerate().map(|(at, column)| {
        // Numbers of the same notation are components of one quantity, such as a vector, and share a range.
        let alike =
            columns.iter().filter(|other| (other.places, other.digits) == (column.places, column.digits));
        let all: Vec<i128> = alike.flat_map(|other| other.scaled.iter().copied()).collect();
        let (mut members, range) = column.members(last_name(path), &all);
        let name = name(at, count);
        ranges.push(range);
        members.insert(0, ("name".to_owned(), Node::Text(name)));
        Node::Object(members)
    });
    let items: Vec<Node> = items.collect();
    ranges.dedup();
    let ranges = if ranges.len() == 1 { format!("each {}", ranges[0]) } else { ranges.join("; ") };
    let items = Node::Array(items);
    let numbers = write::object([("separator", write::text(separator)), ("items", items)]);
    let note = format!("{count} numbers in each of {}: {ranges}", counted(texts.len(), "text"));
    Some((write::text_with("x-dunnage-numbers", numbers), note))
}

/// Infers text of two whole numbers with a comma between them, the second without a sign. It is a decimal as many countries write it, or a
/// pair; a pattern allows both.
pub(super) fn comma(_: &str, texts: &[&str]) -> Option<(Node, String)> {
    let is_whole = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_comma = |text: &&str| {
        let parts = text.strip_prefix('-').unwrap_or(text).split_once(',');
        parts.is_some_and(|(whole, decimals)| is_whole(whole) && is_whole(decimals))
    };
    texts.iter().all(is_comma).then(|| {
        let note =
            format!("decimals with a comma, or pairs, in {}: pattern {COMMA}", counted(texts.len(), "value"));
        (write::text_with("pattern", write::text(COMMA)), note)
    })
}

/// Returns the text between the first two numbers, if it has neither letters nor digits.
fn separator(text: &str) -> Option<&str> {
    let number = |c: char| c.is_ascii_digit() || matches!(c, '-' | '.');
    let rest = text.trim_start_matches(number);
    let end = rest.find(number)?;
    let separator = rest.get(..end)?;
    (!separator.is_empty() && !separator.contains(char::is_alphanumeric)).then_some(separator)
}

/// Returns the name of a part: x, y and z for up to three parts, else n1, n2, ….
fn name(at: usize, count: usize) -> String {
    match ["x", "y", "z"].get(at) {
        Some(axis) if count <= 3 => (*axis).to_owned(),
        _ => format!("n{}", at + 1),
    }
}

impl Numbers {
    /// Parses texts in one notation; `None` if the texts are not numbers of one notation, or are identifiers.
    fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Option<Numbers> {
        let read = texts.map(notation).collect::<Option<Vec<_>>>()?;
        let places = read.first()?.places;
        let width = read.iter().filter(|n| n.padded).map(|n| n.whole).max().unwrap_or(1);
        // No number has fewer digits than the padded ones, and only numbers of exactly that width begin with a zero.
        let one_notation =
            |n: &Notation| n.places == places && n.whole >= width && (!n.padded || n.whole == width);
        let is_identifier = |n: &Notation| places == 0 && n.whole > WHOLE_DIGITS;
        if read.iter().any(|n| !one_notation(n) || is_identifier(n)) {
            return None;
        }
        let scaled = read.iter().map(|n| n.scaled).collect();
        Some(Numbers { places: places as u32, digits: width, scaled })
    }

    /// Returns the members of `x-dunnage-number` for these numbers with the range of `all`, and the description of that range.
    fn members(&self, name: &str, all: &[i128]) -> (Vec<(String, Node)>, String) {
        let range = self.range(name, all);
        // The step must have as many decimals as the text, so its last decimal must not be zero.
        let step = Some(step(all)).filter(|step| range.has_step && (self.places == 0 || step % 10 != 0));
        let step = step.unwrap_or(1);
        let mut members = vec![("multipleOf".to_owned(), Node::Number(plain(step, self.places)))];
        members.extend(range.keywords(self.places, "usual"));
        if self.digits > 1 {
            members.push(("digits".to_owned(), write::count(self.digits)));
        }
        (members, range.describe(self.places))
    }

    fn range(&self, name: &str, all: &[i128]) -> Range {
        let (low, high) = extent(all);
        let unit = 10i128.saturating_pow(self.places);
        let widest = 10i128.saturating_pow(self.digits as u32) * unit - unit;
        let guessed = range::guess(name, all, self.places, LIMITS);
        match self.digits {
            // A counter goes on with another digit.
            digits if digits > 1 && low >= 0 && high <= widest => guessed.above_zero(widest),
            _ => guessed,
        }
    }
}

/// Parses a number in text: an optional `-`, digits, and an optional point with decimals. Rejects negative zero.
fn notation(text: &str) -> Option<Notation> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_whole = digits.len() == whole.len();
    if !is_number(whole) || !is_whole && !is_number(decimals) || whole.len() + decimals.len() > DIGITS {
        return None;
    }
    let magnitude: i128 = format!("{whole}{decimals}").parse().ok()?;
    let negative = digits.len() < text.len();
    if negative && magnitude == 0 {
        return None;
    }
    Some(Notation {
        places: decimals.len(),
        whole: whole.len(),
        padded: whole.len() > 1 && whole.starts_with('0'),
        scaled: if negative { -magnitude } else { magnitude },
    })
}
