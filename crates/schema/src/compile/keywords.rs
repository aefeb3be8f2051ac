//! Every keyword, and what becomes of it. `spec/schema.md` has the same table for people.

use crate::{SchemaError, parse::Node};

/// The prefix of the keywords that only this project knows.
const PREFIX: &str = "x-dunnage-";

/// Keywords that belong to one type, and stand only beside that `type`.
pub(super) const TYPED: [(&str, &[&str]); 4] = [
    (
        "number",
        &[
            "multipleOf",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "x-dunnage-quantum",
            "x-dunnage-usual",
        ],
    ),
    (
        "string",
        &[
            "minLength",
            "maxLength",
            "pattern",
            "x-dunnage-number",
            "x-dunnage-numbers",
            "x-dunnage-time",
            "x-dunnage-known",
        ],
    ),
    ("array", &["items", "minItems", "maxItems"]),
    ("object", &["properties", "required", "additionalProperties"]),
];

/// Keywords of any type. `format` is an annotation unless it is `date-time`.
const GENERAL: [&str; 7] = ["type", "enum", "const", "anyOf", "oneOf", "$ref", "format"];

/// Keywords that do not change which messages are valid.
const ANNOTATIONS: [&str; 16] = [
    "$schema",
    "$id",
    "$defs",
    "$comment",
    "$anchor",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "$vocabulary",
];

/// The keywords that say which numbers a text holds, and in which notation.
pub(super) const NOTATIONS: [&str; 3] = ["x-dunnage-number", "x-dunnage-numbers", "x-dunnage-time"];

/// The number of the layout: it stands at the top of the schema only.
pub(super) const SLOT: &str = "x-dunnage-slot";

/// Keywords of 2020-12 that would change the meaning and are not implemented.
const UNSUPPORTED: [&str; 19] = [
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "dependentSchemas",
    "dependentRequired",
    "prefixItems",
    "contains",
    "minContains",
    "maxContains",
    "uniqueItems",
    "unevaluatedItems",
    "unevaluatedProperties",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "$dynamicRef",
];

/// Refuses keywords that are not supported, not known, or misspelt. `at` is the schema's pointer.
pub(super) fn check(entries: &[(String, Node)], at: &str) -> Result<(), SchemaError> {
    for (keyword, _) in entries {
        if is_constraint(keyword) || ANNOTATIONS.contains(&keyword.as_str()) {
            continue;
        }
        let message = if keyword == SLOT {
            if at.is_empty() {
                continue;
            }
            format!("{keyword} is supported at the top of the schema only")
        } else if UNSUPPORTED.contains(&keyword.as_str()) {
            format!("the keyword {keyword} is not supported, and ignoring it would accept other messages")
        } else if keyword.starts_with(PREFIX) {
            format!("there is no keyword {keyword}; there are {} and {SLOT}", ours().join(", "))
        } else if keyword.starts_with("x-") {
            continue;
        } else {
            format!("the keyword {keyword:?} is not known; a keyword of your own must begin with x-")
        };
        return Err(SchemaError::new(at, keyword, message));
    }
    Ok(())
}

/// Whether the keyword decides which messages are valid.
pub(super) fn is_constraint(keyword: &str) -> bool {
    GENERAL.contains(&keyword) || home(keyword).is_some()
}

/// The type that the keyword belongs to; `number` stands for `integer` as well.
pub(super) fn home(keyword: &str) -> Option<&'static str> {
    TYPED.iter().find(|(_, keywords)| keywords.contains(&keyword)).map(|(name, _)| *name)
}

/// The keywords of this project.
fn ours() -> Vec<&'static str> {
    TYPED.iter().flat_map(|(_, keywords)| *keywords).copied().filter(|k| k.starts_with(PREFIX)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_specification_lists_every_keyword() {
        let specification = include_str!("../../../../spec/schema.md");
        let typed = TYPED.iter().flat_map(|(_, keywords)| *keywords);
        for keyword in GENERAL.iter().chain(&ANNOTATIONS).chain(&UNSUPPORTED).chain(typed).chain([&SLOT]) {
            assert!(specification.contains(&format!("`{keyword}`")), "{keyword}");
        }
    }
}
