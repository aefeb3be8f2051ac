//! `dunnage schema diff`.

use crate::run::{Run, dunnage, root};
use serde_json::{Value as Json, json};

/// Runs `diff` from the container's schema to a copy changed by `edit`.
fn against_container(edit: impl Fn(&mut Json), arguments: &[&str]) -> Run {
    let text = std::fs::read_to_string(root().join("spec/schemas/container.json")).unwrap();
    let mut schema: Json = serde_json::from_str(&text).unwrap();
    edit(&mut schema);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), schema.to_string()).unwrap();
    dunnage(&[&["schema", "diff", "container", file.path().to_str().unwrap()], arguments].concat(), "")
}

#[test]
fn annotations_and_conditions_are_compatible() {
    let run = against_container(|schema| schema["title"] = json!("Box"), &[]);
    assert!(run.text().starts_with("compatible: the same layout\n\nold  slot 1  fingerprint "));
    assert!(
        run.text().ends_with("\nevery message valid against the old schema is valid against the new one\n")
    );
    let run = against_container(|schema| schema["not"] = json!({"required":["door","gnss"]}), &["--json"]);
    assert_eq!((run.code, &run.json()["verdict"]), (0, &json!("compatible")));
    assert_eq!(run.json()["keeps_old_messages"], false);
}

#[test]
fn another_layout_needs_another_slot() {
    let widen = |schema: &mut Json| schema["properties"]["door"]["enum"] = json!(["D", "O", "C", "T", "?"]);
    let run = against_container(widen, &[]);
    assert_eq!(run.code, 1);
    assert!(run.any_text().starts_with("forbidden: another layout under the same slot\n"));
    assert!(run.any_text().contains("\n+ door: \"?\" appended\n"));
    assert!(run.stderr.contains("\"x-dunnage-slot\": 2"), "{}", run.stderr);
    let report = against_container(widen, &["--json"]);
    assert_eq!((report.code, &report.json()["next_slot"]), (1, &json!(2)));

    let under_another = |schema: &mut Json| {
        widen(schema);
        schema["x-dunnage-slot"] = json!(2);
    };
    let run = against_container(under_another, &["--json"]);
    assert_eq!((run.code, &run.json()["verdict"]), (0, &json!("new-slot")));
    assert_eq!(run.json()["keeps_old_messages"], true);
    assert_ne!(run.json()["old"]["fingerprint"], run.json()["new"]["fingerprint"]);
    assert_eq!(
        run.json()["changes"],
        json!([{"field":"door","change":"\"?\" appended","keeps_old_messages":true}])
    );
}

#[test]
fn another_slot_of_the_same_layout_is_not_compatible() {
    let moved = |schema: &mut Json| schema["x-dunnage-slot"] = json!(2);
    let run = against_container(moved, &[]);
    assert_eq!(run.code, 1);
    assert!(run.any_text().starts_with("new slot: the same layout under another slot\n"));
    assert!(run.stderr.contains("set \"x-dunnage-slot\": 1 again"), "{}", run.stderr);
    let report = against_container(moved, &["--json"]);
    assert_eq!((report.code, &report.json()["verdict"]), (1, &json!("new-slot")));
}

#[test]
fn a_forbidden_change_would_read_wrong_values() {
    // The wrong values that the verdict warns of: bytes of one layout, decoded with another layout of the same slot.
    let compile = |max: u32| {
        let schema = format!(
            r#"{{"type":"array","minItems":2,"maxItems":2,"items":{{"type":"integer","minimum":0,"maximum":{max}}}}}"#
        );
        dunnage_packed::Layout::new(&dunnage_schema::Model::compile(&schema).unwrap()).expect("a layout")
    };
    let message = |a: u64, b: u64| dunnage_formats::Value::Array(vec![a.into(), b.into()]);
    let mut bytes = Vec::new();
    compile(7).encode(&message(5, 6), &mut bytes).unwrap();
    assert_eq!(compile(15).decode(&bytes, None).unwrap(), message(11, 8));
}

#[test]
fn a_missing_schema_is_an_error() {
    assert_eq!(dunnage(&["schema", "diff", "container", "no-such-schema"], "").code, 1);
    assert_eq!(dunnage(&["schema", "diff", "container"], "").code, 2);
}
