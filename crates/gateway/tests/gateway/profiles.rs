//! Profiles that match more of a message than its device.

use crate::{
    envelopes::{count, list, publish, subscribe, up, wait_until_subscribed},
    onem2m::serve,
    quarantine::ask,
    support::{Answer, JSON, Running, answer, mosquitto::Mosquitto, start_in, start_with, wait::wait_until},
};
use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{StatusCode, Uri},
};
use dunnage_gateway::Config;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

const CHIRPSTACK: &[u8] = include_bytes!("../webhooks/chirpstack-up.json");
const CHIRPSTACK_JOIN: &[u8] = include_bytes!("../webhooks/chirpstack-join.json");
const CHIRPSTACK_3: &[u8] = include_bytes!("../webhooks/chirpstack-3-up.bin");
const DEVICE: &str = "70b3d57ed005a1b2";

/// Adds profiles, each a TOML document.
fn profiles(config: &mut Config, profiles: &[&str]) {
    config
        .profiles
        .extend(profiles.iter().map(|text| toml::from_str::<dunnage_gateway::Profile>(text).unwrap()));
}

#[test]
fn chirpstacks_device_profile_and_application_choose_the_profile() {
    let folder = TempDir::new().unwrap();
    let broker = Mosquitto::start_in(folder.path(), "allow_anonymous true");
    let port = broker.port;
    let gateway = start_with(|config| {
        subscribe(config, port, "chirpstack", "application/+/device/+/event/+", "");
        profiles(
            config,
            &[
                "name = 'other'\nmatch.provider = { profile = 'Cont*', tenant = 'Farm' }\nformats = ['json']",
                "name = 'containers'\nmatch.provider = { profile = 'Cont*', tenant = 'Harbour' }\nformats = ['cbor']\nlink = 'one'",
                "match.provider.application = 'Yard'\nformats = ['cbor']\nlink = 'two'",
            ],
        );
    });
    let topic = |event: &str| format!("application/a/device/{DEVICE}/event/{event}");
    wait_until_subscribed(&gateway, port, &topic("join"), CHIRPSTACK_JOIN);
    publish(port, &topic("up"), CHIRPSTACK);
    wait_until("the message arrives", || count(&gateway, "stored") == 1);
    let device = || gateway.get_json(&format!("/api/devices/{DEVICE}"));
    assert_eq!(device()["profile"], "containers");
    // Version 3 of ChirpStack has no tenants, and this event no device profile.
    publish(port, &topic("up"), CHIRPSTACK_3);
    wait_until("the message arrives", || count(&gateway, "stored") == 2);
    let messages = list(&gateway, &format!("/api/devices/{DEVICE}/messages"));
    let of = |index: usize| (&messages[index]["format"], &messages[index]["link"], &messages[index]["value"]);
    assert_eq!(of(1), (&json!("cbor"), &json!("one"), &json!({"temperature": 17.5})));
    assert_eq!(of(0), (&json!("cbor"), &json!("two"), &json!({"t": 17.75})));
    let origin = &messages[1]["origin"];
    assert_eq!(
        (&origin["tenant"], &origin["application"], &origin["profile"]),
        (&json!("Harbour"), &json!("Yard"), &json!("Container"))
    );
    let label = "provider.application = \"Yard\"";
    assert_eq!((&device()["profile"], count(&gateway, "quarantined")), (&json!(label), 0));
}

/// Adds a webhook of ChirpStack with the token "0123456789abcdef".
fn webhook(config: &mut Config, folder: &std::path::Path) {
    let token = folder.join("token");
    std::fs::write(&token, "0123456789abcdef").unwrap();
    let text = format!("name = 'h'\n[webhook]\nprovider = 'chirpstack'\ntoken_file = {token:?}");
    config.inputs.push(toml::from_str(&text).unwrap());
}

fn call(gateway: &Running, body: &[u8]) -> Answer {
    let request = gateway.agent.post(gateway.url("/hooks/h?event=up")).header("content-type", JSON);
    answer(request.header("authorization", "Bearer 0123456789abcdef").send(body).unwrap())
}

