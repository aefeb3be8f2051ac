//! JSON-Schema-Test-Suite: every required test of the drafts that this crate takes has the verdict that it states.
//!
//! The suite stands in the source distribution of Python's jsonschema; `tests/tools/install` puts it into
//! `target/tools/suites/json-schema`. What is expected to differ stands in `suite.txt`, below the reason.

use crate::json::value;
use dunnage_schema::{Model, Options};
use serde_json::Value as Json;
use std::{collections::BTreeMap, fs, path::Path, path::PathBuf};

/// The folders of the suite, and what `$schema` says in them.
const DRAFTS: [(&str, &str); 4] = [
    ("draft6", "http://json-schema.org/draft-06/schema#"),
    ("draft7", "http://json-schema.org/draft-07/schema#"),
    ("draft2019-09", "https://json-schema.org/draft/2019-09/schema"),
    ("draft2020-12", "https://json-schema.org/draft/2020-12/schema"),
];

/// Fewest tests that the suite of a draft has; with fewer, it is not the whole.
const FEWEST: usize = 800;

fn suite() -> PathBuf {
    let standard = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools");
    let tools = std::env::var_os("DUNNAGE_TOOLS").map_or_else(standard, PathBuf::from);
    let suite = tools.join("suites/json-schema");
    assert!(suite.is_dir(), "there is no {}: run tests/tools/install json-schema", suite.display());
    suite
}

/// The schema of a group, with the draft that it is of.
fn dated(schema: &Json, draft: &str) -> String {
    let mut schema = schema.clone();
    if let Some(keywords) = schema.as_object_mut() {
        keywords.entry("$schema").or_insert_with(|| draft.into());
    }
    schema.to_string()
}

/// What differs from the suite in one file: a line each, and how it differs.
fn differences(file: &Path, name: &str, draft: &str, found: &mut BTreeMap<String, String>) -> usize {
    let text = fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let groups: Vec<Json> = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let mut count = 0;
    for group in groups {
        let tests = group["tests"].as_array().expect("a group has tests");
        count += tests.len();
        let of_group = format!("{name}: {}", group["description"].as_str().expect("a group has a name"));
        let model = match Model::compile(&dated(&group["schema"], draft)) {
            Ok(model) => model,
            Err(error) => {
                found.insert(of_group, format!("does not compile: {error}"));
                continue;
            }
        };
        for test in tests {
            let verdict = model.validate(&value(&test["data"]));
            if verdict.is_ok() != test["valid"].as_bool().expect("a test has a verdict") {
                let of_test = test["description"].as_str().expect("a test has a name");
                found.insert(format!("{of_group} / {of_test}"), format!("is {verdict:?}"));
            }
        }
    }
    count
}

/// The lines of `suite.txt` that are no comments; each must stand below a reason.
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
fn required_tests_have_the_right_verdict_but_for_the_expected_differences() {
    let suite = suite();
    let mut found = BTreeMap::new();
    for (folder, draft) in DRAFTS {
        let mut count = 0;
        for entry in fs::read_dir(suite.join("tests").join(folder)).expect("the draft has a folder") {
            let file = entry.expect("the folder is readable").path();
            // What stands in folders inside is optional.
            if file.is_file() {
                let name = file.file_name().and_then(|name| name.to_str()).expect("names are UTF-8");
                count += differences(&file, &format!("{folder}/{name}"), draft, &mut found);
            }
        }
        assert!(count >= FEWEST, "{folder} has {count} tests");
    }
    let expected = expected();
    let unexpected: Vec<String> = found
        .iter()
        .filter(|(line, _)| !expected.contains(&line.as_str()))
        .map(|(line, how)| format!("{line}\n    {how}"))
        .collect();
    let gone: Vec<&str> = expected.into_iter().filter(|line| !found.contains_key(*line)).collect();
    assert!(
        unexpected.is_empty() && gone.is_empty(),
        "differ unexpectedly:\n{}\nexpected in suite.txt, but do not differ:\n{}",
        unexpected.join("\n"),
        gone.join("\n")
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
                let schema = dated(&group["schema"], draft);
                let model = Model::compile_with(&schema, Options { assert_formats: true }).expect("a schema");
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
    assert!(wrong.is_empty() && count > 500, "{count} tests, of which are wrong:\n{}", wrong.join("\n"));
}
