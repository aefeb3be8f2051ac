//! Writes the texts of rows: ranges, steps and reasons.

use super::Words;
use crate::Bits;
use crate::json;
use crate::node::{Form, Number, Shape, Source, Text};
use dunnage_schema::{DEVICE, Decimal, NumberText, Segment};

/// The maximum number of values of a choice that are listed.
const NAMED: usize = 8;

/// Returns the kind and texts of a part without rows of its own below it.
pub(super) fn leaf(shape: &Shape) -> (&'static str, Words) {
    let says = |range: &str, why: &str| Words { range: range.into(), why: why.into(), ..Words::default() };
    match shape {
        Shape::Constant(value) => {
            let mut text = String::new();
            json::write(value, &mut text);
            ("constant", says(&text, "always the same"))
        }
        Shape::Bool => ("boolean", says("false, true", "2 values")),
        Shape::Number(one) => ("number", number(one)),
        Shape::Float => (
            "float",
            says(
                "any float",
                "decimal, binary32 or binary64; multipleOf, minimum and maximum would make it a number",
            ),
        ),
        Shape::Choice(values) => ("choice", choice(values)),
        Shape::Pattern(segments) => ("pattern", pattern(segments)),
        Shape::Text(text) => ("text", plain(text)),
        Shape::Union(kinds) => {
            let why = "the index of its type, then the largest of them";
            ("union", says(&format!("{} types", kinds.len()), why))
        }
        Shape::Any => ("any", says("anything", "its type, and what it holds")),
        Shape::Definition(_) => ("definition", says("itself again", "as deep as the message is")),
        Shape::Known(name) if name == DEVICE => ("known", says("the device", "the link says it")),
        Shape::Known(name) => ("known", says(name, "the receiver knows it from the device")),
        // The parts of these have rows of their own.
        Shape::Numbers(_) | Shape::Array(_) | Shape::Tuple(_) | Shape::Object(_) | Shape::Nullable(_) => {
            ("", Words::default())
        }
    }
}

pub(super) fn number(number: &Number) -> Words {
    let decimal = match &number.source {
        Source::Decimal(decimal) => Some(decimal),
        Source::Text(text) => Some(&text.number),
        Source::Integer | Source::Time(_) => None,
    };
    let (range, step) = match (&number.source, decimal) {
        (Source::Time(time), _) => {
            (format!("{} to {}", time.write(number.min), time.write(number.max)), time.write_notation())
        }
        (source, Some(decimal)) => {
            let digits = if let Source::Text(text) = source { text.digits } else { 1 };
            let written = NumberText { number: decimal.clone(), digits };
            (format!("{} to {}", written.write(decimal.min), written.write(decimal.max)), step(decimal))
        }
        _ => (format!("{} to {}", number.min, number.max), number.step.to_string()),
    };
    let rounded = decimal.is_some_and(|decimal| decimal.round);
    let why = reason(number, decimal) + if rounded { "; the writer rounds" } else { "" };
    Words { range, step, why }
}

/// Returns the step of a number with decimals, or the sensor's unit.
fn step(decimal: &Decimal) -> String {
    let scaled = |n: i128, places: u32| {
        let number = Decimal { places, ..decimal.clone() };
        NumberText { number, digits: 1 }.write(n)
    };
    match &decimal.quantum {
        Some(quantum) => format!("{quantum} each"),
        None => scaled(decimal.step.into(), decimal.places),
    }
}

fn reason(number: &Number, decimal: Option<&Decimal>) -> String {
    let all = match number.form() {
        Form::Index(count) => format!("{count} values"),
        Form::Offset | Form::Signed => {
            "6 bits of size and its significant ones: give it minimum and maximum".into()
        }
    };
    let (Some((first, last)), Some(usual)) = (number.usual, number.usual_count()) else { return all };
    let shown = |n: i128| match decimal {
        Some(decimal) => {
            let scaled = if decimal.quantum.is_some() { decimal.of_count(n) } else { n };
            NumberText { number: decimal.clone(), digits: 1 }.write(scaled)
        }
        None => n.to_string(),
    };
    format!("{usual} usual values from {} to {}; the escape, then {all}", shown(first), shown(last))
}

fn choice(values: &[dunnage_pson::Value]) -> Words {
    let mut range = String::new();
    for (i, value) in values.iter().take(NAMED).enumerate() {
        range.push_str(if i > 0 { ", " } else { "" });
        json::write(value, &mut range);
    }
    if values.len() > NAMED {
        range.push_str(", …");
    }
    Words { range, why: format!("{} values", values.len()), ..Words::default() }
}

fn plain(text: &Text) -> Words {
    let range = bounds(text.min, text.max, "characters");
    let why = "how many; then 7 bits for each of ASCII, or up to 32: a pattern such as ^[ -~]{0,16}$ makes it smaller";
    Words { range, why: why.into(), ..Words::default() }
}

fn pattern(segments: &[Segment]) -> Words {
    let mut range = String::new();
    for segment in segments {
        range.push_str(&class(&segment.chars));
        match (segment.min, segment.max) {
            (1, 1) => {}
            (min, max) if min == max => range.push_str(&format!("{{{max}}}")),
            (min, max) => range.push_str(&format!("{{{min},{max}}}")),
        }
    }
    let counted = segments.iter().any(|segment| segment.min < segment.max);
    let why = if counted { "the numbers of characters, then these" } else { "its characters" };
    Words { range, why: why.into(), ..Words::default() }
}

/// Formats a character class. Runs of three or more characters are written as ranges.
fn class(chars: &[char]) -> String {
    if let [only] = chars {
        return only.to_string();
    }
    let mut text = String::from("[");
    for run in chars.chunk_by(|a, b| u32::from(*a) + 1 == u32::from(*b)) {
        match run {
            [first, _, .., last] => text.extend([*first, '-', *last]),
            few => text.extend(few),
        }
    }
    text + "]"
}

pub(super) fn bounds(min: u32, max: Option<u32>, unit: &str) -> String {
    match max {
        Some(max) if min == max => format!("{max} {unit}"),
        Some(max) => format!("{min} to {max} {unit}"),
        None => format!("{min} and more {unit}"),
    }
}

/// Describes the bits of each occurrence of a repeated part.
pub(super) fn each(one: Bits, most: Option<u64>) -> String {
    let times = most.map_or("each".to_owned(), |most| format!("up to {most} times"));
    match one.max {
        Some(max) if max == one.min => format!("{times} {max} bits"),
        Some(max) => format!("{times} {} to {max} bits", one.min),
        None => format!("{times} {} bits and more", one.min),
    }
}
