//! The fields of a model as a flat list, with their ranges as text.

use dunnage_formats::{Id, Mapping, Value};
use dunnage_schema::{
    Assertion, DEVICE, Decimal, Float, Model, NumberText, Object, Text, Type, decimal_text,
};
use serde::Serialize;

/// A field as shown to people and in `--json`.
#[derive(Debug, Serialize)]
pub struct Field {
    /// The path: `position.latitude`, `readings[].value`; `$` is the message itself.
    pub field: String,
    /// The type of the value.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Decimal places.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub places: Option<u32>,
    /// Whether the object requires the field.
    pub required: bool,
    /// The range, choices or notation.
    pub values: String,
}

/// All fields of the model, each object and array before its contents, then the definitions, which are named `#0`, `#1`, ...
pub fn fields(model: &Model) -> Vec<Field> {
    let mut fields = Vec::new();
    match model.root() {
        Type::Object(object) => add_object("", object, &mut fields),
        other => add("$", other, true, &mut fields),
    }
    for (index, definition) in model.definitions().iter().enumerate() {
        add(&format!("#{index}"), definition, true, &mut fields);
    }
    fields
}

fn add_object(path: &str, object: &Object, fields: &mut Vec<Field>) {
    let prefix = if path.is_empty() { String::new() } else { format!("{path}.") };
    for field in &object.fields {
        add(&format!("{prefix}{}", field.name), &field.kind, field.required, fields);
    }
    // If additional fields may have any value, the row of the object states it.
    if let Some(additional) = object.additional.as_ref().filter(|kind| ***kind != Type::Any) {
        add(&format!("{prefix}*"), additional, false, fields);
    }
}

fn add(path: &str, kind: &Type, required: bool, fields: &mut Vec<Field>) {
    let (name, places, values) = describe(kind);
    fields.push(Field { field: path.to_owned(), kind: name, places, required, values });
    add_inner(path, kind, fields);
}

fn add_inner(path: &str, kind: &Type, fields: &mut Vec<Field>) {
    match kind {
        Type::Object(object) => add_object(path, object, fields),
        Type::Array(array) => add(&format!("{path}[]"), &array.items, true, fields),
        Type::Tuple(tuple) => {
            for (index, item) in tuple.items.iter().enumerate() {
                add(&format!("{path}[{index}]"), item, index < tuple.min as usize, fields);
            }
            if let Some(rest) = &tuple.rest {
                add(&format!("{path}[]"), rest, false, fields);
            }
        }
        // The members follow one another, numbered from 1.
        Type::Union(kinds) => {
            for (index, kind) in kinds.iter().enumerate() {
                add(&format!("{path}|{}", index + 1), kind, false, fields);
            }
        }
        other => other.inner().into_iter().for_each(|inner| add_inner(path, inner, fields)),
    }
}

/// The name of a type, its decimal places, and its values.
fn describe(kind: &Type) -> (&'static str, Option<u32>, String) {
    match kind {
        Type::Any => ("anything", None, String::new()),
        Type::Null => ("null", None, String::new()),
        Type::Bool => ("boolean", None, String::new()),
        Type::Integer(n) => ("integer", None, range(n.min, n.max, 0) + &step(n.step, 0) + &usual(n.usual, 0)),
        Type::Decimal(n) => ("decimal", Some(n.places), decimal(n)),
        Type::Float(f) => ("float", None, float(f)),
        Type::Text(text) => ("text", None, lengths(text)),
        Type::NumberText(n) => ("number in text", Some(n.number.places), number_text(n)),
        Type::NumbersText(n) => {
            let parts: Vec<_> =
                n.parts.iter().map(|(name, part)| format!("{name} {}", number_text(part))).collect();
            ("numbers in text", None, parts.join("\n"))
        }
        Type::TimeText(time) => {
            let until =
                time.until.map_or(String::new(), |_| format!(", up to {}", time.write(time.range().1)));
            ("time in text", Some(time.places), time.write_notation() + &until)
        }
        Type::Enum(values) => ("one of", None, values.iter().map(json).collect::<Vec<_>>().join(" ")),
        Type::Const(value) => ("always", None, json(value)),
        Type::Array(array) => ("array", None, count(array.min, array.max, "elements")),
        Type::Object(object) => ("object", None, object_values(object)),
        Type::Union(kinds) => ("union", None, format!("one of {} types", kinds.len())),
        Type::Tuple(tuple) => ("tuple", None, count(tuple.min, tuple.max, "elements")),
        Type::Definition(index) => ("definition", None, format!("#{index}")),
        Type::Checked(checked) => {
            let (name, places, values) = describe(&checked.kind);
            let checks: Vec<_> = checked.assertions.iter().map(keyword).collect();
            (name, places, joined(&values, &format!("checked: {}", checks.join(", "))))
        }
        Type::Known(known, inner) => {
            let (name, places, values) = describe(inner);
            let noun = if known == DEVICE { "the device" } else { known };
            (name, places, joined(&values, &format!("known: {noun}")))
        }
        Type::Nullable(inner) => {
            let (name, places, values) = describe(inner);
            (name, places, joined(&values, "or null"))
        }
    }
}

