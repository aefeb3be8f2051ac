//! Messages from an MQTT broker: mosquitto, which is restarted under load, and a scripted broker that sends a message again.

use crate::support::{
    Running,
    authority::Authority,
    mosquitto::Mosquitto,
    mqtt::{Client, packet, text},
    start_in, start_with,
    tools::tool,
    wait::wait_until,
};
use dunnage_gateway::{Config, InputKind};
use rusqlite::Connection;
use std::{
    collections::HashSet,
    io::{BufRead, BufReader, Write},
    net::{Shutdown, TcpListener},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};
use tempfile::TempDir;

fn subscribe(config: &mut Config, port: u16, client: &str, more: &str) {
    let text = format!(
        "name = '{client}'\n[broker]\nurl = 'mqtt://127.0.0.1:{port}'\nclient_id = '{client}'\n\
         topics = ['v1/{{device}}/{{format}}']\n{more}"
    );
    config.inputs.push(toml::from_str(&text).unwrap());
}

fn publish(port: u16, topic: &str, message: &str) {
    let port = port.to_string();
    let arguments = ["-h", "127.0.0.1", "-p", &port, "-q", "1", "-t", topic, "-m", message];
    assert!(Command::new("mosquitto_pub").args(arguments).status().unwrap().success());
}

fn count(gateway: &Running, name: &str) -> u64 {
    gateway.get_json("/api/stats")[name].as_u64().unwrap()
}

/// Publishes until the gateway stores a message, which shows that it has subscribed.
fn wait_until_subscribed(gateway: &Running, port: u16) {
    wait_until("the gateway subscribes", || {
        publish(port, "v1/probe/json", "0");
        count(gateway, "stored") > 0
    });
}

