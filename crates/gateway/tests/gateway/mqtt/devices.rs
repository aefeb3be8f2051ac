//! Topics and payloads of devices that cannot be changed: names with spaces and slashes, one value per topic, texts.

use super::{address, listen, publish, stats};
use crate::support::{Running, start_with};
use dunnage_gateway::{Right, Who, tokens};
use serde_json::{Value, json};

fn start(topics: &str) -> Running {
    start_with(|config| listen(config, &format!("topics = [{topics}]\nformat = 'json'")))
}

fn send(gateway: &Running, version: &str, topic: &str, message: &str) {
    let (done, text) = publish(address(gateway), &["-V", version, "-q", "1", "-t", topic, "-m", message]);
    assert!(done && !text.contains("failed"), "{topic}: {text}");
}

fn messages(gateway: &Running, device: &str) -> Vec<Value> {
    let list = gateway.get_json(&format!("/api/devices/{device}/messages"));
    list["messages"].as_array().unwrap().iter().map(|message| message["value"].clone()).collect()
}

/// Friendly names of Zigbee2MQTT, node IDs of Meshtastic, user and device of OwnTracks, an edge node of Sparkplug.
#[test]
fn devices_keep_their_names() {
    let gateway = start("'zigbee2mqtt/{+device}', 'msh/+/2/json/+/{device}', 'owntracks/+/{device}'");
    for name in [
        "garage",
        "Schlafzimmer Bett",
        "entrée",
        "Garten Weglicht 1",
        "upstairs/lamp",
        "0x00158d0000000001",
        "客厅",
    ] {
        send(&gateway, "5", &format!("zigbee2mqtt/{name}"), r#"{"battery":100,"linkquality":null}"#);
    }
    send(
        &gateway,
        "311",
        "msh/EU_868/2/json/LongFast/!a1b2c3d4",
        r#"{"from":2712847316,"type":"telemetry"}"#,
    );
    send(&gateway, "311", "owntracks/ana maria/héctor's phone", r#"{"_type":"location"}"#);
    for (path, name) in [
        ("garage", "garage"),
        ("Schlafzimmer%20Bett", "Schlafzimmer Bett"),
        ("entr%C3%A9e", "entrée"),
        ("upstairs%2Flamp", "upstairs/lamp"),
        ("%E5%AE%A2%E5%8E%85", "客厅"),
        ("!a1b2c3d4", "!a1b2c3d4"),
        ("h%C3%A9ctor's%20phone", "héctor's phone"),
    ] {
        let list = gateway.get_json(&format!("/api/devices/{path}/messages"));
        assert_eq!(list["messages"][0]["device"], name, "{list}");
        assert_eq!(gateway.get_json(&format!("/api/devices/{path}"))["device"], name);
    }
    let message = &gateway.get_json("/api/devices/upstairs%2Flamp/messages")["messages"][0];
    assert_eq!(message["origin"], json!({"topic": "zigbee2mqtt/upstairs/lamp"}));
    // The same names over HTTP.
    assert_eq!(gateway.post("/ingest/upstairs%2Flamp", "application/json", b"{}").status, 204);
    assert_eq!(gateway.post("/ingest/Garten%20Weglicht%201", "application/json", b"{}").status, 204);
    assert_eq!(gateway.post("/ingest/a%0Ab", "application/json", b"{}").status, 400);
    assert_eq!(gateway.post(&format!("/ingest/{}", "x".repeat(129)), "application/json", b"{}").status, 400);
    assert_eq!(stats(&gateway), [13, 11, 0, 2, 0]);
}

/// Telegraf's and other conventions: the metric is the last level.
#[test]
fn one_value_per_topic_has_its_key_in_the_topic() {
    let gateway = start("'sensors/+/+/{device}/{field}', '/sensors/+/+/{device}/{field}'");
    send(&gateway, "311", "sensors/CLE/v1/device5/temp", "21.50");
    send(&gateway, "311", "sensors/CLE/v1/device5/rpm", "45900");
    send(&gateway, "5", "/sensors/CLE/v1/device5/ph", "7.1");
    send(&gateway, "5", "sensors/CLE/v1/device5/state", "running");
    send(&gateway, "5", "sensors/CLE/v1/device5/door open", "true");
    let expected = [
        json!({"door open": true}),
        json!({"state": "running"}),
        json!({"ph": 7.1}),
        json!({"rpm": 45900}),
        json!({"temp": 21.5}),
    ];
    assert_eq!(messages(&gateway, "device5"), expected);
    let first = &gateway.get_json("/api/devices/device5/messages")["messages"][4];
    assert_eq!((&first["format"], &first["bytes"]), (&json!("json"), &json!(5)));
    assert_eq!(first["origin"], json!({"topic": "sensors/CLE/v1/device5/temp", "payload": "decoded"}));
}

/// The same bytes to two topics are two messages, also where a profile recognizes duplicates by their bytes.
#[test]
fn equal_values_of_two_topics_are_two_messages() {
    let gateway = start_with(|config| {
        listen(config, "topics = ['sensors/{device}/{field}']");
        config.profiles.push(toml::from_str("device = '*'\nduplicates = 'bytes'").unwrap());
    });
    send(&gateway, "311", "sensors/d/rpm", "0");
    send(&gateway, "311", "sensors/d/ph", "0");
    assert_eq!(messages(&gateway, "d"), [json!({"ph": 0}), json!({"rpm": 0})]);
}

/// Tasmota's states are JSON, and its will is a text. Shelly's first generation publishes single values.
#[test]
fn texts_and_json_of_one_device_are_told_apart_by_their_topics() {
    let gateway = start(
        "'tele/{device}/SENSOR', 'tele/{device}/STATE', 'tele/{device}/{field}', 'shellies/{device}/relay/{field}', 'shellies/{device}/{field}', \
         '{device}/status/{field}'",
    );
    let sensor = r#"{"Time":"2021-11-07T01:02:47","ANALOG":{"Temperature":42.9},"TempUnit":"C"}"#;
    send(&gateway, "311", "tele/tasmota_1/LWT", "Online");
    send(&gateway, "311", "tele/tasmota_1/SENSOR", sensor);
    assert_eq!(
        messages(&gateway, "tasmota_1"),
        [serde_json::from_str(sensor).unwrap(), json!({"LWT": "Online"})]
    );
    for (topic, payload) in
        [("temperature", "53.2"), ("relay/0", "on"), ("online", "true"), ("overtemperature", "0")]
    {
        send(&gateway, "311", &format!("shellies/shellydimmer2-X/{topic}"), payload);
    }
    let values = [
        json!({"overtemperature": 0}),
        json!({"online": true}),
        json!({"0": "on"}),
        json!({"temperature": 53.2}),
    ];
    assert_eq!(messages(&gateway, "shellydimmer2-X"), values);
    send(&gateway, "5", "shelly1pmminig3-0200000000ab/status/switch:0", r#"{"id":0,"apower":11.5}"#);
    assert_eq!(
        messages(&gateway, "shelly1pmminig3-0200000000ab"),
        [json!({"switch:0": {"id": 0, "apower": 11.5}})]
    );
    assert_eq!(stats(&gateway)[2..], [0, 0, 0]);
}

#[test]
fn a_setting_makes_texts_of_plain_payloads() {
    let gateway = start_with(|config| listen(config, "topics = ['tele/{device}/LWT']\nformat = 'text'"));
    for (device, payload) in [("a", "Online"), ("b", "21.5"), ("c", "on")] {
        send(&gateway, "311", &format!("tele/{device}/LWT"), payload);
        assert_eq!(messages(&gateway, device), [json!(payload)]);
    }
}

#[test]
fn a_topic_may_have_a_format_of_its_own() {
    let gateway = start("'tele/{device}/STATE', { topic = 'tele/{device}/LWT', format = 'text' }");
    for version in ["311", "5"] {
        send(&gateway, version, "tele/plug/STATE", r#"{"POWER":"ON"}"#);
        send(&gateway, version, "tele/plug/LWT", "Online");
    }
    let (on, online) = (json!({"POWER": "ON"}), json!("Online"));
    assert_eq!(messages(&gateway, "plug"), [online.clone(), on.clone(), online, on]);
}

#[test]
fn a_device_in_the_message_is_authorized_like_one_in_the_topic() {
    let mut token = String::new();
    let gateway = start_with(|config| {
        listen(config, "topics = ['trackers/up']\ndevice_at = '/imei'\nignore = ['trackers/#']");
        config.access.who = Who::Tokens;
        let right = Right::Send("buoy-*".into());
        token = tokens::add(&config.tokens(), Some("buoys"), right, None).unwrap().1;
    });
    let address = address(&gateway);
    let send = |version, message| {
        let login = ["-u", "any", "-P", &token];
        publish(
            address,
            &[&["-V", version, "-q", "1", "-t", "trackers/up", "-m", message], &login[..]].concat(),
        )
    };
    for version in ["311", "5"] {
        let (done, text) = send(version, r#"{"imei":"buoy-7","t":1}"#);
        assert!(done && !text.contains("failed"), "{text}");
        // A token for one device does not store messages as another.
        let (_, text) = send(version, r#"{"imei":"ship-1","t":1}"#);
        assert_eq!(text.contains("Not authorized"), version == "5", "{text}");
    }
    let (_, text) = send("5", r#"{"t":1}"#);
    assert!(text.contains("failed"), "{text}");
    let (summary, _folder) = gateway.stop();
    assert_eq!((summary.stored, summary.refused), (2, 3));
}
