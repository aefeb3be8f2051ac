use super::*;
use serde_json::{Value, json};

fn record(value: f64) -> Record {
    Record::measured("host", "host", ["Test01", "pson", "dunnage"], "encode", ("ns", value, "ns"))
}

fn in_folder(text: &str) -> Result<Vec<Record>, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("host.jsonl");
    fs::write(&path, text).expect("a file");
    let prefix = format!("{}:", path.display());
    read(&path).map_err(|e| e.to_string().replace(&prefix, ""))
}

fn line(change: impl Fn(&mut Value)) -> String {
    let mut value = serde_json::to_value(record(12.0)).expect("JSON");
    change(&mut value);
    value.to_string()
}

#[test]
fn written_records_are_read_back_and_fit_the_schema() {
    let schema: Value =
        serde_json::from_str(include_str!("../../record.schema.json")).expect("the schema is JSON");
    let schema = jsonschema::validator_for(&schema).expect("a schema");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("results/host.jsonl");
    let mut quoted = record(0.5);
    (quoted.source, quoted.reference, quoted.environment) = (Source::Quoted, Some("Table 1".into()), None);
    quoted.spread = Some(Spread { low: 0.25, high: 1.0, of: "range".into() });
    let records = vec![record(12.0), quoted.version("1.0")];
    write(&path, &records).expect("it can be written");
    assert_eq!(read(&path).expect("it can be read"), records);
    for line in fs::read_to_string(&path).expect("a file").lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        assert!(schema.is_valid(&line), "{line}");
    }
}

#[test]
fn update_replaces_only_the_named_records() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("host.jsonl");
    assert_eq!(update(&path, |_| true, vec![record(1.0), record(2.0)]).expect("a new file").len(), 2);
    let all = update(&path, |old| old.value == 1.0, vec![record(3.0)]).expect("the same file");
    assert_eq!(all.iter().map(|record| record.value).collect::<Vec<_>>(), [2.0, 3.0]);
}

#[test]
fn a_bad_line_gives_an_error_with_its_number_and_field() {
    let ok = line(|_| ());
    let second = |text: String| in_folder(&format!("{ok}\n{text}\n")).expect_err("an error");
    let error = second(line(|record| record["record"] = json!(2)));
    assert_eq!(error, "2: record: version 2; this program reads version 1");
    let error = second(line(|record| record["source"] = json!("quoted")));
    assert_eq!(error, "2: reference: missing in a record with this source");
    let error = second(line(|record| record["colour"] = json!("red")));
    assert!(error.starts_with("2: unknown field `colour`"), "{error}");
    let error = second(line(|record| record["value"] = json!("fast")));
    assert!(error.contains("expected f64"), "{error}");
    assert!(second("{".into()).starts_with("2: EOF"), "{}", second("{".into()));
    assert_eq!(in_folder("").expect("an empty file"), []);
}

#[test]
fn a_file_that_does_not_exist_has_no_records() {
    assert_eq!(read(Path::new("/nowhere/host.jsonl")).expect("no records"), []);
}

#[test]
fn a_figure_that_is_not_finite_is_not_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = write(&folder.path().join("host.jsonl"), &[record(f64::NAN)]).expect_err("an error");
    assert!(error.to_string().ends_with("value: not a finite number"));
}
