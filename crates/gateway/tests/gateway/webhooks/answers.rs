//! Answers to repeated, malformed and undecodable requests, to events without a message, and to requests when the buffer is full.

use super::{
    ASTROCAST, CHIRPSTACK, FORM, THE_THINGS_STACK, TOKEN, assert_answer, assert_problem, call, claims_of,
    clock, json_call, list, signed, start, start_again,
};
use crate::support::{JSON, Running};
use dunnage_gateway::WhenFull;
use serde_json::{Value, json};
use tempfile::TempDir;

#[test]
fn a_repeated_request_is_stored_once_even_after_a_restart() {
    let send = |gateway: &Running| {
        assert_answer(&json_call(gateway, "/hooks/astrocast", ASTROCAST), "stored");
        assert_answer(&json_call(gateway, "/hooks/chirpstack?event=up", CHIRPSTACK), "stored");
        let token = ("x-token", &TOKEN[7..]);
        assert_answer(&call(gateway, "/hooks/tts", token, JSON, THE_THINGS_STACK), "stored");
        assert_answer(&signed(gateway, "rockblock", &claims_of("12345", clock(0), clock(0))), "stored");
        // The same message ID of another device belongs to another message.
        let same = ASTROCAST.replace("c984ff2b-e4d0-417f-8ea3-11d74a55d251", "LMCU7654321");
        assert_answer(&json_call(gateway, "/hooks/astrocast", &same), "stored");
    };
    let gateway = start();
    send(&gateway);
    send(&gateway);
    let (summary, folder) = gateway.stop();
    assert_eq!((summary.stored, summary.duplicates), (5, 5));
    let gateway = start_again(folder, |_| ());
    send(&gateway);
    assert_eq!(list(&gateway, "/api/messages").len(), 5);
}

#[test]
fn an_undecodable_message_is_200_and_quarantined_with_its_origin() {
    let gateway = start();
    let mut broken: Value = serde_json::from_str(CHIRPSTACK).unwrap();
    broken["data"] = json!("/w==");
    let answer = json_call(&gateway, "/hooks/chirpstack?event=up", &broken.to_string());
    assert_answer(&answer, "quarantined");
    assert_eq!(answer.json()["problem"]["kind"], "malformed");
    broken["fPort"] = json!(9);
    broken["object"] = Value::Null;
    let answer = json_call(&gateway, "/hooks/chirpstack?event=up", &broken.to_string());
    assert_answer(&answer, "quarantined");
    assert_eq!(answer.json()["problem"]["type"], "urn:dunnage:problem:media-type");
    let kept = list(&gateway, "/api/quarantine");
    assert_eq!(kept.len(), 2);
    assert_eq!((&kept[1]["hex"], &kept[1]["device"]), (&json!("ff"), &json!("70b3d57ed005a1b2")));
    assert_eq!((&kept[1]["origin"]["counter"], &kept[0]["origin"]["port"]), (&json!(34), &json!(9)));
}

#[test]
fn events_are_counted_and_not_stored() {
    let gateway = start();
    let join = include_str!("../../webhooks/chirpstack-join.json");
    for event in ["join", "status", "ack", "txack", "log", "location", "integration"] {
        assert_answer(&json_call(&gateway, &format!("/hooks/chirpstack?event={event}"), join), "ignored");
    }
    let mut empty: Value = serde_json::from_str(CHIRPSTACK).unwrap();
    empty.as_object_mut().unwrap().remove("data");
    assert_answer(&json_call(&gateway, "/hooks/chirpstack?event=up", &empty.to_string()), "ignored");
    let join = include_str!("../../webhooks/the-things-stack-join.json");
    assert_answer(&call(&gateway, "/hooks/tts", ("x-token", &TOKEN[7..]), JSON, join), "ignored");
    // A Rock 7 tracker posts where it is, without a message.
    let tracker = r#"{"txAt":"2023-03-14T09:15:04Z","lon":-3.1704,"lat":51.4954,"imei":"300434062929540","momsn":70154871,
        "transmit_time":"2023-03-14T09:15:04Z","device_type":"GRIFFIN","battery":98}"#;
    let path = "/hooks/rockblock-url?token=fedcba9876543210";
    assert_answer(&call(&gateway, path, ("x-none", ""), JSON, tracker), "ignored");
    let metrics = gateway.get("/metrics").text;
    for (provider, event) in [
        ("rockblock", "empty"),
        ("chirpstack", "join"),
        ("chirpstack", "empty"),
        ("the-things-stack", "join_accept"),
    ] {
        let line = format!("dunnage_hook_events_total{{provider=\"{provider}\",event=\"{event}\"}} 1");
        assert!(metrics.lines().any(|found| found == line), "{line}\n{metrics}");
    }
    let (summary, _) = gateway.stop();
    assert_eq!((summary.received, summary.quarantined), (0, 0));
}