/// Returns the stored messages as "DEVICE JSON", in their order, without those of `probe`.
fn stored(folder: &Path) -> Vec<String> {
    let connection = Connection::open(folder.join("buffer.sqlite3")).unwrap();
    let sql = "SELECT device || ' ' || json FROM messages WHERE device <> 'probe' ORDER BY id";
    let mut statement = connection.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// mosquitto stops gracefully and starts again several times under load. One of two gateways detects duplicates by their bytes.
#[test]
fn a_restart_of_the_broker_loses_nothing_and_repeats_at_most_the_messages_in_flight() {
    const RESTARTS: u64 = 4;
    /// Limit of the messages for which the broker has no acknowledgement yet.
    const IN_FLIGHT: u64 = 256;
    let broker_folder = tempfile::tempdir().unwrap();
    let mut broker = Mosquitto::start_in(broker_folder.path(), "allow_anonymous true");
    let port = broker.port;
    let plain = start_with(|config| subscribe(config, port, "plain", ""));
    let deduplicating = start_with(|config| {
        subscribe(config, port, "knowing", "");
        config.profiles.push(toml::from_str("device = 'paho-*'\nduplicates = 'bytes'").unwrap());
    });
    let gateways = [plain, deduplicating];
    gateways.iter().for_each(|gateway| wait_until_subscribed(gateway, port));
    let mut acknowledged = HashSet::new();
    for round in 0..RESTARTS {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/mqtt_publish.py");
        let first = (round * 1_000_000).to_string();
        let mut clients = Command::new(tool("venv/bin/python"))
            .arg(script)
            .args([&port.to_string(), "5", "1", "4", "1000000", &first])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(clients.stdout.take().unwrap()).lines();
        acknowledged.extend(lines.by_ref().take(600).map(Result::unwrap));
        broker.stop();
        acknowledged.extend(lines.map(Result::unwrap));
        clients.wait().unwrap();
        broker.restart();
    }
    // The broker sends repeated messages before one that is published now.
    publish(port, "v1/last/json", "0");
    let name = |line: &String| format!("paho-{line}");
    let mut wanted: HashSet<String> = acknowledged.iter().map(name).collect();
    wanted.insert("last 0".into());
    let repeats = gateways.map(|gateway| {
        let folder = gateway.folder.path().to_owned();
        wait_until("all acknowledged messages are stored", || {
            let stored: HashSet<String> = stored(&folder).into_iter().collect();
            wanted.is_subset(&stored)
        });
        let all = stored(&folder);
        let duplicates = count(&gateway, "duplicates");
        gateway.stop();
        let distinct: HashSet<&String> = all.iter().collect();
        (u64::try_from(all.len() - distinct.len()).unwrap(), duplicates)
    });
    println!("{} messages; stored twice, detected as duplicates: {repeats:?}", wanted.len());
    let [(plain, _), (deduplicating, _)] = repeats;
    assert!(plain <= RESTARTS * IN_FLIGHT, "{plain} are stored twice");
    assert_eq!(deduplicating, 0);
}

#[test]
fn messages_published_while_the_gateway_is_down_arrive_after_its_restart() {
    let broker_folder = tempfile::tempdir().unwrap();
    let broker = Mosquitto::start_in(broker_folder.path(), "allow_anonymous true");
    let gateway = start_with(|config| subscribe(config, broker.port, "gateway", ""));
    wait_until_subscribed(&gateway, broker.port);
    let (_, folder) = gateway.stop();
    for n in 0..20 {
        publish(broker.port, "v1/d/json", &n.to_string());
    }
    publish(broker.port, "v1/d/json", "[");
    publish(broker.port, "v1//json", "1");
    let gateway = start_in(folder, |config| subscribe(config, broker.port, "gateway", ""));
    wait_until("all messages arrive", || count(&gateway, "quarantined") == 2);
    let message = &gateway.get_json("/api/devices/d/messages")["messages"][0];
    assert_eq!(message["origin"]["topic"], "v1/d/json");
    assert_eq!(gateway.get_json("/api/quarantine")["messages"][0]["device"], "unknown");
    let (_, folder) = gateway.stop();
    let all: Vec<_> = (0..20).map(|n| format!("d {n}")).collect();
    assert_eq!(stored(folder.path()), all);
}

/// mosquitto 2.0.11 sends all messages that it queued for a session at once, even if they exceed the gateway's limit of messages in
/// flight. Each is acknowledged: the next gateway of the session gets none of them.
#[test]
fn messages_over_the_limit_in_flight_are_acknowledged() {
    const MESSAGES: usize = 5000;
    let broker_folder = tempfile::tempdir().unwrap();
    let broker = Mosquitto::start_in(broker_folder.path(), "allow_anonymous true");
    let port = broker.port;
    let gateway = || start_with(|config| subscribe(config, port, "gateway", ""));
    let first = gateway();
    wait_until_subscribed(&first, port);
    first.stop();
    let arguments = ["-h", "127.0.0.1", "-p", &port.to_string(), "-q", "1", "-t", "v1/d/json", "-l"];
    let mut publisher = Command::new("mosquitto_pub").args(arguments).stdin(Stdio::piped()).spawn().unwrap();
    let lines: String = (0..MESSAGES).map(|n| format!("{n}\n")).collect();
    publisher.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    assert!(publisher.wait().unwrap().success());
    let second = gateway();
    // A probe that the first gateway did not receive in time may be among the messages.
    wait_until("all messages arrive", || stored(second.folder.path()).len() >= MESSAGES);
    let (_, folder) = second.stop();
    assert_eq!(stored(folder.path()), (0..MESSAGES).map(|n| format!("d {n}")).collect::<Vec<_>>());
    let third = gateway();
    // The broker sends repeated messages before one that is published now.
    publish(port, "v1/last/json", "0");
    wait_until("the last message arrives", || stored(third.folder.path()).contains(&"last 0".into()));
    let (_, folder) = third.stop();
    assert_eq!(stored(folder.path()), ["last 0"]);
}

#[test]
fn gateways_of_one_group_share_the_messages() {
    let broker_folder = tempfile::tempdir().unwrap();
    let broker = Mosquitto::start_in(broker_folder.path(), "allow_anonymous true");
    let group = "group = 'gateways'";
    let gateways =
        ["one", "two"].map(|name| start_with(|config| subscribe(config, broker.port, name, group)));
    wait_until("the gateways subscribe", || {
        publish(broker.port, "v1/probe/json", "0");
        gateways.iter().all(|gateway| count(gateway, "stored") > 0)
    });
    for n in 0..20 {
        publish(broker.port, "v1/d/json", &n.to_string());
    }
    let stored_by = |gateway: &Running| stored(gateway.folder.path());
    wait_until("all messages arrive", || {
        gateways.iter().map(|gateway| stored_by(gateway).len()).sum::<usize>() >= 20
    });
    let all: HashSet<String> = gateways.iter().flat_map(stored_by).collect();
    assert_eq!(all.len(), 20);
    assert!(gateways.iter().all(|gateway| !stored_by(gateway).is_empty()));
}

#[test]
fn a_reload_reads_a_corrected_password() {
    let broker_folder = tempfile::tempdir().unwrap();
    let passwords = broker_folder.path().join("passwords");
    let status =
        Command::new("mosquitto_passwd").args(["-c", "-b"]).arg(&passwords).args(["g", "right"]).status();
    assert!(status.unwrap().success());
    let broker = Mosquitto::start_in(broker_folder.path(), &format!("password_file {}", passwords.display()));
    let file = broker_folder.path().join("password");
    std::fs::write(&file, "wrong\n").unwrap();
    let login = format!("user = 'g'\npassword_file = {file:?}");
    let gateway = start_with(|config| subscribe(config, broker.port, "gateway", &login));
    std::thread::sleep(Duration::from_millis(500));
    std::fs::write(&file, "right\n").unwrap();
    gateway.runtime.block_on(gateway.gateway.reload()).unwrap();
    let port = broker.port.to_string();
    wait_until("the broker accepts the gateway", || {
        let login = ["-p", &port, "-u", "g", "-P", "right", "-q", "1", "-t", "v1/d/json", "-m", "1"];
        assert!(Command::new("mosquitto_pub").args(login).status().unwrap().success());
        count(&gateway, "stored") > 0
    });
}

#[test]
fn the_certificate_of_a_broker_with_tls_is_verified() {
    let broker_folder = tempfile::tempdir().unwrap();
    let [ca, other, certificate, key] =
        ["ca.pem", "other.pem", "cert.pem", "key.pem"].map(|name| broker_folder.path().join(name));
    let authority = Authority::new("brokers");
    authority.issue(&["127.0.0.1"], 2099, &certificate, &key);
    authority.write(&ca);
    Authority::new("strangers").write(&other);
    let more = format!("allow_anonymous true\ncertfile {}\nkeyfile {}", certificate.display(), key.display());
    let broker = Mosquitto::start_in(broker_folder.path(), &more);
    let port = broker.port.to_string();
    let subscribe_with_tls = |config: &mut Config, name: &str, ca: &Path| {
        subscribe(config, broker.port, name, &format!("ca_file = {ca:?}"));
        let InputKind::Broker(settings) = &mut config.inputs.last_mut().unwrap().kind else {
            panic!("the input is not a broker")
        };
        settings.url = format!("mqtts://127.0.0.1:{port}");
    };
    let gateway = start_with(|config| subscribe_with_tls(config, "good", &ca));
    let stranger = start_with(|config| subscribe_with_tls(config, "stranger", &other));
    wait_until("the gateway subscribes", || {
        let message =
            ["-p", &port, "--cafile", ca.to_str().unwrap(), "-q", "1", "-t", "v1/d/json", "-m", "1"];
        let sent = Command::new("mosquitto_pub").args(["-h", "127.0.0.1"]).args(message).status();
        sent.unwrap().success() && count(&gateway, "stored") > 0
    });
    assert_eq!(count(&stranger, "received"), 0);
    // A reload reads the certificates again. If they are invalid, it fails and the old ones stay in use.
    std::fs::write(&other, "no PEM").unwrap();
    let error = stranger.runtime.block_on(stranger.gateway.reload()).unwrap_err().to_string();
    assert!(error.contains("ca_file") && error.contains("no trusted certificate"), "{error}");
    authority.write(&other);
    stranger.runtime.block_on(stranger.gateway.reload()).unwrap();
    wait_until("the gateway trusts the certificate after the reload", || {
        let message =
            ["-p", &port, "--cafile", ca.to_str().unwrap(), "-q", "1", "-t", "v1/d/json", "-m", "1"];
        let sent = Command::new("mosquitto_pub").args(["-h", "127.0.0.1"]).args(message).status();
        sent.unwrap().success() && count(&stranger, "stored") > 0
    });
}

/// Accepts the next connection of the gateway and its subscription. `session_present` is the flag of that name in the CONNACK.
fn accept(listener: &TcpListener, session_present: u8) -> Client {
    let stream = listener.accept().unwrap().0;
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut client = Client::over(stream, 5);
    assert_eq!(client.read().unwrap().0, 0x10);
    client.send(&packet(0x20, &[session_present, 0, 0]));
    let (first, body) = client.read().unwrap();
    assert_eq!(first, 0x82);
    client.send(&packet(0x90, &[body[0], body[1], 0, 1]));
    client
}

/// Returns a PUBLISH packet with QoS 1.
fn message(flags: u8, id: u16, payload: &str) -> Vec<u8> {
    let mut body = text("v1/d/json");
    body.extend(id.to_be_bytes());
    body.push(0);
    body.extend(payload.as_bytes());
    packet(0x32 | flags, &body)
}

#[test]
fn a_message_that_the_broker_sends_again_is_stored_once() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let gateway = start_with(|config| subscribe(config, port, "gateway", ""));
    let mut broker = accept(&listener, 0);
    let held = crate::support::block_commits(gateway.folder.path());
    broker.send(&message(0, 5, "1"));
    // The connection ends before the message is stored.
    broker.stream.shutdown(Shutdown::Write).unwrap();
    while broker.read().is_some() {}
    drop(held);
    let mut broker = accept(&listener, 1);
    wait_until("the message is stored", || count(&gateway, "stored") == 1);
    broker.send(&message(0b1000, 5, "1"));
    assert_eq!(broker.read().unwrap(), (0x40, vec![0, 5]));
    // After the acknowledgement, the packet identifier is free: the same bytes are another message.
    broker.send(&message(0, 5, "1"));
    assert_eq!(broker.read().unwrap(), (0x40, vec![0, 5]));
    let counts = ["stored", "duplicates"].map(|name| count(&gateway, name));
    assert_eq!(counts, [2, 1]);
    drop(broker);
    // In a new session, the packet identifier does not refer to the former message.
    let mut broker = accept(&listener, 0);
    broker.send(&message(0b1000, 5, "1"));
    assert_eq!(broker.read().unwrap(), (0x40, vec![0, 5]));
    assert_eq!(count(&gateway, "stored"), 3);
}

