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
/// keyword. [`Model::compile`](crate::Model::compile) explains texts that are not JSON objects.
///
/// ```
/// use dunnage_schema::has_keywords;
/// assert!(has_keywords(r#"{"type": "integer"}"#));
/// assert!(!has_keywords(r#"{"celsius": 23.5}"#)); // a message, not its schema
/// ```
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
        warn(&node, "", &Around::default(), &mut warnings);
    }
    warnings
}

/// Keywords whose schemas apply to the same message as the schema around them.
const IN_PLACE: [&str; 9] =
    ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"];

/// The rules that the schemas around a schema have about the fields of the same message.
#[derive(Clone, Default)]
struct Around<'n> {
    names: Vec<&'n str>,
    /// Whether there may be further names.
    is_open: bool,
}

impl<'n> Around<'n> {
    /// Adds the fields that the schema and those that apply to the same message name.
    fn add(&mut self, schema: &'n Node) {
        if let Some(Node::Object(properties)) = schema.get("properties") {
            self.names.extend(properties.iter().map(|(name, _)| name.as_str()));
        }
        self.is_open |= ["$ref", "patternProperties"].iter().any(|keyword| schema.get(keyword).is_some());
        for (_, inner) in subschemas(schema).iter().filter(|(tokens, _)| is_in_place(tokens)) {
            self.add(inner);
        }
    }
}

/// Whether the tokens of a pointer lead to a schema that applies to the same message.
fn is_in_place(tokens: &[String]) -> bool {
    tokens.first().is_some_and(|keyword| IN_PLACE.contains(&keyword.as_str()))
}

fn warn(schema: &Node, at: &str, around: &Around<'_>, warnings: &mut Vec<String>) {
    if let (Some(Node::Object(properties)), Some(Node::Array(required))) =
        (schema.get("properties"), schema.get("required"))
        && NAME_FIELDS.iter().all(|keyword| schema.get(keyword).is_none())
        && !around.is_open
    {
        let own = || properties.iter().map(|(name, _)| name.as_str());
        let names = || own().chain(around.names.iter().copied());
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
    let mut inside = around.clone();
    inside.add(schema);
    for (tokens, node) in subschemas(schema) {
        let around = if is_in_place(&tokens) { &inside } else { &Around::default() };
        let below = tokens.iter().fold(at.to_owned(), |at, token| join(&at, token));
        warn(node, &below, around, warnings);
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
        let inside = r#"{"properties":{"a":{}},"oneOf":[{"properties":{"b":{}},"required":["aa"]}]}"#;
        assert!(warnings(inside)[0].ends_with("at /oneOf/0/required/0"), "{:?}", warnings(inside));
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
            r#"{"properties":{"a":{},"c":{}},"anyOf":[{"properties":{"b":{}},"required":["a","b"]},{"properties":{"c":{}},"required":["b"]}]}"#,
            r#"{"properties":{"a":{}},"if":{"properties":{"a":{"const":1}},"required":["a"]},"then":{"not":{"properties":{"x":{}},"required":["a"]}}}"#,
            r##"{"$ref":"#/$defs/a","allOf":[{"properties":{"b":{}},"required":["a"]}],"$defs":{"a":{"properties":{"a":{}}}}}"##,
            r#"{"properties":{"a":{"const":{"properties":{},"required":["b"]}}},"required":["a"]}"#,
        ] {
            assert_eq!(warnings(fine), [] as [&str; 0], "{fine}");
        }
    }
}
