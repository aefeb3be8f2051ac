//! HTTP ingest: every status that a sender can get.

use crate::support::{Answer, JSON, Running, start, start_with};
use serde_json::{Value, json};

fn assert_problem(answer: &Answer, status: u16, name: &str) -> Value {
    assert_eq!(answer.status, status, "{}", answer.text);
    assert_eq!(answer.content_type, "application/problem+json");
    let problem = answer.json();
    assert_eq!(problem["type"], format!("urn:dunnage:problem:{name}"));
    assert_eq!(problem["status"], status);
    assert!(problem["title"].is_string() && problem["detail"].is_string());
    problem
}

/// Returns the messages in the quarantine, newest first.
fn quarantine(gateway: &Running) -> Vec<Value> {
    gateway.get_json("/api/quarantine")["messages"].as_array().unwrap().clone()
}

#[test]
fn a_message_is_stored_and_listed_with_its_provenance() {
    let gateway = start();
    let body = br#"{ "temperature": 23.50, "n": [1, -2, null], "s": "\u00e9" }"#;
    let answer =
        gateway.post("/ingest/LMCU1231237?link=terrestrial", "application/json; charset=utf-8", body);
    assert_eq!((answer.status, answer.text.as_str()), (204, ""));
    let message = &gateway.get_json("/api/devices/LMCU1231237/messages")["messages"][0];
    assert_eq!(message["value"], json!({"temperature": 23.5, "n": [1, -2, null], "s": "é"}));
    assert_eq!(message["id"], 1);
    assert_eq!(message["device"], "LMCU1231237");
    assert_eq!(message["format"], "json");
    assert_eq!(message["schema"], Value::Null);
    assert_eq!(message["link"], "terrestrial");
    assert_eq!(message["bytes"], body.len());
    assert_eq!(message["json_bytes"], r#"{"temperature":23.5,"n":[1,-2,null],"s":"é"}"#.len());
    let time = message["received_at"].as_str().unwrap();
    assert!(time.len() == 24 && time.ends_with('Z') && time.starts_with("20"), "{time}");
}

#[test]
fn malformed_messages_are_400_with_kind_and_offset_and_quarantined() {
    let gateway = start();
    let problem = assert_problem(&gateway.post("/ingest/d", JSON, b"{\"a\":1,}"), 400, "malformed");
    assert_eq!(problem["kind"], "malformed");
    assert_eq!(problem["offset"], 7);
    let problem = assert_problem(&gateway.post("/ingest/d?link=l", JSON, b"{\"a\":"), 400, "malformed");
    assert_eq!(problem["kind"], "truncated");
    assert_eq!(problem["offset"], 5);
    let quarantined = quarantine(&gateway);
    assert_eq!(quarantined.len(), 2);
    assert_eq!(quarantined[0]["kind"], "truncated");
    assert_eq!(quarantined[0]["link"], "l");
    assert_eq!(quarantined[1]["hex"], "7b2261223a312c7d");
    assert_eq!(quarantined[1]["offset"], 7);
    assert_eq!(quarantined[1]["bytes"], 8);
    assert_eq!(quarantined[1]["device"], "d");
    assert_eq!(quarantined[1]["content_type"], JSON);
    assert_eq!(gateway.get_json("/api/messages")["messages"], json!([]));
}

#[test]
fn an_empty_body_is_truncated() {
    let gateway = start();
    let problem = assert_problem(&gateway.post("/ingest/d", JSON, b""), 400, "malformed");
    assert_eq!((&problem["kind"], &problem["offset"]), (&json!("truncated"), &json!(0)));
}

#[test]
fn nesting_over_the_limit_is_400() {
    let gateway = start();
    let body = "[".repeat(1000) + &"]".repeat(1000);
    let problem = assert_problem(&gateway.post("/ingest/d", JSON, body.as_bytes()), 400, "malformed");
    assert_eq!(problem["kind"], "limit");
}

#[test]
fn messages_over_the_limit_are_413_and_not_quarantined() {
    let gateway = start_with(|config| config.http.body_limit_bytes = 100);
    let body = format!("\"{}\"", "x".repeat(99));
    let problem = assert_problem(&gateway.post("/ingest/d", JSON, body.as_bytes()), 413, "too-large");
    assert_eq!((&problem["kind"], &problem["offset"]), (&json!("limit"), &json!(100)));
    let chunked = gateway.agent.post(gateway.url("/ingest/d")).header("content-type", JSON);
    let sent = chunked.send(ureq::SendBody::from_reader(&mut body.as_bytes())).unwrap();
    assert_eq!(sent.status(), 413);
    assert_eq!(gateway.post("/ingest/d", JSON, &body.as_bytes()[..1]).status, 400);
    assert_eq!(quarantine(&gateway).len(), 1);
    let (summary, _) = gateway.stop();
    assert_eq!((summary.received, summary.quarantined, summary.refused), (3, 1, 2));
}

#[test]
fn the_largest_message_is_stored() {
    let gateway = start();
    let body = format!("\"{}\"", "x".repeat((1 << 20) - 2));
    assert_eq!(gateway.post("/ingest/d", JSON, body.as_bytes()).status, 204);
    let problem = gateway.post("/ingest/d", JSON, format!("{body} ").as_bytes());
    assert_problem(&problem, 413, "too-large");
}

#[test]
fn unknown_content_types_are_415_and_quarantined() {
    let gateway = start();
    assert_problem(&gateway.post("/ingest/d", "text/plain", b"hello"), 415, "media-type");
    assert_eq!(quarantine(&gateway)[0]["kind"], "media-type");
    assert_eq!(quarantine(&gateway)[0]["hex"], "68656c6c6f");
}

#[test]
fn a_format_that_needs_a_schema_is_415_without_one() {
    let gateway = start();
    let problem =
        assert_problem(&gateway.post("/ingest/d", "application/x-protobuf", b"\x08\x01"), 415, "media-type");
    assert!(problem["detail"].as_str().unwrap().contains("?schema="), "{problem}");
}

#[test]
fn an_unknown_schema_is_404_and_the_message_quarantined() {
    let gateway = start();
    assert_problem(&gateway.post("/ingest/d?schema=nothing", JSON, b"{}"), 404, "unknown-schema");
    assert_eq!(quarantine(&gateway)[0]["schema"], "nothing");
}

#[test]
fn invalid_names_are_400() {
    let gateway = start();
    for path in ["/ingest/a%0Ab", "/ingest/%7F", "/ingest/d?link=%2F", "/ingest/d?schema=..", "/ingest/%ff"] {
        assert_eq!(gateway.post(path, JSON, b"1").status, 400, "{path}");
    }
    assert_problem(&gateway.post("/ingest/a%0Ab", JSON, b"1"), 400, "name");
    assert_eq!(gateway.post("/ingest/urn%3Aimei%3A1", JSON, b"1").status, 204);
    assert_eq!(gateway.get_json("/api/devices")["devices"][0]["device"], "urn:imei:1");
}

#[test]
fn other_methods_and_paths_are_405_and_404() {
    let gateway = start();
    assert_problem(&gateway.get("/ingest/d"), 405, "method");
    assert_problem(&gateway.get("/api/nothing"), 404, "not-found");
    assert_problem(&gateway.post("/ingest/", JSON, b"1"), 404, "not-found");
    assert_problem(&gateway.post("/api/stats", JSON, b"1"), 405, "method");
    assert_problem(&gateway.get("/api/devices/nobody/messages"), 404, "not-found");
    assert_problem(&gateway.get("/api/messages?limit=many"), 400, "query");
}

#[test]
fn the_quarantine_is_limited_by_messages_and_by_bytes() {
    let gateway = start_with(|config| config.quarantine.messages = 5);
    for n in 0..8 {
        gateway.post("/ingest/d", JSON, format!("{{{n}").as_bytes());
    }
    let ids: Vec<_> = quarantine(&gateway).iter().map(|m| m["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, [8, 7, 6, 5, 4]);
    assert_eq!(gateway.get_json("/api/stats")["quarantined"], 8);
    let page = gateway.get_json("/api/quarantine?limit=2&before=7");
    assert_eq!((&page["messages"][0]["id"], &page["messages"][1]["id"]), (&json!(6), &json!(5)));

    let gateway = start_with(|config| config.quarantine.bytes = 100);
    for _ in 0..4 {
        gateway.post("/ingest/d", JSON, &[b'{'; 40]);
    }
    assert_eq!(quarantine(&gateway).len(), 2);
}

#[test]
fn random_bytes_are_stored_or_quarantined_for_every_content_type() {
    let gateway = start();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    let (mut stored, mut quarantined) = (0, 0);
    for format in dunnage_formats::Id::readable() {
        for length in 0..60 {
            let body: Vec<u8> = (0..length).map(|_| random()).collect();
            let path = if format.needs_schema() { "/ingest/d?schema=container" } else { "/ingest/d" };
            match gateway.post(path, format.media_type(), &body).status {
                204 => stored += 1,
                400 | 404 | 415 | 422 => quarantined += 1,
                status => panic!("{format} {body:02x?}: {status}"),
            }
        }
    }
    assert!(quarantined > stored);
    let (summary, _) = gateway.stop();
    assert_eq!((summary.stored, summary.quarantined, summary.refused), (stored, quarantined, 0));
}

#[test]
fn the_specification_names_every_format() {
    let page = include_str!("../../../../spec/ingest.md");
    for format in dunnage_formats::Id::readable() {
        let needs = if format.needs_schema() { "yes " } else { "" };
        let row = format!("| `{}` | {format} | {needs}|", format.media_type());
        assert!(page.contains(&row), "{row}");
    }
}
