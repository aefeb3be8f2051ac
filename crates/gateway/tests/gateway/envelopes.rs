//! Envelopes of network servers that arrive over a broker, a NATS stream or a webhook: the device's bytes, or what the server decoded of
//! them, become the message.

use crate::{
    quarantine::ask,
    support::{Running, mosquitto::Mosquitto, nats::Cluster, start_in, start_with, wait::wait_until},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use dunnage_gateway::Config;
use serde_json::{Value, json};
use std::{
    io::Write,
    process::{Command, Stdio},
};
use tempfile::TempDir;

const CHIRPSTACK: &[u8] = include_bytes!("../webhooks/chirpstack-up.json");
const CHIRPSTACK_JOIN: &[u8] = include_bytes!("../webhooks/chirpstack-join.json");
const CHIRPSTACK_4: &[u8] = include_bytes!("../webhooks/chirpstack-4-up.bin");
const CHIRPSTACK_3: &[u8] = include_bytes!("../webhooks/chirpstack-3-up.bin");
const THE_THINGS_STACK: &[u8] = include_bytes!("../webhooks/the-things-stack-up.json");
const DEVICE: &str = "70b3d57ed005a1b2";

pub fn subscribe(config: &mut Config, port: u16, provider: &str, topic: &str, more: &str) {
    let text = format!(
        "name = 'lora'\n[broker]\nurl = 'mqtt://127.0.0.1:{port}'\nclient_id = 'lora-{provider}'\n\
         provider = '{provider}'\ntopics = ['{topic}']\n{more}"
    );
    config.inputs.push(toml::from_str(&text).unwrap());
}

pub fn publish(port: u16, topic: &str, payload: &[u8]) {
    let arguments = ["-h", "127.0.0.1", "-p", &port.to_string(), "-q", "1", "-t", topic, "-s"];
    let mut publisher = Command::new("mosquitto_pub").args(arguments).stdin(Stdio::piped()).spawn().unwrap();
    publisher.stdin.take().unwrap().write_all(payload).unwrap();
    assert!(publisher.wait().unwrap().success());
}

pub fn list(gateway: &Running, path: &str) -> Vec<Value> {
    gateway.get_json(path)["messages"].as_array().unwrap().clone()
}

pub fn count(gateway: &Running, name: &str) -> u64 {
    gateway.get_json("/api/stats")[name].as_u64().unwrap()
}

/// Publishes events until the gateway counts one, which shows that it has subscribed.
pub fn wait_until_subscribed(gateway: &Running, port: u16, topic: &str, event: &[u8]) {
    wait_until("the gateway subscribes", || {
        publish(port, topic, event);
        gateway.get("/metrics").text.contains("dunnage_hook_events_total{provider=")
    });
}

/// Returns an uplink of ChirpStack with the object `object` on `port`.
pub fn up(id: &str, port: u8, data: &[u8], object: &Value) -> Vec<u8> {
    let data = BASE64_STANDARD.encode(data);
    let up = json!({"deduplicationId": id, "deviceInfo": {"devEui": DEVICE}, "fPort": port, "data": data, "object": object});
    up.to_string().into_bytes()
}

#[test]
fn chirpstacks_events_on_its_broker_are_opened() {
    let folder = TempDir::new().unwrap();
    let broker = Mosquitto::start_in(folder.path(), "allow_anonymous true");
    let port = broker.port;
    let gateway = start_with(|config| {
        let topic = "application/+/device/+/event/+";
        subscribe(config, port, "chirpstack", topic, "format = 'cbor'\nlink = 'lorawan-eu868-dr0'");
    });
    let topic = |event: &str| format!("application/a/device/{DEVICE}/event/{event}");
    wait_until_subscribed(&gateway, port, &topic("join"), CHIRPSTACK_JOIN);
    for (events, bytes) in [
        ("up", CHIRPSTACK),
        ("up", CHIRPSTACK_4),
        ("up", CHIRPSTACK_3),
        ("status", b"{}"),
        ("up", b"{\"a\":1}"),
    ] {
        publish(port, &topic(events), bytes);
    }
    wait_until("all events arrive", || count(&gateway, "quarantined") == 1);
    let messages = list(&gateway, &format!("/api/devices/{DEVICE}/messages"));
    // The second event is the first one in Protobuf, with the same ID.
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert_eq!(count(&gateway, "duplicates"), 1);
    assert_eq!(
        (&messages[1]["value"], &messages[0]["value"]),
        (&json!({"temperature": 17.5}), &json!({"t": 17.75}))
    );
    for message in &messages {
        assert_eq!((&message["format"], &message["link"]), (&json!("cbor"), &json!("lorawan-eu868-dr0")));
        let origin = &message["origin"];
        assert_eq!(
            (&origin["input"], &origin["provider"], &origin["port"]),
            (&json!("lora"), &json!("chirpstack"), &json!(2))
        );
        assert_eq!(
            (&origin["topic"], &origin["gateway"]["id"]),
            (&json!(topic("up")), &json!("0016c001f153a14c"))
        );
    }
    let kept = &list(&gateway, "/api/quarantine")[0];
    assert_eq!((&kept["device"], &kept["kind"]), (&json!("unknown"), &json!("malformed")), "{kept}");
    assert!(kept["reason"].as_str().unwrap().contains("deviceInfo.devEui"), "{kept}");
    // Another attempt does not make a message of the envelope itself.
    assert_eq!(ask(&gateway, "quarantine/retry", &[]).unwrap()["stored"], 0);
    let metrics = gateway.get("/metrics").text;
    assert!(
        metrics.contains("dunnage_hook_events_total{provider=\"chirpstack\",event=\"status\"} 1"),
        "{metrics}"
    );
}

#[test]
fn what_the_network_server_decoded_becomes_the_message() {
    let folder = TempDir::new().unwrap();
    let broker = Mosquitto::start_in(folder.path(), "allow_anonymous true");
    let port = broker.port;
    let gateway = start_with(|config| {
        let topic = "application/+/device/+/event/+";
        subscribe(config, port, "chirpstack", topic, "[broker.formats]\n2 = 'json'");
    });
    let topic = |event: &str| format!("application/a/device/{DEVICE}/event/{event}");
    wait_until_subscribed(&gateway, port, &topic("join"), CHIRPSTACK_JOIN);
    let object = json!({"temperature": 21.5, "name": "Käse", "n": 18_446_744_073_709_551_615_u64});
    publish(port, &topic("up"), &up("1", 85, b"\x01\x67\xd7\x00", &object));
    publish(port, &topic("up"), &up("2", 2, b"{\"t\":1}", &object));
    publish(port, &topic("up"), &up("3", 85, b"\x01", &Value::Null));
    publish(port, &topic("up"), &up("4", 85, b"\x05", &json!({"dunnage": "delta"})));
    wait_until("all messages arrive", || count(&gateway, "quarantined") == 2);
    let messages = list(&gateway, &format!("/api/devices/{DEVICE}/messages"));
    assert_eq!((&messages[0]["value"], &messages[1]["value"]), (&json!({"t": 1}), &object));
    let decoded = &messages[1];
    assert_eq!((&decoded["format"], &decoded["bytes"]), (&json!("json"), &json!(4)));
    assert_eq!(
        (&decoded["origin"]["payload"], &decoded["origin"]["decoded"]),
        (&json!("decoded"), &Value::Null)
    );
    assert_eq!(messages[0]["origin"]["payload"], Value::Null);
    let detail = gateway.get_json(&format!("/api/messages/{}", decoded["id"]));
    assert_eq!((&detail["hex"], &detail["explanation"]), (&json!("0167d700"), &Value::Null), "{detail}");
    let kept = list(&gateway, "/api/quarantine");
    assert!(kept.iter().all(|kept| kept["kind"] == "media-type" && kept["device"] == DEVICE), "{kept:?}");
    assert!(kept[1]["reason"].as_str().unwrap().contains("no format is set for the port 85"), "{kept:?}");
}

#[test]
fn a_decoded_message_that_breaks_its_schema_can_be_decoded_again() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().to_owned();
    std::fs::create_dir(path.join("schemas")).unwrap();
    let schema = |maximum: u32| {
        let text =
            format!(r#"{{"type":"object","properties":{{"t":{{"type":"number","maximum":{maximum}}}}}}}"#);
        std::fs::write(path.join("schemas/r.json"), text).unwrap();
    };
    schema(20);
    std::fs::write(path.join("token"), "0123456789abcdef").unwrap();
    let gateway = start_in(folder, |config| {
        config.schemas.path = path.join("schemas");
        config.profiles.push(toml::from_str("device = '*'\nschema = 'r'").unwrap());
        let token = path.join("token");
        let text = format!(
            "name = 'h'\n[webhook]\nprovider = 'chirpstack'\npayload = 'decoded'\ntoken_file = {token:?}"
        );
        config.inputs.push(toml::from_str(&text).unwrap());
    });
    let post = |body: &[u8]| {
        let request =
            gateway.agent.post(gateway.url("/hooks/h?event=up")).header("content-type", "application/json");
        crate::support::answer(request.header("authorization", "Bearer 0123456789abcdef").send(body).unwrap())
    };
    let answer = post(&up("1", 85, b"\x01", &json!({"t": 21.5}))).json();
    assert_eq!(
        (&answer["message"], &answer["problem"]["pointer"]),
        (&json!("quarantined"), &json!("/t")),
        "{answer}"
    );
    assert_eq!(list(&gateway, "/api/quarantine")[0]["hex"], "01");
    schema(30);
    gateway.runtime.block_on(gateway.gateway.reload()).unwrap();
    assert_eq!(ask(&gateway, "quarantine/retry", &[]).unwrap()["stored"], 1);
    let message = &list(&gateway, &format!("/api/devices/{DEVICE}/messages"))[0];
    assert_eq!(
        (&message["value"], &message["bytes"], &message["schema"]),
        (&json!({"t": 21.5}), &json!(1), &json!("r"))
    );
    // A message without bytes is one nevertheless, if the network server made something of it.
    assert_eq!(post(&up("2", 85, b"", &json!({"t": 1}))).json()["message"], "stored");
    assert_eq!(post(&up("3", 85, b"", &Value::Null)).json()["message"], "ignored");
    let large = json!({"x": "x".repeat(1_000_000)});
    assert_eq!(post(&up("4", 85, b"\x01", &large)).json()["message"], "stored");
}

#[test]
fn a_message_may_have_its_device_inside() {
    let folder = TempDir::new().unwrap();
    let broker = Mosquitto::start_in(folder.path(), "allow_anonymous true");
    let port = broker.port;
    let gateway = start_with(|config| {
        let text = format!(
            "name = 'b'\n[broker]\nurl = 'mqtt://127.0.0.1:{port}'\nclient_id = 'c'\ntopics = ['trackers/#', 'named/{{device}}']\n\
             format = 'json'\ndevice_at = '/Message/IMEI'"
        );
        config.inputs.push(toml::from_str(&text).unwrap());
    });
    wait_until("the gateway subscribes", || {
        publish(port, "named/probe", b"0");
        count(&gateway, "stored") > 0
    });
    publish(port, "trackers/1", br#"{"Message":{"IMEI":356938035643809}}"#);
    publish(port, "trackers/2", br#"{"Message":{"IMEI":"tracker 2"}}"#);
    publish(port, "trackers/3", br#"{"Message":{"IMEI":1.5}}"#);
    publish(port, "trackers/4", b"[");
    wait_until("all messages arrive", || count(&gateway, "quarantined") == 2);
    for device in ["356938035643809", "tracker%202"] {
        assert_eq!(list(&gateway, &format!("/api/devices/{device}/messages")).len(), 1);
    }
    let kept = list(&gateway, "/api/quarantine");
    assert!(kept.iter().all(|kept| kept["device"] == "unknown"), "{kept:?}");
    assert!(kept[1]["reason"].as_str().unwrap().contains("/Message/IMEI"), "{kept:?}");
}

#[test]
fn the_things_stack_is_received_from_its_mqtt_server() {
    let folder = TempDir::new().unwrap();
    let broker = Mosquitto::start_in(folder.path(), "allow_anonymous true");
    let port = broker.port;
    let gateway = start_with(|config| {
        subscribe(
            config,
            port,
            "the-things-stack",
            "v3/app1@ttn/devices/+/#",
            "payload = 'both'\nformat = 'json'",
        );
        let more = "payload = 'normalized'\n";
        let topic = "v3/app2@ttn/devices/+/up";
        subscribe(config, port, "the-things-stack", topic, more);
        let last = config.inputs.last_mut().unwrap();
        last.name = "normalized".into();
        let dunnage_gateway::InputKind::Broker(settings) = &mut last.kind else { panic!("no broker") };
        settings.client_id = "normalized".into();
    });
    let join = include_bytes!("../webhooks/the-things-stack-join.json");
    wait_until_subscribed(&gateway, port, "v3/app1@ttn/devices/dev1/join", join);
    publish(port, "v3/app1@ttn/devices/dev1/up", THE_THINGS_STACK);
    wait_until("the message arrives", || count(&gateway, "stored") == 1);
    let path = "/api/devices/0004a30b001c0530/messages";
    let message = &list(&gateway, path)[0];
    assert_eq!(
        (&message["value"], &message["origin"]["decoded"]),
        (&json!({"temperature": 17.25}), &json!({"temperature": 17.25}))
    );
    publish(
        port,
        "v3/app1@ttn/devices/dev1/down/queued",
        br#"{"end_device_ids":{"device_id":"dev1"},"downlink_queued":{}}"#,
    );
    publish(
        port,
        "v3/app1@ttn/devices/dev1/down/push",
        br#"{"downlinks":[{"f_port":15,"frm_payload":"AQ=="}]}"#,
    );
    let mut normalized: Value = serde_json::from_slice(THE_THINGS_STACK).unwrap();
    normalized["correlation_ids"] = json!(["as:up:2"]);
    let air = json!([{"air": {"temperature": 21.2, "relativeHumidity": 61.5}}]);
    normalized["uplink_message"]["normalized_payload"] = air.clone();
    wait_until("the second input subscribes and stores the message", || {
        publish(port, "v3/app2@ttn/devices/dev1/up", normalized.to_string().as_bytes());
        count(&gateway, "stored") == 2
    });
    assert_eq!(list(&gateway, path)[0]["value"], air);
    assert_eq!(count(&gateway, "quarantined"), 0);
}

#[test]
fn envelopes_of_a_stream_are_opened_and_named_by_their_place_if_they_have_no_id() {
    let cluster = Cluster::start(1, "");
    let context = crate::support::runtime().block_on(cluster.context());
    let gateway = start_with(|config| {
        let urls = cluster.urls();
        let text = format!(
            "name = 'n'\n[nats]\nservers = {urls:?}\nstream = 'LORA'\nconsumer = 'c'\nprovider = 'chirpstack'\nformat = 'json'"
        );
        config.inputs.push(toml::from_str(&text).unwrap());
    });
    drop(context);
    gateway.runtime.block_on(async {
        let context = cluster.context().await;
        let subjects = vec!["application.>".to_owned()];
        let config =
            async_nats::jetstream::stream::Config { name: "LORA".into(), subjects, ..Default::default() };
        context.create_stream(config).await.unwrap();
        let without_id =
            json!({"devEUI": DEVICE, "fCnt": 1, "fPort": 2, "data": BASE64_STANDARD.encode("{\"t\":2}")});
        for (event, bytes) in [
            ("up", up("1", 2, b"{\"t\":1}", &Value::Null)),
            ("up", up("1", 2, b"{\"t\":1}", &Value::Null)),
            ("join", CHIRPSTACK_JOIN.to_vec()),
            ("up", without_id.to_string().into_bytes()),
            ("up", without_id.to_string().into_bytes()),
            ("up", b"nonsense".to_vec()),
        ] {
            let subject = format!("application.a.device.{DEVICE}.event.{event}");
            context.publish(subject, bytes.into()).await.unwrap().await.unwrap();
        }
    });
    wait_until("all envelopes arrive", || {
        ["stored", "quarantined"].map(|name| count(&gateway, name)) == [3, 1]
    });
    let values: Vec<_> = list(&gateway, &format!("/api/devices/{DEVICE}/messages"))
        .into_iter()
        .map(|message| message["value"]["t"].clone())
        .collect();
    assert_eq!(values, [json!(2), json!(2), json!(1)]);
    assert_eq!(count(&gateway, "duplicates"), 1);
}

#[test]
fn an_envelope_with_several_messages_arrives_over_a_broker() {
    let folder = TempDir::new().unwrap();
    let broker = Mosquitto::start_in(folder.path(), "allow_anonymous true");
    let port = broker.port;
    let gateway = start_with(|config| subscribe(config, port, "myriota", "myriota", "format = 'text'"));
    let packets = |values: &[&str]| {
        let packet = |(n, value): (usize, &&str)| json!({"Timestamp": 1000 + n, "TerminalId": format!("m-{}", n % 2), "Value": value});
        let packets: Vec<Value> = values.iter().enumerate().map(packet).collect();
        json!({"Id": "1", "Data": json!({"Packets": packets}).to_string()}).to_string().into_bytes()
    };
    wait_until_subscribed(&gateway, port, "myriota", &packets(&[]));
    publish(port, "myriota", &packets(&["31", "32", "0g", "33", "34"]));
    publish(port, "myriota", &packets(&["31"]));
    wait_until("all messages arrive", || count(&gateway, "duplicates") == 1);
    assert_eq!((count(&gateway, "stored"), count(&gateway, "quarantined")), (4, 1));
    let of = |device: &str| {
        let messages = list(&gateway, &format!("/api/devices/{device}/messages")).into_iter();
        messages.map(|message| message["value"].clone()).collect::<Vec<_>>()
    };
    assert_eq!([of("m-0"), of("m-1")], [[json!("4"), json!("1")], [json!("3"), json!("2")]]);
    assert_eq!(list(&gateway, "/api/quarantine")[0]["device"], "unknown");
}

/// mosquitto sends a copy for each of the two subscriptions.
#[test]
fn overlapping_topics_are_refused_unless_messages_have_ids() {
    let folder = TempDir::new().unwrap();
    let broker = Mosquitto::start_in(folder.path(), "allow_anonymous true");
    let port = broker.port;
    let topics = "application/a/device/+/event/+', 'application/+/device/+/event/up";
    let gateway = start_with(|config| subscribe(config, port, "chirpstack", topics, "format = 'json'"));
    wait_until_subscribed(
        &gateway,
        port,
        &format!("application/a/device/{DEVICE}/event/join"),
        CHIRPSTACK_JOIN,
    );
    publish(port, &format!("application/a/device/{DEVICE}/event/up"), &up("1", 2, b"1", &Value::Null));
    wait_until("both copies arrive", || count(&gateway, "duplicates") == 1);
    assert_eq!(count(&gateway, "stored"), 1);
    let refused = |provider: &str| {
        let text = format!(
            "name = 'b'\n[broker]\nurl = 'mqtt://127.0.0.1:{port}'\nclient_id = 'c'\ntopics = ['a/{{device}}/c', 'a/b/+']\n{provider}"
        );
        let folder = TempDir::new().unwrap();
        let mut config = crate::support::config(folder.path());
        config.inputs.push(toml::from_str(&text).unwrap());
        let started = crate::support::runtime().block_on(dunnage_gateway::Gateway::start(config));
        started.err().unwrap().to_string()
    };
    for provider in
        ["device_at = '/d'", "provider = 'generic'\n[broker.pointers]\ndevice = '/d'\ndecoded = ''"]
    {
        let error = refused(provider);
        assert!(error.contains("topics: ") && error.contains("both match \"a/b/c\""), "{error}");
        assert!(error.contains("use \"a/+/+\""), "{error}");
    }
}

#[test]
fn an_envelope_with_several_messages_arrives_in_a_stream() {
    let cluster = Cluster::start(1, "");
    let gateway = start_with(|config| {
        let urls = cluster.urls();
        let text = format!(
            "name = 'n'\n[nats]\nservers = {urls:?}\nstream = 'OCEAN'\nconsumer = 'c'\nprovider = 'myriota'\nformat = 'text'"
        );
        config.inputs.push(toml::from_str(&text).unwrap());
    });
    // The last two have no time, and so no ID but their place.
    let packets = json!([{"TerminalId": "m-1", "Timestamp": 1000, "Value": "31"}, {"TerminalId": "m-1", "Value": "zz"},
        {"TerminalId": "m-1", "Value": "32"}, {"TerminalId": "m-1", "Value": "32"}]);
    let body = json!({"Id": "1", "Data": json!({"Packets": packets}).to_string()}).to_string();
    gateway.runtime.block_on(async {
        let context = cluster.context().await;
        let subjects = vec!["ocean".to_owned()];
        let config =
            async_nats::jetstream::stream::Config { name: "OCEAN".into(), subjects, ..Default::default() };
        context.create_stream(config).await.unwrap();
        for _ in 0..2 {
            context.publish("ocean", body.clone().into()).await.unwrap().await.unwrap();
        }
    });
    wait_until("both envelopes arrive", || {
        ["stored", "quarantined", "duplicates"].map(|name| count(&gateway, name)) == [5, 2, 1]
    });
}
