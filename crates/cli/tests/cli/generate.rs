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
