//! The admin socket, and its operations on the quarantine.

use crate::support::{JSON, Running, config, start, start_in, start_with, wait::wait_until};
use dunnage_formats::{Format, Json, Packed};
use dunnage_gateway::{AdminClient, AdminError, Config, Profile};
use dunnage_schema::Model;
use serde_json::{Value, json};
use std::{fs, os::unix::fs::PermissionsExt};

const PACKED: &str = "application/vnd.dunnage.packed";

fn admin(gateway: &Running) -> AdminClient {
    AdminClient::connect(&config(gateway.folder.path())).unwrap()
}

/// Asks the gateway over its admin socket.
pub fn ask(gateway: &Running, route: &str, query: &[(&str, &str)]) -> Result<Value, AdminError> {
    let query: Vec<_> = query.iter().map(|(key, value)| (*key, value.to_string())).collect();
    let admin = admin(gateway);
    gateway.runtime.block_on(async {
        match route {
            "status" | "quarantine" => admin.get(route, &query).await,
            _ => admin.post(route, &query).await,
        }
    })
}

/// Starts a gateway with a stored message of one device and a quarantined message of each of two others.
fn gateway_with_messages() -> Running {
    let gateway = start();
    assert_eq!(gateway.post("/ingest/a1?schema=later", JSON, b"{\"n\":1}").status, 404);
    assert_eq!(gateway.post("/ingest/b1?link=l", JSON, b"{\"n\":").status, 400);
    assert_eq!(gateway.post("/ingest/c1", JSON, b"{}").status, 204);
    gateway
}

/// Returns the counts, and checks that the first is the sum of the others.
fn counts(gateway: &Running) -> [u64; 5] {
    let status = ask(gateway, "status", &[]).unwrap();
    let names = ["received", "stored", "duplicates", "quarantined", "refused"];
    let counts = names.map(|name| status[name].as_u64().unwrap());
    assert_eq!(counts[0], counts[1..].iter().sum::<u64>(), "{status}");
    counts
}

#[test]
fn status_has_the_counts_and_only_the_user_of_the_gateway_can_read_it() {
    let gateway = gateway_with_messages();
    assert_eq!(counts(&gateway), [3, 1, 0, 2, 0]);
    let status = ask(&gateway, "status", &[]).unwrap();
    assert_eq!(status["address"], gateway.gateway.address().to_string());
    assert_eq!((&status["decoded"], &status["devices"]), (&json!(1), &json!(1)));
    assert_eq!((&status["quarantine"]["messages"], &status["quarantine"]["bytes"]), (&json!(2), &json!(12)));
    assert!(status["buffer"]["bytes"].as_u64().unwrap() > 8192 && status["buffer"]["writable"] == true);
    let socket = gateway.folder.path().join("admin.sock");
    assert_eq!(fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);
    let (_, folder) = gateway.stop();
    assert!(!socket.exists());
    let e = AdminClient::connect(&config(folder.path())).err().unwrap().to_string();
    assert!(e.starts_with("no gateway is running: nothing listens on") && e.ends_with("admin.sock"), "{e}");
}

#[test]
fn empty_path_disables_the_socket() {
    let gateway = start_with(|config| config.admin.socket = "".into());
    assert!(!gateway.folder.path().join("admin.sock").exists());
    let mut off = config(gateway.folder.path());
    off.admin.socket = "".into();
    assert!(matches!(AdminClient::connect(&off), Err(AdminError::Off)));
}

#[test]
fn invalid_requests_are_refused() {
    let gateway = start();
    for (route, query) in
        [("quarantine", ("ids", "x")), ("quarantine/discard", ("devise", "x")), ("nothing", ("", ""))]
    {
        assert!(matches!(ask(&gateway, route, &[query]), Err(AdminError::Refused(_))), "{route}");
    }
}

#[test]
fn list_has_the_messages_that_match_the_filters() {
    let gateway = gateway_with_messages();
    let ids = |query: &[(&str, &str)]| -> Vec<u64> {
        let list = ask(&gateway, "quarantine", query).unwrap();
        list["messages"].as_array().unwrap().iter().map(|m| m["id"].as_u64().unwrap()).collect()
    };
    assert_eq!(ids(&[]), [1, 2]);
    assert_eq!(ids(&[("device", "b*")]), [2]);
    assert_eq!(ids(&[("kind", "unknown-schema")]), [1]);
    assert_eq!(ids(&[("schema", "later")]), [1]);
    assert_eq!(ids(&[("ids", "2,9")]), [2]);
    assert_eq!(ids(&[("ids", "2"), ("device", "a1")]), [0; 0]);
    let first = ask(&gateway, "quarantine", &[("limit", "1")]).unwrap();
    assert_eq!((first["messages"].as_array().unwrap().len(), &first["more"]), (1, &json!(true)));
}

