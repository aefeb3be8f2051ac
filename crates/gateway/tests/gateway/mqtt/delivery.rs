//! Messages over MQTT are stored once and in order, also when they are sent again and when the gateway is killed.

use super::{DUP, Q1, Q2, address, bodies, start, stats};
use crate::support::{
    acme::free_port,
    block_commits, child,
    mqtt::{Client, packet},
    start_in,
    tools::tool,
    wait::wait_until,
};
use std::{
    collections::HashSet,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

fn paho(port: u16, arguments: &[&str]) -> Child {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/mqtt_publish.py");
    let mut command = Command::new(tool("venv/bin/python"));
    command.arg(script).arg(port.to_string()).args(arguments).stdout(Stdio::piped());
    command.spawn().unwrap()
}

#[test]
fn messages_of_paho_are_stored_once_and_in_order() {
    let gateway = start();
    let port = address(&gateway).port();
    for (at, version, qos) in [(0, "5", "1"), (200, "3", "2"), (400, "5", "2")] {
        let output = paho(port, &[version, qos, "2", "200", &at.to_string()]).wait_with_output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 400);
    }
    assert_eq!(stats(&gateway), [1200, 1200, 0, 0, 0]);
    let (_, folder) = gateway.stop();
    let all: Vec<_> = (0..600).map(|n| n.to_string()).collect();
    assert_eq!(bodies(folder.path(), "paho-0"), all);
    assert_eq!(bodies(folder.path(), "paho-1"), all);
}

#[test]
fn a_repeated_qos_2_message_is_stored_once() {
    for version in [4, 5] {
        let gateway = start();
        let address = address(&gateway);
        let (mut client, present) = Client::connect(address, version, "c", true);
        assert!(!present);
        client.publish(Q2, "v1/d/json", 7, "1");
        assert_eq!(client.read().unwrap(), (0x50, vec![0, 7]));
        drop(client);
        // The client did not see the PUBREC.
        let (mut client, present) = Client::connect(address, version, "c", true);
        assert!(present);
        client.publish(Q2 | DUP, "v1/d/json", 7, "1");
        assert_eq!(client.read().unwrap(), (0x50, vec![0, 7]));
        client.send(&packet(0x62, &[0, 7]));
        assert_eq!(client.read().unwrap(), (0x70, vec![0, 7]));
        // After the PUBREL, the identifier is free for another message.
        client.publish(Q2, "v1/d/json", 7, "2");
        assert_eq!(client.read().unwrap(), (0x50, vec![0, 7]));
        // A client that forgot the message under the identifier sends another one.
        client.publish(Q2, "v1/d/json", 7, "3");
        assert_eq!(client.read().unwrap(), (0x50, vec![0, 7]));
        assert_eq!(stats(&gateway), [4, 3, 0, 0, 1]);
        client.send(&packet(0x62, &[0, 8]));
        let unknown: &[u8] = if version == 5 { &[0, 8, 0x92, 0] } else { &[0, 8] };
        assert_eq!(client.read().unwrap(), (0x70, unknown.to_vec()));
    }
}

#[test]
fn a_repeated_qos_1_message_without_puback_is_stored_once() {
    let gateway = start();
    let address = address(&gateway);
    let (mut first, _) = Client::connect(address, 5, "c", true);
    let held = block_commits(gateway.folder.path());
    first.publish(Q1, "v1/d/json", 9, "1");
    let received = "dunnage_received_messages_total{input=\"mqtt\",format=\"json\"} 1";
    wait_until("the message is received", || gateway.get("/metrics").text.contains(received));
    // The client connects again before the message is stored.
    let mut second = Client::open(address, 5);
    second.send(&second.connect_packet("c", true, 60));
    assert_eq!(first.read().map(|(first, body)| (first, body[0])), Some((0xe0, 0x8e)));
    drop(held);
    let (_, body) = second.read().unwrap();
    assert_eq!(&body[..2], &[1, 0], "the session is present");
    second.publish(Q1 | DUP, "v1/d/json", 9, "1");
    assert_eq!(second.read().unwrap(), (0x40, vec![0, 9]));
    // The identifier is free again.
    second.publish(Q1 | DUP, "v1/d/json", 9, "1");
    assert_eq!(second.read().unwrap(), (0x40, vec![0, 9]));
    assert_eq!(stats(&gateway), [3, 2, 0, 0, 1]);
}

