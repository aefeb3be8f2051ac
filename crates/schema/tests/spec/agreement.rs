//! Compares the verdicts of this crate and of the `jsonschema` crate.
//!
//! The generators avoid the intentional differences that `spec/schema.md` lists: -0.0, numbers beyond 64 bits, and decimal steps,
//! which are exact here and binary elsewhere. They only use steps that binary floats represent exactly.

use crate::json::value;
use dunnage_schema::{Model, Options, bundled};
use jsonschema::Validator;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

fn reference(schema: &Json) -> Validator {
    jsonschema::draft202012::options()
        .should_validate_formats(true)
        .build(schema)
        .unwrap_or_else(|e| panic!("{e}: {schema}"))
}

/// A schema of one type with a random selection of keywords.
fn keywords(name: &'static str, of: Vec<(&'static str, BoxedStrategy<Json>)>) -> BoxedStrategy<Json> {
    let one = |(keyword, value): (&'static str, BoxedStrategy<Json>)| {
        proptest::option::of(value).prop_map(move |value| value.map(|value| (keyword.to_owned(), value)))
    };
    let with_null =
        any::<bool>().prop_map(move |null| if null { json!([name, "null"]) } else { json!(name) });
    (with_null, of.into_iter().map(one).collect::<Vec<_>>())
        .prop_map(|(kind, keywords)| {
            let mut schema: serde_json::Map<_, _> = keywords.into_iter().flatten().collect();
            schema.insert("type".to_owned(), kind);
            Json::Object(schema)
        })
        .boxed()
}

fn one_of(values: &[Json]) -> BoxedStrategy<Json> {
    proptest::sample::select(values.to_vec()).boxed()
}

fn bound() -> BoxedStrategy<Json> {
    prop_oneof![(-8i64..8).prop_map(Json::from), (-32i64..32).prop_map(|n| json!(n as f64 / 4.0))].boxed()
}

fn count() -> BoxedStrategy<Json> {
    (0u64..5).prop_map(Json::from).boxed()
}

fn leaf_schema() -> BoxedStrategy<Json> {
    let bounds = || {
        ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]
            .map(|keyword| (keyword, bound()))
            .to_vec()
    };
    let with_step = |steps: &[Json]| [bounds(), vec![("multipleOf", one_of(steps))]].concat();
    let patterns = ["^[ab]{1,3}$", "b", "^a|b$", "\\d", "^\\w+$", "^.{2}$", "[^a-c]", "é"].map(Json::from);
    prop_oneof![
        keywords("integer", with_step(&[json!(1), json!(3), json!(0.5), json!(2.5)])),
        keywords("number", with_step(&[json!(0.25), json!(0.5), json!(2)])),
        keywords("number", bounds()),
        keywords(
            "string",
            vec![("minLength", count()), ("maxLength", count()), ("pattern", one_of(&patterns))]
        ),
        keywords("string", vec![("format", one_of(&[json!("date-time")]))]),
        keywords("boolean", vec![]),
        one_of(&[
            json!({}),
            json!(true),
            json!({"enum": ["a", "b", 1, 2.5, null]}),
            json!({"const": [1, "a"]}),
            json!({"type": "null"}),
            json!({"type": ["string", "null"], "enum": ["a", "bb", null]}),
            json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}),
            json!({"oneOf": [{"type": "null"}, {"type": "string", "maxLength": 2}]}),
        ]),
    ]
    .boxed()
}

fn schema() -> BoxedStrategy<Json> {
    leaf_schema()
        .prop_recursive(3, 16, 3, |inner| {
            let fields = proptest::collection::hash_map("[abc]", inner.clone(), 0..3);
            let additional = prop_oneof![Just(json!(false)), Just(json!(true)), inner.clone()];
            let object = (fields, proptest::option::of(additional), any::<bool>()).prop_map(
                |(fields, additional, required)| {
                    let names: Vec<_> = fields.keys().cloned().collect();
                    let mut schema = json!({"type": "object", "properties": fields});
                    if required {
                        schema["required"] = json!(names);
                    }
                    if let Some(additional) = additional {
                        schema["additionalProperties"] = additional;
                    }
                    schema
                },
            );
            prop_oneof![
                object,
                keywords("array", vec![("items", inner), ("minItems", count()), ("maxItems", count())]),
            ]
        })
        .boxed()
}

/// Messages with sizes and types like those of the schemas.
fn message() -> BoxedStrategy<Json> {
    let leaf = prop_oneof![
        3 => bound().prop_filter("-0.0 differs on purpose", |n| n.as_f64().is_none_or(|f| f != 0.0 || f.is_sign_positive())),
        2 => "[abé1 ]{0,5}".prop_map(Json::from),
        1 => one_of(&[
            json!(null), json!(true), json!(false), json!("a"), json!("bb"), json!([1, "a"]), json!({}),
            json!("2026-03-29T12:00:00Z"), json!("2026-03-29 12:00:00"), json!("2026-02-29T12:00:00.5+01:00"), json!(1e15),
        ]),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            proptest::collection::hash_map("[abcd]", inner, 0..4).prop_map(|map| json!(map)),
        ]
    })
    .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 100_000, cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn generated_messages_are_accepted_by_both_or_by_none(
        schema in schema(),
        messages in proptest::collection::vec(message(), 24),
    ) {
        // This crate rejects contradictory schemas. Other validators accept no message with them.
        let options = Options { assert_formats: true, ..Options::default() };
        let Ok(model) = Model::compile_with(&schema.to_string(), options) else {
            return Err(TestCaseError::reject("rejected"));
        };
        let reference = reference(&schema);
        for message in messages {
            prop_assert_eq!(model.validate(&value(&message)).is_ok(), reference.is_valid(&message), "{} and {}", schema, message);
        }
    }

    #[test]
    fn decimal_steps_never_reject_a_decimal(n in -10_000_000i64..10_000_000, places in 1usize..=6) {
        let unit = 10i64.pow(places as u32);
        let text = format!("{}{}.{:0places$}", if n < 0 { "-" } else { "" }, n.abs() / unit, n.abs() % unit);
        let message: Json = text.parse().unwrap();
        prop_assume!(n != 0);
        let model = Model::compile(&format!(r#"{{"type":"number","multipleOf":1e-{places}}}"#)).unwrap();
        prop_assert_eq!(model.validate(&value(&message)), Ok(()));
    }

    #[test]
    fn valid_messages_with_one_changed_field_are_valid_for_another_validator(
        which in any::<proptest::sample::Index>(),
        field in any::<proptest::sample::Index>(),
        replacement in message(),
    ) {
        // Other validators ignore the keywords for text that holds numbers, so they may accept more messages.
        let (_, text) = which.get(bundled());
        let schema: Json = text.parse().unwrap();
        let mut message = schema["examples"][0].clone();
        let fields = message.as_object_mut().unwrap();
        let key = field.get(&fields.keys().cloned().collect::<Vec<_>>()).clone();
        fields.insert(key, replacement);
        if Model::compile(text).unwrap().validate(&value(&message)).is_ok() {
            prop_assert!(reference(&schema).is_valid(&message), "{}", message);
        }
    }
}

#[test]
fn another_validator_accepts_every_bundled_schema_and_its_examples() {
    for (name, text) in bundled() {
        let schema: Json = text.parse().unwrap();
        assert!(jsonschema::meta::is_valid(&schema), "{name}");
        for example in schema["examples"].as_array().unwrap() {
            assert!(reference(&schema).is_valid(example), "{name}");
        }
    }
}