#[test]
fn discarded_messages_are_removed_and_counted() {
    let gateway = gateway_with_messages();
    let stats = || gateway.get_json("/api/stats");
    let in_quarantine = stats()["in_quarantine"].as_u64().unwrap();
    assert_eq!(ask(&gateway, "quarantine/discard", &[("device", "a*")]).unwrap()["dropped"], 1);
    assert_eq!(ask(&gateway, "quarantine/discard", &[("device", "a*")]).unwrap()["dropped"], 0);
    wait_until("it has left the list", || stats()["in_quarantine"] == in_quarantine - 1);
    assert_eq!(stats()["quarantined"], in_quarantine);
    let status = ask(&gateway, "status", &[]).unwrap();
    assert_eq!((&status["quarantine"]["messages"], &status["quarantine"]["bytes"]), (&json!(1), &json!(5)));
    assert_eq!(counts(&gateway), [3, 1, 0, 2, 0]);
    assert!(gateway.get("/metrics").text.contains("\ndunnage_discarded_messages_total 1\n"));
}

#[test]
fn the_api_lists_the_messages_of_one_device() {
    let gateway = gateway_with_messages();
    let ids = |query: &str| -> Vec<i64> {
        let list = gateway.get_json(&format!("/api/quarantine?{query}"))["messages"].clone();
        list.as_array().unwrap().iter().map(|message| message["id"].as_i64().unwrap()).collect()
    };
    assert_eq!((ids(""), ids("device=a1"), ids("device=b1")), (vec![2, 1], vec![1], vec![2]));
    assert_eq!((ids("device=b1&before=2"), ids("device=b")), (vec![], vec![]));
}

