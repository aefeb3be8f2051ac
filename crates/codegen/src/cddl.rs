//! Writes the messages of a schema in CDDL (RFC 8610), with the names of their fields, and with numbers as CBOR and JSON have them.

use dunnage_pson::Value;
use dunnage_schema::{
    Array, Checked, Decimal, Float, Integer, Model, NumberText, Object, Text, TextFormat, TimePart, TimeText,
    Tuple, Type,
};
use std::fmt::Write;

/// The range of 64-bit signed integers, as binary64.
const MIN_INTEGER: f64 = -9_223_372_036_854_775_808.0;
const MAX_INTEGER: f64 = 9_223_372_036_854_775_807.0;

/// A time in RFC 3339 notation as plain text. CDDL's own `tdate` has a tag.
const DATE_TIME: &str =
    "[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})";

/// Returns the text of a `.cddl` file. Comments state the rules that CDDL cannot express.
///
/// ```
/// use dunnage_codegen::cddl;
/// # use dunnage_schema::Model;
/// let model = Model::compile(r#"{
///     "title": "Reading",
///     "type": "object",
///     "properties": {
///         "celsius": {"type": "number", "multipleOf": 0.01, "minimum": -40, "maximum": 85},
///         "door": {"enum": ["open", "closed"]}
///     },
///     "required": ["celsius"],
///     "additionalProperties": false
/// }"#)?;
/// assert!(cddl(&model).contains("\"open\" / \"closed\""));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn cddl(model: &Model) -> String {
    let mut text = format!("; {}: messages as JSON or CBOR has them, in CDDL (RFC 8610).\n\n", model.name());
    let rule = |name: &str, kind: &Type, text: &mut String| {
        notes(kind).iter().for_each(|note| line(text, 0, &format!("; {note}")));
        line(text, 0, &format!("{name} = {}", expression(kind, 0)));
    };
    rule(&rule_name(model), model.root(), &mut text);
    for (i, definition) in model.definitions().iter().enumerate() {
        text.push('\n');
        rule(&definition_name(i), definition, &mut text);
    }
    text
}

/// Returns the name of the first rule.
fn rule_name(model: &Model) -> String {
    model.name().to_lowercase()
}

fn definition_name(index: usize) -> String {
    format!("definition-{}", index + 1)
}

/// Returns the CDDL type of `kind`. `depth` is the nesting level of the line on which it begins.
fn expression(kind: &Type, depth: usize) -> String {
    match kind {
        Type::Any => "any".to_owned(),
        Type::Null => "null".to_owned(),
        Type::Bool => "bool".to_owned(),
        Type::Integer(n) => integer(n),
        Type::Decimal(n) => decimal(n),
        Type::Float(n) => float(n),
        Type::Text(text) => self::text(text),
        Type::NumberText(number) => regexp(&number_pattern(number)),
        Type::NumbersText(numbers) => {
            let parts: Vec<_> = numbers.parts.iter().map(|(_, part)| number_pattern(part)).collect();
            regexp(&parts.join(&escaped(&numbers.separator)))
        }
        Type::TimeText(time) => regexp(&time_pattern(time)),
        Type::Enum(values) => choice(values.iter().map(literal)),
        Type::Const(value) => literal(value),
        Type::Array(array) => self::array(array, depth),
        Type::Tuple(tuple) => self::tuple(tuple, depth),
        Type::Object(object) => self::object(object, depth),
        Type::Nullable(inner) => choice([expression(inner, depth), "null".to_owned()].into_iter()),
        Type::Union(kinds) => choice(kinds.iter().map(|kind| expression(kind, depth))),
        Type::Definition(at) => definition_name(*at),
        Type::Checked(checked) => expression(&checked.kind, depth),
        Type::Known(_, inner) => expression(inner, depth),
    }
}

