//! Runs JSON-Schema-Test-Suite: every required test of the supported drafts has the expected verdict.
//!
//! The suite is part of the source distribution of Python's jsonschema; `tests/tools/install` puts it into
//! `target/tools/suites/json-schema`. `suite.txt` lists the expected differences, each below its reason.

use crate::json::value;
use dunnage_schema::{Model, Options};
use serde_json::Value as Json;
use std::{collections::BTreeMap, fs, path::Path, path::PathBuf};

/// The folders of the suite, and the value of `$schema` for each.
const DRAFTS: [(&str, &str); 4] = [
    ("draft6", "http://json-schema.org/draft-06/schema#"),
    ("draft7", "http://json-schema.org/draft-07/schema#"),
    ("draft2019-09", "https://json-schema.org/draft/2019-09/schema"),
    ("draft2020-12", "https://json-schema.org/draft/2020-12/schema"),
];

/// The minimum number of tests of a draft. With fewer tests, the suite is incomplete.
const MIN_TESTS: usize = 800;

fn suite() -> PathBuf {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools");
    let tools = std::env::var_os("DUNNAGE_TOOLS").map_or_else(default, PathBuf::from);
    let suite = tools.join("suites/json-schema");
    assert!(suite.is_dir(), "there is no {}: run tests/tools/install json-schema", suite.display());
    suite
}

/// Returns the schema with `draft` as its `$schema`, if it has none.
fn with_draft(schema: &Json, draft: &str) -> String {
    let mut schema = schema.clone();
    if let Some(keywords) = schema.as_object_mut() {
        keywords.entry("$schema").or_insert_with(|| draft.into());
    }
    schema.to_string()
}

/// Inserts the differences of one file into `found`: the name of the test, and how it differs. Returns the number of tests.
fn differences(file: &Path, name: &str, draft: &str, found: &mut BTreeMap<String, String>) -> usize {
    let text = fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let groups: Vec<Json> = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let mut count = 0;
    for group in groups {
        let tests = group["tests"].as_array().expect("a group has tests");
        count += tests.len();
        let group_name = format!("{name}: {}", group["description"].as_str().expect("a group has a name"));
        let model = match Model::compile(&with_draft(&group["schema"], draft)) {
            Ok(model) => model,
            Err(error) => {
                found.insert(group_name, format!("does not compile: {error}"));
                continue;
            }
        };
        for test in tests {
            let verdict = model.validate(&value(&test["data"]));
            if verdict.is_ok() != test["valid"].as_bool().expect("a test has a verdict") {
                let test_name = test["description"].as_str().expect("a test has a name");
                found.insert(format!("{group_name} / {test_name}"), format!("is {verdict:?}"));
            }
        }
    }
    count
}

/// Returns the lines of `suite.txt` that are not comments. Panics if a line has no reason above it.
fn expected() -> Vec<&'static str> {
    let mut has_reason = false;
    let mut lines = Vec::new();
    for line in include_str!("suite.txt").lines() {
        match line {
            "" => has_reason = false,
            _ if line.starts_with("# ") => has_reason = true,
            _ => {
                assert!(has_reason, "{line:?} has no reason above it");
                lines.push(line);
            }
        }
    }
    lines
}

#[test]
fn required_tests_have_the_right_verdict_except_for_expected_differences() {
    let suite = suite();
    let mut found = BTreeMap::new();
    for (folder, draft) in DRAFTS {
        let mut count = 0;
        for entry in fs::read_dir(suite.join("tests").join(folder)).expect("the draft has a folder") {
            let file = entry.expect("the folder is readable").path();
            // The tests in subfolders are optional.
            if file.is_file() {
                let name = file.file_name().and_then(|name| name.to_str()).expect("names are UTF-8");
                count += differences(&file, &format!("{folder}/{name}"), draft, &mut found);
            }
        }
        assert!(count >= MIN_TESTS, "{folder} has {count} tests");
    }
    let expected = expected();
    let unexpected: Vec<String> = found
        .iter()
        .filter(|(line, _)| !expected.contains(&line.as_str()))
        .map(|(line, how)| format!("{line}\n    {how}"))
        .collect();
    let obsolete: Vec<&str> = expected.into_iter().filter(|line| !found.contains_key(*line)).collect();
    assert!(
        unexpected.is_empty() && obsolete.is_empty(),
        "differ unexpectedly:\n{}\nexpected in suite.txt, but do not differ:\n{}",
        unexpected.join("\n"),
        obsolete.join("\n")
    );
}

#[test]
fn asserted_formats_have_the_verdicts_of_the_suite() {
    let suite = suite();
    let (mut count, mut wrong) = (0, Vec::new());
    for (folder, draft) in DRAFTS {
        for name in ["date-time", "date", "time", "duration", "uuid", "ipv4", "ipv6"] {
            let file = suite.join("tests").join(folder).join(format!("optional/format/{name}.json"));
            // Older drafts have fewer formats.
            let Ok(text) = fs::read_to_string(file) else { continue };
            let groups: Vec<Json> = serde_json::from_str(&text).expect("a file of groups");
            for group in groups {
                let schema = with_draft(&group["schema"], draft);
                let model =
                    Model::compile_with(&schema, Options { assert_formats: true, ..Options::default() })
                        .expect("a schema");
                for test in group["tests"].as_array().expect("a group has tests") {
                    count += 1;
                    if model.validate(&value(&test["data"])).is_ok()
                        != test["valid"].as_bool().expect("a verdict")
                    {
                        wrong.push(format!("{folder} {name}: {} {}", test["description"], test["data"]));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty() && count > 500, "{count} tests, wrong verdicts:\n{}", wrong.join("\n"));
}
