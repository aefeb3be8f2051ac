use crate::run::{dunnage, root};
use std::fs;

#[test]
fn a_schema_gives_the_definitions_that_the_formats_are_held_to() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("made/on/the/way");
    for (language, ending) in [("proto", "proto"), ("avro", "avsc"), ("thrift", "thrift")] {
        let arguments = ["generate", language, "--schema", "meter", "-o", output.to_str().unwrap()];
        assert_eq!(dunnage(&arguments, "").text(), "");
        let held_to = root().join(format!("crates/codegen/tests/golden/meter.{ending}"));
        assert_eq!(
            fs::read_to_string(output.join(format!("meter.{ending}"))).unwrap(),
            fs::read_to_string(held_to).unwrap()
        );
    }
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let run = dunnage(&["generate", "proto", "--schema", "container", "-o", "Cargo.toml"], "");
    assert_eq!(run.code, 1);
    assert!(run.stderr.starts_with("dunnage: Cargo.toml: "), "{}", run.stderr);
}

#[test]
fn a_ts013_codec_comes_with_the_schemas_examples() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().to_str().unwrap();
    assert_eq!(dunnage(&["generate", "ts013", "--schema", "weather", "-o", output], "").text(), "");
    for file in ["weather.js", "weather.examples.json"] {
        let golden = root().join("crates/codegen/tests/ts013/golden").join(file);
        assert_eq!(
            fs::read_to_string(folder.path().join(file)).unwrap(),
            fs::read_to_string(golden).unwrap()
        );
    }
}

#[test]
fn what_a_ts013_codec_cannot_hold_is_named_field_by_field() {
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("open.json");
    let text = r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"array","items":{"type":"boolean"}}}}"#;
    fs::write(&schema, text).unwrap();
    let schema = schema.to_str().unwrap();
    let run = dunnage(&["generate", "ts013", "--schema", schema, "-o", folder.path().to_str().unwrap()], "");
    assert_eq!(run.code, 1);
    let lines: Vec<_> =
        run.stderr.lines().map(|line| line.replace(&format!("dunnage: {schema}: "), "")).collect();
    assert_eq!(
        lines,
        [
            "a is text without a longest one: add maxLength, or an anchored pattern",
            "b is an array of any length: add maxItems",
            "$ may have other properties: add additionalProperties: false",
        ]
    );
    assert!(!folder.path().join("open.js").exists());
}
