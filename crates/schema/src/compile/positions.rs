//! Where schemas stand inside a schema.

use crate::parse::Node;

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
