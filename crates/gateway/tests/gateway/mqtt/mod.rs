//! Devices that publish over MQTT: third-party clients, and packets that such clients do not send.

mod delivery;
mod devices;
mod wills;

use crate::support::{
    Running,
    authority::Authority,
    config,
    mqtt::{Client, packet, text},
    start_with,
    wait::wait_until,
};
use dunnage_gateway::{Config, Right, Scope, TlsSettings, Who, tokens};
use rusqlite::Connection;
use std::{
    net::SocketAddr,
    path::Path,
    process::{Command, Output},
    time::{Duration, Instant},
};

const Q1: u8 = 0b0010;
const Q2: u8 = 0b0100;
const DUP: u8 = 0b1000;

fn listen(config: &mut Config, settings: &str) {
    let text = format!("name = 'devices'\n[mqtt]\nlisten = '127.0.0.1:0'\n{settings}");
    config.inputs.push(toml::from_str(&text).unwrap());
}

fn start() -> Running {
    start_with(|config| listen(config, ""))
}

fn address(gateway: &Running) -> SocketAddr {
    gateway.gateway.input_address("devices").unwrap()
}

fn mosquitto(program: &str, address: SocketAddr, arguments: &[&str]) -> Output {
    let port = address.port().to_string();
    let output = Command::new(program).args(["-h", "127.0.0.1", "-p", &port]).args(arguments).output();
    output.unwrap_or_else(|e| panic!("{program}: {e}; please run: apt-get install mosquitto-clients"))
}

