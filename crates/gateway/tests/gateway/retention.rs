//! Retention of the buffer: delivered messages make room, undelivered messages stay, and a full buffer rejects messages.

#![allow(clippy::disallowed_methods)]

use crate::support::{JSON, Running, runtime, start_in, start_with, wait::wait_until};
use axum::{Router, extract::State, http::StatusCode, routing::post};
use dunnage_gateway::{Config, OutputKind, OutputSettings, WhenFull, http_output};
use rusqlite::Connection;
use serde_json::Value;
use std::{
    net::SocketAddr,
    path::Path,
    sync::{Arc, Mutex},
};
use tokio::runtime::Runtime;

const LIMIT: u64 = 1 << 20;

/// A server that responds to each message with `answer` and stores the values of accepted messages. It always refuses the
/// value "poison".
struct Server {
    answer: Mutex<StatusCode>,
    accepted: Mutex<Vec<Value>>,
}

fn server(answer: StatusCode) -> (Runtime, SocketAddr, Arc<Server>) {
    let server = Arc::new(Server { answer: Mutex::new(answer), accepted: Mutex::default() });
    let runtime = runtime();
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    let receive = |State(server): State<Arc<Server>>, body: String| async move {
        let value = serde_json::from_str::<Value>(&body).unwrap()["value"].clone();
        if value["text"] == "poison" {
            return StatusCode::UNPROCESSABLE_ENTITY;
        }
        let answer = *server.answer.lock().unwrap();
        if answer.is_success() {
            server.accepted.lock().unwrap().push(value);
        }
        answer
    };
    let router = Router::new().route("/", post(receive)).with_state(Arc::clone(&server));
    runtime.spawn(async move { axum::serve(listener, router).await });
    (runtime, address, server)
}

fn limited(config: &mut Config, address: Option<SocketAddr>) {
    config.buffer.limit_bytes = LIMIT;
    if let Some(address) = address {
        let http = settings(&format!("http://{address}/"));
        config.outputs.push(OutputSettings::new("archive", OutputKind::Http(http)));
    }
}

fn settings(url: &str) -> http_output::Settings {
    toml::from_str(&format!("url = '{url}'")).unwrap()
}

fn body(n: usize) -> String {
    format!("{{\"n\":{n},\"text\":\"{}\"}}", "x".repeat(1500))
}

fn send(gateway: &Running, n: usize) -> u16 {
    gateway.post(&format!("/ingest/device{}", n % 3), JSON, body(n).as_bytes()).status
}