/// Returns the rules that the CDDL type cannot express.
fn notes(kind: &Type) -> Vec<String> {
    match kind {
        Type::Integer(n) if n.step > 1 => vec![format!("A multiple of {}.", n.step)],
        Type::Decimal(n) => vec![format!("A multiple of {}.", scaled(i128::from(n.step), n.places))],
        Type::NumberText(text) => vec![range(&text.number)],
        Type::NumbersText(text) => {
            text.parts.iter().map(|(name, part)| format!("{name}: {}", range(&part.number))).collect()
        }
        Type::Text(text) => {
            // `.size` counts bytes, and only one control operator can follow a type.
            match text.max_length.filter(|_| text.pattern.is_none()) {
                Some(max) => vec![format!("Characters: {} to {max}.", text.min_length)],
                None if text.min_length > 0 => vec![format!("Characters: {} or more.", text.min_length)],
                None => Vec::new(),
            }
        }
        Type::Checked(checked) => checked_notes(checked),
        Type::Array(array) => notes(&array.items),
        other => other.inner().map_or_else(Vec::new, notes),
    }
}

fn checked_notes(checked: &Checked) -> Vec<String> {
    let mut notes = notes(&checked.kind);
    notes.push("Further keywords of the schema restrict it.".to_owned());
    notes
}

fn range(number: &Decimal) -> String {
    let text = |n| scaled(n, number.places);
    let step = i128::from(number.step);
    format!("{} to {}, a multiple of {}.", text(number.min), text(number.max), text(step))
}

/// Formats `n` * 10^-`places`.
fn scaled(n: i128, places: u32) -> String {
    let number =
        Decimal { places, step: 1, min: n, max: n, usual: None, quantum: None, round: false, changes: None };
    NumberText { number, digits: 1 }.write(n)
}

fn integer(n: &Integer) -> String {
    choice(whole(n.min, n.max).into_iter())
}

/// Returns ranges of the integers from `min` to `max`. Some tools reject a range from a negative to a non-negative number.
fn whole(min: i128, max: i128) -> Vec<String> {
    let range = |min: i128, max: i128| if min == max { min.to_string() } else { format!("{min}..{max}") };
    if min < 0 && max >= 0 { vec![range(min, -1), range(0, max)] } else { vec![range(min, max)] }
}

/// Returns the type of a decimal. A whole one may be an integer or a float in CBOR and JSON.
fn decimal(n: &Decimal) -> String {
    let unit = 10i128.saturating_pow(n.places);
    let (min, max) = (-(-n.min).div_euclid(unit), n.max.div_euclid(unit));
    let floats = format!("{}..{}", scaled(n.min, n.places), scaled(n.max, n.places));
    let mut kinds = if min <= max { whole(min, max) } else { Vec::new() };
    if n.places > 0 {
        kinds.push(floats);
    }
    choice(kinds.into_iter())
}

/// Returns the type of a float. A whole one may be an integer.
fn float(n: &Float) -> String {
    if n.min.is_none() && n.max.is_none() {
        return "number".to_owned();
    }
    let (min, max) = (n.min.unwrap_or(f64::MIN), n.max.unwrap_or(f64::MAX));
    let (first, last) = (min.ceil().max(MIN_INTEGER), max.floor().min(MAX_INTEGER));
    let floats = format!("{min:?}..{max:?}");
    let mut kinds = if first <= last { whole(first as i128, last as i128) } else { Vec::new() };
    kinds.push(floats);
    choice(kinds.into_iter())
}

fn text(text: &Text) -> String {
    if let Some(pattern) = &text.pattern {
        return regexp(&anywhere(&pattern.source));
    }
    if text.asserted_format() == Some(TextFormat::DateTime) {
        return regexp(DATE_TIME);
    }
    match text.max_length {
        // `.size` counts bytes, and a character has up to four.
        Some(max) => format!("tstr .size ({}..{})", text.min_length, u64::from(max) * 4),
        None => "tstr".to_owned(),
    }
}

/// Extends `pattern`, which may match any part of a text, to the whole text, because CDDL's `.regexp` must match all of it.
fn anywhere(pattern: &str) -> String {
    match pattern.strip_prefix('^').and_then(|rest| rest.strip_suffix('$')) {
        Some(inside) if !inside.contains('|') && !inside.ends_with('\\') => inside.to_owned(),
        _ => format!("[\\s\\S]*({pattern})[\\s\\S]*"),
    }
}

fn regexp(pattern: &str) -> String {
    format!("tstr .regexp {}", string(pattern))
}