#[test]
fn errors_name_the_invalid_setting() {
    let folder = tempfile::tempdir().unwrap();
    let good = "url = 'mqtt://h'\nclient_id = 'c'\ntopics = ['a/{device}']";
    for (settings, key) in [
        (good.replace("mqtt://h", "http://h"), "url:"),
        (good.replace("mqtt://h", "mqtt://u:p@h"), "url:"),
        (good.replace("'c'", "''"), "client_id:"),
        (good.replace("{device}", "x"), "topics:"),
        (format!("{good}\ngroup = 'a/b'"), "group:"),
        (format!("{good}\nin_flight_messages = 0"), "in_flight_messages:"),
        (format!("{good}\nuser = 'u'"), "password_file:"),
        (format!("{good}\nca_file = '/nowhere'"), "ca_file:"),
        (format!("{}\nca_file = '/nowhere'", good.replace("mqtt:", "mqtts:")), "ca_file:"),
    ] {
        let mut config = crate::support::config(folder.path());
        config.inputs.push(toml::from_str(&format!("name = 'b'\n[broker]\n{settings}")).unwrap());
        let error =
            crate::support::runtime().block_on(dunnage_gateway::Gateway::start(config)).err().unwrap();
        assert!(error.to_string().contains(key), "{settings}: {error}");
    }
}

