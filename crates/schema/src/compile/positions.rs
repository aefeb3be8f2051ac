//! Where schemas stand inside a schema, and what they are called.

use super::{Dialect, identifiers};
use crate::parse::Node;

pub(crate) use identifiers::{absolute, has_scheme};

/// Keywords whose value is a schema.
const ONE: [&str; 12] = [
    "not",
    "if",
    "then",
    "else",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "contentSchema",
    "items",
];
/// Keywords whose value is an array of schemas.
const MANY: [&str; 5] = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];
/// Keywords whose value has a schema under each name.
const NAMED: [&str; 6] =
    ["properties", "patternProperties", "definitions", "$defs", "dependencies", "dependentSchemas"];

/// The schemas directly inside a schema, each with the tokens of its pointer from there.
pub(super) fn subschemas(node: &Node) -> Vec<(Vec<String>, &Node)> {
    let Node::Object(entries) = node else { return Vec::new() };
    let mut found = Vec::new();
    for (keyword, value) in entries {
        match value {
            Node::Object(inner) if NAMED.contains(&keyword.as_str()) => {
                found.extend(inner.iter().map(|(name, node)| (vec![keyword.clone(), name.clone()], node)));
            }
            Node::Array(items) if MANY.contains(&keyword.as_str()) => {
                let item = |(i, node): (usize, _)| (vec![keyword.clone(), i.to_string()], node);
                found.extend(items.iter().enumerate().map(item));
            }
            Node::Object(_) if ONE.contains(&keyword.as_str()) => found.push((vec![keyword.clone()], value)),
            _ => {}
        }
    }
    found
}

/// Calls `visit` with a schema and with all schemas inside it.
pub(crate) fn each(node: &mut Node, visit: &mut dyn FnMut(&mut Node)) {
    visit(node);
    let Node::Object(entries) = node else { return };
    for (keyword, value) in entries {
        match value {
            Node::Object(inner) if NAMED.contains(&keyword.as_str()) => {
                inner.iter_mut().for_each(|(_, node)| each(node, visit));
            }
            Node::Array(items) if MANY.contains(&keyword.as_str()) => {
                items.iter_mut().for_each(|node| each(node, visit));
            }
            Node::Object(_) if ONE.contains(&keyword.as_str()) => each(value, visit),
            _ => {}
        }
    }
}

/// The keyword that names a schema in its dialect.
pub(crate) fn id_keyword(node: &Node) -> &'static str {
    if Dialect::of(node, "") == Ok(Dialect::Draft4) { "id" } else { "$id" }
}

/// What the schemas of a text are called, as it stands there.
pub(crate) fn identifiers(node: &Node) -> Vec<String> {
    let keyword = id_keyword(node);
    let own = node.text(keyword).map(|id| id.trim_end_matches('#').to_owned());
    let inside = subschemas(node).into_iter().flat_map(|(_, inner)| identifiers(inner));
    own.into_iter().chain(inside).collect()
}