#[test]
fn ports_choose_the_profile_also_of_messages_in_the_quarantine() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().to_owned();
    let two = ["match.port = [2, 3]\nformats = ['json']", "match.port = 85\nformats = ['cbor']"];
    let gateway = start_in(folder, |config| {
        webhook(config, &path);
        profiles(config, &two);
    });
    for (id, port, bytes, result) in [
        ("1", 2, &b"{\"t\":2}"[..], "stored"),
        ("2", 3, b"{\"t\":3}", "stored"),
        ("3", 85, b"\xa1\x61t\x05", "stored"),
        ("4", 9, b"{\"t\":9}", "quarantined"),
    ] {
        let answer = call(&gateway, &up(id, port, bytes, &Value::Null));
        assert_eq!(answer.json()["message"], result, "{port}: {}", answer.text);
    }
    let values = |gateway: &Running| {
        let messages = list(gateway, &format!("/api/devices/{DEVICE}/messages"));
        messages.iter().map(|message| message["value"]["t"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(values(&gateway), [5, 3, 2]);
    let kept = &list(&gateway, "/api/quarantine")[0];
    assert!(kept["reason"].as_str().unwrap().contains("no format is set for the port 9"), "{kept}");
    let (_, folder) = gateway.stop();
    let gateway = start_in(folder, |config| {
        webhook(config, &path);
        profiles(config, &two);
        profiles(
            config,
            &[
                "match = { port = 9, provider.application = 'x' }",
                "match.port = 9\nformats = ['json']\nlink = 'nine'",
            ],
        );
    });
    assert_eq!(ask(&gateway, "quarantine/retry", &[]).unwrap()["stored"], 1);
    assert_eq!(values(&gateway), [9, 5, 3, 2]);
    let message = &list(&gateway, &format!("/api/devices/{DEVICE}/messages"))[0];
    assert_eq!((&message["link"], &message["received_at"]), (&json!("nine"), &kept["received_at"]));
}

#[test]
fn the_topic_of_a_plain_broker_chooses_the_profile() {
    let folder = TempDir::new().unwrap();
    let broker = Mosquitto::start_in(folder.path(), "allow_anonymous true");
    let port = broker.port;
    let gateway = start_with(|config| {
        let text = format!(
            "name = 'b'\n[broker]\nurl = 'mqtt://127.0.0.1:{port}'\nclient_id = 'b'\ntopics = ['tele/{{device}}/+']"
        );
        config.inputs.push(toml::from_str(&text).unwrap());
        profiles(
            config,
            &[
                "match.topic = 'tele/*/ENERGY'\nformats = ['cbor']\nlink = 'energy'",
                "device = '*'\nformats = ['json']\nlink = 'rest'",
            ],
        );
    });
    wait_until("the gateway subscribes", || {
        publish(port, "tele/probe/STATE", b"0");
        count(&gateway, "stored") > 0
    });
    publish(port, "tele/plug/ENERGY", b"\x05");
    publish(port, "tele/plug/STATE", b"6");
    let path = "/api/devices/plug/messages";
    // The device is unknown until then.
    let arrived = || gateway.get(path).json()["messages"].as_array().is_some_and(|all| all.len() == 2);
    wait_until("both messages arrive", arrived);
    let messages = list(&gateway, path);
    let of = |index: usize| (&messages[index]["link"], &messages[index]["value"]);
    assert_eq!((of(1), of(0)), ((&json!("energy"), &json!(5)), (&json!("rest"), &json!(6))));
}

#[test]
fn duplicates_and_the_list_of_devices_follow_the_profile_of_the_message() {
    let configure = |config: &mut Config| {
        profiles(
            config,
            &[
                "name = 'alarm'\nmatch = { device = 'a*', port = 85 }\nformats = ['json']\nduplicates = 'bytes'\nsilent_after_seconds = 1",
                "device = 'a*'\nformats = ['json']",
            ],
        );
    };
    let gateway = start_with(configure);
    let send = |gateway: &Running, port: u8| {
        let content_type = format!("application/octet-stream; port={port}");
        assert_eq!(gateway.post("/ingest/a1", &content_type, b"1").status, 204);
    };
    for port in [2, 2, 85, 85] {
        send(&gateway, port);
    }
    let profile = |gateway: &Running| gateway.get_json("/api/devices/a1")["profile"].clone();
    assert_eq!((count(&gateway, "stored"), count(&gateway, "duplicates")), (3, 1));
    assert_eq!(profile(&gateway), "alarm");
    assert_eq!(list(&gateway, "/api/messages")[0]["origin"], json!({"port": 85}));
    let is_watched = |gateway: &Running, devices: u8| {
        gateway.get("/metrics").text.contains(&format!("dunnage_watched_devices {devices}\n"))
    };
    assert!(is_watched(&gateway, 1));
    let (_, folder) = gateway.stop();
    // After a restart, the messages and the device have the same profiles.
    let gateway = start_in(folder, configure);
    assert_eq!(profile(&gateway), "alarm");
    assert!(is_watched(&gateway, 1));
    // A reload compiles the profiles again, and reads the last messages.
    gateway.runtime.block_on(gateway.gateway.reload()).unwrap();
    assert_eq!(profile(&gateway), "alarm");
    assert!(is_watched(&gateway, 1));
    send(&gateway, 85);
    assert_eq!(count(&gateway, "duplicates"), 2);
    send(&gateway, 2);
    assert_eq!((count(&gateway, "stored"), profile(&gateway)), (4, json!("a*")));
    assert!(is_watched(&gateway, 0));
}

#[test]
fn outputs_take_the_path_of_the_messages_profile() {
    async fn respond(
        State(paths): State<Arc<Mutex<Vec<String>>>>,
        uri: Uri,
        body: Bytes,
    ) -> (StatusCode, [(&'static str, &'static str); 1]) {
        let body: Value = serde_json::from_slice(&body).unwrap();
        if body["m2m:cin"].is_object() {
            paths.lock().unwrap().push(uri.path().to_owned());
        }
        (StatusCode::CREATED, [("x-m2m-rsc", "2001")])
    }
    let paths = Arc::new(Mutex::new(Vec::new()));
    let (_runtime, address) = serve(Router::new().fallback(respond).with_state(Arc::clone(&paths)));
    let gateway = start_with(|config| {
        profiles(
            config,
            &[
                "match.port = 3\nformats = ['json']\npath = 'alarms'",
                "device = '*'\npath = 'rest'\nformats = ['json']",
            ],
        );
        let output = format!(
            "name = 'cse'\n[onem2m]\nurl = 'http://{address}'\ncse = 'c'\ncontainer = '{{path}}/{{device}}'"
        );
        config.outputs.push(toml::from_str(&output).unwrap());
    });
    for port in [3, 4] {
        let content_type = format!("application/octet-stream; port={port}");
        assert_eq!(gateway.post("/ingest/d", &content_type, b"1").status, 204);
    }
    wait_until("the messages are delivered", || paths.lock().unwrap().len() == 2);
    let paths = paths.lock().unwrap();
    assert!(paths[0].ends_with("/alarms/d") && paths[1].ends_with("/rest/d"), "{paths:?}");
}
