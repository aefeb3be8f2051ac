//! Initialisers: they make a struct a message of the schema.
//!
//! A member gets its `default`. Without one, it gets the count nearest to 0, the first value of an enumeration, the shortest text, or the
//! fewest elements.

use super::{
    number::literal,
    plan::{Alternative, Array, Choice, Content, Plan, Slot, SlotKind, Tuple},
    structs::quoted,
};
use dunnage_packed::{Node, Number, Shape, Source};
use dunnage_pson::Value;
use dunnage_schema::{Segment, Type};

/// Generates the macro that initialises the message.
pub(super) fn macros(plan: &Plan) -> String {
    format!("#define {}_INIT {}\n", plan.prefix, structure(&plan.root.content))
}

fn structure(content: &Content) -> String {
    let mut values = Vec::new();
    match content {
        Content::Object(fields) => {
            for (has, slot) in fields {
                values.extend(has.as_ref().map(|_| "false".to_owned()));
                member(slot, &mut values);
            }
        }
        Content::Value(slot) => member(slot, &mut values),
        Content::Numbers(parts) => {
            values.extend(parts.iter().map(|(_, count)| literal(count.nearest_zero())));
        }
        Content::Tuple(tuple) => self::tuple(tuple, &mut values),
        Content::Union(alternatives) => union(alternatives, &mut values),
    }
    if values.is_empty() {
        values.push("0".to_owned());
    }
    format!("{{{}}}", values.join(", "))
}

/// Appends the values of the members of a slot.
fn member(slot: &Slot, values: &mut Vec<String>) {
    match &slot.kind {
        SlotKind::Nothing => {}
        SlotKind::Struct(inner) => values.push(structure(&inner.content)),
        SlotKind::Array(Array { count, min, max, item, .. }) => {
            values.extend(count.as_ref().map(|_| min.to_string()));
            if *max > 0 {
                values.extend(elements(item, *min));
            }
        }
        SlotKind::Nullable(_, inner) => {
            values.push(slot.initial.clone());
            member(inner, values);
        }
        _ => values.push(slot.initial.clone()),
    }
}

/// Initialises the first `count` elements of an array, and at least one. C sets the others to 0, so one is enough if the element is 0.
fn elements(item: &Slot, count: u32) -> Option<String> {
    let mut element = Vec::new();
    member(item, &mut element);
    let element = element.pop()?;
    let is_zero = element.split(['{', '}', ',', ' ']).all(|word| matches!(word, "" | "0" | "false" | "\"\""));
    let count = if is_zero { 1 } else { count.max(1) };
    Some(format!("{{{}}}", vec![element; count as usize].join(", ")))
}

fn tuple(tuple: &Tuple, values: &mut Vec<String>) {
    values.extend(tuple.count.as_ref().map(|_| tuple.min.to_string()));
    for slot in &tuple.items {
        member(slot, values);
    }
    if let Some((_, rest)) = &tuple.rest {
        values.extend(elements(rest, tuple.min.saturating_sub(tuple.items.len() as u32)));
    }
}

fn union(alternatives: &[Alternative], values: &mut Vec<String>) {
    values.push(alternatives[0].tag.clone());
    // C++98 can initialise only the first member of a union.
    let mut first = Vec::new();
    for alternative in alternatives {
        if first.is_empty() {
            member(&alternative.slot, &mut first);
        }
    }
    if !first.is_empty() {
        values.push(format!("{{{}}}", first.join(", ")));
    }
}

/// Returns the C constant for a single member: `default` if the member can hold it.
pub(super) fn initial(kind: &SlotKind, of: &Type, node: &Node, default: Option<&Value>) -> String {
    match (kind, &node.shape, default) {
        (SlotKind::Nullable(..), _, Some(Value::Null)) => "true".to_owned(),
        (SlotKind::Bool, _, Some(Value::Bool(true))) => "true".to_owned(),
        (SlotKind::Bool | SlotKind::Nullable(..), ..) => "false".to_owned(),
        (SlotKind::Number(count), Shape::Number(number), default) => {
            let default = default.and_then(|value| self::count(number, value));
            literal(default.unwrap_or_else(|| count.nearest_zero()))
        }
        (SlotKind::Float(min, max), _, default) => {
            let default = default.and_then(float);
            let (min, max) = (min.unwrap_or(f64::NEG_INFINITY), max.unwrap_or(f64::INFINITY));
            let value = default.filter(|f| *f >= min && *f <= max).unwrap_or_else(|| 0f64.clamp(min, max));
            format!("{value:?}")
        }
        (SlotKind::Choice(Choice { values, .. }), Shape::Choice(known), default) => {
            let at = default.and_then(|value| known.iter().position(|other| other == value));
            values[at.unwrap_or_default()].clone()
        }
        (SlotKind::Pattern(pattern), Shape::Pattern(segments), default) => {
            let least = pattern.lengths.map_or(0, |(least, _)| least);
            let given = default.and_then(|value| text(of, value, pattern.room()));
            quoted(&given.unwrap_or_else(|| shortest(segments, least)))
        }
        (SlotKind::Text(text), _, default) => {
            let given = default.and_then(|value| self::text(of, value, text.room()));
            quoted(&given.unwrap_or_else(|| "-".repeat(text.min as usize)))
        }
        _ => String::new(),
    }
}

fn float(value: &Value) -> Option<f64> {
    match value {
        Value::F64(f) => Some(*f),
        other => Some(other.as_integer()? as f64),
    }
}

/// Returns `value` as a C string if it is valid for the type and fits a member of `room` bytes.
fn text(of: &Type, value: &Value, room: u32) -> Option<String> {
    let (Type::Text(kind), Value::Text(text)) = (of, value) else { return None };
    let count = text.chars().count();
    let fits = count >= kind.min_length as usize
        && kind.max_length.is_none_or(|max| count <= max as usize)
        && kind.pattern.as_ref().is_none_or(|pattern| pattern.is_match(text))
        && text.len() < room as usize
        && !text.contains('\0');
    fits.then(|| text.clone())
}

/// Returns the shortest text of a pattern with at least `least` characters.
fn shortest(segments: &[Segment], least: u32) -> String {
    let mut missing = least.saturating_sub(segments.iter().map(|segment| segment.min).sum());
    let mut text = String::new();
    for segment in segments {
        let more = missing.min(segment.max - segment.min);
        missing -= more;
        text.extend(segment.chars.first().map(|c| String::from(*c).repeat((segment.min + more) as usize)));
    }
    text
}

/// Converts a number of a message to a count; `None` if it is out of range or not a multiple of the step.
fn count(number: &Number, value: &Value) -> Option<i128> {
    let of_decimal = |decimal: &dunnage_schema::Decimal, scaled| match decimal.quantum {
        Some(_) => decimal.count_of(scaled),
        None => Some(scaled),
    };
    let n = match (&number.source, value) {
        (Source::Integer, value) => value.as_integer()?,
        (Source::Decimal(decimal), value) => of_decimal(decimal, decimal.scaled(value)?)?,
        (Source::Text(text), Value::Text(value)) => of_decimal(&text.number, text.parse(value)?)?,
        (Source::Time(time), Value::Text(value)) => time.parse(value)?,
        _ => return None,
    };
    let step = i128::from(number.step);
    (n >= number.min && n <= number.max && n % step == 0).then_some(n / step)
}