fn number(folder: &Path, sql: &str) -> i64 {
    let connection = Connection::open(folder.join("buffer.sqlite3")).unwrap();
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn full_buffer_without_an_output_rejects_messages() {
    let gateway = start_with(|config| limited(config, None));
    let mut stored = 0;
    let refused = loop {
        let answer = gateway.post("/ingest/d", JSON, body(stored).as_bytes());
        match answer.status {
            204 => stored += 1,
            _ => break answer,
        }
        assert!(stored < 2000, "the buffer is never full");
    };
    assert_eq!((refused.status, refused.headers["retry-after"].to_str().unwrap()), (503, "1"));
    assert_eq!(refused.json()["type"], "urn:dunnage:problem:buffer-full");
    let ready = gateway.get("/readyz");
    assert!(ready.status == 503 && ready.text.contains("the buffer is full"), "{}", ready.text);
    let metrics = gateway.get("/metrics").text;
    assert!(
        metrics.contains("\ndunnage_buffer_full 1\n") && metrics.contains("\ndunnage_buffer_writable 1\n")
    );
    // An alert on a rise sees the first message of each kind.
    assert!(
        metrics.contains("\ndunnage_quarantined_messages_total{kind=\"unknown-layout\"} 0\n"),
        "{metrics}"
    );
    assert_eq!(gateway.get_json("/api/stats")["stored"], stored);
    let (_, folder) = gateway.stop();
    assert_eq!(number(folder.path(), "SELECT count(*) FROM messages"), stored as i64);
    let live = "SELECT (SELECT page_count FROM pragma_page_count()) * 8192";
    assert!(number(folder.path(), live).unsigned_abs() < 2 * LIMIT);

    // After a restart, the buffer is full from the first transaction on.
    let gateway = start_in(folder, |config| limited(config, None));
    wait_until("the buffer is full", || send(&gateway, 0) == 503);
}

#[test]
fn delivered_messages_make_room_and_the_others_stay() {
    let (_runtime, address, server) = server(StatusCode::OK);
    let gateway = start_with(|config| limited(config, Some(address)));
    assert_eq!(gateway.post("/ingest/quiet", JSON, br#"{"text":"only"}"#).status, 204);
    assert_eq!(gateway.post("/ingest/device0", JSON, br#"{"text":"poison"}"#).status, 204);
    assert_eq!(send(&gateway, 1), 204);
    let first = gateway.get_json("/api/devices/device1")["first_seen"].clone();
    let of_message = &gateway.get_json("/api/devices/device1/messages")["messages"][0]["received_at"];
    assert!(first.is_string() && first == *of_message, "{first} {of_message}");
    for n in 0..1500 {
        wait_until("a message is stored", || match send(&gateway, n) {
            204 => true,
            503 => false,
            other => panic!("{other}"),
        });
    }
    wait_until("all messages are delivered", || server.accepted.lock().unwrap().len() == 1502);
    let stats = gateway.get_json("/api/stats");
    let dropped = stats["dropped"].as_i64().unwrap();
    assert!(dropped > 500, "{dropped}");
    // The list of a device ends at its oldest message that was not dropped.
    let list = gateway.get_json("/api/devices/device1/messages?limit=1000");
    let list = list["messages"].as_array().unwrap();
    assert!(!list.is_empty() && list.len() < 500);
    assert_eq!(gateway.get_json("/api/devices")["devices"].as_array().unwrap().len(), 4);
    assert_eq!(gateway.get_json("/api/devices/quiet/messages")["messages"][0]["value"]["text"], "only");
    let metrics = gateway.get("/metrics").text;
    assert!(metrics.contains("dunnage_buffer_dropped_messages_total"), "{metrics}");
    let mut oldest = i64::MAX;
    loop {
        let page = gateway.get_json(&format!("/api/messages?limit=200&before={oldest}"));
        let Some(last) = page["messages"].as_array().unwrap().last() else { break };
        oldest = last["id"].as_i64().unwrap();
    }
    assert_eq!(oldest, 1);
    let (_, folder) = gateway.stop();
    let left = number(folder.path(), "SELECT count(*) FROM messages");
    let (stored, dropped) = ("SELECT stored FROM totals", "SELECT dropped FROM totals");
    assert_eq!(left, number(folder.path(), stored) - number(folder.path(), dropped));
    assert_eq!(number(folder.path(), "SELECT count(*) FROM messages WHERE id = 2"), 1, "a dead letter stays");
    assert_eq!(number(folder.path(), "SELECT damages FROM totals"), 0);
    let live = "SELECT (SELECT page_count FROM pragma_page_count()) * 8192";
    assert!(number(folder.path(), live).unsigned_abs() < 2 * LIMIT);
    // The first message of the device was dropped; when it came is still known, also after a restart.
    assert_eq!(number(folder.path(), "SELECT count(*) FROM messages WHERE id = 3"), 0);
    let gateway = start_in(folder, |config| limited(config, Some(address)));
    assert_eq!(gateway.get_json("/api/devices/device1")["first_seen"], first);
}

#[test]
fn undelivered_messages_are_never_dropped_and_delivery_makes_room() {
    let (_runtime, address, server) = server(StatusCode::SERVICE_UNAVAILABLE);
    let gateway = start_with(|config| limited(config, Some(address)));
    let mut stored = 0;
    while send(&gateway, stored) == 204 {
        stored += 1;
        assert!(stored < 2000, "the buffer is never full");
    }
    assert_eq!(gateway.get_json("/api/stats")["dropped"], 0);
    *server.answer.lock().unwrap() = StatusCode::OK;
    wait_until("there is room again", || send(&gateway, stored) == 204);
    wait_until("all messages are delivered", || server.accepted.lock().unwrap().len() > stored);
    let mut accepted: Vec<_> =
        server.accepted.lock().unwrap().iter().map(|value| value["n"].as_u64().unwrap() as usize).collect();
    accepted.sort_unstable();
    accepted.dedup();
    assert_eq!(accepted, (0..=stored).collect::<Vec<_>>());
}

#[test]
fn when_full_refuse_keeps_delivered_messages() {
    let (_runtime, address, _server) = server(StatusCode::OK);
    let gateway = start_with(|config| {
        limited(config, Some(address));
        config.buffer.when_full = WhenFull::Refuse;
    });
    let mut stored = 0;
    while send(&gateway, stored) == 204 {
        stored += 1;
        assert!(stored < 2000, "the buffer is never full");
    }
    assert_eq!(gateway.get_json("/api/stats")["dropped"], 0);
}

#[test]
fn old_delivered_messages_are_dropped() {
    let (_runtime, address, server) = server(StatusCode::OK);
    let gateway = start_with(|config| limited(config, Some(address)));
    for n in 0..20 {
        assert_eq!(send(&gateway, n), 204);
    }
    wait_until("all messages are delivered", || server.accepted.lock().unwrap().len() == 20);
    let (_, folder) = gateway.stop();
    let path = folder.path().join("buffer.sqlite3");
    // Backdates the messages. Without their checksums, the gateway does not detect the change.
    let sql = "UPDATE messages SET received_at = received_at - 7200000000, \"check\" = NULL WHERE id <= 15";
    Connection::open(path).unwrap().execute(sql, []).unwrap();
    let gateway = start_in(folder, |config| {
        limited(config, Some(address));
        config.buffer.keep_delivered_hours = 1;
    });
    wait_until("old messages are dropped", || gateway.get_json("/api/stats")["dropped"] == 15);
    assert_eq!(gateway.get_json("/api/messages")["messages"].as_array().unwrap().len(), 5);
}

#[test]
fn receive_times_in_the_future_do_not_block_retention() {
    let (_runtime, address, server) = server(StatusCode::OK);
    let gateway = start_with(|config| limited(config, Some(address)));
    for n in 0..20 {
        assert_eq!(send(&gateway, n), 204);
    }
    wait_until("all messages are delivered", || server.accepted.lock().unwrap().len() == 20);
    let (_, folder) = gateway.stop();
    // The clock was ten years ahead for the first two messages and correct for the later ones, which are old now.
    let connection = Connection::open(folder.path().join("buffer.sqlite3")).unwrap();
    let sql = "UPDATE messages SET \"check\" = NULL, received_at = received_at + iif(id <= 2, 315360000000000, -7200000000) WHERE id <= 15";
    connection.execute(sql, []).unwrap();
    drop(connection);
    let gateway = start_in(folder, |config| {
        limited(config, Some(address));
        config.buffer.keep_delivered_hours = 1;
    });
    wait_until("old messages are dropped", || gateway.get_json("/api/stats")["dropped"] == 13);
    assert_eq!(gateway.get_json("/api/messages")["messages"].as_array().unwrap().len(), 7);
}
