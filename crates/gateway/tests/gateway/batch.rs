//! Batches: several messages in a body, as lines, as a CBOR sequence, and with lengths.

use crate::support::{Answer, Running, agent, answer, child, start, start_in, start_with, wait::wait_until};
use dunnage_formats::{Cbor, Format, Json};
use serde_json::{Value, json};
use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};
use tempfile::TempDir;

const LINES: &str = "application/x-ndjson";
const SEQUENCE: &str = "application/cbor-seq";
const PACKED: &str = "application/vnd.dunnage.batch; format=packed";

/// The container message in the container layout.
const CONTAINER: &str = "01545fff3e3256edeb7f9da6d9029e20e09863d131d41606db395db927e591c8c593ab6cdbbc6cb3f432987a7f67d035a9811a310b0c0700";

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

fn send(agent: &ureq::Agent, url: &str, content_type: &str, key: &str, body: &[u8]) -> Answer {
    let request = agent.post(url).header("content-type", content_type);
    answer(if key.is_empty() { request } else { request.header("idempotency-key", key) }.send(body).unwrap())
}

/// Returns the values of the stored messages, oldest first.
fn values(gateway: &Running) -> Vec<Value> {
    let list = gateway.get_json("/api/messages?limit=1000");
    list["messages"].as_array().unwrap().iter().rev().map(|message| message["value"].clone()).collect()
}

/// Returns `count` lines with consecutive numbers from `first`.
fn lines(first: usize, count: usize) -> String {
    (first..first + count).map(|n| format!("{{\"n\":{n}}}\n")).collect()
}

#[test]
fn all_messages_are_stored_in_order_and_once() {
    let gateway = start();
    let url = gateway.url("/ingest/d?link=lte-m");
    for _ in 0..2 {
        let answer = send(&gateway.agent, &url, LINES, "k", lines(0, 1000).as_bytes());
        assert_eq!((answer.status, answer.text.as_str()), (204, ""));
    }
    assert_eq!(values(&gateway), (0..1000).map(|n| json!({"n": n})).collect::<Vec<_>>());
    assert_eq!(gateway.get_json("/api/messages?limit=1")["messages"][0]["link"], "lte-m");
    // Without a key it is another batch, and a longer one with the key has more messages.
    assert_eq!(send(&gateway.agent, &url, LINES, "", lines(0, 2).as_bytes()).status, 204);
    assert_eq!(send(&gateway.agent, &url, LINES, "k", lines(0, 1001).as_bytes()).status, 204);
    assert_eq!(send(&gateway.agent, &url, LINES, "k 1", b"1").status, 400);
    let (summary, folder) = gateway.stop();
    assert_eq!(
        (summary.received, summary.stored, summary.duplicates, summary.refused),
        (3004, 1003, 2000, 1)
    );
    let gateway = start_in(folder, |_| ());
    assert_eq!(
        send(&gateway.agent, &gateway.url("/ingest/d"), LINES, "k", lines(0, 9).as_bytes()).status,
        204
    );
    let (summary, _) = gateway.stop();
    assert_eq!((summary.stored, summary.duplicates), (0, 9));
}

#[test]
fn curl_sends_lines_from_a_file() {
    let gateway = start();
    let file = gateway.folder.path().join("readings.jsonl");
    std::fs::write(&file, "{\"n\":1}\r\n\n{\"n\":2}").unwrap();
    let mut curl = Command::new("curl");
    curl.args(["--silent", "--show-error", "--write-out", "%{http_code}", "--header"]);
    curl.arg(format!("Content-Type: {LINES}")).arg("--data-binary").arg(format!("@{}", file.display()));
    let output = curl.arg(gateway.url("/ingest/d")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "204");
    assert_eq!(values(&gateway), [json!({"n": 1}), json!({"n": 2})]);
}

