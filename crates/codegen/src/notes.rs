//! The English notes on a field in a definition.

use crate::Integer;
use dunnage_pson::Value;
use dunnage_schema::{Decimal, NumberText, NumbersText, TimeText};

pub(crate) fn integer(range: Integer, step: u64) -> Vec<String> {
    sentence(&bounds(range, step))
}

pub(crate) fn scaled(number: &Decimal) -> Vec<String> {
    sentence(&scale(number))
}

pub(crate) fn number_text(text: &NumberText) -> Vec<String> {
    let mut parts = scale(&text.number);
    parts.push(match (text.digits, text.number.places) {
        (0 | 1, 0) => "as text without decimals".to_owned(),
        (0 | 1, places) => format!("as text with {}", decimal_places(places)),
        (digits, 0) => format!("as text of at least {digits} digits"),
        (digits, places) => format!("as text of at least {digits} digits and {}", decimal_places(places)),
    });
    sentence(&parts)
}

pub(crate) fn numbers(text: &NumbersText) -> Vec<String> {
    let part = |(name, part): &(String, NumberText)| match part.number.places {
        0 => name.clone(),
        places => format!("{name} times {}", power(places)),
    };
    let parts: Vec<_> = text.parts.iter().map(part).collect();
    vec![format!("In this order: {}.", parts.join(", "))]
}

pub(crate) fn decimals(places: u32) -> Vec<String> {
    vec![format!("Rounded to {} when read.", decimal_places(places))]
}

pub(crate) fn time(text: &TimeText) -> Vec<String> {
    let unit = match text.places {
        0 => "Seconds".to_owned(),
        places => format!("Units of 1/{} s", power(places)),
    };
    let notation = text.write_notation();
    vec![format!("{unit} since {} s after 1970-01-01T00:00:00Z, as text {notation}.", text.epoch)]
}

pub(crate) fn one_of(values: &[Value]) -> Vec<String> {
    let values: Vec<_> = values.iter().map(plain).collect();
    vec![format!("One of {}.", values.join(", "))]
}

pub(crate) fn pson() -> Vec<String> {
    vec!["Any value, as PSON.".to_owned()]
}

pub(crate) fn additional() -> Vec<String> {
    vec!["All other properties, as a PSON map; empty when there are none.".to_owned()]
}

pub(crate) fn null_or() -> Vec<String> {
    vec!["False for null.".to_owned()]
}

pub(crate) fn flag(value: &Value, null: bool) -> Vec<String> {
    let otherwise = if null { "null" } else { "absent" };
    vec![format!("True: {}. False: {otherwise}.", plain(value))]
}

/// Formats a value for a comment or a name.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(b) => b.to_string(),
        Value::U64(n) => n.to_string(),
        Value::I64(n) => n.to_string(),
        Value::F64(f) => f.to_string(),
        Value::Text(text) => text.clone(),
        other => other.type_name().to_owned(),
    }
}

fn bounds(range: Integer, step: u64) -> Vec<String> {
    let open = range.min == i128::from(i64::MIN) || range.max >= i128::from(i64::MAX);
    let multiple = (step > 1).then(|| format!("a multiple of {step}"));
    (!open).then(|| format!("{} to {}", range.min, range.max)).into_iter().chain(multiple).collect()
}

fn scale(number: &Decimal) -> Vec<String> {
    let factor = (number.places > 0).then(|| format!("times {}", power(number.places)));
    factor.into_iter().chain(bounds(Integer::within(number.min, number.max), number.step)).collect()
}

fn decimal_places(places: u32) -> String {
    format!("{places} {}", if places == 1 { "decimal" } else { "decimals" })
}

fn power(places: u32) -> String {
    format!("1{}", "0".repeat(places as usize))
}

fn sentence(parts: &[String]) -> Vec<String> {
    let text = parts.join(", ");
    let mut chars = text.chars();
    chars.next().map(|first| format!("{}{}.", first.to_uppercase(), chars.as_str())).into_iter().collect()
}
