//! Messages on their way from the ingest through the buffer to another system.

#![allow(clippy::disallowed_methods)]

use crate::support::{JSON, Running, start_in, start_with, wait::wait_until};
use axum::{Json, Router, extract::State, http::StatusCode, routing::post};
use dunnage_gateway::{OutputKind, OutputSettings, Which};
use serde_json::Value;
use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

#[derive(Clone, Default)]
pub struct Received(Arc<Mutex<Vec<Value>>>, Arc<AtomicBool>);

impl Received {
    /// Returns the messages so far.
    pub fn messages(&self) -> Vec<Value> {
        self.0.lock().unwrap().clone()
    }
}

async fn receive(State(received): State<Received>, Json(message): Json<Value>) -> StatusCode {
    if message["value"] == "poison" && !received.1.load(Ordering::Relaxed) {
        return StatusCode::UNPROCESSABLE_ENTITY;
    }
    received.0.lock().unwrap().push(message);
    StatusCode::NO_CONTENT
}

/// Starts a server that stores the messages that it receives, on its own runtime.
pub fn server(received: &Received) -> (tokio::runtime::Runtime, SocketAddr) {
    let runtime = crate::support::runtime();
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().route("/in", post(receive)).with_state(received.clone());
    runtime.spawn(async move { axum::serve(listener, router).await });
    (runtime, address)
}

pub fn output(address: SocketAddr) -> OutputSettings {
    let http = toml::from_str(&format!("url = 'http://{address}/in'")).unwrap();
    OutputSettings::new("archive", OutputKind::Http(http))
}

/// Waits until `count` messages are received. Returns all received messages.
pub fn wait_for_messages(received: &Received, count: usize) -> Vec<Value> {
    wait_until(&format!("{count} messages"), || received.0.lock().unwrap().len() >= count);
    received.messages()
}

fn send(gateway: &Running, range: std::ops::Range<usize>) {
    for n in range {
        assert_eq!(gateway.post("/ingest/d", JSON, n.to_string().as_bytes()).status, 204);
    }
}

#[test]
fn messages_arrive_in_order_and_delivery_resumes_after_a_restart() {
    let received = Received::default();
    let (_runtime, address) = server(&received);
    let gateway = start_with(|config| config.outputs.push(output(address)));
    send(&gateway, 0..5);
    wait_for_messages(&received, 5);
    let (_, folder) = gateway.stop();
    let gateway = start_in(folder, |config| config.outputs.push(output(address)));
    send(&gateway, 5..8);
    let messages = wait_for_messages(&received, 8);
    let values: Vec<_> = messages.iter().map(|m| m["value"].as_u64().unwrap()).collect();
    assert_eq!(values, [0, 1, 2, 3, 4, 5, 6, 7]);
    let stable_id = messages[7]["name"].as_str().unwrap();
    assert!(stable_id.starts_with('m') && stable_id.ends_with("-8"), "{stable_id}");
}

#[test]
fn refused_messages_become_dead_letters_and_do_not_block_others() {
    let received = Received::default();
    let (_runtime, address) = server(&received);
    let gateway = start_with(|config| config.outputs.push(output(address)));
    gateway.post("/ingest/d", JSON, b"\"poison\"");
    gateway.post("/ingest/d", JSON, b"1");
    assert_eq!(wait_for_messages(&received, 1)[0]["value"], 1);
    let (_, folder) = gateway.stop();
    let buffer = rusqlite::Connection::open(folder.path().join("buffer.sqlite3")).unwrap();
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let dead_letter: (String, i64, String) =
        buffer.query_row("SELECT output, message_id, reason FROM undelivered", [], read).unwrap();
    assert_eq!((&*dead_letter.0, dead_letter.1), ("archive", 1));
    assert!(dead_letter.2.contains("422"), "{}", dead_letter.2);
}

#[test]
fn dead_letters_are_retried_or_discarded_on_request() {
    let received = Received::default();
    let (_runtime, address) = server(&received);
    let gateway = start_with(|config| config.outputs.push(output(address)));
    for _ in 0..3 {
        gateway.post("/ingest/d", JSON, b"\"poison\"");
    }
    gateway.post("/ingest/d", JSON, b"1");
    wait_for_messages(&received, 1);
    let listed = || {
        let list = gateway.gateway.dead_letters("archive", 0, 100);
        let list = gateway.runtime.block_on(list).unwrap();
        list.into_iter().map(|dead_letter| dead_letter.message_id).collect::<Vec<_>>()
    };
    assert_eq!(listed(), [1, 2, 3]);
    let discarded = gateway.gateway.discard("archive", Which::Ids(vec![1, 99]));
    assert_eq!(gateway.runtime.block_on(discarded).unwrap(), 1);
    assert_eq!(listed(), [2, 3]);
    received.1.store(true, Ordering::Relaxed);
    assert_eq!(gateway.runtime.block_on(gateway.gateway.retry("archive", Which::All)).unwrap(), 2);
    let retried = wait_for_messages(&received, 3);
    let stable_ids: Vec<_> = retried[1..].iter().map(|message| message["name"].as_str().unwrap()).collect();
    assert!(stable_ids[0].ends_with("-2") && stable_ids[1].ends_with("-3"), "{stable_ids:?}");
    wait_until("the list is empty", || listed().is_empty());
    assert!(gateway.runtime.block_on(gateway.gateway.retry("archives", Which::All)).is_err());
    let status = gateway.gateway.outputs().remove(0);
    assert_eq!((status.delivered, status.refused, status.dropped), (3, 3, 1), "{status:?}");
    let text = gateway.get("/metrics").text;
    assert!(text.contains("dunnage_output_dropped_messages_total{output=\"archive\"} 1"), "{text}");
    assert_eq!(gateway.get_json("/api/stats")["outputs"][0]["refused"], 3);
}
