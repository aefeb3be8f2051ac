//! Compares the verdicts of this crate and of the `jsonschema` crate for random schemas with all keywords.
//!
//! The generators avoid the intentional differences that `spec/schema.md` lists; see `agreement.rs`.

use crate::json::value;
use dunnage_schema::Model;
use jsonschema::Draft;
use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Map, Value as Json, json};

/// A keyword and its value, or several that belong together.
type Entries = Vec<(&'static str, Json)>;

fn of(values: &[Json]) -> BoxedStrategy<Json> {
    select(values.to_vec()).boxed()
}

fn small() -> BoxedStrategy<Json> {
    (0u64..4).prop_map(Json::from).boxed()
}

fn bound() -> BoxedStrategy<Json> {
    of(&[json!(-2), json!(-0.5), json!(0), json!(1), json!(1.5), json!(3)])
}

fn scalars() -> Vec<Json> {
    vec![
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(1.5),
        json!(3),
        json!("a"),
        json!("ab"),
        json!("b"),
    ]
}

fn names() -> BoxedStrategy<Json> {
    proptest::sample::subsequence(vec!["a", "b", "c"], 0..=2).prop_map(|names| json!(names)).boxed()
}

fn named(inner: BoxedStrategy<Json>, keys: &'static [&'static str]) -> BoxedStrategy<Json> {
    proptest::collection::btree_map(select(keys), inner, 0..3).prop_map(|map| json!(map)).boxed()
}

fn one(keyword: &'static str, value: BoxedStrategy<Json>) -> BoxedStrategy<Entries> {
    value.prop_map(move |value| vec![(keyword, value)]).boxed()
}

/// Keywords that can be combined with any others.
fn keyword(inner: BoxedStrategy<Json>, references: &[&str]) -> BoxedStrategy<Entries> {
    let list = |inner: &BoxedStrategy<Json>| vec(inner.clone(), 1..4).prop_map(Json::from).boxed();
    let references: Vec<Json> = references.iter().map(|r| json!(r)).collect();
    let conditional =
        (inner.clone(), proptest::option::of(inner.clone()), proptest::option::of(inner.clone())).prop_map(
            |(test, then, otherwise)| {
                let mut all = vec![("if", test)];
                all.extend(then.map(|then| ("then", then)));
                all.extend(otherwise.map(|otherwise| ("else", otherwise)));
                all
            },
        );
    let counted = (inner.clone(), 0u64..3, proptest::option::of(2u64..4)).prop_map(|(kind, min, max)| {
        let mut all = vec![("contains", kind), ("minContains", json!(min))];
        all.extend(max.map(|max| ("maxContains", json!(max))));
        all
    });
    let keys: &'static [&'static str] = &["a", "b", "c"];
    prop_oneof![
        3 => one("type", prop_oneof![
            of(&["null", "boolean", "integer", "number", "string", "array", "object"].map(Json::from)),
            proptest::sample::subsequence(vec!["null", "boolean", "integer", "string", "array", "object"], 1..4).prop_map(|n| json!(n)),
        ].boxed()),
        2 => one("enum", proptest::sample::subsequence(scalars(), 1..5).prop_map(Json::from).boxed()),
        1 => one("const", of(&scalars())),
        2 => one("allOf", list(&inner)),
        3 => one("anyOf", list(&inner)),
        3 => one("oneOf", list(&inner)),
        1 => one("not", inner.clone()),
        1 => conditional,
        2 => one("$ref", of(&references)),
        1 => one("minimum", bound()),
        1 => one("exclusiveMaximum", bound()),
        1 => one("multipleOf", of(&[json!(1), json!(0.5), json!(1.5)])),
        1 => one("minLength", small()),
        1 => one("maxLength", small()),
        1 => one("pattern", of(&[json!("^a"), json!("b"), json!("^[ab]{1,2}$")])),
        1 => one("items", inner.clone()),
        2 => one("prefixItems", list(&inner)),
        1 => one("minItems", small()),
        1 => one("maxItems", small()),
        1 => one("uniqueItems", of(&[json!(true), json!(false)])),
        1 => counted,
        4 => one("properties", named(inner.clone(), keys)),
        2 => one("required", names()),
        2 => one("additionalProperties", inner.clone()),
        1 => one("patternProperties", named(inner.clone(), &["^a", "b|c", "x"])),
        1 => one("propertyNames", inner.clone()),
        1 => one("minProperties", small()),
        1 => one("maxProperties", small()),
        1 => one("dependentRequired", named(names(), keys)),
        1 => one("dependentSchemas", named(inner.clone(), keys)),
        1 => one("unevaluatedProperties", inner.clone()),
        1 => one("unevaluatedItems", inner),
    ]
    .boxed()
}

fn combined(inner: BoxedStrategy<Json>, references: &[&str], max_keywords: usize) -> BoxedStrategy<Json> {
    vec(keyword(inner, references), 1..=max_keywords)
        .prop_map(|all| {
            Json::Object(all.into_iter().flatten().map(|(k, v)| (k.to_owned(), v)).collect::<Map<_, _>>())
        })
        .boxed()
}

