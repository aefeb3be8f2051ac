//! Numbers among a schema's keywords.

use super::{Schema, dialect::Dialect};
use crate::{SchemaError, exact::Exact, parse::Node};

/// The number that a schema's node is, if it is one that can be held exactly.
pub(super) fn exact(node: &Node) -> Option<Exact> {
    match node {
        Node::Number(text) => Exact::parse(text),
        _ => None,
    }
}

/// A number of one of the schema's keywords.
pub(super) fn bound(schema: &Schema<'_>, keyword: &str) -> Result<Option<Exact>, SchemaError> {
    let Some(node) = schema.get(keyword) else { return Ok(None) };
    if matches!(node, Node::Bool(_)) && says_excluded(schema, keyword) {
        return Ok(None);
    }
    exact(node)
        .map(Some)
        .ok_or_else(|| schema.error(keyword, format!("{keyword} must be a number of at most 38 digits")))
}

/// Whether the keyword is true or false and says whether the bound beside it is excluded, as in draft-04.
pub(super) fn says_excluded(schema: &Schema<'_>, keyword: &str) -> bool {
    schema.dialect == Dialect::Draft4 && keyword.starts_with("exclusive")
}
