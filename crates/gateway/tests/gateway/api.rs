//! The API: messages, devices, statistics, health and events.

use crate::support::{JSON, Running, start, start_in};
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

fn ids(gateway: &Running, path: &str) -> Vec<u64> {
    let list = gateway.get_json(path);
    list["messages"].as_array().unwrap().iter().map(|m| m["id"].as_u64().unwrap()).collect()
}

#[test]
fn lists_are_newest_first_and_can_start_below_an_id() {
    let gateway = start();
    for n in 1..=6 {
        let device = if n % 2 == 0 { "even" } else { "odd" };
        assert_eq!(gateway.post(&format!("/ingest/{device}"), JSON, n.to_string().as_bytes()).status, 204);
    }
    assert_eq!(ids(&gateway, "/api/messages"), [6, 5, 4, 3, 2, 1]);
    assert_eq!(ids(&gateway, "/api/messages?limit=2&before=4"), [3, 2]);
    assert_eq!(ids(&gateway, "/api/devices/even/messages"), [6, 4, 2]);
    assert_eq!(ids(&gateway, "/api/devices/even/messages?limit=1&before=6"), [4]);
    assert_eq!(ids(&gateway, "/api/devices/odd/messages?before=1"), [0; 0]);
    assert_eq!(ids(&gateway, "/api/devices/odd/messages?before=4"), [3, 1]);
    assert_eq!(ids(&gateway, "/api/devices/odd/messages?before=99"), [5, 3, 1]);
}

