//! Finds the schemas inside a schema, and their names.

use super::{Dialect, address::absolute};
use crate::parse::Node;

/// Keywords with a schema as their value.
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
/// Keywords with an array of schemas as their value.
const MANY: [&str; 5] = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];
/// Keywords with an object of named schemas as their value.
const NAMED: [&str; 6] =
    ["properties", "patternProperties", "definitions", "$defs", "dependencies", "dependentSchemas"];

/// Returns the schemas directly inside a schema, each with the tokens of its pointer relative to the schema.
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

/// Calls `visit` with a schema and with all schemas inside it, each with the base of its references: the name of the innermost named schema
/// inside `node` that contains it, or `base`.
pub(crate) fn each(node: &mut Node, base: &str, visit: &mut dyn FnMut(&mut Node, &str)) {
    each_inside(node, base, id_keyword(node), visit);
}

fn each_inside(node: &mut Node, base: &str, id: &str, visit: &mut dyn FnMut(&mut Node, &str)) {
    visit(node, base);
    let Node::Object(entries) = node else { return };
    for (keyword, value) in entries {
        let mut inside = |node: &mut Node| {
            let named = name(node, id).map(|name| absolute(base, name));
            each_inside(node, named.as_deref().unwrap_or(base), id, visit);
        };
        match value {
            Node::Object(inner) if NAMED.contains(&keyword.as_str()) => {
                inner.iter_mut().for_each(|(_, node)| inside(node));
            }
            Node::Array(items) if MANY.contains(&keyword.as_str()) => items.iter_mut().for_each(inside),
            Node::Object(_) if ONE.contains(&keyword.as_str()) => inside(value),
            _ => {}
        }
    }
}

/// Returns the name of a schema under the keyword `id`, unless it is an anchor.
fn name<'a>(node: &'a Node, id: &str) -> Option<&'a str> {
    node.text(id).filter(|name| !name.starts_with('#')).map(|name| name.trim_end_matches('#'))
}

/// Returns the keyword for the name of a schema in its dialect.
pub(crate) fn id_keyword(node: &Node) -> &'static str {
    if Dialect::of(node, "") == Ok(Dialect::Draft4) { "id" } else { "$id" }
}

/// Whether the dialect of a schema ignores the keywords beside `$ref`.
pub(crate) fn reference_stands_alone(node: &Node) -> bool {
    Dialect::of(node, "").is_ok_and(Dialect::reference_stands_alone)
}

/// Returns `base`, the name of the document, and the absolute names of the schemas inside it.
pub(crate) fn identifiers(node: &Node, base: &str) -> Vec<String> {
    identifiers_inside(node, base, id_keyword(node))
}

fn identifiers_inside(node: &Node, base: &str, id: &str) -> Vec<String> {
    let inside = subschemas(node).into_iter().flat_map(|(_, inner)| match name(inner, id) {
        Some(name) => {
            let base = absolute(base, name);
            let inside = identifiers_inside(inner, &base, id);
            std::iter::once(base).chain(inside).collect()
        }
        None => identifiers_inside(inner, base, id),
    });
    std::iter::once(base.to_owned()).chain(inside).collect()
}
