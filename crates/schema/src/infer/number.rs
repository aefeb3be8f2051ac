//! Infers numbers: whole numbers, decimals or binary floats.

use super::{
    MANY,
    guesses::{Guesses, allows, counted},
    quantity, range, write,
};
use crate::{
    exact::Exact,
    number::read_number,
    number_text::{decimal_text, plain},
    parse::Node,
};
use std::collections::BTreeSet;

/// The most significant digits of a decimal that survive binary64. Sensors have fewer.
const DIGITS: u32 = 15;
const SIGNED: (i128, i128) = (i64::MIN as i128, i64::MAX as i128);
const UNSIGNED_MAX: i128 = u64::MAX as i128;

/// At most one in this many numbers may be odd.
const PER_ODD: usize = range::PER_OUTLIER;
/// The same for negative zeros, which arise from rounding: `round(-0.04, 1)`.
const PER_NEGATIVE_ZERO: usize = 10;
/// The most digits of decimals that were widened from a binary32, of few and of many. A binary32 has at least six, and of those that are no
/// short decimals, most have more than seven.
const WIDENED_DIGITS: (u32, u32) = (6, 7);
/// The most decimals with which a binary32 is compared. Longer texts are not decimals.
const MAX_PLACES: u32 = 60;
/// The number of distinct values up to which the last decimal may be missing by chance: one value in ten ends in 0.
const UNSURE: usize = 2;
/// The decimals of a measured quantity of which only whole numbers were seen.
const MEASURED_PLACES: u32 = 2;

/// Infers the schema of numbers from their texts.
pub(super) fn infer(guesses: &mut Guesses, path: &str, texts: &[&str]) -> Node {
    if let Some((schema, note)) = widened(path, texts) {
        guesses.note(path, note);
        return schema;
    }
    let (odd, others): (Vec<&str>, Vec<&str>) = texts.iter().partition(|text| !is_decimal(text));
    if is_odd(&odd, texts.len())
        && let Some((schema, note)) = decimal(path, &others)
    {
        guesses.note_odd(path, &odd, texts.len());
        guesses.note(path, note);
        return schema;
    }
    float(guesses, path, texts)
}

/// Infers binary floats, or anything.
pub(super) fn float(guesses: &mut Guesses, path: &str, texts: &[&str]) -> Node {
    let values = || texts.iter().map(|text| read_number(text));
    let float = write::object([("type", write::text("number"))]);
    let seen = counted(texts.len(), "value");
    if allows(&float, values()) {
        guesses
            .note(path, format!("no number of decimal places holds {seen}: a binary float without a range"));
        return float;
    }
    guesses.note(path, format!("no kind of number holds {seen}: anything is allowed"));
    write::object([])
}

/// Infers decimals that were a binary32 on the way, as those of most microcontrollers: `21.299999237060547` or `21.29999924` for 21.3. All
/// numbers must have few digits as a binary32. The schema rounds.
pub(super) fn widened(path: &str, texts: &[&str]) -> Option<(Node, String)> {
    let most = if texts.len() < MANY { WIDENED_DIGITS.0 } else { WIDENED_DIGITS.1 };
    let short: Vec<String> = texts.iter().map(|text| narrowed(text)).collect::<Option<_>>()?;
    let is_wide = |text: &&str| significant(text).is_some_and(|digits| digits > WIDENED_DIGITS.1);
    let short: Vec<&str> = short.iter().map(String::as_str).collect();
    let is_short = |text: &&str| significant(text).is_some_and(|digits| digits <= most) && is_decimal(text);
    if !texts.iter().any(is_wide) || !short.iter().all(is_short) {
        return None;
    }
    let (schema, note) = decimal(path, &short)?;
    let schema = rounding(schema)?;
    let values = texts.iter().map(|text| read_number(text));
    allows(&schema, values).then(|| (schema, format!("decimals that were a binary32, rounded: {note}")))
}

/// Adds rounding to the schema of decimals; `None` if it has no step.
pub(super) fn rounding(schema: Node) -> Option<Node> {
    let Node::Object(mut keywords) = schema else { return None };
    let step = keywords.iter().position(|(keyword, _)| keyword == "multipleOf")?;
    keywords.insert(step + 1, ("x-dunnage-round".to_owned(), Node::Bool(true)));
    Some(Node::Object(keywords))
}

/// Returns the shortest text of the binary32 that was written as `text`; `None` if it was none.
fn narrowed(text: &str) -> Option<String> {
    let value: f64 = text.parse().ok()?;
    let narrow = value as f32;
    let short = narrow.to_string();
    let places = places_of(text).filter(|places| *places <= MAX_PLACES)? as usize;
    let is_narrow = narrow.is_finite()
        && (f64::from(narrow) == value || format!("{:.places$}", f64::from(narrow)).parse() == Ok(value));
    is_narrow.then_some(short)
}

/// Returns the number of significant digits.
fn significant(text: &str) -> Option<u32> {
    let n = Exact::parse(text)?;
    Some(n.scaled(n.places())?.unsigned_abs().checked_ilog10().map_or(1, |log| log + 1))
}

/// Whether few enough of `count` values are `odd` for a schema to leave them out.
pub(super) fn is_odd(odd: &[&str], count: usize) -> bool {
    let zeros = odd.iter().filter(|text| is_negative_zero(text)).count();
    zeros <= count / PER_NEGATIVE_ZERO && odd.len() - zeros <= count / PER_ODD
}

