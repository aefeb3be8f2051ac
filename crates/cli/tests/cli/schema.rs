use crate::run::{dunnage, golden};
use serde_json::json;

#[test]
fn the_bundled_schemas_have_their_tables() {
    let bundled = std::fs::read_dir(crate::run::root().join("spec/schemas")).unwrap();
    let mut count = 0;
    for file in bundled {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let run = dunnage(&["schema", "check", name], "");
        golden(&format!("schema-{name}.txt"), run.text());
        assert_eq!(dunnage(&["schema", "check", path.to_str().unwrap()], "").text(), run.text());
        count += 1;
    }
    assert!(count >= 4);
}

#[test]
fn a_valid_message_is_called_valid() {
    let run = dunnage(&["schema", "check", "container", "bench/corpus/container.json"], "");
    assert!(run.text().ends_with("\nbench/corpus/container.json is valid\n"));
    let run = dunnage(&["schema", "check", "container", "bench/corpus/container.json", "--json"], "");
    assert_eq!(run.code, 0);
    assert_eq!(run.json()["valid"], true);
    assert_eq!(run.json()["fields"].as_array().unwrap().len(), 20);
    assert_eq!(run.json()["packed"]["slot"], 1);
    assert_eq!(run.json()["packed"]["fingerprint"].as_str().unwrap().len(), 64);
}

#[test]
fn a_violation_has_the_pointer_of_the_value() {
    let message = std::fs::read_to_string(crate::run::root().join("bench/corpus/container.json")).unwrap();
    let message = message.replace("\"door\":\"D\"", "\"door\":\"X\"");
    let run = dunnage(&["schema", "check", "container", "-"], &message);
    assert_eq!(run.code, 1);
    assert!(
        run.stderr.starts_with("dunnage: -: ") && run.stderr.ends_with(" at /door, byte 243\n"),
        "{}",
        run.stderr
    );
    let run = dunnage(&["schema", "check", "container", "-", "--json"], &message);
    assert_eq!(run.code, 1);
    assert_eq!((&run.json()["valid"], &run.json()["violation"]["pointer"]), (&json!(false), &json!("/door")));
    assert_eq!(run.json()["violation"]["offset"], 243);
}

#[test]
fn an_unusable_schema_has_keyword_and_pointer() {
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("s.json");
    std::fs::write(
        &schema,
        r#"{"type":"object","properties":{"a":{"$dynamicRef":"b"}},"additionalProperties":false}"#,
    )
    .unwrap();
    let schema = schema.to_str().unwrap();
    let run = dunnage(&["schema", "check", schema], "");
    assert_eq!((run.code, run.any_text()), (1, ""));
    assert!(
        run.stderr.contains(": $dynamicRef: ") && run.stderr.ends_with(" at /properties/a/$dynamicRef\n"),
        "{}",
        run.stderr
    );
    let error = &dunnage(&["schema", "check", schema, "--json"], "").json()["error"];
    assert_eq!(
        (&error["keyword"], &error["pointer"]),
        (&json!("$dynamicRef"), &json!("/properties/a/$dynamicRef"))
    );
}
