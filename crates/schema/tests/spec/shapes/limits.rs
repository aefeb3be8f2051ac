//! Limits that keep a small schema from using much time, memory or stack.

use super::{model, valid};
use crate::json::message;
use dunnage_schema::Model;

#[test]
fn validation_has_a_limit_of_steps() {
    // Each level validates the next level twice.
    let schema = r##"{"type":"array","items":{"$ref":"#","not":{"not":{"$ref":"#"}}}}"##;
    valid(schema, &["[[[]],[]]"]);
    let deep = format!("{}{}", "[".repeat(60), "]".repeat(60));
    let violation = model(schema).validate(&message(&deep)).unwrap_err();
    assert!(violation.message().contains("steps"), "{violation}");
}

#[test]
fn a_small_schema_cannot_become_huge() {
    // Each definition is a union of objects of the one before, in every combination.
    let mut definitions = vec![r#""d0":{"type":"object","properties":{"z":{"type":"null"}}}"#.to_owned()];
    for i in 1..30 {
        let one = |name: &str| {
            format!(r##"{{"type":"object","properties":{{"{name}":{{"$ref":"#/$defs/d{}"}}}}}}"##, i - 1)
        };
        definitions.push(format!(
            r#""d{i}":{{"allOf":[{{"anyOf":[{},{}]}},{{"anyOf":[{},{}]}}]}}"#,
            one("a"),
            one("b"),
            one("c"),
            one("d")
        ));
    }
    let schema = format!(r##"{{"$ref":"#/$defs/d29","$defs":{{{}}}}}"##, definitions.join(","));
    let error = Model::compile(&schema).unwrap_err();
    assert!(error.message().contains("weighs more than 200000"), "{error}");
}

#[test]
fn deeply_nested_choices_do_not_overflow_the_stack() {
    // There are sixty schemas between two levels of the message.
    let mut schema = r##"{"type":"array","items":{"$ref":"#"}}"##.to_owned();
    for _ in 0..30 {
        schema = format!(r#"{{"not":{{"not":{schema}}}}}"#);
    }
    let schema = format!(r##"{{"type":"array","items":{schema}}}"##);
    let model = model(&schema);
    let nested = |depth: usize| message(&format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
    assert_eq!(model.validate(&nested(10)), Ok(()));
    let violation = model.validate(&nested(100)).unwrap_err();
    assert!(violation.message().contains("inside one another"), "{violation}");
}