/// Joins both texts with a comma; returns `more` alone if `values` is empty.
fn joined(values: &str, more: &str) -> String {
    if values.is_empty() { more.to_owned() } else { format!("{values}, {more}") }
}

fn object_values(object: &Object) -> String {
    let count = format!("{} fields", object.fields.len());
    match object.additional.as_deref() {
        Some(Type::Any) => joined(&count, "others of any type"),
        _ => count,
    }
}

/// The JSON Schema keyword of an assertion.
fn keyword(assertion: &Assertion) -> &'static str {
    match assertion {
        Assertion::AllOf(_) => "allOf",
        Assertion::AnyOf(_) => "anyOf",
        Assertion::OneOf(_) | Assertion::OneMember => "oneOf",
        Assertion::Not(_) => "not",
        Assertion::If(_) => "if",
        Assertion::UniqueItems => "uniqueItems",
        Assertion::Contains { .. } => "contains",
        Assertion::Properties { .. } => "number of fields",
        Assertion::PropertyNames(_) => "propertyNames",
        Assertion::DependentRequired(_) => "dependentRequired",
        Assertion::DependentSchemas(_) => "dependentSchemas",
        Assertion::Absent(_) => "forbidden fields",
        Assertion::Others { .. } => "patternProperties",
    }
}

fn decimal(n: &Decimal) -> String {
    let rounding = if n.round { ", rounded" } else { "" };
    let quantum = n.quantum.map_or(String::new(), |q| format!(", counts of {q}"));
    range(n.min, n.max, n.places) + &step(n.step, n.places) + &quantum + &usual(n.usual, n.places) + rounding
}

fn number_text(n: &NumberText) -> String {
    let padded = if n.digits > 1 { format!(", {} digits", n.digits) } else { String::new() };
    decimal(&n.number) + &padded
}

/// Formats a range as `min to max`. Bounds at or beyond those of a 64-bit integer are left out.
fn range(min: i128, max: i128, places: u32) -> String {
    let open_below = min <= i128::from(i64::MIN);
    let open_above = max >= i128::from(i64::MAX);
    match (open_below, open_above) {
        (true, true) => String::new(),
        (false, true) => format!("from {}", decimal_text(min, places)),
        (true, false) => format!("up to {}", decimal_text(max, places)),
        (false, false) => format!("{} to {}", decimal_text(min, places), decimal_text(max, places)),
    }
}

fn step(step: u64, places: u32) -> String {
    if step == 1 { String::new() } else { format!(", steps of {}", decimal_text(i128::from(step), places)) }
}

fn usual(range: Option<(i128, i128)>, places: u32) -> String {
    range.map_or(String::new(), |(low, high)| {
        format!(", usually {} to {}", decimal_text(low, places), decimal_text(high, places))
    })
}

fn float(float: &Float) -> String {
    let (min, max) = (float.min.map(bound), float.max.map(bound));
    let (above, below) = (float.above().map(bound), float.below().map(bound));
    match (above.map(|above| format!("above {above}")).or(min), below, max) {
        (None, None, None) => String::new(),
        (Some(min), None, None) if min.starts_with("above") => min,
        (Some(min), None, None) => format!("from {min}"),
        (None, Some(below), _) => format!("below {below}"),
        (None, None, Some(max)) => format!("up to {max}"),
        (Some(min), Some(below), _) => format!("{min} to below {below}"),
        (Some(min), None, Some(max)) => format!("{min} to {max}"),
    }
}

