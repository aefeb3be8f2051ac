//! Runs other projects' tests of the formats, and compares the differences with the intentional ones.
//!
//! `tests/tools/install suites` puts the tests into `target/tools/suites`. `tests/suites/FORMAT.txt` lists the differences, one per
//! line: the name of a test, or the beginning of several names and `*`, then ` -- ` and the reason.

use dunnage_formats::{Format, Id, Json, Mapping};
use serde::Deserialize;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
struct Test {
    name: String,
    /// Hexadecimal digits.
    input: String,
    expected: Expected,
    /// The value as JSON text, if the suite has one.
    value: Option<String>,
}

#[derive(Deserialize, PartialEq, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Expected {
    Value,
    Error,
    /// The suite leaves the result to the implementation.
    Any,
}

#[test]
fn json_test_suite() {
    check(Id::Json, 300);
}

#[test]
fn yaml_test_suite() {
    check(Id::Yaml, 400);
}

#[test]
fn cbor_examples_of_rfc_8949() {
    check(Id::Cbor, 80);
}

#[test]
fn msgpack_test_suite() {
    check(Id::Msgpack, 230);
}

#[test]
fn bson_corpus() {
    check(Id::Bson, 800);
}

#[test]
fn xml_conformance_suite_of_the_w3c() {
    check(Id::Xml, 2500);
}

/// Runs the suite of a format, which must have at least `at_least` tests, and compares the differences with the listed ones.
fn check(id: Id, at_least: usize) {
    let format = id.open(None, Mapping::Exact).unwrap();
    let tests = tests(id);
    assert!(tests.len() >= at_least, "{id}: {} tests", tests.len());
    let listed = std::fs::read_to_string(expected_differences(id)).unwrap();
    let listed: Vec<_> = listed
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split_once(" -- ").unwrap_or_else(|| panic!("{id}: no reason in {line:?}")).0)
        .collect();
    let mut wrong = Vec::new();
    let mut used = vec![false; listed.len()];
    for test in &tests {
        let found = difference(format.as_ref(), test);
        let line = listed.iter().position(|pattern| name_matches(pattern, &test.name));
        match (found, line) {
            (None, None) => {}
            (Some(_), Some(line)) => used[line] = true,
            (Some(found), None) => wrong.push(format!("{} -- {found}", test.name)),
            (None, Some(line)) => {
                used[line] = true;
                wrong.push(format!("{} no longer differs, but {:?} lists it", test.name, listed[line]));
            }
        }
    }
    let unused = listed.iter().zip(used).filter(|(_, used)| !used);
    wrong.extend(unused.map(|(pattern, _)| format!("{pattern:?} matches no test")));
    assert!(
        wrong.is_empty(),
        "{id}: {} differ from {}:\n{}",
        wrong.len(),
        expected_differences(id).display(),
        wrong.join("\n")
    );
}

/// Returns how the result of `format` differs from the suite's, if it does.
fn difference(format: &dyn Format, test: &Test) -> Option<String> {
    let message = format.decode(&from_hex(&test.input));
    match (test.expected, message) {
        (Expected::Any, _) | (Expected::Error, Err(_)) => None,
        (Expected::Error, Ok(message)) => Some(format!("read as {message:?}")),
        (Expected::Value, Err(e)) => Some(e.to_string()),
        (Expected::Value, Ok(message)) => {
            let value = Json.decode(test.value.as_ref()?.as_bytes());
            (value.as_ref() != Ok(&message)).then(|| format!("{message:?} instead of {value:?}"))
        }
    }
}

fn name_matches(pattern: &str, name: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == name, |beginning| name.starts_with(beginning))
}

fn tests(id: Id) -> Vec<Test> {
    let path = tools().join("suites").join(format!("{id}.json"));
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|e| panic!("{}: {e}; please run: tests/tools/install suites", path.display()));
    serde_json::from_str(&text).unwrap()
}

fn tools() -> PathBuf {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools");
    std::env::var_os("DUNNAGE_TOOLS").map_or_else(default, PathBuf::from)
}

fn expected_differences(id: Id) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suites").join(format!("{id}.txt"))
}

fn from_hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}
