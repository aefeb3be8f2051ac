//! The rules that the generated C does not check, so that the device must.

use dunnage_packed::{Layout, is_exact};
use dunnage_schema::{Assertion, Checked, Decimal, Text, Type};
use std::fmt;

/// The digits that every binary64 keeps.
const DIGITS: u128 = 1_000_000_000_000_000;

/// Keywords of a field that the C does not check.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceCheck {
    /// The field: `position.latitude`, `readings[]`; `$` is the message itself.
    pub field: String,
    /// The keywords, or what they say.
    pub keywords: Vec<&'static str>,
}

impl fmt::Display for DeviceCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.keywords.join(", "))
    }
}

/// Returns what the generated C does not check, in the order of the schema.
///
/// ```
/// use dunnage_codegen::c;
/// use dunnage_packed::Layout;
/// use dunnage_schema::Model;
///
/// let model = Model::compile(r#"{
///     "title": "Range",
///     "type": "object",
///     "properties": {"ids": {"type": "array", "maxItems": 3, "uniqueItems": true, "items": {"type": "integer", "minimum": 0, "maximum": 9}}},
///     "required": ["ids"],
///     "additionalProperties": false
/// }"#)?;
/// let checks = c::device_checks(&Layout::new(&model)?);
/// assert_eq!(checks[0].to_string(), "ids: uniqueItems");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn device_checks(layout: &Layout) -> Vec<DeviceCheck> {
    let mut found = Vec::new();
    visit(layout.model().root(), "", &mut found);
    found
}

fn visit(kind: &Type, path: &str, found: &mut Vec<DeviceCheck>) {
    let mut unchecked = |keywords: Vec<&'static str>| {
        let field = if path.is_empty() { "$" } else { path };
        match found.iter_mut().find(|check| check.field == field) {
            Some(check) => {
                check.keywords.extend(keywords);
                check.keywords.dedup();
            }
            None => found.push(DeviceCheck { field: field.to_owned(), keywords }),
        }
    };
    match kind {
        Type::Checked(checked) => {
            unchecked(of_assertions(checked));
            visit(&checked.kind, path, found);
        }
        Type::Text(text) => {
            let keywords = of_text(text);
            if !keywords.is_empty() {
                unchecked(keywords);
            }
        }
        Type::Decimal(decimal) if has_many_digits(decimal) => unchecked(vec!["at most 15 digits"]),
        Type::Array(array) => visit(&array.items, &format!("{path}[]"), found),
        Type::Tuple(tuple) => {
            tuple
                .items
                .iter()
                .enumerate()
                .for_each(|(at, kind)| visit(kind, &format!("{path}[{at}]"), found));
            tuple.rest.iter().for_each(|kind| visit(kind, &format!("{path}[]"), found));
        }
        Type::Object(object) => {
            for field in &object.fields {
                let below =
                    if path.is_empty() { field.name.clone() } else { format!("{path}.{}", field.name) };
                visit(&field.kind, &below, found);
            }
        }
        // A text that the receiver knows is not transmitted.
        Type::Known(_, _) => {}
        other => other.inner().into_iter().chain(other.members()).for_each(|inner| visit(inner, path, found)),
    }
}

fn of_assertions(checked: &Checked) -> Vec<&'static str> {
    let mut keywords = Vec::new();
    for assertion in &checked.assertions {
        match assertion {
            Assertion::AllOf(_) => keywords.push("allOf"),
            Assertion::AnyOf(_) => keywords.push("anyOf"),
            Assertion::OneOf(_) | Assertion::OneMember => keywords.push("oneOf"),
            Assertion::Not(_) => keywords.push("not"),
            Assertion::If(_) => keywords.push("if"),
            Assertion::UniqueItems => keywords.push("uniqueItems"),
            Assertion::Contains { .. } => keywords.push("contains"),
            Assertion::Properties { min, max } => {
                keywords.extend((*min > 0).then_some("minProperties"));
                keywords.extend(max.map(|_| "maxProperties"));
            }
            Assertion::PropertyNames(_) => keywords.push("propertyNames"),
            Assertion::DependentRequired(_) => keywords.push("dependentRequired"),
            Assertion::DependentSchemas(_) => keywords.push("dependentSchemas"),
            Assertion::Absent(_) => keywords.push("properties"),
            Assertion::Others { .. } => keywords.push("patternProperties"),
        }
    }
    keywords.dedup();
    keywords
}

fn of_text(text: &Text) -> Vec<&'static str> {
    let is_carried = |pattern: &dunnage_schema::Pattern| pattern.segments.as_deref().is_some_and(is_exact);
    let pattern = text.pattern.as_ref().filter(|pattern| !is_carried(pattern)).map(|_| "pattern");
    pattern.into_iter().chain(text.asserted_format().map(|_| "format")).collect()
}

/// Whether some of the numbers have more digits than a message keeps.
fn has_many_digits(decimal: &Decimal) -> bool {
    decimal.min.unsigned_abs().max(decimal.max.unsigned_abs()) >= DIGITS
}
