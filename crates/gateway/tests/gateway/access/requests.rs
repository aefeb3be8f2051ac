//! Query parameters and media types of requests.

use super::{MESSAGE, get, post};
use crate::support::{Answer, start_with};

#[test]
fn an_unknown_parameter_is_rejected_with_the_known_ones() {
    let gateway = start_with(|_| ());
    let refused = |answer: Answer, says: &str| {
        assert_eq!((answer.status, &answer.json()["type"]), (400, &"urn:dunnage:problem:query".into()));
        assert!(answer.json()["detail"].as_str().unwrap().contains(says), "{}", answer.text);
    };
    refused(
        post(&gateway, "d?schma=weather", &[]),
        "did you mean \"schema\"? (the known parameters are schema, link)",
    );
    refused(post(&gateway, "d?schema=weather&schema=weather", &[]), "schema is given twice");
    refused(get(&gateway, "/api/messages?limt=1", &[]), "did you mean \"limit\"?");
    refused(get(&gateway, "/api/messages?limit=x", &[]), "limit must be a whole number");
    refused(get(&gateway, "/api/devices?device=d", &[]), "the known parameters are find, tags");
    for path in
        ["/api/quarantine", "/api/devices/d/messages", "/api/stats", "/api/events", "/api/openapi.json"]
    {
        refused(get(&gateway, &format!("{path}?devic=d"), &[]), "there is no parameter \"devic\"");
    }
    assert_eq!(get(&gateway, "/api/stats", &[]).json()["received"], 2);
    gateway.stop();
}

#[test]
fn messages_can_be_filtered_by_device() {
    let gateway = start_with(|_| ());
    for device in ["a", "b", "a", "b", "a"] {
        assert_eq!(post(&gateway, device, &[]).status, 204);
    }
    let ids = |query: &str| {
        let messages = get(&gateway, &format!("/api/messages?{query}"), &[]).json()["messages"].clone();
        let all = messages.as_array().unwrap().iter();
        all.map(|message| message["id"].as_i64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(ids("device=a"), [5, 3, 1]);
    assert_eq!(ids("device=b&limit=1"), [4]);
    assert_eq!(ids("device=a&before=5"), [3, 1]);
    assert!(ids("device=nobody").is_empty());
    gateway.stop();
}

#[test]
fn an_unsupported_media_type_is_rejected_with_the_supported_ones() {
    let gateway = start_with(|_| ());
    let types = ["application/json", "application/vnd.dunnage.packed", "application/x-ndjson"];
    for given in ["text/plain", "application/x-www-form-urlencoded", &"x".repeat(4000)] {
        let refused = gateway.post("/ingest/d", given, MESSAGE);
        assert_eq!(refused.status, 415);
        let (detail, accept) =
            (refused.json()["detail"].clone(), refused.headers["accept"].to_str().unwrap());
        for known in types {
            assert!(accept.contains(known), "{accept}");
        }
        // The detail has one type of each format.
        for known in &types[..2] {
            assert!(detail.as_str().unwrap().contains(known), "{}", refused.text);
        }
        assert!(refused.text.len() < 1000, "{}", refused.text);
    }
    let batch = gateway.post("/ingest/d", "application/vnd.dunnage.batch", MESSAGE);
    assert!(batch.status == 415 && batch.text.contains("packed"), "{}", batch.text);
    gateway.stop();
}
