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
        run.stderr.starts_with("dunnage: standard input: ") && run.stderr.ends_with(" at /door, byte 243\n"),
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

#[test]
fn all_violations_are_listed_and_a_misspelt_field_has_a_suggestion() {
    let message = r#"{"station":"A","temprature":17.2,"humidity":"wet"}"#;
    let run = dunnage(&["schema", "check", "weather", "-"], message);
    assert_eq!(run.code, 1);
    assert!(run.stderr.lines().count() >= 3, "{}", run.stderr);
    assert!(
        run.stderr.contains("there is no field \"temprature\"; did you mean \"temperature\"? at /temprature")
    );
    assert!(run.stderr.contains(" at /humidity"), "{}", run.stderr);
    let report = dunnage(&["schema", "check", "weather", "-", "--json"], message).json();
    assert_eq!(report["violations"].as_array().unwrap().len(), run.stderr.lines().count());
    assert_eq!(report["violation"], report["violations"][0]);
    // The kind is that of another shape, not of a number out of its range, in every format that a schema drives.
    for format in ["packed", "protobuf", "avro", "struct", "thrift-compact"] {
        let run =
            dunnage(&["convert", "--from", "json", "--to", format, "--schema", "meter"], r#"{"nope":1}"#);
        assert!(
            run.stderr.starts_with("dunnage: type: there is no field \"nope\""),
            "{format}: {}",
            run.stderr
        );
    }
}

#[test]
fn a_message_is_not_taken_for_a_schema() {
    let folder = tempfile::tempdir().unwrap();
    let message = folder.path().join("reading.json");
    std::fs::write(&message, r#"{"temperature":17.25}"#).unwrap();
    let message = message.to_str().unwrap();
    for arguments in [
        &["schema", "check", message][..],
        &["schema", "size", message],
        &["schema", "diff", message, "weather"],
        &["generate", "c", "--schema", message, "-o", "target/never"],
        &["compare", message, "--schema", message],
    ] {
        let run = dunnage(arguments, "");
        assert_eq!((run.code, run.any_text()), (1, ""), "{arguments:?}");
        assert!(
            run.stderr.starts_with(&format!("dunnage: {message}: this is not a schema: ")),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn a_bundled_schema_that_is_misspelt_has_a_suggestion() {
    for arguments in [&["schema", "check", "wether"][..], &["compare", "-", "--schema", "Wether"]] {
        let run = dunnage(arguments, "{}");
        assert!(run.code == 1 && run.stderr.contains("; did you mean weather? (bundled"), "{}", run.stderr);
    }
}

#[test]
fn a_required_field_without_a_property_is_warned_of() {
    let schema =
        r#"{"type":"object","properties":{"temperature":{"type":"integer"}},"required":["temprature"]}"#;
    let run = dunnage(&["schema", "check", "-"], schema);
    assert_eq!(run.code, 0);
    assert_eq!(
        run.stderr,
        "dunnage: -: warning: the field \"temprature\" is required, but properties does not have it; did you mean \"temperature\"? at /required/0\n"
    );
    let report = dunnage(&["schema", "check", "-", "--json"], schema).json();
    assert_eq!(report["warnings"].as_array().unwrap().len(), 1);
}