#[test]
fn a_kill_under_load_loses_no_acknowledged_message() {
    const ROUNDS: usize = 3;
    let folder = tempfile::tempdir().unwrap();
    let mut acknowledged = HashSet::new();
    for round in 0..ROUNDS {
        let port = free_port();
        let config = format!("[[input]]\nname = 'devices'\n[input.mqtt]\nlisten = '127.0.0.1:{port}'");
        child::configure(folder.path(), &config);
        let gateway = child::start(folder.path(), "");
        let version = if round == 1 { "3" } else { "5" };
        let mut clients = paho(port, &[version, "1", "4", "1000000", &(round * 1_000_000).to_string()]);
        let mut lines = BufReader::new(clients.stdout.take().unwrap()).lines();
        // Kill the gateway after some hundred acknowledgements.
        acknowledged.extend(lines.by_ref().take(400 + 97 * round).map(Result::unwrap));
        gateway.kill();
        acknowledged.extend(lines.map(Result::unwrap));
        clients.wait().unwrap();
    }
    let gateway = start_in(folder, |_| ());
    let (_, folder) = gateway.stop();
    let mut stored = HashSet::new();
    for client in 0..4 {
        let bodies = bodies(folder.path(), &format!("paho-{client}"));
        let numbers: Vec<usize> = bodies.iter().map(|body| body.parse().unwrap()).collect();
        assert!(numbers.windows(2).all(|two| two[0] < two[1]), "client {client} is out of order");
        stored.extend(bodies.iter().map(|body| format!("{client} {body}")));
    }
    let lost = acknowledged.difference(&stored).count();
    println!(
        "kill -9, {ROUNDS} rounds: {} acknowledged, {} stored, {lost} lost",
        acknowledged.len(),
        stored.len()
    );
    assert_eq!(lost, 0);
}

/// Some batches fail because the database is away for moments. Messages that were submitted after those in a failed batch are not written
/// before them.
#[test]
fn messages_keep_their_order_when_a_write_fails() {
    const ROUNDS: u16 = 60;
    const MESSAGES: u16 = 200;
    let gateway = start();
    let database = gateway.folder.path().join("buffer.sqlite3");
    let away = database.with_extension("away");
    let (mut client, _) = Client::connect(address(&gateway), 4, "order", false);
    let mut sent = 0;
    for round in 0..ROUNDS {
        for n in 0..MESSAGES {
            sent += 1;
            client.publish(Q1, "v1/d/json", sent, &sent.to_string());
            match n {
                20 => std::fs::rename(&database, &away).unwrap(),
                100 => {
                    std::thread::sleep(Duration::from_micros(100) * (round % 30).into());
                    std::fs::rename(&away, &database).unwrap();
                }
                _ => {}
            }
        }
        for n in sent - MESSAGES + 1..=sent {
            let (first, body) = client.read().unwrap();
            assert_eq!((first, u16::from_be_bytes([body[0], body[1]])), (0x40, n));
        }
    }
    let refused = stats(&gateway)[3];
    println!("{refused} of {sent} messages were refused by the writer and submitted again");
    assert!(refused > 0);
    let (_, folder) = gateway.stop();
    let sent: Vec<_> = (1..=ROUNDS * MESSAGES).map(|n| n.to_string()).collect();
    // A batch that was committed just before the database was away is written again: QoS 1 allows that.
    let mut seen = HashSet::new();
    let mut stored = bodies(folder.path(), "d");
    let all = stored.len();
    stored.retain(|body| seen.insert(body.clone()));
    println!("{} of {all} rows repeat an earlier one", all - stored.len());
    let differs = stored.iter().zip(&sent).position(|(stored, sent)| stored != sent);
    let near = differs.map(|at| &stored[at.saturating_sub(3)..(at + 3).min(stored.len())]);
    assert!(stored == sent, "{} of {} stored, near the first difference {near:?}", stored.len(), sent.len());
}
