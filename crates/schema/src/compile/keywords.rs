//! All keywords, by their effect. The table in `spec/schema.md` documents them.

use super::dialect::Dialect;
use crate::{SchemaError, parse::Node};

/// The prefix of this project's own keywords.
const PREFIX: &str = "x-dunnage-";

/// Keywords that restrict values of one type. `number` includes `integer`.
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
            "x-dunnage-round",
            "x-dunnage-usual",
            "x-dunnage-every",
            "x-dunnage-changes",
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
    (
        "array",
        &[
            "items",
            "prefixItems",
            "additionalItems",
            "unevaluatedItems",
            "minItems",
            "maxItems",
            "uniqueItems",
            "contains",
            "minContains",
            "maxContains",
            "x-dunnage-series",
        ],
    ),
    (
        "object",
        &[
            "properties",
            "required",
            "additionalProperties",
            "patternProperties",
            "unevaluatedProperties",
            "propertyNames",
            "minProperties",
            "maxProperties",
            "dependencies",
            "dependentRequired",
            "dependentSchemas",
        ],
    ),
];

/// Keywords for values of any type. `format` restricts values only if the options assert it.
const GENERAL: [&str; 12] =
    ["type", "enum", "const", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "$ref", "format"];

/// The unit of a value, for people.
const UNIT: &str = "x-dunnage-unit";

/// Most characters of a unit.
const MAX_UNIT: usize = 32;

/// The rank by which a writer leaves out an optional property.
pub(super) const DROP: &str = "x-dunnage-drop";

/// Keywords that do not affect which messages are valid: those of the standard, then those of editors and generators, then our own.
const ANNOTATIONS: [&str; 33] = [
    "$schema",
    "$id",
    "id",
    "$defs",
    "definitions",
    "$comment",
    "$anchor",
    "$dynamicAnchor",
    "$recursiveAnchor",
    "$vocabulary",
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
    "example",
    "markdownDescription",
    "deprecationMessage",
    "errorMessage",
    "patternErrorMessage",
    "defaultSnippets",
    "enumDescriptions",
    "markdownEnumDescriptions",
    "enumNames",
    "tsType",
    "tsEnumNames",
    UNIT,
    DROP,
];

/// The keywords for the numbers or the time that a text holds, and their notation.
pub(super) const NOTATIONS: [&str; 3] = ["x-dunnage-number", "x-dunnage-numbers", "x-dunnage-time"];

/// The slot of the layout. Allowed at the top of the schema only.
pub(super) const SLOT: &str = "x-dunnage-slot";

/// Where the slot of a message comes from, if it is not in the message. Allowed at the top of the schema only.
pub(super) const SLOT_FROM: &str = "x-dunnage-slot-from";

/// The check of packed messages. Allowed at the top of the schema only.
pub(super) const CHECK: &str = "x-dunnage-check";

/// The statistics of the messages. Allowed at the top of the schema only.
pub(super) const STATISTICS: &str = "x-dunnage-statistics";

/// The keywords of the whole layout.
const TOP: [&str; 4] = [SLOT, SLOT_FROM, CHECK, STATISTICS];

/// Keywords that would change the meaning of a schema and are not implemented.
const UNSUPPORTED: [&str; 5] = ["$dynamicRef", "$recursiveRef", "extends", "disallow", "divisibleBy"];

/// Rejects keywords that are unsupported or misspelt, and a unit that is not short text. `at` is the schema's pointer.
pub(super) fn check(entries: &[(String, Node)], at: &str, dialect: Dialect) -> Result<(), SchemaError> {
    for (keyword, value) in entries {
        if keyword == UNIT && !is_unit(value) {
            let message = format!("{UNIT} must be text of 1 to {MAX_UNIT} characters");
            return Err(SchemaError::new(at, keyword, message));
        }
        if keyword == DROP {
            check_drop(value, at)?;
        }
        if is_known(keyword) || keyword.starts_with("x-") && !keyword.starts_with(PREFIX) {
            continue;
        }
        let message = if TOP.contains(&keyword.as_str()) {
            if at.is_empty() {
                continue;
            }
            format!("{keyword} is supported at the top of the schema only")
        } else if UNSUPPORTED.contains(&keyword.as_str()) {
            format!("the keyword {keyword} is not supported, and ignoring it would accept other messages")
        } else if keyword.starts_with(PREFIX) {
            let ours: Vec<_> = all().filter(|k| k.starts_with(PREFIX)).collect();
            format!(
                "unknown keyword {keyword}; the known ones are {}, {SLOT}, {SLOT_FROM}, {CHECK} and {STATISTICS}",
                ours.join(", ")
            )
        } else if let Some(meant) = dialect.is_strict().then(|| meant(keyword)).flatten() {
            format!(
                "the keyword {keyword:?} is not known; did you mean {meant}? One of your own begins with x-"
            )
        } else {
            continue;
        };
        return Err(SchemaError::new(at, keyword, message));
    }
    Ok(())
}

fn check_drop(value: &Node, at: &str) -> Result<(), SchemaError> {
    let is_property = at.rsplit('/').nth(1) == Some("properties");
    let message = match rank(value) {
        None => format!("{DROP} must be a whole number from 1 to 255"),
        Some(_) if !is_property => format!("{DROP} is supported directly in the schema of a property only"),
        Some(_) => return Ok(()),
    };
    Err(SchemaError::new(at, DROP, message))
}