/// Whether a scaled integer can hold the number: it is not a negative zero and has at most the digits that binary64 keeps.
fn is_decimal(text: &str) -> bool {
    let scaled = places(text).and_then(|places| Some((places, Exact::parse(text)?.scaled(places)?)));
    let largest = 10u128.pow(DIGITS);
    !is_negative_zero(text)
        && scaled.is_some_and(|(places, n)| places == 0 || n.unsigned_abs() < largest)
        && read_number(text).is_some()
}

fn is_negative_zero(text: &str) -> bool {
    text.starts_with('-') && Exact::parse(text).and_then(|n| n.scaled(0)) == Some(0)
}

/// Returns the schema of decimals or whole numbers, and the note; `None` if no scaled integer holds them all.
pub(super) fn decimal(path: &str, texts: &[&str]) -> Option<(Node, String)> {
    let (places, scaled) = decimals(texts)?;
    let values = || texts.iter().map(|text| read_number(text));
    let more = unseen_places(last_name(path), texts, places, &scaled);
    let with_more = |more| {
        // Numbers of 38 digits have no room for more digits.
        let scaled: Option<Vec<i128>> = scaled.iter().map(|n| n.checked_mul(10i128.pow(more))).collect();
        let (schema, note) = number(path, places + more, &scaled?);
        let note = if more > 0 {
            format!("{note}; {more} more decimals than seen, by chance or by its name")
        } else {
            note
        };
        allows(&schema, values()).then_some((schema, note))
    };
    with_more(more).or_else(|| with_more(0))
}

/// Returns the number of decimals that a few values may lack by chance. A sender that writes trailing zeros writes all decimals.
fn unseen_places(name: &str, texts: &[&str], places: u32, scaled: &[i128]) -> u32 {
    let is_padded = texts.iter().any(|text| text.contains('.') && text.ends_with('0'));
    let is_unsure = scaled.iter().collect::<BTreeSet<_>>().len() <= UNSURE;
    match places {
        _ if is_padded || !is_unsure => 0,
        0 if quantity::is_measured(name) => MEASURED_PLACES,
        0 => 0,
        _ => 1,
    }
}

/// Returns the most decimal places of the texts, and the numbers in units of them; `None` if a text is not such a decimal.
pub(super) fn decimals(texts: &[&str]) -> Option<(u32, Vec<i128>)> {
    let places = texts.iter().map(|text| places(text)).try_fold(0, |most, n| Some(n?.max(most)))?;
    let largest = 10u128.pow(DIGITS);
    let mut scaled = Vec::with_capacity(texts.len());
    for text in texts {
        let n = Exact::parse(text)?.scaled(places)?;
        if places > 0 && n.unsigned_abs() >= largest {
            return None;
        }
        scaled.push(n);
    }
    (!scaled.is_empty()).then_some((places, scaled))
}

/// Returns the decimal places as written: 2 for `17.00`, 3 for `1.5e-2`, 0 for `2e3`.
fn places(text: &str) -> Option<u32> {
    places_of(text).filter(|places| *places <= DIGITS)
}

fn places_of(text: &str) -> Option<u32> {
    let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let places = i32::try_from(decimals).ok()?.checked_sub(exponent.parse().ok()?)?.max(0);
    u32::try_from(places).ok()
}

/// Returns the schema of numbers in units of 10^-`places`, and the note.
fn number(path: &str, places: u32, scaled: &[i128]) -> (Node, String) {
    let is_unsigned = places == 0 && scaled.iter().all(|n| *n >= 0);
    let limits = if is_unsigned { (0, UNSIGNED_MAX) } else { SIGNED };
    let range = range::guess(last_name(path), scaled, places, limits);
    let step = if range.has_step { step(scaled) } else { 1 };
    let mut keywords = vec![("type".to_owned(), write::text(if places == 0 { "integer" } else { "number" }))];
    if places > 0 || step > 1 {
        keywords.push(("multipleOf".to_owned(), Node::Number(plain(step, places))));
    }
    keywords.extend(range.keywords(places, "x-dunnage-usual"));
    let mut note = format!("{}; range {}", seen(scaled, places), range.describe(places));
    if step > 1 {
        note.push_str(&format!("; all are multiples of {}: the step", plain(step, places)));
    }
    (Node::Object(keywords), note)
}

/// Writes `17.00 to 21.35 seen in 40 values`.
pub(super) fn seen(scaled: &[i128], places: u32) -> String {
    let (low, high) = range::extent(scaled);
    let to = if low == high { String::new() } else { format!(" to {}", decimal_text(high, places)) };
    format!("{}{to} seen in {}", decimal_text(low, places), counted(scaled.len(), "value"))
}

/// Returns the greatest common divisor of the numbers if many distinct ones were seen, else 1.
pub(super) fn step(scaled: &[i128]) -> i128 {
    let different: BTreeSet<i128> = scaled.iter().copied().collect();
    if different.len() < MANY {
        return 1;
    }
    different.iter().fold(0, |a, b| gcd(a, b.unsigned_abs())).max(1) as i128
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Returns the field's own name, the last of its path: `value` of `readings[].value[]`.
pub(super) fn last_name(path: &str) -> &str {
    path.rsplit(['.', ']', '[']).find(|name| !name.is_empty() && *name != "*").unwrap_or_default()
}
