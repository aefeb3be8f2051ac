//! Advice on a schema's text that is not an error.

use super::{keywords, positions::subschemas};
use crate::{alike::alike, error::join, parse::Node};

/// The keywords beside `properties` that may name further fields.
const NAME_FIELDS: [&str; 9] = [
    "patternProperties",
    "allOf",
    "anyOf",
    "oneOf",
    "if",
    "$ref",
    "dependentSchemas",
    "dependencies",
    "unevaluatedProperties",
];

/// Whether `text` may be meant as a schema rather than a message: it is not a JSON object, has a keyword, or has a name similar to a
/// keyword. [`Model::compile`](crate::Model::compile) explains texts that are no JSON objects.
pub fn has_keywords(text: &str) -> bool {
    match Node::parse(text) {
        Ok(Node::Object(entries)) => {
            let is_annotated = entries.iter().all(|(keyword, _)| keywords::is_known(keyword));
            is_annotated || entries.iter().any(|(keyword, _)| keywords::is_meant(keyword))
        }
        _ => true,
    }
}

/// Returns warnings about valid but probably unintended parts of the schema `text`: `required` fields that `properties` does not have.
///
/// Each warning has the JSON pointer of the place. A text that is not JSON has no warnings.
pub fn warnings(text: &str) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Ok(node) = Node::parse(text) {
        warn(&node, "", &mut warnings);
    }
    warnings
}

fn warn(schema: &Node, at: &str, warnings: &mut Vec<String>) {
    if let (Some(Node::Object(properties)), Some(Node::Array(required))) =
        (schema.get("properties"), schema.get("required"))
        && NAME_FIELDS.iter().all(|keyword| schema.get(keyword).is_none())
    {
        let names = || properties.iter().map(|(name, _)| name.as_str());
        for (index, node) in required.iter().enumerate() {
            let Node::Text(field) = node else { continue };
            if names().all(|name| name != field) {
                let meant =
                    alike(field, names()).map_or(String::new(), |name| format!("; did you mean {name:?}?"));
                warnings.push(format!(
                    "the field {field:?} is required, but properties does not have it{meant} at {at}/required/{index}"
                ));
            }
        }
    }
    for (tokens, node) in subschemas(schema) {
        let below = tokens.iter().fold(at.to_owned(), |at, token| join(&at, token));
        warn(node, &below, warnings);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_from_schemas() {
        for schema in [
            "{}",
            "true",
            "[",
            r#"{"type":"object"}"#,
            r#"{"proprties":{}}"#,
            r#"{"$ref":"a.json"}"#,
            r#"{"title":"Anything"}"#,
            r#"{"$defs":{}}"#,
        ] {
            assert!(has_keywords(schema), "{schema}");
        }
        for message in
            [r#"{"temperature":17.25}"#, r#"{"id":"a","title":"b","t":1}"#, r#"{"n":1,"name":"x"}"#]
        {
            assert!(!has_keywords(message), "{message}");
        }
    }

    #[test]
    fn a_required_field_without_a_property_is_warned_of() {
        let schema = r#"{"properties":{"a":{"items":{"properties":{"lat":{}},"required":["lta","x"]}}},
            "required":["a","b"]}"#;
        assert_eq!(
            warnings(schema),
            [
                "the field \"b\" is required, but properties does not have it at /required/1",
                "the field \"lta\" is required, but properties does not have it; did you mean \"lat\"? at /properties/a/items/required/0",
                "the field \"x\" is required, but properties does not have it at /properties/a/items/required/1",
            ]
        );
        for fine in [
            r#"{"required":["a"]}"#,
            r#"{"properties":{"b":{}},"anyOf":[{"required":["a"]}],"required":["a"]}"#,
            r#"{"properties":{"a":{"const":{"properties":{},"required":["b"]}}},"required":["a"]}"#,
        ] {
            assert_eq!(warnings(fine), [] as [&str; 0], "{fine}");
        }
    }
}
