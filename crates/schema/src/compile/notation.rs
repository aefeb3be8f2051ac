//! Compiles `x-dunnage-number`, `x-dunnage-numbers` and `x-dunnage-time`: text with numbers or a time in a fixed notation.

use super::{Schema, number, sensor};
use crate::{NumberText, NumbersText, SchemaError, TimePart, TimeText, Type, error::join, parse::Node};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// The most digits before the point that a notation pads to.
const MAX_DIGITS: u32 = 18;
/// The most decimals of the seconds.
const MAX_FRACTION: usize = 9;

const NUMBER: [&str; 9] = [
    "multipleOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "digits",
    "quantum",
    "usual",
    "changes",
];

/// Compiles the value of `keyword`.
pub(super) fn compile(schema: &Schema<'_>, keyword: &str) -> Result<Type, SchemaError> {
    let at = schema.below(keyword);
    let Some(node) = schema.get(keyword).filter(|node| matches!(node, Node::Object(_))) else {
        return Err(schema.error(keyword, format!("{keyword} must be an object")));
    };
    let inner = Schema { node, at, ..*schema };
    match keyword {
        "x-dunnage-number" => number_text(&inner, &NUMBER).map(Type::NumberText),
        "x-dunnage-numbers" => numbers_text(&inner).map(Type::NumbersText),
        _ => time_text(&inner).map(Type::TimeText),
    }
}

fn number_text(schema: &Schema<'_>, members: &[&str]) -> Result<NumberText, SchemaError> {
    schema.check_members(members)?;
    let number = number::decimal(schema, ["quantum", "usual", "changes"])?;
    match schema.count("digits")?.unwrap_or(1) {
        digits @ 1..=MAX_DIGITS => Ok(NumberText { number, digits }),
        _ => Err(schema.error("digits", format!("digits must be from 1 to {MAX_DIGITS}"))),
    }
}

fn numbers_text(schema: &Schema<'_>) -> Result<NumbersText, SchemaError> {
    schema.check_members(&["separator", "items"])?;
    let separator = schema.node.text("separator").unwrap_or_default();
    if separator.is_empty() || separator.contains(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.')) {
        let message = "separator must be a string without digits, '-' and '.', and not empty";
        return Err(schema.error("separator", message));
    }
    let items = match schema.get("items") {
        Some(Node::Array(items)) if !items.is_empty() => items,
        _ => return Err(schema.error("items", "items must be an array of numbers, and not empty")),
    };
    let mut parts: Vec<(String, NumberText)> = Vec::with_capacity(items.len());
    for (i, node) in items.iter().enumerate() {
        let at = join(&schema.below("items"), &i.to_string());
        let item = Schema { node, at, ..*schema };
        let name = node.text("name").filter(|name| is_name(name)).ok_or_else(|| {
            item.error("name", "name must be a letter and then letters, digits and underscores")
        })?;
        if parts.iter().any(|(other, _)| other == name) {
            return Err(item.error("name", format!("duplicate name {name:?}")));
        }
        parts.push((name.to_owned(), number_text(&item, &[&NUMBER[..], &["name"]].concat())?));
    }
    Ok(NumbersText { separator: separator.to_owned(), parts })
}

fn time_text(schema: &Schema<'_>) -> Result<TimeText, SchemaError> {
    schema.check_members(&["notation", "epoch", "until", "every"])?;
    let Some(notation) = schema.node.text("notation") else {
        return Err(schema.error("notation", "notation must be a string such as \"YYYY-MM-DDThh:mm:ssZ\""));
    };
    let (notation, places) = time_parts(notation).map_err(|message| schema.error("notation", message))?;
    let epoch = second(schema, "epoch")?.unwrap_or(0);
    let mut time = TimeText { notation, epoch, places, until: None, every: None };
    let is_empty = |time: &TimeText| time.range().0 > time.range().1;
    if is_empty(&time) {
        return Err(schema.error("epoch", "the notation has no time that 63 bits can count from this epoch"));
    }
    time.until = second(schema, "until")?;
    if is_empty(&time) {
        return Err(schema.error("until", "until is before the first time"));
    }
    time.every = sensor::every(schema, "every", places, 1)?;
    Ok(time)
}

/// Returns the second under `member`, given in the notation of RFC 3339, in seconds since 1970-01-01T00:00:00Z.
fn second(schema: &Schema<'_>, member: &str) -> Result<Option<i64>, SchemaError> {
    let text = match schema.get(member) {
        None => return Ok(None),
        Some(Node::Text(text)) => text,
        Some(_) => return Err(schema.error(member, format!("{member} must be a string"))),
    };
    let time = OffsetDateTime::parse(text, &Rfc3339).ok().filter(|time| time.nanosecond() == 0);
    time.map(|time| Some(time.unix_timestamp())).ok_or_else(|| {
        schema.error(member, format!("{text:?} is not a whole second such as \"2000-01-01T00:00:00Z\""))
    })
}

/// Parses the notation of a time; returns its parts and the number of decimals of its seconds.
fn time_parts(notation: &str) -> Result<(Vec<TimePart>, u32), String> {
    let mut parts = Vec::new();
    let mut places = 0;
    let mut rest = notation;
    while let Some(first) = rest.chars().next() {
        let run = rest.len() - rest.trim_start_matches(first).len();
        let (token, tail) = rest.split_at(run);
        rest = tail;
        let part = match token {
            "YYYY" => TimePart::Year4,
            "YY" => TimePart::Year2,
            "MM" => TimePart::Month,
            "DD" => TimePart::Day,
            "hh" => TimePart::Hour,
            "mm" => TimePart::Minute,
            "ss" => TimePart::Second,
            _ if first == 'f' && run <= MAX_FRACTION => {
                places = run as u32;
                TimePart::Fraction
            }
            _ if "YMDhmsf".contains(first) => {
                return Err(format!(
                    "{token:?} is not one of YYYY, YY, MM, DD, hh, mm, ss and one to nine f"
                ));
            }
            _ => {
                if let Some(TimePart::Literal(literal)) = parts.last_mut() {
                    literal.push_str(token);
                    continue;
                }
                TimePart::Literal(token.to_owned())
            }
        };
        if !matches!(part, TimePart::Literal(_)) && parts.contains(&part) {
            return Err(format!("duplicate {token:?}"));
        }
        parts.push(part);
    }
    let years = parts.iter().filter(|part| matches!(part, TimePart::Year4 | TimePart::Year2)).count();
    let once = [TimePart::Month, TimePart::Day, TimePart::Hour, TimePart::Minute, TimePart::Second];
    if years != 1 || once.iter().any(|part| !parts.contains(part)) {
        return Err("the notation must have YYYY or YY, and MM, DD, hh, mm and ss".to_owned());
    }
    Ok((parts, places))
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