/// Publishes with mosquitto_pub. Returns whether that succeeded, and its output.
fn publish(address: SocketAddr, arguments: &[&str]) -> (bool, String) {
    let output = mosquitto("mosquitto_pub", address, arguments);
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

/// Returns the counts of received, stored, quarantined, refused and duplicate messages.
fn stats(gateway: &Running) -> [u64; 5] {
    let stats = gateway.get_json("/api/stats");
    ["received", "stored", "quarantined", "refused", "duplicates"].map(|name| stats[name].as_u64().unwrap())
}

/// Waits until the counts of [`stats`] are `wanted`.
fn wait_for(gateway: &Running, wanted: [u64; 5]) {
    wait_until(&format!("the counts are {wanted:?}"), || stats(gateway) == wanted);
}

/// Returns the stored messages of `device` as JSON, in their order.
fn bodies(folder: &Path, device: &str) -> Vec<String> {
    let connection = Connection::open(folder.join("buffer.sqlite3")).unwrap();
    let sql = "SELECT json FROM messages WHERE device = ? ORDER BY id";
    let mut statement = connection.prepare(sql).unwrap_or_else(|_| panic!("{sql}"));
    statement.query_map([device], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

#[test]
fn mosquitto_pub_sends_with_both_versions_and_every_qos() {
    let gateway = start();
    let address = address(&gateway);
    for version in ["mqttv311", "mqttv5"] {
        for qos in ["0", "1", "2"] {
            let (done, text) =
                publish(address, &["-V", version, "-q", qos, "-t", "v1/buoy-7/json", "-m", "{\"t\":17.25}"]);
            assert!(done, "{version} {qos}: {text}");
        }
    }
    wait_for(&gateway, [6, 6, 0, 0, 0]);
    let message = &gateway.get_json("/api/messages")["messages"][0];
    assert_eq!((&message["device"], &message["format"]), (&"buoy-7".into(), &"json".into()));
    assert_eq!(message["value"]["t"], 17.25);
    let metrics = gateway.get("/metrics").text;
    assert!(
        metrics.contains("dunnage_received_messages_total{input=\"mqtt\",format=\"json\"} 6"),
        "{metrics}"
    );
    assert!(metrics.contains("dunnage_input_connections{input=\"devices\"}"), "{metrics}");
}

#[test]
fn properties_set_format_link_and_key() {
    let gateway = start();
    let address = address(&gateway);
    let property = |name: &'static str, value: &'static str| ["-D", "publish", "user-property", name, value];
    let mut arguments = vec!["-V", "5", "-q", "1", "-t", "v1/d", "-m", "{\"t\":1}"];
    arguments.extend(["-D", "publish", "content-type", "application/json"]);
    arguments.extend(property("key", "k-1"));
    arguments.extend(property("link", "astrocast"));
    arguments.extend(property("request", "r-1"));
    for _ in 0..2 {
        let (done, text) = publish(address, &arguments);
        assert!(done, "{text}");
    }
    assert_eq!(stats(&gateway), [2, 1, 0, 0, 1]);
    let message = &gateway.get_json("/api/messages")["messages"][0];
    assert_eq!(message["link"], "astrocast");
    // Messages with an invalid key or an unknown schema are quarantined, and the acknowledgement has an error.
    let mut arguments = vec!["-V", "5", "-q", "1", "-t", "v1/d/json", "-m", "1"];
    arguments.extend(property("key", "not a key"));
    assert!(publish(address, &arguments).1.contains("Payload format invalid"));
    let unknown = publish(address, &["-V", "5", "-q", "1", "-t", "v1/d/json/nothing", "-m", "1"]).1;
    assert!(unknown.contains("Payload format invalid"), "{unknown}");
    assert_eq!(stats(&gateway), [4, 1, 2, 0, 1]);
}

#[test]
fn undecodable_messages_are_quarantined_and_acknowledged() {
    let gateway = start();
    let address = address(&gateway);
    for qos in ["1", "2"] {
        let (_, text) = publish(address, &["-V", "5", "-q", qos, "-t", "v1/d/json", "-m", "{"]);
        assert!(text.contains("Payload format invalid"), "{text}");
        let (done, text) = publish(address, &["-V", "311", "-q", qos, "-t", "v1/d/json", "-m", "{"]);
        assert!(done, "{text}");
    }
    let (_, text) = publish(address, &["-V", "5", "-q", "1", "-t", "v1/d/jsn", "-m", "1"]);
    assert!(text.contains("Payload format invalid"), "{text}");
    assert_eq!(stats(&gateway), [5, 0, 5, 0, 0]);
    let quarantined = &gateway.get_json("/api/quarantine")["messages"][4];
    assert_eq!((&quarantined["device"], &quarantined["kind"]), (&"d".into(), &"truncated".into()));
}

#[test]
fn unsupported_features_and_other_topics_are_refused() {
    let gateway = start();
    let address = address(&gateway);
    for version in ["311", "5"] {
        let output = mosquitto("mosquitto_sub", address, &["-V", version, "-t", "v1/#", "-W", "20"]);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains("denied"), "{version}: {text}");
    }
    let (done, text) = publish(address, &["-V", "5", "-q", "1", "-t", "somewhere/else", "-m", "1"]);
    assert!(text.contains("Topic Name invalid") || text.contains("invalid"), "{done} {text}");
    let (mut client, _) = Client::connect(address, 5, "c", false);
    client.publish(Q1 | 1, "v1/d/json", 1, "1");
    assert_eq!(client.read().map(|(first, body)| (first, body[0])), Some((0xe0, 0x9a)), "retained");
    // MQTT 3.1.1 has no code for this error, so the connection ends.
    let (mut client, _) = Client::connect(address, 4, "c", false);
    client.publish(Q1, "somewhere/else", 1, "1");
    assert_eq!(client.read(), None);
    let (mut client, _) = Client::connect(address, 5, "c", false);
    client.publish(Q2, "v1//json", 1, "1");
    let (first, body) = client.read().unwrap();
    assert_eq!((first, &body[..3]), (0x50, &[0, 1, 0x90][..]));
    wait_for(&gateway, [4, 0, 0, 4, 0]);
    // With MQTT 3.1.1, a retained message is stored like others.
    assert!(publish(address, &["-V", "311", "-q", "1", "-r", "-t", "v1/d/json", "-m", "1"]).0);
    assert_eq!(stats(&gateway), [5, 1, 0, 4, 0]);
}

#[test]
fn the_password_is_a_token_for_its_devices() {
    let mut token = String::new();
    let gateway = start_with(|config| {
        listen(config, "");
        config.access.who = Who::Tokens;
        let right = Right::Send("buoy-*".into());
        token = tokens::add(&config.tokens(), Some("buoys"), right, None).unwrap().1;
    });
    let address = address(&gateway);
    let send = |version, topic, more: &[&str]| {
        publish(address, &[&["-V", version, "-q", "1", "-m", "1", "-t", topic], more].concat())
    };
    for version in ["311", "5"] {
        let (done, text) = send(version, "v1/buoy-7/json", &["-u", "any", "-P", &token]);
        assert!(done, "{text}");
        for more in [&[][..], &["-u", "any", "-P", "dunnage_wrong"]] {
            let (done, text) = send(version, "v1/buoy-7/json", more);
            assert!(!done && text.to_lowercase().contains("not authori"), "{version}: {text}");
        }
    }
    let (_, text) = send("5", "v1/ship/json", &["-u", "any", "-P", &token]);
    assert!(text.contains("Not authorized"), "{text}");
    let (summary, _folder) = gateway.stop();
    assert_eq!((summary.stored, summary.refused), (2, 1));
}

#[test]
fn revoking_a_token_ends_its_connections() {
    let mut created = Vec::new();
    let gateway = start_with(|config| {
        listen(config, "");
        config.access.who = Who::Tokens;
        for name in ["gone", "kept"] {
            created.push(tokens::add(&config.tokens(), Some(name), Right::Send("*".into()), None).unwrap().1);
        }
    });
    let connect = |version: u8, token: &str| {
        let mut client = Client::open(address(&gateway), version);
        // User name and password, a clean session, and no keep alive.
        let properties: &[u8] = if version == 5 { &[0] } else { &[] };
        let flags = &[version, 0b1100_0010, 0, 0];
        let fields =
            [text("MQTT"), flags.to_vec(), properties.to_vec(), text(token), text("any"), text(token)];
        client.send(&packet(0x10, &fields.concat()));
        let (first, body) = client.read().unwrap();
        assert_eq!((first, body[1]), (0x20, 0), "{body:?}");
        client
    };
    let (mut old, mut new, mut kept) =
        (connect(4, &created[0]), connect(5, &created[0]), connect(5, &created[1]));
    tokens::revoke(&gateway.folder.path().join("tokens.toml"), "gone", None).unwrap();
    gateway.runtime.block_on(gateway.gateway.reload()).unwrap();
    let (first, body) = new.read().expect("the gateway sends DISCONNECT");
    assert_eq!((first, body[0]), (0xe0, 0x87), "{body:?}");
    let begun = Instant::now();
    assert!(old.read().is_none() && new.read().is_none());
    assert!(begun.elapsed() < Duration::from_secs(30), "a connection stays open");
    kept.publish(Q1, "v1/d/json", 1, "1");
    assert_eq!(kept.read().unwrap().0, 0x40);
    gateway.stop();
}

#[test]
fn passwords_are_checked_on_loopback_and_required_by_open_listeners() {
    let mut created = Vec::new();
    let gateway = start_with(|config| {
        listen(config, "");
        for right in [Right::Send("buoy-*".into()), Right::Read(Scope::EVERYTHING)] {
            created.push(tokens::add(&config.tokens(), None, right, None).unwrap().1);
        }
    });
    let address = address(&gateway);
    let send = |version, more: &[&str]| {
        publish(address, &[&["-V", version, "-q", "1", "-m", "1", "-t", "v1/buoy-7/json"], more].concat())
    };
    for version in ["311", "5"] {
        assert!(send(version, &[]).0 && send(version, &["-u", "any", "-P", &created[0]]).0);
        for password in ["wrong", &created[1]] {
            let (done, text) = send(version, &["-u", "any", "-P", password]);
            assert!(!done && text.to_lowercase().contains("not authori"), "{version}: {text}");
        }
    }
    assert_eq!(gateway.stop().0.stored, 4);

    let gateway = start_with(|config| {
        let input = "name = 'mqtt'\n[mqtt]\nlisten = '0.0.0.0:0'";
        config.inputs.push(toml::from_str(input).unwrap());
    });
    let port = gateway.gateway.input_address("mqtt").unwrap().port();
    let (done, text) = publish(([127, 0, 0, 1], port).into(), &["-q", "1", "-t", "v1/d/json", "-m", "1"]);
    assert!(!done && text.to_lowercase().contains("not authori"), "{text}");
    gateway.stop();
}

#[test]
fn a_listener_with_tls_refuses_connections_without_it() {
    let folder = tempfile::tempdir().unwrap();
    let [ca, certificate, key] = ["ca.pem", "cert.pem", "key.pem"].map(|name| folder.path().join(name));
    let authority = Authority::new("devices");
    authority.issue(&["127.0.0.1"], 2099, &certificate, &key);
    authority.write(&ca);
    let gateway = start_with(|config| {
        listen(config, "tls = true");
        config.tls = TlsSettings { certificate, key };
    });
    let address = address(&gateway);
    let message = ["-q", "1", "-t", "v1/d/json", "-m", "1"];
    let (done, text) = publish(address, &[&["--cafile", ca.to_str().unwrap()][..], &message].concat());
    assert!(done, "{text}");
    assert!(!publish(address, &message).0, "without TLS");
    assert_eq!(gateway.stop().0.stored, 1);
}

#[test]
fn another_connection_or_silence_ends_a_connection() {
    let gateway = start();
    let address = address(&gateway);
    let (mut first, _) = Client::connect(address, 5, "c", false);
    let (mut second, _) = Client::connect(address, 5, "c", false);
    let (packet_type, body) = first.read().unwrap();
    assert_eq!((packet_type, body[0]), (0xe0, 0x8e));
    assert_eq!(first.read(), None);
    second.send(&[0xc0, 0]);
    assert_eq!(second.read().unwrap(), (0xd0, vec![]));

    let mut silent = Client::open(address, 5);
    silent.send(&silent.connect_packet("silent", false, 1));
    assert_eq!(silent.read().unwrap().0, 0x20);
    let begun = Instant::now();
    assert_eq!(silent.read().map(|(first, body)| (first, body[0])), Some((0xe0, 0x8d)));
    assert!(begun.elapsed() >= Duration::from_millis(1400));
}

#[test]
fn invalid_packets_end_only_their_own_connection() {
    let gateway = start();
    let address = address(&gateway);
    let (mut good, _) = Client::connect(address, 5, "good", false);
    let connect = Client::open(address, 5).connect_packet("c", false, 60);
    for bytes in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        &[0x10, 0xff, 0xff, 0xff, 0x7f],
        &[0x10, 0xff, 0xff, 0xff, 0xff, 0xff],
        &[0x30, 3, 0, 1, b'x'],
        &[0xf0, 0],
        &packet(0x10, b"\0\x04MQTT\x06\x02\0\0"),
        &packet(0x10, b"\0\x06MQIsdp\x03\x02\0\0\0\x01c"),
        // A will of QoS 3.
        &packet(0x10, b"\0\x04MQTT\x04\x1e\0\0\0\x01c\0\x01t\0\x01x"),
        &[&connect[..], &connect].concat(),
        &[&connect[..], &[0x36, 5, 0, 1, b'x', 0, 1]].concat(),
        &[&connect[..], &[0x30, 0xff, 0xff, 0xff, 0x7f]].concat(),
        &[&connect[..], &[0x60, 2, 0, 1]].concat(),
        &[&connect[..], &[0x40, 2, 0, 1]].concat(),
    ] {
        let mut client = Client::open(address, 5);
        client.send(bytes);
        while client.read().is_some() {}
    }
    // A packet over the limit is refused by its length, before its body arrives.
    let (mut large, _) = Client::connect(address, 5, "large", false);
    large.send(&[0x30, 0xff, 0xff, 0xff, 0x7f]);
    assert_eq!(large.read().map(|(first, body)| (first, body[0])), Some((0xe0, 0x95)));
    good.publish(Q1, "v1/d/json", 1, "1");
    assert_eq!(good.read().unwrap(), (0x40, vec![0, 1]));
    // A message over its limit is quarantined if its packet is within the limit of packets.
    let body = format!("\"{}\"", "x".repeat(1 << 20));
    good.publish(Q1, "v1/d/json", 2, &body);
    assert_eq!(good.read().map(|(first, body)| (first, body[2])), Some((0x40, 0x99)));
}

#[test]
fn a_stop_acknowledges_messages_and_sends_disconnect() {
    let gateway = start();
    let (mut client, _) = Client::connect(address(&gateway), 5, "c", false);
    client.publish(Q1, "v1/d/json", 1, "1");
    assert_eq!(client.read().unwrap().0, 0x40);
    let (summary, _folder) = gateway.stop();
    assert_eq!(summary.stored, 1);
    let (first, body) = client.read().unwrap();
    assert_eq!((first, body[0]), (0xe0, 0x8b));
}

#[test]
fn errors_name_the_invalid_setting() {
    let folder = tempfile::tempdir().unwrap();
    for (settings, key) in
        [("connections = 0", "connections:"), ("in_flight_messages = 0", "in_flight_messages:")]
    {
        let mut config = config(folder.path());
        listen(&mut config, settings);
        let error =
            crate::support::runtime().block_on(dunnage_gateway::Gateway::start(config)).err().unwrap();
        assert!(error.to_string().contains(key), "{error}");
    }
}

#[test]
fn patterns_accept_topics_that_devices_cannot_change() {
    let gateway = start_with(|config| {
        listen(config, "topics = ['tele/{device}/SENSOR', 'site/+/{device}/{format}']\nformat = 'json'");
    });
    let address = address(&gateway);
    for (topic, accepted) in [
        ("tele/plug-1/SENSOR", true),
        ("site/north/meter-2/json", true),
        ("v1/buoy-7/json", true),
        ("tele/plug-1/STATE", false),
    ] {
        let (sent, text) = publish(address, &["-V", "5", "-q", "1", "-t", topic, "-m", "{\"t\":17}"]);
        assert!(sent, "{text}");
        assert_eq!(text.contains("Topic Name invalid"), !accepted, "{topic}: {text}");
    }
    let devices = gateway.get_json("/api/devices")["devices"].clone();
    let mut devices: Vec<_> =
        devices.as_array().unwrap().iter().map(|device| device["device"].as_str().unwrap()).collect();
    devices.sort_unstable();
    assert_eq!(devices, ["buoy-7", "meter-2", "plug-1"]);
    assert_eq!(gateway.get_json("/api/stats")["quarantined"], 0);
}