#[test]
fn invalid_messages_are_reported_by_index_and_quarantined_and_the_others_are_stored() {
    let gateway = start();
    let body = b"{\"n\":1}\n{\"n\":\n\n[\"a\"]\n{\"n\":1,}\n";
    let answer = send(&gateway.agent, &gateway.url("/ingest/d"), LINES, "", body);
    assert_eq!((answer.status, answer.content_type.as_str()), (207, "application/json"), "{}", answer.text);
    let report = answer.json();
    assert_eq!((&report["messages"], &report["stored"]), (&json!(4), &json!(2)));
    let found: Vec<_> = report["problems"].as_array().unwrap().iter().collect();
    let brief = |at: usize| {
        let (piece, problem) = (found[at], &found[at]["problem"]);
        [&piece["index"], &piece["offset"], &problem["kind"], &problem["offset"], &problem["status"]]
            .map(Clone::clone)
    };
    assert_eq!(found.len(), 2);
    assert_eq!(brief(0), [json!(1), json!(8), json!("truncated"), json!(5), json!(400)]);
    assert_eq!(brief(1), [json!(3), json!(21), json!("malformed"), json!(7), json!(400)]);
    assert_eq!(values(&gateway), [json!({"n": 1}), json!(["a"])]);
    let quarantine = gateway.get_json("/api/quarantine");
    assert_eq!(quarantine["messages"][1]["hex"], "7b226e223a");
    assert_eq!(quarantine["messages"][1]["content_type"], "application/json");
    let metrics = gateway.get("/metrics").text;
    assert!(metrics.contains("dunnage_problem_messages_total{problem=\"malformed\"} 2"), "{metrics}");
    let answer = send(&gateway.agent, &gateway.url("/ingest/d"), LINES, "", b"");
    assert_eq!((answer.status, &answer.json()["problems"][0]["problem"]["kind"]), (207, &json!("truncated")));
    let (summary, _) = gateway.stop();
    assert_eq!((summary.received, summary.stored, summary.quarantined), (5, 2, 3));
}

#[test]
fn a_truncated_cbor_sequence_is_stored_up_to_its_last_complete_message() {
    let gateway = start();
    let mut body = Vec::new();
    for n in 0..100 {
        let message = Json.decode(format!("{{\"n\":{n},\"text\":\"é\"}}").as_bytes()).unwrap();
        Cbor.encode(&message, &mut body).unwrap();
    }
    let url = gateway.url("/ingest/d");
    assert_eq!(send(&gateway.agent, &url, SEQUENCE, "", &body).status, 204);
    assert_eq!(values(&gateway).len(), 100);
    assert_eq!(values(&gateway)[99], json!({"n": 99, "text": "é"}));
    let answer = send(&gateway.agent, &url, SEQUENCE, "", &body[..body.len() - 1]);
    let problems = &answer.json()["problems"];
    assert_eq!((answer.status, problems.as_array().unwrap().len()), (207, 1));
    assert_eq!((&problems[0]["index"], &problems[0]["problem"]["kind"]), (&json!(99), &json!("truncated")));
    assert_eq!(gateway.stop().0.stored, 199);
}

#[test]
fn each_packed_message_has_a_length_prefix() {
    let gateway = start_with(|config| {
        config.profiles.push(toml::from_str("device = '*'\nschema = 'container'").unwrap());
    });
    let message = bytes(CONTAINER);
    let one = [&[u8::try_from(message.len()).unwrap()][..], &message].concat();
    let url = gateway.url("/ingest/d");
    assert_eq!(send(&gateway.agent, &url, PACKED, "", &one.repeat(20)).status, 204);
    assert_eq!(gateway.get_json("/api/messages?limit=1")["messages"][0]["bytes"], message.len());
    // The layout applies to each message, and a truncated message is quarantined.
    let answer = send(&gateway.agent, &url, &format!("{PACKED}; layout=00000000"), "", &one.repeat(2));
    assert_eq!(answer.json()["problems"][1]["problem"]["type"], "urn:dunnage:problem:unknown-layout");
    let answer = send(&gateway.agent, &url, PACKED, "", &one.repeat(2)[..2 * one.len() - 1]);
    assert_eq!((answer.status, &answer.json()["stored"]), (207, &json!(1)));
    assert_eq!(answer.json()["problems"][0]["offset"], one.len());
    let quarantined = gateway.get_json("/api/quarantine")["messages"][0].clone();
    assert_eq!((&quarantined["kind"], &quarantined["bytes"]), (&json!("truncated"), &json!(one.len() - 1)));
    // Without the parameter `format`, the batch is quarantined as a whole.
    let answer = send(&gateway.agent, &url, "application/vnd.dunnage.batch", "", &one);
    assert_eq!(answer.status, 415);
    assert_eq!(gateway.get_json("/api/quarantine")["messages"][0]["kind"], "media-type");
    let (summary, _) = gateway.stop();
    assert_eq!((summary.stored, summary.quarantined, summary.refused), (21, 4, 0));
}