/// The topics of Tasmota, Zigbee2MQTT and Shelly: JSON beside plain words.
#[test]
fn topics_of_one_tree_may_have_formats_and_schemas_of_their_own() {
    let folder = TempDir::new().unwrap();
    let broker = Mosquitto::start_in(folder.path(), "allow_anonymous true");
    let schemas = TempDir::new().unwrap();
    std::fs::write(schemas.path().join("word.json"), r#"{"type":"string","enum":["Online","Offline"]}"#)
        .unwrap();
    let gateway = start_with(|config| {
        let text = format!(
            "name = 'home'\n[broker]\nurl = 'mqtt://127.0.0.1:{}'\nclient_id = 'c'\nformat = 'json'\n\
             topics = ['probe/{{device}}', 'tele/{{device}}/STATE', {{ topic = 'tele/{{device}}/LWT', format = 'text', schema = 'word' }}, \
             {{ topic = 'zigbee2mqtt/{{device}}/availability', format = 'text' }}, 'zigbee2mqtt/{{+device}}', \
             {{ topic = 'shellies/{{device}}/relay/0', format = 'text' }}]",
            broker.port
        );
        config.inputs.push(toml::from_str(&text).unwrap());
        config.schemas.path = schemas.path().to_owned();
    });
    wait_until("the gateway subscribes", || {
        publish(broker.port, "probe/d", "0");
        count(&gateway, "stored") > 0
    });
    for (topic, message) in [
        ("tele/plug/STATE", r#"{"POWER":"ON"}"#),
        ("tele/plug/LWT", "Online"),
        ("zigbee2mqtt/lamp/availability", "online"),
        ("zigbee2mqtt/lamp", r#"{"state":"ON"}"#),
        ("shellies/door/relay/0", "on"),
        ("tele/bad/STATE", "Online"),
        ("tele/bad/LWT", "on"),
    ] {
        publish(broker.port, topic, message);
    }
    wait_until("all messages arrive", || count(&gateway, "quarantined") == 2);
    let values = |device: &str| {
        let messages = gateway.get_json(&format!("/api/devices/{device}/messages"));
        let messages = messages["messages"].as_array().unwrap().clone();
        messages
            .into_iter()
            .map(|message| (message["value"].to_string(), message["schema"].clone()))
            .collect::<Vec<_>>()
    };
    let none = serde_json::Value::Null;
    assert_eq!(
        values("plug"),
        [("\"Online\"".into(), "word".into()), (r#"{"POWER":"ON"}"#.into(), none.clone())]
    );
    assert_eq!(
        values("lamp"),
        [(r#"{"state":"ON"}"#.into(), none.clone()), ("\"online\"".into(), none.clone())]
    );
    assert_eq!(values("door"), [("\"on\"".into(), none)]);
    let kept = gateway.get_json("/api/quarantine").to_string();
    assert!(kept.contains("\"malformed\"") && kept.contains("\"schema\""), "{kept}");
}