fn number_pattern(text: &NumberText) -> String {
    let sign = if text.number.min < 0 { "-?" } else { "" };
    let least = text.digits.max(1);
    let whole = if least == 1 {
        "(0|[1-9][0-9]*)".to_owned()
    } else {
        format!("([0-9]{{{least}}}|[1-9][0-9]{{{least},}})")
    };
    match text.number.places {
        0 => format!("{sign}{whole}"),
        places => format!("{sign}{whole}[.][0-9]{{{places}}}"),
    }
}

fn time_pattern(time: &TimeText) -> String {
    let part = |part: &TimePart| match part {
        TimePart::Year4 => "[0-9]{4}".to_owned(),
        TimePart::Year2 => "[0-9]{2}".to_owned(),
        TimePart::Month => "(0[1-9]|1[0-2])".to_owned(),
        TimePart::Day => "(0[1-9]|[12][0-9]|3[01])".to_owned(),
        TimePart::Hour => "([01][0-9]|2[0-3])".to_owned(),
        TimePart::Minute | TimePart::Second => "[0-5][0-9]".to_owned(),
        TimePart::Fraction => format!("[0-9]{{{}}}", time.places),
        TimePart::Literal(literal) => escaped(literal),
    };
    time.notation.iter().map(part).collect()
}

/// Escapes text for a regular expression. It uses brackets, because tools differ in how they treat a backslash in quotes.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '$' => {
                out.extend(['[', c, ']']);
            }
            '^' | '\\' => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out
}

fn choice(alternatives: impl Iterator<Item = String>) -> String {
    let alternatives: Vec<_> = alternatives.collect();
    match alternatives.as_slice() {
        [one] => one.clone(),
        all => format!("({})", all.join(" / ")),
    }
}

fn literal(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(b) => b.to_string(),
        Value::U64(n) => n.to_string(),
        Value::I64(n) => n.to_string(),
        Value::F64(f) => format!("{f:?}"),
        Value::Text(text) => string(text),
        Value::Bytes(bytes) => {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("h'{hex}'")
        }
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(literal).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Map(entries) => {
            let entries: Vec<_> =
                entries.iter().map(|(key, value)| format!("{}: {}", string(key), literal(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

fn array(array: &Array, depth: usize) -> String {
    format!("[{}{}]", occurrence(array.min, array.max), expression(&array.items, depth))
}

/// Returns an array type whose elements after the first `min` are optional.
fn tuple(tuple: &Tuple, depth: usize) -> String {
    let mut entries = Vec::new();
    for (i, item) in tuple.items.iter().enumerate() {
        let optional = if i < tuple.min as usize { "" } else { "? " };
        entries.push(format!("{optional}{}", expression(item, depth)));
    }
    if let Some(rest) = &tuple.rest {
        let listed = tuple.items.len() as u32;
        let most = tuple.max.map(|max| max.saturating_sub(listed));
        let least = tuple.min.saturating_sub(listed);
        entries.push(format!("{}{}", occurrence(least, most), expression(rest, depth)));
    }
    format!("[{}]", entries.join(", "))
}

fn occurrence(min: u32, max: Option<u32>) -> String {
    match (min, max) {
        (0, None) => "* ".to_owned(),
        (1, None) => "+ ".to_owned(),
        (min, None) => format!("{min}* "),
        (1, Some(1)) => String::new(),
        (min, Some(max)) => format!("{min}*{max} "),
    }
}

fn object(object: &Object, depth: usize) -> String {
    let mut text = String::from("{\n");
    for field in &object.fields {
        let description = field.description.iter().flat_map(|text| text.lines().map(str::to_owned));
        for note in description.chain(notes(&field.kind)) {
            line(&mut text, depth + 1, &format!("; {note}"));
        }
        let optional = if field.required { "" } else { "? " };
        let value = expression(&field.kind, depth + 1);
        line(&mut text, depth + 1, &format!("{optional}{}: {value},", string(&field.name)));
    }
    if let Some(additional) = &object.additional {
        line(&mut text, depth + 1, &format!("* tstr => {},", expression(additional, depth + 1)));
    }
    text.push_str(&"  ".repeat(depth));
    text.push('}');
    text
}

fn line(text: &mut String, depth: usize, content: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}{content}", "  ".repeat(depth));
}

/// Quotes and escapes text as in JSON (RFC 8610, section 3.1).
fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