#[test]
fn a_batch_is_limited_by_its_messages_the_queue_and_the_rate_of_the_device() {
    let gateway = start();
    let url = gateway.url("/ingest/d");
    assert_eq!(send(&gateway.agent, &url, LINES, "", lines(0, 1024).as_bytes()).status, 204);
    let answer = send(&gateway.agent, &url, LINES, "", lines(0, 1025).as_bytes());
    assert_eq!((answer.status, &answer.json()["kind"]), (413, &json!("limit")));
    assert_eq!(gateway.stop().0.stored, 1024);

    let gateway = start_with(|config| config.buffer.queue_messages = 4);
    let url = gateway.url("/ingest/d");
    assert_eq!(send(&gateway.agent, &url, LINES, "", lines(0, 5).as_bytes()).status, 413);
    // Entries that the gateway itself queues at the start may occupy a place.
    wait_until("the queue is empty", || {
        send(&gateway.agent, &url, LINES, "", lines(0, 4).as_bytes()).status == 204
    });

    let gateway = start_with(|config| config.access.device_messages_per_minute = 5);
    let url = gateway.url("/ingest/d");
    let answer = send(&gateway.agent, &url, LINES, "", lines(0, 6).as_bytes());
    assert_eq!(answer.status, 429, "{}", answer.text);
    assert!(answer.headers.contains_key("retry-after"));
    assert_eq!(values(&gateway).len(), 0);
    assert_eq!(
        send(&gateway.agent, &gateway.url("/ingest/e"), LINES, "", lines(0, 5).as_bytes()).status,
        204
    );
}

/// Returns how many messages are stored, and how many different ones.
fn stored(folder: &Path) -> (i64, i64) {
    let buffer = rusqlite::Connection::open(folder.join("buffer.sqlite3")).unwrap();
    let sql = "SELECT count(*), count(DISTINCT json) FROM messages";
    buffer.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
}

#[test]
fn every_message_of_an_acknowledged_batch_survives_a_kill() {
    let folder = TempDir::new().unwrap();
    let child = child::start(folder.path(), "");
    let url = format!("{}/ingest/d", child.url);
    for batch in 0..5 {
        let body = lines(batch * 700, 700);
        assert_eq!(send(&agent(), &url, LINES, &batch.to_string(), body.as_bytes()).status, 204);
    }
    child.kill();
    assert_eq!(stored(folder.path()), (3500, 3500));
}

#[test]
fn a_partly_written_batch_is_stored_once_when_it_is_sent_again() {
    let folder = TempDir::new().unwrap();
    let child = child::start(folder.path(), "trap '' XFSZ; ulimit -S -f 800");
    let (agent, url) = (agent(), format!("{}/ingest/d", child.url));
    let send = |batch: usize| {
        send(&agent, &url, LINES, &batch.to_string(), lines(batch * 500, 500).as_bytes()).status
    };
    let failed = (0..400).find(|batch| send(*batch) == 503).expect("the disk fails");
    let raise = ["--pid", &child.child.id().to_string(), "--fsize=unlimited"];
    assert!(Command::new("prlimit").args(raise).status().unwrap().success());
    let begun = Instant::now();
    while send(failed) != 204 {
        assert!(begun.elapsed() < Duration::from_secs(20), "the gateway does not recover");
    }
    child.stop();
    let all = i64::try_from((failed + 1) * 500).unwrap();
    assert_eq!(stored(folder.path()), (all, all));
}
