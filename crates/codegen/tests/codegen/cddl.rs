//! Validates messages against the generated CDDL with another project's validator. Unlike RFC 8610, that validator does not match regular
//! expressions against the whole text, so no test has a text that only its end makes invalid.

use cddl::validate_json_from_str;
use dunnage_codegen::cddl;
use dunnage_schema::{Model, Options};
use serde_json::{Value, json};

fn definition(schema: &str) -> String {
    cddl(&Model::compile(schema).expect("a schema"))
}

fn assert_valid(definition: &str, message: &Value) {
    if let Err(error) = validate_json_from_str(definition, &message.to_string(), None) {
        panic!("{message}: {error}\n{definition}");
    }
}

fn assert_invalid(definition: &str, message: &Value) {
    let result = validate_json_from_str(definition, &message.to_string(), None);
    assert!(result.is_err(), "{message} is valid\n{definition}");
}

/// Returns the schema's examples.
fn examples(schema: &str) -> Vec<Value> {
    let schema: Value = serde_json::from_str(schema).expect("JSON");
    schema["examples"].as_array().expect("examples").clone()
}

#[test]
fn the_examples_of_bundled_schemas_are_valid() {
    for (name, schema) in dunnage_schema::bundled() {
        let definition = definition(schema);
        let examples = examples(schema);
        assert!(!examples.is_empty(), "{name}");
        for message in &examples {
            assert_valid(&definition, message);
        }
    }
}

#[test]
fn invalid_messages_of_the_meter_are_rejected() {
    let schema = dunnage_schema::bundled_named("meter").expect("a bundled schema");
    let definition = definition(schema);
    let message = &examples(schema)[0];
    for (pointer, value) in [
        ("/meter", json!("dng0012345678")),
        ("/time", json!("2026-13-29T12:15:00Z")),
        ("/status", json!("lost")),
        ("/energy/import", json!(10_000_000)),
        ("/energy/import", json!(-0.5)),
        ("/phases", json!([])),
        ("/phases/0/voltage", json!(500.1)),
        ("/phases/0/power", json!(100_001)),
        ("/phases/1/power", json!(-100_001)),
        ("/phases/2/power", json!("0")),
        ("/temperature", json!(86)),
        ("/temperature", json!(-41)),
        ("/firmware", json!("")),
    ] {
        let mut wrong = message.clone();
        *wrong.pointer_mut(pointer).expect("a field of the example") = value;
        assert_invalid(&definition, &wrong);
    }
    let mut extended = message.clone();
    extended["other"] = json!(1);
    assert_invalid(&definition, &extended);
    let mut incomplete = message.clone();
    incomplete.as_object_mut().expect("an object").remove("status");
    assert_invalid(&definition, &incomplete);
}

#[test]
fn every_kind_of_part_has_a_rule_for_its_values() {
    for (schema, good, bad) in [
        (json!({"type": "boolean"}), vec![json!(true)], vec![json!(1), json!(null)]),
        (
            json!({"type": ["integer", "null"], "minimum": -5, "maximum": -2}),
            vec![json!(-5), json!(null)],
            vec![json!(-1), json!(-6)],
        ),
        (
            json!({"type": "number", "minimum": -1.5, "maximum": 2}),
            vec![json!(-1.5), json!(2), json!(-1), json!(0.25)],
            vec![json!(3), json!(-2), json!(2.5)],
        ),
        (json!({"type": "string", "maxLength": 2}), vec![json!(""), json!("é€")], vec![json!("123456789")]),
        (json!({"type": "string", "pattern": "b+"}), vec![json!("abbc"), json!("b")], vec![json!("ac")]),
        (
            json!({"type": "string", "x-dunnage-number": {"multipleOf": 0.5, "minimum": -9, "maximum": 9, "digits": 2}}),
            vec![json!("-09.0"), json!("00.5")],
            vec![json!("9.0"), json!("09")],
        ),
        (
            json!({"enum": ["a", 2, null]}),
            vec![json!("a"), json!(2), json!(null)],
            vec![json!("b"), json!(3)],
        ),
        (json!({"type": ["string", "boolean"]}), vec![json!("x"), json!(false)], vec![json!(1)]),
        (
            json!({"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 2}),
            vec![json!([true]), json!([true, false])],
            vec![json!([]), json!([true, true, true]), json!([1])],
        ),
        (
            json!({"type": "object", "properties": {"a b": {"type": "null"}}, "additionalProperties": {"type": "boolean"}}),
            vec![json!({}), json!({"a b": null, "c": true})],
            vec![json!({"a b": true}), json!({"c": 1})],
        ),
    ] {
        let definition = definition(&schema.to_string());
        good.iter().for_each(|message| assert_valid(&definition, message));
        bad.iter().for_each(|message| assert_invalid(&definition, message));
    }
}

#[test]
fn asserted_times_are_checked() {
    let schema = json!({"type": "string", "format": "date-time"}).to_string();
    let model = Model::compile_with(&schema, Options { assert_formats: true, ..Options::default() })
        .expect("a schema");
    let asserted = cddl(&model);
    assert_valid(&asserted, &json!("2026-03-29T12:15:00.5+01:00"));
    assert_invalid(&asserted, &json!("today"));
    assert_valid(&definition(&schema), &json!("today"));
}
