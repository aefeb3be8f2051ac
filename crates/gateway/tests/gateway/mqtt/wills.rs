//! Wills, and clients that publish more than is wanted of them: both belong to devices that cannot be changed.

use super::{address, listen, mosquitto, stats, wait_for};
use crate::support::{
    Running,
    mosquitto::Mosquitto,
    mqtt::{Client, packet, text},
    start_with,
    wait::wait_until,
};
use std::{net::SocketAddr, time::Duration};

const TOPICS: &str = "topics = ['tele/{device}/#']\nformat = 'json'\nignore = ['stat/#', 'tasmota/#']";

fn start() -> Running {
    start_with(|config| listen(config, TOPICS))
}

/// Connects a client with the will `payload` to `topic`.
fn connect(address: SocketAddr, version: u8, keep_alive: u16, topic: &str, payload: &str) -> Client {
    let mut body = text("MQTT");
    // A bridge of mosquitto marks the level of 3.1.1.
    body.extend([if version == 4 { 0x84 } else { version }, 0b0000_0110]);
    body.extend(keep_alive.to_be_bytes());
    if version == 5 {
        body.push(0);
    }
    body.extend(text("tasmota-1"));
    if version == 5 {
        body.push(0);
    }
    body.extend([text(topic), text(payload)].concat());
    let mut client = Client::open(address, version);
    client.send(&packet(0x10, &body));
    let (first, answer) = client.read().unwrap();
    assert_eq!((first, answer[1]), (0x20, 0), "{answer:?}");
    client
}

#[test]
fn a_will_is_stored_when_its_client_is_gone_without_disconnect() {
    let gateway = start();
    let address = address(&gateway);
    for (stored, version) in (1..).zip([4, 5]) {
        drop(connect(address, version, 60, "tele/plug/LWT", "\"Offline\""));
        wait_for(&gateway, [stored, stored, 0, 0, 0]);
    }
    let message = &gateway.get_json("/api/messages")["messages"][0];
    assert_eq!((&message["device"], &message["value"]), (&"plug".into(), &"Offline".into()));
    // The end of the keep alive is such an end as well.
    let mut silent = connect(address, 5, 1, "tele/plug/LWT", "1");
    assert_eq!(silent.read().map(|(first, _)| first), Some(0xe0));
    wait_for(&gateway, [3, 3, 0, 0, 0]);
    // So is a DISCONNECT of MQTT 5 that asks for it, and no other.
    connect(address, 5, 60, "tele/plug/LWT", "2").send(&[0xe0, 2, 4, 0]);
    wait_for(&gateway, [4, 4, 0, 0, 0]);
    for (version, disconnect) in [(4, &[0xe0, 0][..]), (5, &[0xe0, 0])] {
        let mut client = connect(address, version, 60, "tele/plug/LWT", "3");
        client.send(disconnect);
        assert_eq!(client.read(), None);
    }
    // A will that cannot be a message does not keep its client out.
    let large = "x".repeat(2000);
    for (topic, payload) in [("elsewhere/LWT", "1"), ("tele/plug/LWT", &large), ("", "1")] {
        let mut client = connect(address, 4, 60, topic, payload);
        client.publish(super::Q1, "tele/plug/SENSOR", 1, "4");
        assert_eq!(client.read().map(|(first, _)| first), Some(0x40), "{topic}");
    }
    wait_for(&gateway, [7, 7, 0, 0, 0]);
    // The stop of the gateway is not the end of its clients.
    let client = connect(address, 5, 60, "tele/plug/LWT", "5");
    let (summary, _) = gateway.stop();
    assert_eq!(summary.stored, 7);
    drop(client);
}

#[test]
fn messages_to_ignored_topics_are_acknowledged_and_dropped() {
    let gateway = start();
    let mut client = connect(address(&gateway), 4, 60, "tele/plug/LWT", "\"Offline\"");
    for (id, topic) in
        (1..).zip(["stat/plug/RESULT", "tasmota/discovery/1/config", "$SYS/broker/connection/b/state"])
    {
        client.publish(super::Q1 | 1, topic, id, "{}");
        assert_eq!(client.read(), Some((0x40, vec![0, id as u8])), "{topic}");
    }
    client.publish(super::Q2, "stat/plug/RESULT", 9, "{}");
    assert_eq!(client.read(), Some((0x50, vec![0, 9])));
    client.publish(super::Q1, "tele/plug/SENSOR", 4, "{\"t\":1}");
    assert_eq!(client.read(), Some((0x40, vec![0, 4])));
    assert_eq!(stats(&gateway), [1, 1, 0, 0, 0]);
    client.publish(super::Q1, "elsewhere", 5, "{}");
    assert_eq!(client.read(), None);
}

#[test]
fn a_bridge_of_mosquitto_forwards_to_the_gateway() {
    let gateway = start();
    let port = address(&gateway).port();
    for version in ["mqttv311", "mqttv50"] {
        let folder = tempfile::tempdir().unwrap();
        let bridge = format!(
            "allow_anonymous true\nconnection up\naddress 127.0.0.1:{port}\ntopic tele/# out 1\nbridge_protocol_version {version}\n\
             restart_timeout 1\n"
        );
        let broker = Mosquitto::start_in(folder.path(), &bridge);
        let before = stats(&gateway)[1];
        let local = SocketAddr::from(([127, 0, 0, 1], broker.port));
        wait_until("the bridge forwards", || {
            let sent = mosquitto("mosquitto_pub", local, &["-q", "1", "-t", "tele/plug/SENSOR", "-m", "1"]);
            assert!(sent.status.success());
            std::thread::sleep(Duration::from_millis(200));
            stats(&gateway)[1] > before
        });
    }
}
