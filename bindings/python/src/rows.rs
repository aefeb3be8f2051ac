//! Messages as rows of a table or dataclasses: `None` is an absent property, and a `datetime` a time in the schema's notation.

use crate::{pson::TIME, value::Message};
use dunnage_packed::{Layout, Node, ObjectNode, Shape, Source};
use dunnage_pson::Value;

/// Makes something of a message, with datetimes in the notation of the schema. If that fails, leaves out the properties that are null, optional, and
/// not nullable in the schema, and makes it of the rest. A null that the schema allows always stays.
pub fn adapted<T, E>(
    layout: &Layout,
    message: &mut Message,
    mut make: impl FnMut(&Value) -> Result<T, E>,
) -> Result<T, E> {
    if message.has_times {
        adapt(layout, layout.root(), &mut message.value, &mut Vec::new());
        with_texts(message);
    }
    let message = &mut message.value;
    make(message).or_else(|error| match adapt(layout, layout.root(), message, &mut Vec::new()) {
        true => make(message),
        false => Err(error),
    })
}

/// Returns the text of a datetime.
fn time(value: &Value) -> Option<String> {
    let Value::Bytes(bytes) = value else { return None };
    bytes.strip_prefix(TIME).map(|text| String::from_utf8_lossy(text).into_owned())
}

/// Makes texts of the datetimes of a message, as `isoformat()` writes them.
pub fn with_texts(message: &mut Message) {
    fn walk(value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(walk),
            Value::Map(entries) => entries.iter_mut().for_each(|(_, value)| walk(value)),
            value => {
                if let Some(text) = time(value) {
                    *value = Value::Text(text);
                }
            }
        }
    }
    if message.has_times {
        walk(&mut message.value);
    }
}

/// Adapts a value and those inside it. Returns whether something has changed. `seen` are the definitions that this value has
/// already been taken for.
fn adapt(layout: &Layout, node: &Node, value: &mut Value, seen: &mut Vec<usize>) -> bool {
    match (&node.shape, value) {
        (Shape::Number(number), value @ Value::Bytes(_)) => {
            let (Source::Time(notation), Some(time)) = (&number.source, time(value)) else { return false };
            let time = notation.parse_rfc_3339(&time);
            time.inspect(|time| *value = Value::Text(notation.write(*time))).is_some()
        }
        (Shape::Object(object), Value::Map(entries)) => properties(layout, object, entries),
        (Shape::Array(array), Value::Array(items)) => {
            items.iter_mut().fold(false, |any, item| adapt(layout, &array.item, item, &mut Vec::new()) | any)
        }
        (Shape::Tuple(tuple), Value::Array(items)) => {
            let nodes =
                tuple.items.iter().chain(std::iter::repeat_n(tuple.rest.as_deref(), items.len()).flatten());
            nodes.zip(items).fold(false, |any, (node, item)| adapt(layout, node, item, &mut Vec::new()) | any)
        }
        (Shape::Nullable(inner), value) => adapt(layout, inner, value, seen),
        // Which of several objects is meant is not known before the nulls are left out.
        (Shape::Union(nodes), value @ Value::Map(_)) => {
            let mut objects = nodes.iter().filter(|node| matches!(node.shape, Shape::Object(_)));
            match (objects.next(), objects.next()) {
                (Some(only), None) => adapt(layout, only, value, seen),
                _ => false,
            }
        }
        (Shape::Definition(at), value) if !seen.contains(at) => {
            seen.push(*at);
            layout.definitions().get(*at).is_some_and(|node| adapt(layout, node, value, seen))
        }
        _ => false,
    }
}

fn properties(layout: &Layout, object: &ObjectNode, entries: &mut Vec<(String, Value)>) -> bool {
    let before = entries.len();
    let field = |name: &str| object.fields.iter().find(|field| field.name == name);
    entries.retain(|(name, value)| {
        let is_absent = |node| *value == Value::Null && !may_be_null(layout, node, &mut Vec::new());
        !field(name).is_some_and(|field| field.optional && is_absent(&field.node))
    });
    let mut any = entries.len() < before;
    for (name, value) in entries {
        if let Some(node) = field(name).map(|field| &field.node).or(object.additional.as_deref()) {
            any |= adapt(layout, node, value, &mut Vec::new());
        }
    }
    any
}

/// Whether a node carries null. `seen` are the definitions that have been looked at.
fn may_be_null(layout: &Layout, node: &Node, seen: &mut Vec<usize>) -> bool {
    match &node.shape {
        Shape::Nullable(_) | Shape::Any => true,
        Shape::Constant(only) => *only == Value::Null,
        Shape::Choice(values) => values.contains(&Value::Null),
        Shape::Union(nodes) => nodes.iter().any(|node| may_be_null(layout, node, seen)),
        Shape::Definition(at) if !seen.contains(at) => {
            seen.push(*at);
            layout.definitions().get(*at).is_some_and(|node| may_be_null(layout, node, seen))
        }
        _ => false,
    }
}
