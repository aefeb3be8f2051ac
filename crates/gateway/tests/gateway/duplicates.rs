//! Duplicates are stored once: in one batch, after a restart and after a kill. A message that was not stored can be sent again.

use crate::support::{JSON, Running, agent, answer, child, post_with_key, start, start_in, start_with};
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader},
    process::Command,
    time::{Duration, Instant},
};

fn send(gateway: &Running, device: &str, key: &str, body: &[u8]) {
    let answer = post_with_key(&gateway.agent, &gateway.url(&format!("/ingest/{device}")), key, body);
    assert_eq!(answer.status, 204, "{}", answer.text);
}

fn values(gateway: &Running) -> Vec<Value> {
    let list = gateway.get_json("/api/messages");
    list["messages"].as_array().unwrap().iter().map(|message| message["value"].clone()).collect()
}

#[test]
fn duplicates_by_key_are_stored_once_and_counted() {
    let gateway = start();
    send(&gateway, "a", "1", b"1");
    send(&gateway, "a", "1", b"2");
    send(&gateway, "a", "\"1\"", b"3");
    send(&gateway, "b", "1", b"4");
    send(&gateway, "a", "2", b"5");
    gateway.post("/ingest/a", JSON, b"5");
    gateway.post("/ingest/a", JSON, b"5");
    assert_eq!(values(&gateway), [json!(5), json!(5), json!(5), json!(4), json!(1)]);
    let stats = gateway.get_json("/api/stats");
    for (key, value) in
        [("received", 7), ("stored", 5), ("duplicates", 2), ("refused", 0), ("quarantined", 0)]
    {
        assert_eq!(stats[key], value, "{key}");
    }
    assert_eq!(stats["success_rate"], 1.0);
    let metrics = gateway.get("/metrics").text;
    for line in [
        "dunnage_duplicate_messages_total 2",
        "dunnage_remembered_messages 3",
        "dunnage_forgotten_messages_total 0",
    ] {
        assert!(metrics.lines().any(|l| l == line), "{line}\n{metrics}");
    }
    let (summary, _) = gateway.stop();
    assert_eq!((summary.received, summary.stored, summary.duplicates), (7, 5, 2));
}

#[test]
fn a_message_with_two_keys_is_rejected() {
    let gateway = start();
    let request = gateway.agent.post(gateway.url("/ingest/a")).header("content-type", JSON);
    let request = request.header("idempotency-key", "1").header("idempotency-key", "2");
    let answer = answer(request.send("1").unwrap());
    assert_eq!((answer.status, &answer.json()["kind"]), (400, &Value::Null), "{}", answer.text);
    assert!(answer.text.contains("at most one Idempotency-Key"), "{}", answer.text);
    let request = gateway.agent.post(gateway.url("/ingest/a")).header("content-type", JSON);
    let answer =
        crate::support::answer(request.header("content-type", "application/cbor").send("1").unwrap());
    assert_eq!(answer.status, 415, "{}", answer.text);
    assert_eq!(gateway.stop().0.stored, 0);
}

#[test]
fn the_key_of_a_rejected_message_can_be_used_again() {
    let gateway = start();
    let url = gateway.url("/ingest/a");
    assert_eq!(post_with_key(&gateway.agent, &url, "1", b"[").status, 400);
    send(&gateway, "a", "1", b"1");
    assert_eq!(values(&gateway), [json!(1)]);
}

#[test]
fn concurrent_duplicates_are_stored_once() {
    const CLIENTS: usize = 16;
    const KEYS: usize = 25;
    let gateway = start();
    let url = gateway.url("/ingest/a");
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                let agent = agent();
                for key in 0..KEYS {
                    let key = key.to_string();
                    assert_eq!(post_with_key(&agent, &url, &key, key.as_bytes()).status, 204);
                }
            });
        }
    });
    let mut found: Vec<_> = values(&gateway).iter().map(|v| v.as_u64().unwrap()).collect();
    found.sort_unstable();
    assert_eq!(found, (0..KEYS as u64).collect::<Vec<_>>());
    assert_eq!(gateway.get_json("/api/devices")["devices"][0]["messages"], KEYS);
    let (summary, _) = gateway.stop();
    assert_eq!((summary.stored, summary.duplicates), (KEYS as u64, ((CLIENTS - 1) * KEYS) as u64));
}

