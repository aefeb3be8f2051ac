//! Proposes changes of a schema that make its messages smaller, from messages that were seen: `docs/infer.md`, "Smaller than inferred".

use super::{identifier, text, time_text, write};
use crate::{Model, SchemaError, parse::Node, pointer};
use dunnage_pson::Value;

/// A change of the schema of one field.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The field: `position.latitude`, `readings[].value`; `$` is the message itself.
    pub field: String,
    /// The JSON pointer of the schema that it replaces.
    pub pointer: String,
    /// The new schema of the field, on one line.
    pub line: String,
    /// The rule that is new.
    pub what: String,
    /// Whether it rounds values. If not, it only leaves out what was not seen.
    pub rounds: bool,
    /// Whether it allows only identifiers that were seen, and so no other device.
    pub identifies: bool,
    /// The whole schema with this change.
    pub schema: String,
}

/// Keywords that a change replaces.
const TEXT: [&str; 9] = [
    "enum",
    "pattern",
    "minLength",
    "maxLength",
    "x-dunnage-number",
    "x-dunnage-numbers",
    "x-dunnage-time",
    "format",
    "x-dunnage-usual",
];
/// The most changes that are returned.
const CHANGES: usize = 1000;
/// Texts of at least this length that have a digit are identifiers rather than states.
const IDENTIFIER: usize = 6;

/// Returns the changes that `messages` allow. Fields behind references and inside combinations of schemas are left as they are.
///
/// # Errors
/// The schema does not compile.
pub fn changes(schema: &str, messages: &[Value]) -> Result<Vec<Change>, SchemaError> {
    Model::compile(schema)?;
    let root = Node::parse(schema)?;
    let mut proposals = Vec::new();
    let values: Vec<&Value> = messages.iter().collect();
    walk(&root, &Place { pointer: String::new(), field: String::new() }, &values, &mut proposals);
    let mut changes = Vec::new();
    for Proposal { place, node, what, rounds, identifies } in proposals.into_iter().take(CHANGES) {
        let mut changed = root.clone();
        let Some(at) = find(&mut changed, &place.pointer) else { continue };
        let key = place.pointer.rsplit('/').next().map(pointer::unescape).unwrap_or_default();
        let line = format!("{}: {}", write::quoted(&key), write::on_one_line(&node));
        *at = node;
        let schema = write::schema(&changed);
        let accepts = |model: Model| messages.iter().all(|message| model.validate(message).is_ok());
        // A rounded message is valid once it is rounded.
        if Model::compile(&schema).is_ok_and(|model| rounds || accepts(model)) {
            let field = if place.field.is_empty() { "$".to_owned() } else { place.field };
            changes.push(Change { field, pointer: place.pointer, line, what, rounds, identifies, schema });
        }
    }
    Ok(changes)
}

/// Where a schema is.
struct Place {
    pointer: String,
    field: String,
}

impl Place {
    fn property(&self, name: &str) -> Place {
        let field = if self.field.is_empty() { name.to_owned() } else { format!("{}.{name}", self.field) };
        Place { pointer: format!("{}/properties/{}", self.pointer, pointer::escape(name)), field }
    }

    fn items(&self) -> Place {
        Place { pointer: format!("{}/items", self.pointer), field: format!("{}[]", self.field) }
    }
}

struct Proposal {
    place: Place,
    node: Node,
    what: String,
    rounds: bool,
    identifies: bool,
}

/// Collects proposals for `schema` and for the schemas inside it. `values` are those that it describes.
fn walk(schema: &Node, place: &Place, values: &[&Value], out: &mut Vec<Proposal>) {
    let values: Vec<&Value> = values.iter().copied().filter(|value| **value != Value::Null).collect();
    let mut propose = |node: Node, what: String, rounds: bool| {
        if node != *schema {
            let place = Place { pointer: place.pointer.clone(), field: place.field.clone() };
            let identifies = node.get("enum").and_then(texts_of).is_some_and(|texts| are_identifiers(&texts));
            out.push(Proposal { place, node, what, rounds, identifies });
        }
    };
    if values.is_empty() {
        return;
    }
    match &values[0] {
        Value::Text(_) => texts(schema, &values, &mut propose),
        Value::U64(_) | Value::I64(_) | Value::F64(_) => numbers(schema, &values, &mut propose),
        Value::Array(_) => arrays(schema, &values, &mut propose),
        _ => {}
    }
    if let Some(Node::Object(properties)) = schema.get("properties") {
        for (name, inner) in properties {
            let values: Vec<&Value> = values.iter().filter_map(|value| value.get(name)).collect();
            walk(inner, &place.property(name), &values, out);
        }
    }
    if let Some(items @ Node::Object(_)) = schema.get("items") {
        let arrays = values.iter().filter_map(|value| match value {
            Value::Array(items) => Some(items),
            _ => None,
        });
        let values: Vec<&Value> = arrays.flatten().collect();
        walk(items, &place.items(), &values, out);
    }
}