#[test]
fn malformed_callbacks_are_400_and_not_stored() {
    let gateway = start();
    let token = ("authorization", TOKEN);
    for (path, body) in [
        ("/hooks/astrocast", "{}"),
        ("/hooks/astrocast", "[]"),
        ("/hooks/astrocast", ""),
        ("/hooks/astrocast", &*ASTROCAST.replace("\"AVRf", "\"?VRf")),
        ("/hooks/astrocast", &ASTROCAST.replace("6a3a3c0e-7d1f-4a0c-9a55-0f1e6c1b7a01", "")),
        ("/hooks/chirpstack", CHIRPSTACK),
        ("/hooks/chirpstack?event=dance", CHIRPSTACK),
        ("/hooks/chirpstack?event=up", THE_THINGS_STACK),
        ("/hooks/rockblock-url", CHIRPSTACK),
        ("/hooks/rockblock-url", "imei=1&momsn=2&transmit_time=3&data=4"),
    ] {
        assert_problem(&call(&gateway, path, token, FORM, body), 400, "callback");
    }
    let bad_name = ASTROCAST.replace("c984ff2b-e4d0-417f-8ea3-11d74a55d251", "a\\nb");
    assert_problem(&json_call(&gateway, "/hooks/astrocast", &bad_name), 400, "name");
    let large = format!("{}{}", " ".repeat(1 << 20), ASTROCAST);
    assert_problem(&json_call(&gateway, "/hooks/astrocast", &large), 413, "too-large");
    assert_problem(&gateway.get("/hooks/astrocast"), 405, "method");
    assert_problem(&gateway.post("/hooks/nobody", JSON, ASTROCAST.as_bytes()), 404, "not-found");
    let (summary, _) = gateway.stop();
    assert_eq!((summary.stored, summary.quarantined, summary.refused), (0, 0, 12));
}

#[test]
fn an_unknown_query_parameter_is_rejected() {
    let gateway = start();
    assert_problem(&json_call(&gateway, "/hooks/astrocast?event=up", ASTROCAST), 400, "query");
    let answer = json_call(&gateway, "/hooks/chirpstack?evnt=up", CHIRPSTACK);
    assert_problem(&answer, 400, "query");
    assert!(answer.text.contains("did you mean \\\"event\\\"?"), "{}", answer.text);
    // A client without a token does not learn about the mistake.
    let stranger = call(&gateway, "/hooks/chirpstack?evnt=up", ("x-none", ""), JSON, CHIRPSTACK);
    assert_problem(&stranger, 401, "unauthorized");
}

#[test]
fn a_full_buffer_is_503_so_that_the_provider_retries() {
    let gateway = start_again(TempDir::new().unwrap(), |config| {
        config.buffer.limit_bytes = 1 << 20;
        config.buffer.when_full = WhenFull::Refuse;
    });
    let body = format!("\"{}\"", "x".repeat(100_000));
    let full = (0..100).any(|_| gateway.post("/ingest/d", JSON, body.as_bytes()).status == 503);
    assert!(full, "the buffer does not fill up");
    let answer = json_call(&gateway, "/hooks/astrocast", ASTROCAST);
    assert_problem(&answer, 503, "buffer-full");
    assert_eq!(answer.headers["retry-after"], "1");
}