/// Returns the times at which a device's messages were received, newest first.
fn times(gateway: &Running, device: &str) -> Vec<String> {
    let list = gateway.get_json(&format!("/api/devices/{device}/messages"));
    list["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["received_at"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn messages_of_a_range_of_times_are_paged() {
    let gateway = start();
    for n in 1..=6 {
        let device = if n % 2 == 0 { "even" } else { "odd" };
        gateway.post(&format!("/ingest/{device}"), JSON, n.to_string().as_bytes());
        std::thread::sleep(Duration::from_millis(5));
    }
    // 6, 4 and 2, of which each was received some milliseconds before the next.
    let [last, middle, _] = &times(&gateway, "even")[..] else { panic!("three messages") };
    for list in ["/api/messages?device=even&", "/api/devices/even/messages?"] {
        assert_eq!(ids(&gateway, &format!("{list}from={middle}")), [6, 4]);
        assert_eq!(ids(&gateway, &format!("{list}until={last}")), [4, 2]);
        assert_eq!(ids(&gateway, &format!("{list}from={middle}&until={last}")), [4]);
        assert_eq!(ids(&gateway, &format!("{list}until={last}&limit=1&before=4")), [2]);
    }
    assert_eq!(ids(&gateway, &format!("/api/messages?from={middle}&until={last}")), [5, 4]);
    assert_eq!(ids(&gateway, "/api/messages?from=2999-01-01T00:00:00%2B02:00"), [0; 0]);
    for bad in ["from=yesterday", "until=", "from=2026-01-31", "from=0&from=1", "form=2026-01-31T08:00:00Z"] {
        let answer = gateway.get(&format!("/api/messages?{bad}"));
        assert_eq!(answer.status, 400, "{bad}");
    }
}

#[test]
fn the_numbers_of_a_device_are_a_series() {
    let gateway = start();
    for n in 0..1000 {
        let message = json!({"t": n as f64 / 2.0, "text": format!("{n}"), "on": true, "list": [n, "x"]});
        assert_eq!(gateway.post("/ingest/d", JSON, message.to_string().as_bytes()).status, 204);
    }
    let series = gateway.get_json("/api/devices/d/series");
    assert_eq!((&series["messages"], &series["complete"]), (&json!(1000), &json!(true)));
    assert_eq!((&series["more_fields"], &series["device"]), (&json!(false), &json!("d")));
    let fields = series["fields"].as_array().unwrap();
    let pointers: Vec<_> = fields.iter().map(|field| field["pointer"].as_str().unwrap()).collect();
    assert_eq!(pointers, ["/t", "/text", "/list/0"]);
    let numbers = |name: &str| -> Vec<f64> {
        fields[0][name].as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
    };
    assert!(numbers("at").len() <= 400 && numbers("at").is_sorted());
    assert_eq!((numbers("low")[0], numbers("high")[0], numbers("last")[0]), (0.0, 0.0, 0.0));
    assert_eq!(numbers("last").last(), Some(&499.5));
    assert!(series["interval"].as_f64().unwrap() > 0.0);

    let newest = &times(&gateway, "d")[0];
    let one = gateway.get_json(&format!("/api/devices/d/series?from={newest}"));
    assert!(one["messages"].as_u64().unwrap() < 1000);
    let none = gateway.get_json("/api/devices/d/series?until=2001-01-01T00:00:00Z");
    assert_eq!(
        (&none["messages"], &none["first"], &none["interval"]),
        (&json!(0), &json!(null), &json!(null))
    );
    assert_eq!(gateway.get("/api/devices/nobody/series").status, 404);
    assert_eq!(gateway.get("/api/devices/d/series?limit=1").status, 400);
}

#[test]
fn a_message_has_its_bytes_and_what_they_mean() {
    let gateway = start();
    // {"t":23.5}
    gateway.post("/ingest/d", "application/vnd.dunnage.pson", b"\xc1\x81t\x40\x00\x00\xbc\x41");
    gateway.post("/ingest/d", JSON, br#"{"t":23.5}"#);
    // 5000 times 1.
    let many = [&[0x99, 0x13, 0x88][..], &[1; 5000]].concat();
    gateway.post("/ingest/d", "application/cbor", &many);
    let message = gateway.get_json("/api/messages/1");
    assert_eq!(
        (&message["id"], &message["device"], &message["hex"]),
        (&json!(1), &json!("d"), &json!("c18174400000bc41"))
    );
    assert_eq!(message["value"], json!({"t": 23.5}));
    assert!(!message["request"].as_str().unwrap().is_empty());
    let parts = message["explanation"]["parts"].as_array().unwrap();
    let places: Vec<_> = parts.iter().map(|part| (part["bit"].as_u64(), part["bits"].as_f64())).collect();
    assert_eq!(places, [(Some(0), Some(8.0)), (Some(8), Some(16.0)), (Some(24), Some(40.0))]);
    assert_eq!((&parts[2]["meaning"], &message["explanation"]["error"]), (&json!("23.5"), &json!(null)));
    let sizes = message["sizes"].as_array().unwrap();
    assert!(
        sizes.contains(&json!({"format": "pson", "bytes": 8}))
            && sizes.contains(&json!({"format": "json", "bytes": 10}))
    );
    assert_eq!(gateway.get_json("/api/messages/2")["explanation"], json!(null));
    let many = gateway.get_json("/api/messages/3");
    assert_eq!(many["explanation"]["parts"].as_array().unwrap().len(), 2000);
    assert_eq!(many["explanation"]["more"], true);
    for id in ["0", "-1", "4", "01", "x", "9223372036854775807", "9223372036854775808"] {
        assert_eq!(gateway.get(&format!("/api/messages/{id}")).status, 404, "{id}");
    }
}

#[test]
fn stats_count_stored_and_rejected_messages() {
    let gateway = start();
    let fresh = gateway.get_json("/api/stats");
    assert_eq!((&fresh["received"], &fresh["success_rate"]), (&json!(0), &json!(1.0)));
    gateway.post("/ingest/a", JSON, b"[1, 2]");
    gateway.post("/ingest/b", "application/cbor", &[0x82, 0x01, 0x02]);
    gateway.post("/ingest/b", JSON, b"[1");
    gateway.post("/ingest/%00", JSON, b"1");
    let stats = gateway.get_json("/api/stats");
    for (key, value) in [("received", 4), ("stored", 2), ("quarantined", 1), ("refused", 1), ("devices", 2)] {
        assert_eq!(stats[key], value, "{key}");
    }
    // The refused message has no part in it.
    assert_eq!(stats["success_rate"], 2.0 / 3.0);
    assert_eq!(stats["compression_ratio"], 10.0 / 9.0);
    // The queue may contain the regular check of the files.
    assert!(stats["queue_depth"].as_u64().unwrap() <= 1, "{stats}");
    assert_eq!(stats["queue_capacity"], 8192);
    assert_eq!(
        stats["formats"],
        json!([
            {"format": "json", "messages": 1, "bytes": 6, "json_bytes": 5},
            {"format": "cbor", "messages": 1, "bytes": 3, "json_bytes": 5}
        ])
    );
    assert_eq!(stats["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn bytes_and_infinity_are_objects_in_the_json_value() {
    let gateway = start();
    assert_eq!(gateway.post("/ingest/d", "application/cbor", &[0x82, 0x42, 1, 2, 0xf9, 0x7c, 0]).status, 204);
    let message = &gateway.get_json("/api/messages")["messages"][0];
    assert_eq!(message["value"], json!([{"$bytes": "AQI="}, {"$float": "Infinity"}]));
}

#[test]
fn integers_of_64_bits_are_shown_in_full() {
    let gateway = start();
    let text = "[9007199254740993,18446744073709551615,-9223372036854775808]";
    assert_eq!(gateway.post("/ingest/d", JSON, text.as_bytes()).status, 204);
    assert!(gateway.get("/api/messages").text.contains(&format!("\"value\":{text}")));
}

#[test]
fn health_readiness_and_metrics_are_served() {
    let gateway = start();
    gateway.post("/ingest/d", JSON, b"12");
    gateway.post("/ingest/d", JSON, b"1 2");
    assert_eq!(gateway.get("/healthz").status, 200);
    assert_eq!(gateway.get("/readyz").status, 200);
    let metrics = gateway.get("/metrics").text;
    for line in [
        "dunnage_stored_messages_total{format=\"json\"} 1",
        "dunnage_stored_bytes_total{format=\"json\"} 2",
        "dunnage_stored_json_bytes_total{format=\"json\"} 2",
        "dunnage_quarantined_messages_total{kind=\"malformed\"} 1",
        "dunnage_problem_messages_total{problem=\"malformed\"} 1",
        "dunnage_commit_duration_seconds_count 2",
        "dunnage_batch_messages_count 2",
        "dunnage_queue_messages 0",
        "dunnage_queue_bytes 0",
        "dunnage_devices 1",
        "dunnage_open_connections 1",
    ] {
        assert!(metrics.lines().any(|l| l == line), "{line}\n{metrics}");
    }
}

#[test]
fn the_content_security_policy_allows_only_resources_of_the_gateway() {
    let gateway = start();
    for path in ["/api/stats", "/", "/nothing"] {
        let headers = gateway.get(path).headers;
        let policy = headers["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'self'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(headers["x-content-type-options"], "nosniff");
    }
    assert_eq!(gateway.get("/../Cargo.toml").status, 404);
    assert_eq!(gateway.get("/%2e%2e/%2e%2e/Cargo.toml").status, 404);
}

/// Opens the event stream, sends a valid and an invalid message, and reads events until `enough` returns true.
fn read_events(gateway: &Running, enough: impl Fn(&[(String, Value)]) -> bool) -> Vec<(String, Value)> {
    let response = gateway.agent.get(gateway.url("/api/events")).call().unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    // The stream is open, so the following messages are in it.
    gateway.post("/ingest/a", JSON, b"{\"n\":1}");
    gateway.post("/ingest/a", JSON, b"{\"n\":");
    let (mut events, mut name) = (Vec::new(), String::new());
    for line in BufReader::new(response.into_body().into_reader()).lines() {
        let line = line.unwrap();
        if let Some(rest) = line.strip_prefix("event: ") {
            name = rest.into();
        } else if let Some(rest) = line.strip_prefix("data: ") {
            events.push((name.clone(), serde_json::from_str(rest).unwrap()));
        }
        if enough(&events) {
            break;
        }
    }
    events
}

#[test]
fn events_show_messages_quarantine_and_stats() {
    let gateway = start();
    let events = read_events(&gateway, |events| {
        events.iter().any(|(name, value)| name == "stats" && value["stored"] == 1)
    });
    let first = |name: &str| events.iter().find(|(n, _)| n == name).map(|(_, value)| value.clone()).unwrap();
    assert_eq!(events[0].0, "stats");
    assert_eq!(first("message"), gateway.get_json("/api/messages")["messages"][0]);
    assert_eq!(first("quarantine"), gateway.get_json("/api/quarantine")["messages"][0]);
}

#[test]
fn events_are_sampled_under_load() {
    let gateway = start();
    let response = gateway.agent.get(gateway.url("/api/events")).call().unwrap();
    let begun = Instant::now();
    for n in 0..400 {
        gateway.post("/ingest/a", JSON, n.to_string().as_bytes());
    }
    let seconds = begun.elapsed().as_secs_f64();
    let stopping = std::thread::spawn(move || gateway.stop());
    let mut text = String::new();
    response.into_body().into_reader().read_to_string(&mut text).unwrap();
    let shown = text.matches("event: message").count();
    assert!(shown >= 50 && shown as f64 <= 51.0 + 50.0 * seconds, "{shown} in {seconds} s");
    assert_eq!(stopping.join().unwrap().0.stored, 400);
}

#[test]
fn a_stop_ends_event_streams_at_once() {
    let gateway = start();
    let response = gateway.agent.get(gateway.url("/api/events")).call().unwrap();
    let begun = Instant::now();
    gateway.stop();
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    response.into_body().into_reader().read_to_end(&mut Vec::new()).unwrap();
}

/// A list of a device's messages without waypoints is walked from its end, which takes long enough to be interrupted.
#[test]
fn a_query_ends_when_its_client_closes_the_connection() {
    let gateway = start();
    assert_eq!(gateway.post("/ingest/d", JSON, b"1").status, 204);
    assert_eq!(gateway.post("/ingest/e", JSON, b"1").status, 204);
    let (_, folder) = gateway.stop();
    let buffer = rusqlite::Connection::open(folder.path().join("buffer.sqlite3")).unwrap();
    buffer
        .execute_batch(
            "INSERT INTO messages (id, received_at, device, format, previous, raw, json)
             WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n LIMIT 200000)
             SELECT i, i, 'd', 'json', iif(i = 3, 1, i - 1), x'31', '1' FROM n;
             UPDATE devices SET last_id = 200002 WHERE device = 'd';
             UPDATE totals SET last_message_id = 200002",
        )
        .unwrap();
    drop(buffer);
    let gateway = start_in(folder, |_| ());
    // The message 2 is another device's.
    let query = "/api/devices/d/messages?before=2";
    let begun = Instant::now();
    assert_eq!(ids(&gateway, query), [1]);
    let one = begun.elapsed();
    let address = gateway.gateway.address();
    let send_query = || {
        let mut client = TcpStream::connect(address).unwrap();
        write!(client, "GET {query} HTTP/1.1\r\nhost: {address}\r\n\r\n").unwrap();
        client
    };
    // There are more queries than connections to the buffer: four run, and the others wait for their turn.
    let clients: Vec<_> = (0..16).map(|_| send_query()).collect();
    std::thread::sleep(one / 4);
    drop(clients);
    let begun = Instant::now();
    assert_eq!(gateway.get("/api/messages?limit=1").status, 200);
    let waited = begun.elapsed();
    // If the running queries did not end, this one would wait for the first of them, at least three quarters of its time.
    assert!(waited < one / 2, "{waited:?} behind queries of {one:?} each");
}
