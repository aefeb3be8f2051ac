//! Packed messages whose slot is the port of the link, and not in the message.

use super::{TOKEN, assert_answer, assert_problem, call, json_call, list, webhook};
use crate::{
    quarantine::ask,
    support::{JSON, Running, start_in},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use dunnage_gateway::Profile;
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;

const PACKED: &str = "application/vnd.dunnage.packed";
const CHIRPSTACK: &str = "70b3d57ed005a1b2";
const THE_THINGS_STACK: &str = "0004a30b001c0530";

/// Returns a schema for `slot` with a number from 0 to `max`. With `port`, the slot is not in the message.
fn schema(slot: u8, max: u32, port: bool) -> String {
    let mut schema = json!({"title": "R", "type": "object", "additionalProperties": false, "required": ["n"],
        "properties": {"n": {"type": "integer", "minimum": 0, "maximum": max}}, "x-dunnage-slot": slot});
    if port {
        schema["x-dunnage-slot-from"] = json!("port");
    }
    schema.to_string()
}

fn write(folder: &Path, schemas: &[(&str, String)]) {
    std::fs::create_dir_all(folder.join("schemas")).unwrap();
    for (name, text) in schemas {
        std::fs::write(folder.join("schemas").join(name), text).unwrap();
    }
}

/// Starts a gateway with webhooks of ChirpStack and The Things Stack for devices with these versions of the schema `r`.
fn start(schemas: &[(&str, String)]) -> Running {
    let folder = TempDir::new().unwrap();
    write(folder.path(), schemas);
    let path = folder.path().to_owned();
    let text = format!(
        "[http]\nlisten = '127.0.0.1:0'\n[buffer]\npath = {:?}\n[schemas]\npath = {:?}\n[[profile]]\ndevice = '*'\nschema = 'r'\n",
        path.join("buffer.sqlite3"),
        path.join("schemas"),
    );
    std::fs::write(path.join("dunnage.toml"), text).unwrap();
    let token = path.join("token");
    std::fs::write(&token, &TOKEN[7..]).unwrap();
    start_in(folder, |config| {
        *config = dunnage_gateway::Config::load(Some(&path.join("dunnage.toml"))).unwrap();
        webhook(
            config,
            "chirpstack",
            &format!("provider = 'chirpstack'\ntoken_file = {token:?}\nformat = 'packed'"),
        );
        let header = format!("token_file = {token:?}\nheader = 'X-Token'\nformat = 'packed'");
        webhook(config, "tts", &format!("provider = 'the-things-stack'\n{header}"));
    })
}

/// Sends an uplink over both networks. Both get the answer `answer`.
fn uplinks(gateway: &Running, port: u8, payload: &[u8], answer: &str) {
    let id = format!("{port}-{payload:?}").replace([' ', ',', '[', ']'], "_");
    let data = BASE64_STANDARD.encode(payload);
    let up =
        json!({"deduplicationId": id, "deviceInfo": {"devEui": CHIRPSTACK}, "fPort": port, "data": data});
    assert_answer(&json_call(gateway, "/hooks/chirpstack?event=up", &up.to_string()), answer);
    let up = json!({"end_device_ids": {"device_id": "dev1", "dev_eui": THE_THINGS_STACK},
        "correlation_ids": [format!("as:up:{id}")], "uplink_message": {"f_port": port, "f_cnt": 1, "frm_payload": data}});
    let token = ("x-token", &TOKEN[7..]);
    assert_answer(&call(gateway, "/hooks/tts", token, JSON, &up.to_string()), answer);
}

/// Returns the newest message of each network's device.
fn newest(gateway: &Running) -> [Value; 2] {
    [CHIRPSTACK, THE_THINGS_STACK]
        .map(|device| list(gateway, &format!("/api/devices/{device}/messages"))[0].clone())
}

#[test]
fn a_webhook_without_a_format_leaves_the_choice_to_the_profile() {
    let folder = TempDir::new().unwrap();
    let (token, codec) = (folder.path().join("token"), folder.path().join("codec.js"));
    std::fs::write(&token, &TOKEN[7..]).unwrap();
    std::fs::write(&codec, "function Decode(fPort, bytes) { return { port: fPort, n: bytes[0] } }").unwrap();
    let gateway = start_in(folder, |config| {
        webhook(config, "chirpstack", &format!("provider = 'chirpstack'\ntoken_file = {token:?}"));
        let codec = Some(codec.clone());
        config.profiles.push(Profile { device: CHIRPSTACK.into(), codec, ..Profile::default() });
    });
    let up = |device: &str, port: u8| json!({"deduplicationId": format!("{device}-{port}"), "deviceInfo": {"devEui": device}, "fPort": port, "data": "Kw=="});
    let call =
        |device, port| json_call(&gateway, "/hooks/chirpstack?event=up", &up(device, port).to_string());
    assert_answer(&call(CHIRPSTACK, 85), "stored");
    let message = &list(&gateway, &format!("/api/devices/{CHIRPSTACK}/messages"))[0];
    assert_eq!((&message["format"], &message["value"]), (&json!("codec"), &json!({"port": 85, "n": 43})));
    assert_eq!(message["origin"]["port"], json!(85));
    let formats = gateway.get_json("/api/stats")["formats"].clone();
    assert_eq!((&formats[0]["format"], &formats[0]["messages"]), (&json!("codec"), &json!(1)));
    assert_answer(&call(THE_THINGS_STACK, 1), "quarantined");
}

#[test]
fn uplinks_are_decoded_with_the_layout_of_their_port() {
    let versions = [
        ("r.json", schema(7, 255, true)),
        ("r.2.json", schema(8, 65535, true)),
        ("r.3.json", schema(9, 15, false)),
    ];
    let gateway = start(&versions);
    // 0x85 would be the tag of a delta, 0x09 the slot byte of the third version.
    for (port, payload, n) in [
        (7, &[0x85][..], 0x85),
        (7, &[0x09], 9),
        (8, &[0x09, 0x40], 0x0940),
        // On any other port, the message has its slot byte.
        (9, &[0x09, 0x40], 4),
        (2, &[0x09, 0x50], 5),
    ] {
        uplinks(&gateway, port, payload, "stored");
        for message in newest(&gateway) {
            assert_eq!(message["value"], json!({"n": n}), "port {port}");
            assert_eq!(
                (&message["bytes"], &message["origin"]["port"]),
                (&json!(payload.len()), &json!(port))
            );
            let apart = [7, 8].contains(&port);
            assert_eq!(message["origin"]["slot"], if apart { json!(port) } else { Value::Null });
            assert_eq!(message["slot"], if apart { port } else { 9 });
        }
    }
    uplinks(&gateway, 7, &[1, 2], "quarantined");
}

#[test]
fn an_unknown_port_is_quarantined_with_its_reason_until_its_layout_is_there() {
    let gateway = start(&[("r.json", schema(7, 255, true))]);
    uplinks(&gateway, 9, &[0x07, 0x09], "quarantined");
    let kept = gateway.get_json("/api/quarantine")["messages"].as_array().unwrap().clone();
    assert_eq!(kept.len(), 2);
    for kept in kept {
        assert_eq!((&kept["kind"], &kept["offset"]), (&json!("unknown-layout"), &json!(0)), "{kept}");
        assert_eq!(kept["content_type"], format!("{PACKED}; port=9"));
        let reason = kept["reason"].as_str().unwrap();
        assert!(reason.contains("port 9 is not the slot of a layout; slots with a layout: 7"), "{reason}");
    }
    write(gateway.folder.path(), &[("r.2.json", schema(9, 65535, true))]);
    gateway.runtime.block_on(gateway.gateway.reload()).unwrap();
    assert_eq!(ask(&gateway, "quarantine/retry", &[]).unwrap()["stored"], 2);
    for message in newest(&gateway) {
        assert_eq!(message["value"], json!({"n": 0x0709}));
        assert_eq!((&message["origin"]["port"], &message["origin"]["slot"]), (&json!(9), &json!(9)));
    }
}

#[test]
fn a_sender_may_state_the_slot() {
    let gateway = start(&[("r.json", schema(7, 255, true)), ("r.2.json", schema(8, 15, false))]);
    let post =
        |parameter: &str, body: &[u8]| gateway.post("/ingest/d", &format!("{PACKED}{parameter}"), body);
    for parameter in ["; slot=7", ";slot=\"7\"", "; port=7"] {
        assert_eq!(post(parameter, &[0x44]).status, 204, "{parameter}");
    }
    let message = &list(&gateway, "/api/devices/d/messages")[0];
    assert_eq!((&message["value"], &message["origin"]), (&json!({"n": 0x44}), &json!({"slot": 7})));
    assert_eq!(post("; port=7", &[0x08, 0x40]).status, 400, "a slot byte too many");
    assert_eq!(post("", &[0x08, 0x40]).status, 204);
    for (parameter, body, part) in [
        ("; slot=8", &[0x40][..], "slot 8 has no layout without a slot byte"),
        ("; slot=9", &[0x40], "slot 9 has no layout without a slot byte"),
        ("", &[0x07, 0x44], "slot 7 has no layout"),
    ] {
        let answer = post(parameter, body);
        assert_problem(&answer, 422, "unknown-layout");
        assert!(answer.text.contains(part), "{parameter}: {}", answer.text);
    }
    for parameter in ["; slot=64", "; slot=7; port=7", "; slot=7; slot=7"] {
        assert_problem(&post(parameter, &[0x44]), 415, "media-type");
    }
    let batch = "application/vnd.dunnage.batch; format=packed; slot=7";
    assert_eq!(gateway.post("/ingest/d", batch, &[1, 0x45, 1, 0x46]).status, 204);
    assert_eq!(list(&gateway, "/api/devices/d/messages")[0]["value"], json!({"n": 0x46}));
}