fn schema() -> BoxedStrategy<Json> {
    let references = &["#/$defs/d", "#/$defs/r", "#named"];
    let leaf = prop_oneof![
        1 => of(&[json!(true), json!(false), json!({})]),
        5 => combined(of(&[json!(true), json!({"type": "string"}), json!({"const": 1}), json!({"type": "integer"})]), references, 2),
    ];
    let node = leaf.prop_recursive(3, 24, 3, |inner| combined(inner.boxed(), references, 4)).boxed();
    (node.clone(), node)
        .prop_map(|(mut root, definition)| {
            if let Some(root) = root.as_object_mut() {
                let recursive = json!({"type": ["object", "integer"], "properties": {"a": {"$ref": "#/$defs/r"}, "b": {"type": "string"}}});
                let anchored = json!({"$anchor": "named", "type": "array", "items": {"$ref": "#/$defs/r"}});
                root.insert("$defs".into(), json!({"d": definition, "r": recursive, "n": anchored}));
            }
            root
        })
        .boxed()
}

/// Messages with the values and names that the schemas contain.
fn message() -> BoxedStrategy<Json> {
    let leaf = prop_oneof![of(&scalars()), of(&[json!([]), json!({}), json!(-2), json!("abc"), json!(2)])];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Json::from),
            proptest::collection::btree_map(select(&["a", "b", "c", "x"][..]), inner, 0..4)
                .prop_map(|map| json!(map)),
        ]
    })
    .boxed()
}

fn agree(schema: &Json, messages: &[Json], draft: Draft) -> Result<(), TestCaseError> {
    // This crate rejects schemas that allow no value, and keywords without an effect.
    let Ok(model) = Model::compile(&schema.to_string()) else {
        return Err(TestCaseError::reject("rejected"));
    };
    let Ok(reference) = jsonschema::options().with_draft(draft).build(schema) else {
        return Err(TestCaseError::reject("not a schema"));
    };
    for message in messages {
        let verdict = model.validate(&value(message));
        prop_assert_eq!(
            verdict.is_ok(),
            reference.is_valid(message),
            "{} and {}: {:?}\n{:#?}",
            schema,
            message,
            verdict,
            model
        );
        prop_assert_eq!(model.allows(model.root(), &value(message)), verdict.is_ok());
    }
    Ok(())
}

/// Converts a schema to an older draft, and removes the keywords that the draft lacks at every level.
fn in_draft(node: &Json, draft: Draft) -> Json {
    match node {
        Json::Array(items) => items.iter().map(|item| in_draft(item, draft)).collect(),
        Json::Object(map) => {
            let mut out = Map::new();
            for (key, inner) in map {
                let inner = in_draft(inner, draft);
                let newer = [
                    "dependentRequired",
                    "dependentSchemas",
                    "minContains",
                    "maxContains",
                    "unevaluatedItems",
                    "unevaluatedProperties",
                    "$anchor",
                ];
                let after4 = ["if", "then", "else", "const", "contains", "propertyNames"];
                match key.as_str() {
                    newer_key if draft != Draft::Draft201909 && newer.contains(&newer_key) => continue,
                    after if draft == Draft::Draft4 && after4.contains(&after) => continue,
                    "exclusiveMaximum" if draft == Draft::Draft4 => {
                        out.insert("maximum".into(), inner);
                        out.insert(key.clone(), json!(true));
                    }
                    "prefixItems" => {
                        if let Some(rest) = map.get("items") {
                            out.insert("additionalItems".into(), in_draft(rest, draft));
                        }
                        out.insert("items".into(), inner);
                    }
                    "items" if map.contains_key("prefixItems") => continue,
                    "$ref" if inner == "#named" => {
                        out.insert(key.clone(), json!("#/$defs/n"));
                    }
                    _ => {
                        out.insert(key.clone(), inner);
                    }
                }
            }
            Json::Object(out)
        }
        other => other.clone(),
    }
}

/// Whether the schema or a subschema is `true` or `false`, which draft-04 does not allow.
fn has_boolean_schema(node: &Json) -> bool {
    match node {
        Json::Bool(_) => true,
        Json::Array(items) => items.iter().any(has_boolean_schema),
        Json::Object(map) => map.iter().any(|(key, inner)| {
            !["enum", "const", "uniqueItems", "exclusiveMaximum"].contains(&key.as_str())
                && has_boolean_schema(inner)
        }),
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 100_000, cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn verdicts_agree_in_2020_12(schema in schema(), messages in vec(message(), 24)) {
        agree(&schema, &messages, Draft::Draft202012)?;
    }

    #[test]
    fn verdicts_agree_in_2019_09(schema in schema(), messages in vec(message(), 24)) {
        let mut schema = in_draft(&schema, Draft::Draft201909);
        if let Some(schema) = schema.as_object_mut() {
            schema.insert("$schema".into(), json!("https://json-schema.org/draft/2019-09/schema"));
        }
        agree(&schema, &messages, Draft::Draft201909)?;
    }

    #[test]
    fn verdicts_agree_in_draft_07(schema in schema(), messages in vec(message(), 24)) {
        let mut schema = in_draft(&schema, Draft::Draft7);
        if let Some(schema) = schema.as_object_mut() {
            schema.insert("$schema".into(), json!("http://json-schema.org/draft-07/schema#"));
        }
        agree(&schema, &messages, Draft::Draft7)?;
    }

    #[test]
    fn verdicts_agree_in_draft_04(schema in schema(), messages in vec(message(), 24)) {
        let mut schema = in_draft(&schema, Draft::Draft4);
        prop_assume!(!has_boolean_schema(&schema));
        if let Some(schema) = schema.as_object_mut() {
            schema.insert("$schema".into(), json!("http://json-schema.org/draft-04/schema#"));
        }
        agree(&schema, &messages, Draft::Draft4)?;
    }
}
