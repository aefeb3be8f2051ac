//! Reads the numbers among a schema's keywords.

use super::{Schema, dialect::Dialect};
use crate::{SchemaError, exact::Exact, parse::Node};

/// Returns the number of a schema's node, if it is a number that can be held exactly.
pub(super) fn exact(node: &Node) -> Option<Exact> {
    match node {
        Node::Number(text) => Exact::parse(text),
        _ => None,
    }
}

/// Returns the bound under `keyword`; `None` without one, and for draft-04's boolean `exclusiveMinimum` and `exclusiveMaximum`.
pub(super) fn bound(schema: &Schema<'_>, keyword: &str) -> Result<Option<Exact>, SchemaError> {
    let Some(node) = schema.get(keyword) else { return Ok(None) };
    if matches!(node, Node::Bool(_)) && says_excluded(schema, keyword) {
        return Ok(None);
    }
    exact(node)
        .map(Some)
        .ok_or_else(|| schema.error(keyword, format!("{keyword} must be a number of at most 38 digits")))
}

/// Whether the keyword is draft-04's `exclusiveMinimum` or `exclusiveMaximum`, a boolean that excludes the bound beside it.
pub(super) fn says_excluded(schema: &Schema<'_>, keyword: &str) -> bool {
    schema.dialect == Dialect::Draft4 && keyword.starts_with("exclusive")
}
