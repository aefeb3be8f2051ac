//! A stream with a replica on each of three NATS servers: no message is lost, duplicated or out of order if a server or a forwarder is
//! killed.

#![allow(clippy::disallowed_methods)]

use crate::support::{JSON, child, nats::Cluster, start_with, wait::wait_for};
use async_nats::jetstream::{Context, message::StreamMessage};
use axum::{Json, Router, extract::State, http::StatusCode, routing::post};
use dunnage_gateway::Config;
use serde_json::Value;
use std::{
    collections::{HashMap, HashSet},
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

const STREAM: &str = "subject = \"fleet.{partition}.{device}\"\npartitions = 2\nack_timeout_seconds = 2\n[output.nats.create]\nreplicas = 3\n";

fn output(cluster: &Cluster, more: &str) -> Config {
    let urls = cluster.urls();
    let head = format!(
        "[[output]]\nname = \"stream\"\n[output.nats]\nservers = {urls:?}\nstream = \"FLEET\"\n{more}"
    );
    toml::from_str(&format!("{head}{STREAM}")).unwrap()
}

/// Posts increasing numbers as each device until `stop` is set. The devices are spread over the gateways. Returns the number of acknowledged
/// messages.
fn load(urls: &[String], devices: usize, stop: &AtomicBool) -> u64 {
    let sent = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for device in 0..devices {
            let sent = &sent;
            scope.spawn(move || {
                let agent = crate::support::agent();
                for n in 0_usize.. {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    // Each device always uses the same gateway, because messages sent to two gateways could arrive in any order.
                    let url = format!("{}/ingest/d.{device}", urls[device % urls.len()]);
                    assert_eq!(
                        crate::support::post(&agent, &url, JSON, n.to_string().as_bytes()).status,
                        204
                    );
                    sent.fetch_add(1, Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(40));
                }
            });
        }
    });
    sent.into_inner() as u64
}

/// Panics unless each device's numbers count up from 0 without a gap, and every stable ID occurs once. Returns the number of messages.
fn check(messages: impl Iterator<Item = (String, String, u64)>) -> u64 {
    let (mut next, mut stable_ids, mut count) = (HashMap::new(), HashSet::new(), 0);
    for (device, stable_id, number) in messages {
        assert!(stable_ids.insert(stable_id.clone()), "{stable_id} occurs twice");
        let expected = next.entry(device.clone()).or_insert(0);
        assert_eq!(number, *expected, "{device}");
        *expected += 1;
        count += 1;
    }
    count
}

async fn read_all(context: &Context) -> Vec<StreamMessage> {
    let stream = context.get_stream("FLEET").await.unwrap();
    let state = &stream.cached_info().state;
    let mut messages = Vec::new();
    for sequence in state.first_sequence..=state.last_sequence {
        messages.push(stream.get_raw_message(sequence).await.unwrap());
    }
    messages
}

#[test]
fn nats_servers_killed_under_load_neither_lose_nor_duplicate_messages() {
    let mut cluster = Cluster::start(3, "");
    let gateway = start_with(|config| config.outputs = output(&cluster, "").outputs);
    let context = gateway.runtime.block_on(cluster.context());
    let (urls, stop) = ([gateway.url("")], AtomicBool::new(false));
    let messages = || {
        let stream = gateway.runtime.block_on(context.get_stream("FLEET")).map_err(|e| e.to_string())?;
        Ok::<_, String>(stream.cached_info().clone())
    };
    let wait_for_more = |count: u64| {
        let before = AtomicUsize::new(usize::MAX);
        wait_for(|| {
            let now = messages()?.state.messages;
            before.fetch_min(now as usize, Ordering::Relaxed);
            (now >= before.load(Ordering::Relaxed) as u64 + count).then_some(()).ok_or(format!("{now}"))
        });
    };
    let acknowledged = std::thread::scope(|scope| {
        let load = scope.spawn(|| load(&urls, 12, &stop));
        wait_for_more(50);
        for _ in 0..2 {
            let leader = wait_for(|| {
                let leader = messages()?.cluster.and_then(|cluster| cluster.leader);
                leader.ok_or_else(|| "no leader".to_owned())
            });
            let node = cluster.find(&leader);
            cluster.kill(node);
            // Two of three servers still have a quorum.
            wait_for_more(50);
            cluster.restart(node);
            wait_for_more(50);
        }
        stop.store(true, Ordering::Relaxed);
        load.join().unwrap()
    });
    wait_for(|| {
        let now = messages()?.state.messages;
        (now >= acknowledged).then_some(()).ok_or(format!("{now} of {acknowledged}"))
    });
    let all = gateway.runtime.block_on(read_all(&context));
    let header = |m: &StreamMessage, name: &str| m.headers.get(name).unwrap().to_string();
    let count = check(all.iter().map(|m| {
        let number = std::str::from_utf8(&m.payload).unwrap().parse().unwrap();
        (header(m, "Dunnage-Device"), header(m, "Nats-Msg-Id"), number)
    }));
    let stored = gateway.get_json("/api/stats")["stored"].as_u64().unwrap();
    println!(
        "{acknowledged} acknowledged, {stored} stored, {count} checked in the stream, which has {} messages",
        all.len()
    );
    assert_eq!(
        (stored, count, messages().unwrap().state.messages),
        (acknowledged, acknowledged, acknowledged)
    );
}

