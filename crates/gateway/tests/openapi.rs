//! The OpenAPI document: it names every address, and Schemathesis finds nothing that is answered in another way than it says.

#![allow(clippy::unwrap_used)]

mod support;

use std::process::Command;
use support::{JSON, start, tools::tool};

#[test]
fn the_document_names_every_address_and_what_it_refers_to_is_there() {
    let gateway = start();
    let document = gateway.get_json("/api/openapi.json");
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1."));
    let mut paths: Vec<_> = document["paths"].as_object().unwrap().keys().map(String::as_str).collect();
    paths.sort_unstable();
    assert_eq!(
        paths,
        [
            "/api/devices",
            "/api/devices/{device}/messages",
            "/api/events",
            "/api/messages",
            "/api/quarantine",
            "/api/stats",
            "/healthz",
            "/hooks/{name}",
            "/ingest/{device}",
            "/metrics",
            "/readyz"
        ]
    );
    let text = document.to_string();
    for reference in text.split("\"$ref\":\"").skip(1) {
        let pointer = reference.split('"').next().unwrap().strip_prefix('#').unwrap();
        assert_ne!(document.pointer(pointer), None, "{pointer}");
    }
    let statuses = document["paths"]["/ingest/{device}"]["post"]["responses"].as_object().unwrap();
    let specified = include_str!("../../../spec/ingest.md");
    for status in statuses.keys().filter(|status| status.as_str() >= "400") {
        assert!(specified.contains(&format!("| {status} | `")), "{status}");
    }
}

#[test]
fn schemathesis_finds_no_answer_that_the_document_does_not_have() {
    let gateway = start();
    for n in 0..3 {
        assert_eq!(gateway.post("/ingest/d", JSON, format!("{{\"n\":{n}}}").as_bytes()).status, 204);
    }
    assert_eq!(gateway.post("/ingest/d", JSON, b"[").status, 400);
    let mut command = Command::new(tool("venv/bin/schemathesis"));
    command.arg("run").arg(gateway.url("/api/openapi.json")).current_dir(gateway.folder.path());
    command.args(["--seed", "1", "--max-examples", "20", "--workers", "1", "--phases", "coverage,fuzzing"]);
    // The one has no end. The others are what a schema cannot say: which bytes are a message, and which lists have a page.
    command.args(["--exclude-path", "/api/events", "--suppress-health-check", "all"]);
    command.args(["--exclude-checks", "positive_data_acceptance,negative_data_rejection"]);
    command.args(["--no-shrink", "--request-timeout", "30", "--max-time", "12"]);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let (summary, _) = gateway.stop();
    assert!(summary.received > 5 && summary.stored > 3, "{summary:?}\n{text}");
    assert_eq!(summary.received, summary.stored + summary.quarantined + summary.refused + summary.duplicates);
}
