//! The versions of JSON Schema, selected by `$schema`.

use crate::{SchemaError, parse::Node};

/// A version of JSON Schema, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Dialect {
    Draft4,
    Draft6,
    Draft7,
    Draft201909,
    Draft202012,
}

const DIALECTS: [(&str, Dialect); 6] = [
    ("json-schema.org/draft-04/schema", Dialect::Draft4),
    ("json-schema.org/draft-06/schema", Dialect::Draft6),
    ("json-schema.org/draft-07/schema", Dialect::Draft7),
    ("json-schema.org/draft/2019-09/schema", Dialect::Draft201909),
    ("json-schema.org/draft/2020-12/schema", Dialect::Draft202012),
    // No version. Tools that write it, such as GenSON, write what draft-07 was the newest version of.
    ("json-schema.org/schema", Dialect::Draft7),
];

impl Dialect {
    /// Returns the dialect that `$schema` of the schema at `at` names; 2020-12 without the keyword.
    pub(super) fn of(node: &Node, at: &str) -> Result<Dialect, SchemaError> {
        let Some(name) = node.get("$schema") else { return Ok(Dialect::Draft202012) };
        let Node::Text(name) = name else {
            return Err(SchemaError::new(at, "$schema", "$schema must be a string"));
        };
        let short = name.trim_end_matches('#');
        let short = short.strip_prefix("https://").or(short.strip_prefix("http://")).unwrap_or(short);
        let known = DIALECTS.iter().find(|(dialect, _)| *dialect == short);
        known.map(|(_, dialect)| *dialect).ok_or_else(|| {
            let message = format!(
                "the dialect {name:?} is not known (draft-04, draft-06, draft-07, 2019-09 and 2020-12 are): name the one that it extends"
            );
            SchemaError::new(at, "$schema", message)
        })
    }

    /// Whether `$ref` makes validators ignore all other keywords of its schema.
    pub(super) fn reference_stands_alone(self) -> bool {
        self < Dialect::Draft201909
    }

    /// Whether keywords that have no effect are errors. Older schemas are accepted, because their authors used other tools.
    pub(super) fn is_strict(self) -> bool {
        self >= Dialect::Draft201909
    }
}