type Received = Arc<Mutex<Vec<Value>>>;

async fn receive(State(received): State<Received>, Json(message): Json<Value>) -> StatusCode {
    received.lock().unwrap().push(message);
    StatusCode::NO_CONTENT
}

/// Configures a forwarder in `folder` that reads the stream of `cluster` and delivers to the URL `to`.
fn configure_forwarder(folder: &Path, cluster: &Cluster, to: &str) {
    let urls = cluster.urls();
    let text = format!(
        "[[input]]\nname = \"fleet\"\n[input.nats]\nservers = {urls:?}\nstream = \"FLEET\"\nconsumer = \"forwarder\"\nsubjects = [\"fleet.0.>\", \"fleet.1.>\"]\n\
         [[output]]\nname = \"archive\"\n[output.http]\nurl = \"{to}\"\n"
    );
    child::configure(folder, &text);
}

#[test]
fn two_gateways_and_a_killed_forwarder_deliver_every_message_once_and_in_order() {
    let mut cluster = Cluster::start(3, "");
    let received = Received::default();
    let server = crate::support::runtime();
    let listener = server.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let to = format!("http://{}/in", listener.local_addr().unwrap());
    let router = Router::new().route("/in", post(receive)).with_state(Arc::clone(&received));
    server.spawn(async move { axum::serve(listener, router).await });

    let raw = "payload = \"raw\"\n";
    let gateways = [(); 2].map(|()| start_with(|config| config.outputs = output(&cluster, raw).outputs));
    let (urls, stop) = (gateways.each_ref().map(|gateway| gateway.url("")), AtomicBool::new(false));
    let folder = tempfile::tempdir().unwrap();
    configure_forwarder(folder.path(), &cluster, &to);
    let wait_for_more = |count: usize| {
        let before = received.lock().unwrap().len();
        wait_for(|| {
            let now = received.lock().unwrap().len();
            (now >= before + count).then_some(()).ok_or(format!("{now} received"))
        });
    };
    let (acknowledged, last) = std::thread::scope(|scope| {
        let load = scope.spawn(|| load(&urls, 12, &stop));
        for _ in 0..3 {
            let forwarder = child::start(folder.path(), "");
            wait_for_more(40);
            forwarder.kill();
        }
        let last = child::start(folder.path(), "");
        wait_for_more(40);
        cluster.kill(0);
        wait_for_more(40);
        cluster.restart(0);
        wait_for_more(40);
        stop.store(true, Ordering::Relaxed);
        (load.join().unwrap(), last)
    });
    let stable_ids = || -> HashSet<String> {
        received.lock().unwrap().iter().map(|m| m["name"].as_str().unwrap().to_owned()).collect()
    };
    wait_for(|| {
        let now = stable_ids().len() as u64;
        (now >= acknowledged).then_some(()).ok_or(format!("{now} of {acknowledged}"))
    });
    last.stop();
    // After a kill, a message may be delivered again with the same stable ID; only its first delivery counts.
    let mut seen = HashSet::new();
    let messages = received.lock().unwrap().clone();
    let first = messages.iter().filter(|m| seen.insert(m["name"].clone()));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let count = check(first.map(|m| (text(&m["device"]), text(&m["name"]), m["value"].as_u64().unwrap())));
    let buffer = rusqlite::Connection::open(folder.path().join("buffer.sqlite3")).unwrap();
    let sql =
        "SELECT (SELECT count(*) FROM messages), (SELECT count(*) FROM quarantine), duplicates FROM totals";
    let (stored, quarantined, duplicates): (u64, u64, u64) =
        buffer.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    println!(
        "{acknowledged} acknowledged, {stored} stored by the forwarder ({duplicates} duplicates), {count} delivered, {} deliveries",
        messages.len()
    );
    assert_eq!((stored, quarantined, count), (acknowledged, 0, acknowledged));
    // The forwarder preserves the stable IDs and the request IDs of the first gateways.
    let stable_id = messages[0]["name"].as_str().unwrap();
    let stored_by = gateways.map(|gateway| gateway.stop().1);
    let stored_request = |folder: &tempfile::TempDir| {
        let buffer = rusqlite::Connection::open(folder.path().join("buffer.sqlite3")).unwrap();
        let buffer_id: String = buffer.query_row("SELECT name FROM totals", [], |row| row.get(0)).unwrap();
        let id = stable_id.strip_prefix(&format!("m{buffer_id}-"))?.parse::<i64>().unwrap();
        let sql = "SELECT request, received_at FROM messages WHERE id = ?";
        buffer.query_row(sql, [id], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?))).ok()
    };
    let (request, _) =
        stored_by.iter().find_map(stored_request).expect("one of the gateways stored the message");
    assert_eq!(messages[0]["request"], request);
}
