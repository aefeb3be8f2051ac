//! Proposes changes of a schema that make its messages smaller, from messages that were seen: `docs/infer.md`, "Smaller than inferred".

use super::{MANY, identifier, range, series, text, time_text, write};
use crate::{Model, SchemaError, exact::Exact, number_text::plain, parse::Node, pointer};
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
    /// What the schema no longer allows.
    pub cost: Cost,
    /// The whole schema with this change.
    pub schema: String,
}

/// What a schema rejects after a change. What later messages are least likely to need comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Cost {
    /// Texts other than the few that recur, and times in another notation.
    OtherForms,
    /// Numbers far outside those that were seen.
    FarNumbers,
    /// Identifiers that were not seen, and so other devices.
    OtherDevices,
    /// Values just outside those that were seen: numbers, lengths, other offsets of times.
    UnseenValues,
    /// Decimals: values are rounded.
    Decimals,
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
/// Keywords that have a part of a schema elsewhere. Schemas with one of them stay as they are.
const COMBINED: [&str; 6] = ["$ref", "allOf", "anyOf", "oneOf", "not", "if"];
/// How far a running clock goes on from the first time that was seen, and the whole years of that.
const CLOCK_SECONDS: i128 = 1 << 30;
const CLOCK_YEARS: u32 = 34;
/// The most changes that are returned.
const CHANGES: usize = 1000;
/// Texts of at least this length that have a digit are identifiers rather than states, as are shorter ones of which only a number differs.
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
    for proposal in proposals.into_iter().take(CHANGES) {
        let Some((change, _)) = make(&root, proposal) else { continue };
        let accepts = |model: Model| messages.iter().all(|message| model.validate(message).is_ok());
        // A rounded message is valid once it is rounded.
        if Model::compile(&change.schema).is_ok_and(|model| change.cost == Cost::Decimals || accepts(model)) {
            changes.push(change);
        }
    }
    Ok(changes)
}

/// Reapplies some changes of [`changes`], in order and without the others. Returns them as they are then; `None` if one of them is no longer
/// possible.
///
/// # Errors
/// The schema is not JSON.
pub fn remade(
    schema: &str,
    messages: &[Value],
    wanted: &[Change],
) -> Result<Option<Vec<Change>>, SchemaError> {
    let mut root = Node::parse(schema)?;
    let values: Vec<&Value> = messages.iter().collect();
    let mut made = Vec::new();
    for change in wanted {
        let mut proposals = Vec::new();
        walk(&root, &Place { pointer: String::new(), field: String::new() }, &values, &mut proposals);
        let is_wanted =
            |proposal: &Proposal| proposal.place.pointer == change.pointer && proposal.what == change.what;
        let proposal = proposals.into_iter().find(is_wanted);
        let Some((change, changed)) = proposal.and_then(|proposal| make(&root, proposal)) else {
            return Ok(None);
        };
        made.push(change);
        root = changed;
    }
    Ok(Some(made))
}

/// Returns the change that was proposed, and the schema with it.
fn make(root: &Node, proposal: Proposal) -> Option<(Change, Node)> {
    let Proposal { place: Place { pointer, field }, node, what, cost } = proposal;
    let key = pointer.rsplit('/').next().map(pointer::unescape).unwrap_or_default();
    let line = format!("{}: {}", write::quoted(&key), write::on_one_line(&node));
    let mut changed = root.clone();
    *find(&mut changed, &pointer)? = node;
    let field = if field.is_empty() { "$".to_owned() } else { field };
    Some((Change { field, pointer, line, what, cost, schema: write::schema(&changed) }, changed))
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
    cost: Cost,
}