/// Returns the rank that [`DROP`] gives.
pub(super) fn rank(value: &Node) -> Option<u8> {
    if let Node::Number(rank) = value { rank.parse().ok().filter(|rank| *rank > 0) } else { None }
}

fn is_unit(value: &Node) -> bool {
    matches!(value, Node::Text(unit) if (1..=MAX_UNIT).contains(&unit.chars().count()))
}

/// Returns the known keyword that `keyword` is most likely a misspelling of.
fn meant(keyword: &str) -> Option<&'static str> {
    let near = all().filter_map(|known| Some((distance(keyword, known)?, known)));
    near.min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

/// Returns the number of changed characters if `keyword` looks like a misspelling of `known`.
fn distance(keyword: &str, known: &str) -> Option<usize> {
    let most = match known.len() {
        0..4 => 0,
        4..6 => 1,
        _ => 2,
    };
    // Compare the lengths first, to skip the costly distance for long keywords.
    let is_near = keyword.len().abs_diff(known.len()) <= most;
    let distance = || strsim::osa_distance(&keyword.to_ascii_lowercase(), &known.to_ascii_lowercase());
    is_near.then(distance).filter(|distance| *distance <= most)
}

fn all() -> impl Iterator<Item = &'static str> {
    let typed = TYPED.iter().flat_map(|(_, keywords)| *keywords);
    typed.chain(&GENERAL).chain(&ANNOTATIONS).copied()
}

/// Whether `keyword` marks an object as a schema: it is, or resembles, a keyword that messages rarely have.
pub(super) fn is_meant(keyword: &str) -> bool {
    let typed = TYPED.iter().flat_map(|(_, keywords)| *keywords);
    let mut telling =
        typed.chain(&GENERAL).chain(&["$schema", "$defs", "definitions", "$id"]).chain(&UNSUPPORTED);
    telling.any(|known| *known == keyword || distance(keyword, known).is_some())
}

pub(super) fn is_known(keyword: &str) -> bool {
    all().any(|known| known == keyword)
}

/// Returns the type that the keyword belongs to; `number` includes `integer`.
pub(super) fn home(keyword: &str) -> Option<&'static str> {
    TYPED.iter().find(|(_, keywords)| keywords.contains(&keyword)).map(|(name, _)| *name)
}

/// Whether the keyword is one of this project's own. These are allowed only with their type, in every dialect.
pub(super) fn is_ours(keyword: &str) -> bool {
    keyword.starts_with(PREFIX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Model;

    #[test]
    fn the_specification_lists_every_keyword() {
        let specification = include_str!("../../../../spec/schema.md");
        for keyword in all().chain(UNSUPPORTED).chain(TOP) {
            assert!(specification.contains(&format!("`{keyword}`")), "{keyword}");
        }
    }

    #[test]
    fn a_unit_is_short_text_beside_any_type() {
        let compile = |unit: &str| Model::compile(&format!(r#"{{"type":"string","x-dunnage-unit":{unit}}}"#));
        assert_eq!(compile(r#""m/s""#).unwrap(), Model::compile(r#"{"type":"string"}"#).unwrap());
        for wrong in [r#""""#, "1", r#"["m"]"#, &format!("{:?}", "m".repeat(33))] {
            let error = compile(wrong).unwrap_err().to_string();
            assert!(error.contains("x-dunnage-unit must be text of 1 to 32 characters"), "{error}");
        }
    }

    #[test]
    fn only_an_optional_property_can_be_left_out() {
        let compile = |required: &str, rank: &str, around: &str| {
            Model::compile(&format!(
                r#"{{"type":"object","properties":{{"a":{{"type":"boolean","x-dunnage-drop":{rank}}}}},"required":[{required}]{around}}}"#
            ))
        };
        assert_eq!(compile("", "7", "").unwrap(), compile("", "255", "").unwrap());
        for (required, rank, around, reason) in [
            ("", "0", "", "must be a whole number from 1 to 255 at /properties/a/x-dunnage-drop"),
            ("", "256", "", "must be a whole number from 1 to 255"),
            ("", "1.5", "", "must be a whole number from 1 to 255"),
            ("", r#""1""#, "", "must be a whole number from 1 to 255"),
            (r#""a""#, "1", "", "is for optional properties"),
            ("", "1", r#","x-dunnage-drop":1"#, "directly in the schema of a property only"),
            (
                "",
                "1",
                r#","additionalProperties":{"x-dunnage-drop":1}"#,
                "directly in the schema of a property",
            ),
        ] {
            let error = compile(required, rank, around).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn misspellings_are_like_what_was_meant() {
        for (keyword, meant) in [
            ("minimun", "minimum"),
            ("requried", "required"),
            ("maxlength", "maxLength"),
            ("tpye", "type"),
            ("item", "items"),
            ("Type", "type"),
            ("MAXLENGTH", "maxLength"),
            ("minItem", "minItems"),
        ] {
            assert_eq!(super::meant(keyword), Some(meant), "{keyword}");
        }
        for keyword in ["version", "source", "units", "label", "category", "explainer", "name", "order"] {
            assert_eq!(meant(keyword), None, "{keyword}");
        }
    }
}