/// Returns whether the texts look like identifiers of devices rather than states.
fn are_identifiers(texts: &[&str]) -> bool {
    let is_identifier = |text: &&str| text.len() >= IDENTIFIER && text.contains(|c: char| c.is_ascii_digit());
    !texts.is_empty() && texts.iter().all(is_identifier)
}

/// Returns the texts of an `enum`.
fn texts_of(choices: &Node) -> Option<Vec<&str>> {
    let Node::Array(choices) = choices else { return None };
    let texts = choices.iter().filter_map(|choice| match choice {
        Node::Text(text) => Some(text.as_str()),
        _ => None,
    });
    Some(texts.collect())
}

fn texts(schema: &Node, values: &[&Value], propose: &mut impl FnMut(Node, String, bool)) {
    let texts = values.iter().map(|value| match value {
        Value::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let Some(texts) = texts.collect::<Option<Vec<_>>>() else { return };
    if schema.get("enum").is_some() || schema.get("const").is_some() {
        return;
    }
    let allows_null =
        matches!(schema.get("type"), Some(Node::Array(types)) if types.contains(&write::text("null")));
    if let Some(few) = text::few(&texts) {
        let mut choices: Vec<Node> = few.iter().map(|text| write::text(text)).collect();
        choices.extend(allows_null.then_some(Node::Null));
        let others = if are_identifiers(&few) { "; x-dunnage-known instead keeps other devices" } else { "" };
        propose(
            with(schema, &TEXT, [("enum", Node::Array(choices))]),
            format!("only the {} texts that were seen{others}", few.len()),
            false,
        );
    }
    let time =
        time_text::infer(&texts).map(|(time, _)| time).filter(|time| time.get("x-dunnage-time").is_some());
    if schema.get("x-dunnage-time").is_none()
        && let Some(Node::Object(time)) = time.or_else(|| time_text::with_one_offset(&texts))
        && let Some((_, time)) = time.into_iter().find(|(keyword, _)| keyword == "x-dunnage-time")
    {
        propose(with(schema, &TEXT, [("x-dunnage-time", time)]), "times in this notation".to_owned(), false);
    }
    if schema.get("x-dunnage-number").is_none()
        && schema.get("x-dunnage-time").is_none()
        && schema.get("x-dunnage-numbers").is_none()
    {
        if let Some(pattern) = identifier::exact(&texts) {
            let what = "the lengths that were seen".to_owned();
            propose(with(schema, &TEXT, [("pattern", write::text(&pattern))]), what, false);
        }
        let longest = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
        if schema.get("maxLength").is_some() {
            propose(
                with(schema, &["maxLength"], [("maxLength", write::count(longest))]),
                format!("at most {longest} characters, as seen"),
                false,
            );
        }
    }
}

fn numbers(schema: &Node, values: &[&Value], propose: &mut impl FnMut(Node, String, bool)) {
    if schema.get("enum").is_some() || schema.get("const").is_some() {
        return;
    }
    let number = |value: &&Value| match value {
        Value::U64(n) => Some((*n as f64, n.to_string())),
        Value::I64(n) => Some((*n as f64, n.to_string())),
        Value::F64(f) => Some((*f, format!("{f:?}").trim_end_matches(".0").to_owned())),
        _ => None,
    };
    let Some(numbers) = values.iter().map(number).collect::<Option<Vec<_>>>() else { return };
    let by = |a: &&(f64, String), b: &&(f64, String)| a.0.total_cmp(&b.0);
    let (Some((_, low)), Some((_, high))) = (numbers.iter().min_by(by), numbers.iter().max_by(by)) else {
        return;
    };
    let bounds = [("minimum", Node::Number(low.clone())), ("maximum", Node::Number(high.clone()))];
    let replaced = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "x-dunnage-usual"];
    propose(with(schema, &replaced, bounds), format!("only {low} to {high}, as seen"), false);
    if let Some(Node::Number(step)) = schema.get("multipleOf")
        && let Some(coarser) = ten_times(step)
        && schema.text("type") == Some("number")
    {
        let mut keywords =
            vec![("multipleOf", Node::Number(coarser.clone())), ("x-dunnage-round", Node::Bool(true))];
        // The nearest multiple of a value at an end may lie beyond it.
        for (end, outward) in [("minimum", f64::floor as fn(f64) -> f64), ("maximum", f64::ceil)] {
            if let Some(Node::Number(bound)) = schema.get(end) {
                keywords.extend(multiple(bound, &coarser, outward).map(|bound| (end, Node::Number(bound))));
            }
        }
        let replaced = ["multipleOf", "x-dunnage-round", "minimum", "maximum"];
        propose(with(schema, &replaced, keywords), format!("rounded to multiples of {coarser}"), true);
    }
}

/// Returns the multiple of `step` to which `outward` rounds `bound`.
fn multiple(bound: &str, step: &str, outward: fn(f64) -> f64) -> Option<String> {
    let places = step.split_once('.').map_or(0, |(_, places)| places.len());
    let (bound, step): (f64, f64) = (bound.parse().ok()?, step.parse().ok()?);
    // Adding 0 takes the sign from -0.
    Some(format!("{:.places$}", outward(bound / step) * step + 0.0))
}

/// Returns ten times a decimal below 1.
fn ten_times(step: &str) -> Option<String> {
    let decimals = step.strip_prefix("0.")?;
    let (first, rest) = decimals.split_at_checked(1)?;
    let coarser = if rest.is_empty() { first.to_owned() } else { format!("{first}.{rest}") };
    let coarser = coarser.trim_start_matches('0');
    Some(if coarser.starts_with('.') { format!("0{coarser}") } else { coarser.to_owned() })
        .filter(|text| !text.is_empty())
}

fn arrays(schema: &Node, values: &[&Value], propose: &mut impl FnMut(Node, String, bool)) {
    let length = |value: &&Value| if let Value::Array(items) = value { Some(items.len()) } else { None };
    let Some(lengths) = values.iter().map(length).collect::<Option<Vec<_>>>() else { return };
    let (least, most) =
        (lengths.iter().min().copied().unwrap_or(0), lengths.iter().max().copied().unwrap_or(0));
    if schema.get("items").is_some() && schema.get("prefixItems").is_none() {
        let bounds = [("minItems", write::count(least)), ("maxItems", write::count(most))];
        propose(
            with(schema, &["minItems", "maxItems"], bounds),
            format!("{least} to {most} elements, as seen"),
            false,
        );
    }
}

/// Returns the schema without the keywords `replaced`, and with `keywords` at the place of the first of these, or at the end.
fn with<'k>(schema: &Node, replaced: &[&str], keywords: impl IntoIterator<Item = (&'k str, Node)>) -> Node {
    let Node::Object(entries) = schema else { return schema.clone() };
    let at = entries.iter().position(|(keyword, _)| replaced.contains(&keyword.as_str()));
    let is_kept = |(keyword, _): &&(String, Node)| !replaced.contains(&keyword.as_str());
    let before = entries[..at.unwrap_or(entries.len())].iter().filter(is_kept).cloned();
    let after = entries[at.unwrap_or(entries.len())..].iter().filter(is_kept).cloned();
    let new = keywords.into_iter().map(|(keyword, node)| (keyword.to_owned(), node));
    Node::Object(before.chain(new).chain(after).collect())
}

/// Returns the schema at a pointer.
fn find<'n>(node: &'n mut Node, at: &str) -> Option<&'n mut Node> {
    at.split('/').skip(1).try_fold(node, |node, token| match node {
        Node::Object(entries) => {
            let key = pointer::unescape(token);
            entries.iter_mut().find(|(k, _)| *k == key).map(|(_, node)| node)
        }
        _ => None,
    })
}
