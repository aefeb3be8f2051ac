//! The OpenAPI document: it is generated from the routes, and Schemathesis finds no response that contradicts it.

use crate::support::{JSON, start, start_in, tools::tool};
use dunnage_formats::Id;
use dunnage_gateway::{Config, tokens};
use dunnage_ingest::media_types::ON_REQUEST;
use std::{collections::HashSet, process::Command};
use tempfile::TempDir;

/// Adds a webhook `yard`, the tokens of `schemathesis.toml`, and an output that cannot deliver.
fn configure(config: &mut Config) {
    let tokens = config.buffer.path.with_file_name("yard.token");
    std::fs::write(&tokens, "0123456789abcdef").unwrap();
    let rows = "name,device,read,operate,token\nreads,,true,,dn_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\nsends,*,,,dn_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA\noperates,,,true,dn_CCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCA\n";
    tokens::import(&config.tokens(), rows.as_bytes(), std::io::sink()).unwrap();
    let settings = format!("provider = 'chirpstack'\ntoken_file = {tokens:?}\nformat = 'json'");
    config.inputs.push(toml::from_str(&format!("name = 'yard'\n[webhook]\n{settings}")).unwrap());
    config.outputs.push(toml::from_str("name = 'away'\n[http]\nurl = 'http://127.0.0.1:9/'").unwrap());
}

#[test]
fn operations_have_unique_ids_and_specified_problems() {
    let gateway = start();
    let document = gateway.get_json("/api/openapi.json");
    assert_eq!(document, serde_json::from_str::<serde_json::Value>(dunnage_gateway::openapi()).unwrap());
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1."));
    let specified = include_str!("../../../../spec/ingest.md");
    let mut names = HashSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            assert!(names.insert(operation["operationId"].as_str().unwrap()), "{method} {path}");
            let statuses = operation["responses"].as_object().unwrap();
            for (status, response) in statuses.iter().filter(|(status, _)| status.as_str() >= "400") {
                let rows = specified.lines().filter(|line| line.starts_with(&format!("| {status} | ")));
                let rows: String = rows.collect();
                assert!(!rows.is_empty(), "{method} {path} {status}");
                // The codes stand before a note. Those of the playground are its own.
                let codes = response["description"].as_str().unwrap().split(':').next().unwrap().split(", ");
                for code in codes.filter(|_| !path.starts_with("/api/play")) {
                    assert!(code.starts_with('`') && rows.contains(code), "{method} {path} {status} {code}");
                }
            }
        }
    }
    // The document describes how to send a token, and which operations need none.
    let schemes = document["components"]["securitySchemes"].as_object().unwrap();
    let required_schemes = |operation: &serde_json::Value| {
        let all = operation["security"].as_array().unwrap().iter();
        all.flat_map(|one| one.as_object().unwrap().keys().cloned()).collect::<Vec<_>>()
    };
    assert_eq!(required_schemes(&document), ["token", "password"]);
    assert!(required_schemes(&document).iter().all(|name| schemes.contains_key(name)));
    assert_eq!(required_schemes(&document["paths"]["/hooks/{name}"]["post"]), ["token"]);
    assert!(required_schemes(&document["paths"]["/readyz"]["get"]).is_empty());
    // The operations that clients in the documentation call.
    for operation in ["ingest", "hook", "events", "metrics", "readyz", "openapi"] {
        assert!(names.contains(operation), "{names:?}");
    }
    // Every format that `/ingest` takes without being asked for.
    let contents =
        document["paths"]["/ingest/{device}"]["post"]["requestBody"]["content"].as_object().unwrap();
    for id in Id::readable().filter(|id| !ON_REQUEST.contains(id)) {
        assert!(contents.contains_key(id.media_type()), "{}", id.media_type());
    }
    let text = document.to_string();
    for reference in text.split("\"$ref\":\"").skip(1) {
        let pointer = reference.split('"').next().unwrap().strip_prefix('#').unwrap();
        assert_ne!(document.pointer(pointer), None, "{pointer}");
    }
}

#[test]
fn routes_of_the_admin_socket_are_not_on_the_network() {
    let gateway = start();
    for path in
        ["/status", "/quarantine", "/dead-letters", "/reload", "/quarantine/retry", "/dead-letters/discard"]
    {
        assert_eq!(gateway.get(path).status, 404, "{path}");
        assert_eq!(gateway.post(path, JSON, b"{}").status, 404, "{path}");
        assert!(!dunnage_gateway::openapi().contains(&format!("\"{path}\"")), "{path}");
    }
}

#[test]
fn invalid_utf_8_in_a_path_returns_a_problem_document() {
    let gateway = start();
    for answer in [
        gateway.post("/ingest/%FF", JSON, b"{}"),
        gateway.post("/hooks/%FF", JSON, b"{}"),
        gateway.get("/api/devices/%FF/messages"),
    ] {
        assert_eq!((answer.status, &*answer.content_type), (400, "application/problem+json"), "{answer:?}");
        assert_eq!(answer.json()["type"], "urn:dunnage:problem:name");
    }
}

#[test]
fn schemathesis_finds_no_undocumented_response() {
    let gateway = start_in(TempDir::new().unwrap(), configure);
    for n in 0..3 {
        assert_eq!(gateway.post("/ingest/d", JSON, format!("{{\"n\":{n}}}").as_bytes()).status, 204);
    }
    assert_eq!(gateway.post("/ingest/d", JSON, b"[").status, 400);
    let tests = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    let mut command = Command::new(tool("venv/bin/schemathesis"));
    command.args(["--config-file", &format!("{tests}/schemathesis.toml"), "run"]);
    command.arg(gateway.url("/api/openapi.json")).current_dir(gateway.folder.path());
    command.env("PYTHONPATH", tests).env("PYTHONDONTWRITEBYTECODE", "1");
    command.args(["--seed", "1", "--max-examples", "20", "--workers", "1", "--phases", "coverage,fuzzing"]);
    command.args(["--max-time", "60"]);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let (summary, _) = gateway.stop();
    assert!(summary.received > 5, "{summary:?}\n{text}");
    assert_eq!(summary.received, summary.stored + summary.quarantined + summary.refused + summary.duplicates);
}