#[test]
fn duplicates_are_detected_after_a_restart_and_after_a_kill() {
    let gateway = start();
    send(&gateway, "a", "1", b"1");
    let (_, folder) = gateway.stop();
    let child = child::start(folder.path(), "");
    let url = format!("{}/ingest/a", child.url);
    for key in ["1", "2", "3"] {
        assert_eq!(post_with_key(&agent(), &url, key, key.as_bytes()).status, 204);
    }
    child.kill();
    let gateway = start_in(folder, |_| ());
    for key in ["1", "2", "3", "4"] {
        send(&gateway, "a", key, b"0");
    }
    assert_eq!(values(&gateway), [json!(0), json!(3), json!(2), json!(1)]);
    let (summary, folder) = gateway.stop();
    assert_eq!((summary.stored, summary.duplicates), (1, 3));

    let gateway = start_in(folder, |config| config.buffer.duplicate_window_seconds = 0);
    send(&gateway, "a", "4", b"4");
    send(&gateway, "a", "4", b"4");
    assert_eq!(gateway.stop().0.stored, 2);
}

#[test]
fn a_key_is_forgotten_after_the_duplicate_window() {
    let gateway = start_with(|config| config.buffer.duplicate_window_seconds = 1);
    send(&gateway, "a", "1", b"1");
    std::thread::sleep(Duration::from_millis(1100));
    send(&gateway, "a", "1", b"2");
    assert_eq!(values(&gateway), [json!(2), json!(1)]);
}

#[test]
fn the_key_of_a_message_that_could_not_be_written_can_be_used_again() {
    let folder = tempfile::tempdir().unwrap();
    let gateway = child::start(folder.path(), "trap '' XFSZ; ulimit -S -f 800");
    let (agent, url) = (agent(), format!("{}/ingest/d", gateway.url));
    let body = format!("\"{}\"", "x".repeat(4000));
    let mut keys = 0..2000;
    let failed =
        keys.find(|key| post_with_key(&agent, &url, &key.to_string(), body.as_bytes()).status == 503);
    let failed = failed.expect("the disk fails");
    let raise = ["--pid", &gateway.child.id().to_string(), "--fsize=unlimited"];
    assert!(Command::new("prlimit").args(raise).status().unwrap().success());
    let begun = Instant::now();
    while post_with_key(&agent, &url, &failed.to_string(), body.as_bytes()).status != 204 {
        assert!(begun.elapsed() < Duration::from_secs(20), "the gateway does not recover");
    }
    gateway.stop();
    let buffer = rusqlite::Connection::open(folder.path().join("buffer.sqlite3")).unwrap();
    let sql = "SELECT count(*), count(DISTINCT key), max(CAST(key AS INTEGER)) FROM messages";
    let found: (i64, i64, i64) =
        buffer.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    assert_eq!(found, (failed + 1, failed + 1, failed));
}

#[test]
fn events_have_the_right_ids_among_duplicates() {
    let gateway = start();
    let events = gateway.agent.get(gateway.url("/api/events")).call().unwrap();
    std::thread::scope(|scope| {
        for client in 0..8 {
            let url = gateway.url(&format!("/ingest/{client}"));
            scope.spawn(move || {
                let agent = agent();
                for n in 0..5 {
                    for _ in 0..2 {
                        let body = format!("[{client},{n}]");
                        assert_eq!(post_with_key(&agent, &url, &n.to_string(), body.as_bytes()).status, 204);
                    }
                }
            });
        }
    });
    let list = gateway.get_json("/api/messages?limit=1000");
    assert_eq!(list["messages"].as_array().unwrap().len(), 40);
    gateway.stop();
    let mut shown = 0;
    for line in BufReader::new(events.into_body().into_reader()).lines() {
        let Ok(event) = serde_json::from_str::<Value>(line.unwrap().strip_prefix("data: ").unwrap_or(""))
        else {
            continue;
        };
        if let Some(id) = event["id"].as_u64() {
            shown += 1;
            let stored = list["messages"].as_array().unwrap().iter().find(|message| message["id"] == id);
            assert_eq!(stored, Some(&event));
        }
    }
    assert!(shown > 0);
}