/// Collects proposals for `schema` and for the schemas inside it. `values` are those that it describes.
fn walk(schema: &Node, place: &Place, values: &[&Value], out: &mut Vec<Proposal>) {
    let values: Vec<&Value> = values.iter().copied().filter(|value| **value != Value::Null).collect();
    let mut propose = |node: Node, what: String, cost: Cost| {
        if node != *schema {
            let place = Place { pointer: place.pointer.clone(), field: place.field.clone() };
            out.push(Proposal { place, node, what, cost });
        }
    };
    if values.is_empty() {
        return;
    }
    if COMBINED.iter().any(|keyword| schema.get(keyword).is_some()) {
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
    let is_long = |text: &&str| text.len() >= IDENTIFIER && text.contains(|c: char| c.is_ascii_digit());
    !texts.is_empty() && (texts.iter().all(is_long) || identifier::are_counted(texts))
}

fn texts(schema: &Node, values: &[&Value], propose: &mut impl FnMut(Node, String, Cost)) {
    let texts = values.iter().map(|value| match value {
        Value::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let Some(texts) = texts.collect::<Option<Vec<_>>>() else { return };
    let decided = ["enum", "const", "x-dunnage-number", "x-dunnage-numbers"];
    if decided.iter().any(|keyword| schema.get(keyword).is_some()) {
        return;
    }
    let allows_null =
        matches!(schema.get("type"), Some(Node::Array(types)) if types.contains(&write::text("null")));
    let time =
        time_text::infer(&texts).map(|(time, _)| time).filter(|time| time.get("x-dunnage-time").is_some());
    let is_time = time.is_some() || schema.get("x-dunnage-time").is_some();
    let few = text::few(&texts);
    let recur = few.is_some();
    let words = || text::words(&texts).filter(|words| !is_time && !are_identifiers(words));
    if let Some(few) = few.or_else(words) {
        let mut choices: Vec<Node> = few.iter().map(|text| write::text(text)).collect();
        choices.extend(allows_null.then_some(Node::Null));
        let (cost, others) = match are_identifiers(&few) {
            true => (Cost::OtherDevices, "; x-dunnage-known instead keeps other devices"),
            false if recur => (Cost::OtherForms, ""),
            false => (Cost::UnseenValues, ""),
        };
        let what = format!("only the {} texts that were seen{others}", few.len());
        propose(with(schema, &TEXT, [("enum", Node::Array(choices))]), what, cost);
    }
    if texts.len() >= MANY && !is_time && texts.iter().all(|text| *text == texts[0]) {
        let only = std::iter::once(write::text(texts[0])).chain(allows_null.then_some(Node::Null)).collect();
        let what = "only the text that was seen; x-dunnage-known instead keeps other devices".to_owned();
        propose(with(schema, &TEXT, [("enum", Node::Array(only))]), what, Cost::UnseenValues);
    }
    let cost = if time.is_some() { Cost::OtherForms } else { Cost::UnseenValues };
    if schema.get("x-dunnage-time").is_none()
        && let Some(Node::Object(time)) = time.or_else(|| time_text::with_one_offset(&texts))
        && let Some((_, time)) = time.into_iter().find(|(keyword, _)| keyword == "x-dunnage-time")
    {
        propose(with(schema, &TEXT, [("x-dunnage-time", time)]), "times in this notation".to_owned(), cost);
    }
    if schema.get("x-dunnage-time").is_none() {
        if let Some(pattern) = identifier::exact(&texts) {
            let what = "the lengths that were seen".to_owned();
            propose(with(schema, &TEXT, [("pattern", write::text(&pattern))]), what, Cost::UnseenValues);
        }
        let longest = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
        if schema.get("maxLength").is_some() {
            propose(
                with(schema, &["maxLength"], [("maxLength", write::count(longest))]),
                format!("at most {longest} characters, as seen"),
                Cost::UnseenValues,
            );
        }
    }
}

fn numbers(schema: &Node, values: &[&Value], propose: &mut impl FnMut(Node, String, Cost)) {
    if schema.get("enum").is_some() || schema.get("const").is_some() {
        return;
    }
    let number = |value: &&Value| match value {
        Value::U64(n) => Some(n.to_string()),
        Value::I64(n) => Some(n.to_string()),
        Value::F64(f) => Some(format!("{f:?}").trim_end_matches(".0").to_owned()),
        _ => None,
    };
    let Some(texts) = values.iter().map(number).collect::<Option<Vec<_>>>() else { return };
    let seen = scaled(&texts);
    if let Some((first, last)) = seen.as_ref().and_then(|(seen, places)| clock(schema, seen, *places)) {
        let what = format!("only {first} to {last}, {CLOCK_YEARS} years from the first that was seen");
        propose(between(schema, first.to_string(), last.to_string()), what, Cost::FarNumbers);
    }
    // The next numbers of a counter or a running clock are beyond those that were seen.
    if let Some((seen, places)) = seen.filter(|(seen, _)| series::trend(seen) == series::Trend::None) {
        if let Some((first, last)) = usual(schema, &seen, places) {
            let what = format!("only {first} to {last}, with headroom for what was seen");
            propose(between(schema, first, last), what, Cost::FarNumbers);
        }
        let (low, high) = range::extent(&seen);
        let (low, high) = (plain(low, places), plain(high, places));
        let what = format!("only {low} to {high}, as seen");
        propose(between(schema, low, high), what, Cost::UnseenValues);
    }
    if let Some(Node::Number(step)) = schema.get("multipleOf")
        && let Some(coarser) = ten_times(step)
        && schema.text("type") == Some("number")
        && schema.get("exclusiveMinimum").is_none()
        && schema.get("exclusiveMaximum").is_none()
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
        propose(
            with(schema, &replaced, keywords),
            format!("rounded to multiples of {coarser}"),
            Cost::Decimals,
        );
    }
}

/// Returns the numbers in units of 10^-`places`, and the places. Numbers of too many digits have none.
fn scaled(texts: &[String]) -> Option<(Vec<i128>, u32)> {
    let exact = texts.iter().map(|text| Exact::parse(text)).collect::<Option<Vec<_>>>()?;
    let places = exact.iter().map(|n| n.places()).max()?;
    Some((exact.iter().map(|n| n.scaled(places)).collect::<Option<Vec<_>>>()?, places))
}

/// Returns 2^30 seconds from the first of the numbers on, if they are the seconds since 1970 of a clock that runs.
fn clock(schema: &Node, seen: &[i128], places: u32) -> Option<(i128, i128)> {
    let is_unix = matches!(schema.get("maximum"), Some(Node::Number(maximum)) if maximum == range::UNIX_LAST);
    let (first, high) = range::extent(seen);
    let last = first + CLOCK_SECONDS - 1;
    (is_unix
        && places == 0
        && seen.len() >= MANY
        && first >= range::UNIX_FROM
        && high <= last
        && seen.is_sorted())
    .then_some((first, last))
}

/// Returns the usual range of a schema, or the range of many numbers, widened on both sides by its width.
fn usual(schema: &Node, seen: &[i128], places: u32) -> Option<(String, String)> {
    if let Some(usual) = schema.get("x-dunnage-usual") {
        return match (usual.get("minimum"), usual.get("maximum")) {
            (Some(Node::Number(first)), Some(Node::Number(last))) => Some((first.clone(), last.clone())),
            _ => None,
        };
    }
    let (low, high) = range::extent(seen);
    if seen.len() < MANY || low == high {
        return None;
    }
    let bound = |keyword: &str| match schema.get(keyword) {
        Some(Node::Number(bound)) => Exact::parse(bound)?.scaled(places),
        _ => None,
    };
    let first = (low - (high - low)).max(bound("minimum").unwrap_or(i128::MIN));
    let last = (high + (high - low)).min(bound("maximum").unwrap_or(i128::MAX));
    Some((plain(first, places), plain(last, places)))
}

/// Returns the schema with other bounds.
fn between(schema: &Node, first: String, last: String) -> Node {
    let replaced = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "x-dunnage-usual"];
    with(schema, &replaced, [("minimum", Node::Number(first)), ("maximum", Node::Number(last))])
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

fn arrays(schema: &Node, values: &[&Value], propose: &mut impl FnMut(Node, String, Cost)) {
    let length = |value: &&Value| if let Value::Array(items) = value { Some(items.len()) } else { None };
    let Some(lengths) = values.iter().map(length).collect::<Option<Vec<_>>>() else { return };
    let (least, most) =
        (lengths.iter().min().copied().unwrap_or(0), lengths.iter().max().copied().unwrap_or(0));
    if schema.get("items").is_some() && schema.get("prefixItems").is_none() {
        let bounds = [("minItems", write::count(least)), ("maxItems", write::count(most))];
        propose(
            with(schema, &["minItems", "maxItems"], bounds),
            format!("{least} to {most} elements, as seen"),
            Cost::UnseenValues,
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