/// A float in decimal notation, or with an exponent if it would have many digits, such as 5e-324, the smallest float above 0.
fn bound(f: f64) -> String {
    if f != 0.0 && !(1e-6..1e16).contains(&f.abs()) { format!("{f:e}") } else { f.to_string() }
}

fn lengths(text: &Text) -> String {
    let mut parts = Vec::new();
    if let Some(format) = text.format {
        let checked = if text.asserts_format { "" } else { ", not checked" };
        parts.push(format!("{}{checked}", format.name()));
    }
    match &text.pattern {
        // The lengths follow from the pattern, which says more.
        Some(pattern) => parts.push(pattern.source.clone()),
        None => parts
            .extend(Some(count(text.min_length, text.max_length, "characters")).filter(|c| !c.is_empty())),
    }
    parts.join(", ")
}

fn count(min: u32, max: Option<u32>, noun: &str) -> String {
    match max {
        Some(max) if max == min => format!("{max} {noun}"),
        Some(max) if min == 0 => format!("up to {max} {noun}"),
        Some(max) => format!("{min} to {max} {noun}"),
        None if min > 0 => format!("at least {min} {noun}"),
        None => String::new(),
    }
}

/// `value` as compact JSON.
fn json(value: &Value) -> String {
    let mut text = Vec::new();
    match Id::Json.open(None, Mapping::Exact).and_then(|json| json.encode(value, &mut text)) {
        Ok(()) => String::from_utf8_lossy(&text).into_owned(),
        Err(error) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaled_integers_are_written_with_their_places() {
        assert_eq!(decimal_text(-5, 2), "-0.05");
        assert_eq!(decimal_text(123_400, 4), "12.3400");
        assert_eq!(decimal_text(7, 0), "7");
    }

    #[test]
    fn unions_tuples_and_definitions_have_rows_for_their_contents() {
        let model = Model::compile(
            r##"{"type":"object","properties":{
                "u":{"oneOf":[{"type":"integer","minimum":0,"maximum":9},{"type":"string"},{"type":"null"}]},
                "t":{"type":"array","prefixItems":[{"type":"boolean"}],"items":{"$ref":"#"},"minItems":1,"uniqueItems":true}},
                "additionalProperties":false}"##,
        );
        let rows: Vec<String> = fields(&model.unwrap())
            .iter()
            .map(|field| format!("{} {} {} {}", field.field, field.kind, field.required, field.values))
            .collect();
        let own = [
            "u union false one of 2 types, or null",
            "u|1 integer false 0 to 9",
            "u|2 text false ",
            "t tuple false at least 1 elements, checked: uniqueItems",
            "t[0] boolean true ",
            "t[] definition false #0",
        ];
        let definition = own.map(|row| format!("#0.{row}"));
        let expected: Vec<String> = own
            .map(str::to_owned)
            .into_iter()
            .chain(["#0 object true 2 fields".to_owned()])
            .chain(definition)
            .collect();
        assert_eq!(rows, expected);
    }

    #[test]
    fn quanta_and_usual_ranges_are_shown() {
        let model = Model::compile(
            r#"{"type":"string","x-dunnage-known":"device","x-dunnage-number":{"multipleOf":0.001,"quantum":0.50,
            "minimum":-9,"maximum":9,"usual":{"minimum":0,"maximum":3.3}}}"#,
        );
        let (name, places, values) = describe(model.unwrap().root());
        assert_eq!((name, places), ("number in text", Some(3)));
        assert_eq!(values, "-9.000 to 9.000, counts of 0.5, usually 0.000 to 3.000, known: the device");
    }

    #[test]
    fn the_bounds_of_64_bit_integers_are_not_shown() {
        assert_eq!(range(i128::from(i64::MIN), i128::from(u64::MAX), 0), "");
        assert_eq!(range(0, i128::from(i64::MAX), 2), "from 0.00");
        assert_eq!(range(-900, 900, 1), "-90.0 to 90.0");
        let float = |min, max| float(&Float { min, max });
        assert_eq!(float(Some(f64::from_bits(1)), Some(2.5)), "above 0 to 2.5");
        assert_eq!(float(Some(0.0), Some(360f64.next_down())), "0 to below 360");
        assert_eq!(float(None, Some(1e300)), "up to 1e300");
    }
}