#[test]
fn retry_stores_decodable_messages_and_reports_the_other_failures() {
    let gateway = gateway_with_messages();
    let before = gateway.get_json("/api/quarantine")["messages"][1].clone();
    let (_, folder) = gateway.stop();
    fs::create_dir(folder.path().join("schemas")).unwrap();
    fs::write(folder.path().join("schemas/later.json"), r#"{"title":"L","type":"object"}"#).unwrap();
    let gateway =
        start_in(folder, |config| config.schemas.path = config.buffer.path.with_file_name("schemas"));

    let retried = ask(&gateway, "quarantine/retry", &[]).unwrap();
    assert_eq!((&retried["stored"], &retried["failed"]), (&json!(1), &json!(1)));
    let failure = &retried["failures"][0];
    assert_eq!((&failure["id"], &failure["device"]), (&json!(2), &json!("b1")));
    assert_eq!((&failure["kind"], &failure["offset"]), (&json!("truncated"), &json!(5)));

    let message = &gateway.get_json("/api/messages")["messages"][0];
    assert_eq!(
        (&message["id"], &message["device"], &message["schema"]),
        (&json!(2), &json!("a1"), &json!("later"))
    );
    assert_eq!((&message["value"], &message["received_at"]), (&json!({"n": 1}), &before["received_at"]));
    assert_eq!(gateway.get_json("/api/quarantine")["messages"].as_array().unwrap().len(), 1);
    assert_eq!(counts(&gateway), [3, 2, 0, 1, 0]);
    // The stored message is no longer in the quarantine.
    let again = ask(&gateway, "quarantine/retry", &[("device", "a1")]).unwrap();
    assert_eq!((&again["stored"], &again["failed"]), (&json!(0), &json!(0)));
    let (summary, _) = gateway.stop();
    assert_eq!((summary.received, summary.stored, summary.quarantined), (0, 1, 0));
}

#[test]
fn retry_uses_the_current_schema_of_the_profile() {
    let gateway = start_with(|config| {
        config.profiles =
            vec![Profile { device: "*".into(), schema: Some("weather".into()), ..Profile::default() }];
    });
    assert_eq!(gateway.post("/ingest/d", JSON, br#"{"n":1}"#).status, 422);
    assert_eq!(gateway.get_json("/api/quarantine")["messages"][0]["schema"], "weather");
    let (_, folder) = gateway.stop();
    let gateway = start_in(folder, |_| ());
    assert_eq!(gateway.get_json("/api/quarantine")["messages"][0]["schema"], Value::Null);
    assert_eq!(ask(&gateway, "quarantine/retry", &[]).unwrap()["stored"], 1);
    assert_eq!(gateway.get_json("/api/messages")["messages"][0]["schema"], Value::Null);
}

#[test]
fn a_list_that_large_messages_end_says_that_there_are_more() {
    let gateway = start();
    let large = vec![b'['; 700_000];
    for body in [&large[..], &large, b"["] {
        assert_eq!(gateway.post("/ingest/d", JSON, body).status, 400);
    }
    let listed = ask(&gateway, "quarantine", &[]).unwrap();
    assert_eq!((listed["messages"].as_array().unwrap().len(), &listed["more"]), (2, &json!(true)));
    let listed = ask(&gateway, "quarantine", &[("ids", "3")]).unwrap();
    assert_eq!((listed["messages"].as_array().unwrap().len(), &listed["more"]), (1, &json!(false)));
}

#[test]
fn retry_decodes_as_another_content_type_that_the_operator_names() {
    let gateway = start();
    assert_eq!(gateway.post("/ingest/d", JSON, b"\xa1\x61n\x07").status, 400);
    assert_eq!(ask(&gateway, "quarantine/retry", &[]).unwrap()["failed"], 1);
    let wrong = ask(&gateway, "quarantine/retry", &[("content_type", "image/png")]).unwrap();
    assert_eq!(wrong["failures"][0]["kind"], "media-type");
    let retried = ask(&gateway, "quarantine/retry", &[("content_type", "application/cbor")]).unwrap();
    assert_eq!((&retried["stored"], &retried["failed"]), (&json!(1), &json!(0)));
    let message = &gateway.get_json("/api/messages")["messages"][0];
    assert_eq!((&message["value"], &message["format"]), (&json!({"n": 7}), &json!("cbor")));
}

#[test]
fn retry_decodes_a_packed_message_after_its_layout_is_added() {
    let version = |slot: u8, max: u32| {
        json!({"title": "R", "x-dunnage-slot": slot, "type": "object", "additionalProperties": false,
               "required": ["n"], "properties": {"n": {"type": "integer", "minimum": 0, "maximum": max}}})
        .to_string()
    };
    let codec = Packed::new(&Model::compile(&version(2, 500)).unwrap()).unwrap();
    let mut bytes = Vec::new();
    codec.encode(&Json.decode(br#"{"n":321}"#).unwrap(), &mut bytes).unwrap();
    let fingerprint: String = codec.layout().fingerprint().iter().map(|byte| format!("{byte:02x}")).collect();
    let folder = tempfile::tempdir().unwrap();
    let schemas = folder.path().join("schemas");
    fs::create_dir(&schemas).unwrap();
    fs::write(schemas.join("r.json"), version(1, 100)).unwrap();
    let with_schemas =
        |config: &mut Config| config.schemas.path = config.buffer.path.with_file_name("schemas");
    let gateway = start_in(folder, with_schemas);
    for layout in [&fingerprint[..16], "0123456789abcdef"] {
        let packed = format!("{PACKED}; layout={layout}");
        assert_eq!(gateway.post("/ingest/d?schema=r", &packed, &bytes).status, 422);
    }
    let (_, folder) = gateway.stop();
    fs::write(schemas.join("r.2.json"), version(2, 500)).unwrap();
    let gateway = start_in(folder, with_schemas);
    let retried = ask(&gateway, "quarantine/retry", &[("schema", "r")]).unwrap();
    assert_eq!((&retried["stored"], &retried["failures"][0]["kind"]), (&json!(1), &json!("unknown-layout")));
    let message = &gateway.get_json("/api/messages")["messages"][0];
    assert_eq!((&message["value"], &message["slot"]), (&json!({"n": 321}), &json!(2)));
}

#[test]
fn retry_keeps_the_order_of_many_messages() {
    let gateway = start();
    for n in 0..700 {
        let body = format!("{{\"n\":{n}}}");
        assert_eq!(gateway.post("/ingest/d?schema=later", JSON, body.as_bytes()).status, 404);
    }
    let (_, folder) = gateway.stop();
    fs::create_dir(folder.path().join("schemas")).unwrap();
    fs::write(folder.path().join("schemas/later.json"), r#"{"title":"L","type":"object"}"#).unwrap();
    let gateway =
        start_in(folder, |config| config.schemas.path = config.buffer.path.with_file_name("schemas"));
    assert_eq!(ask(&gateway, "quarantine/retry", &[]).unwrap()["stored"], 700);
    let messages = gateway.get_json("/api/messages?limit=1000")["messages"].clone();
    let numbers: Vec<_> =
        messages.as_array().unwrap().iter().rev().map(|m| m["value"]["n"].clone()).collect();
    assert_eq!(numbers, (0..700).map(|n| json!(n)).collect::<Vec<_>>());
    assert_eq!(ask(&gateway, "status", &[]).unwrap()["quarantine"]["messages"], 0);
}
