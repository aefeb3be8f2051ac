//! Into a real NATS stream.

#![allow(clippy::unwrap_used)]

mod support;

use async_nats::jetstream::{Context, message::StreamMessage, stream};
use dunnage_gateway::Output;
use std::time::{Duration, Instant};
use support::{JSON, nats::Cluster, start_with};

fn output(urls: &[String], more: &str) -> Output {
    let text = format!("name = \"stream\"\n[nats]\nservers = {urls:?}\nstream = \"FLEET\"\n{more}");
    toml::from_str(&text).unwrap()
}

/// Waits until the stream has `count` messages, and reads them all.
async fn read(context: &Context, count: u64) -> Vec<StreamMessage> {
    let begun = Instant::now();
    let stream = loop {
        match context.get_stream("FLEET").await {
            Ok(stream) if stream.cached_info().state.messages >= count => break stream,
            _ => tokio::time::sleep(Duration::from_millis(20)).await,
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{count} messages do not arrive");
    };
    let state = &stream.cached_info().state;
    let mut messages = Vec::new();
    for sequence in state.first_sequence..=state.last_sequence {
        messages.push(stream.get_raw_message(sequence).await.unwrap());
    }
    messages
}

fn header<'m>(message: &'m StreamMessage, name: &str) -> &'m str {
    message.headers.get(name).map_or("", |value| value.as_str())
}

#[test]
fn a_message_has_its_device_for_a_subject_and_says_where_it_came_from() {
    let cluster = Cluster::start(1, "");
    let create = "subject = \"f.{partition}.{device}\"\npartitions = 1\n[nats.create]\nreplicas = 1";
    let gateway = start_with(|config| config.outputs.push(output(&cluster.urls(), create)));
    assert_eq!(
        gateway.post("/ingest/a.b?link=astrocast", "application/cbor", &[0xa1, 0x61, b't', 0x17]).status,
        204
    );
    let messages = gateway.runtime.block_on(async { read(&cluster.context().await, 1).await });
    let message = &messages[0];
    assert_eq!(&*message.subject, "f.0.a%2Eb");
    assert_eq!(&message.payload[..], br#"{"t":23}"#);
    for (name, value) in [
        ("Content-Type", JSON),
        ("Dunnage-Device", "a.b"),
        ("Dunnage-Format", "cbor"),
        ("Dunnage-Link", "astrocast"),
        ("Dunnage-Schema", ""),
    ] {
        assert_eq!(header(message, name), value, "{name}");
    }
    assert!(header(message, "Nats-Msg-Id").ends_with("-1"));
    assert!(!header(message, "X-Request-Id").is_empty());
    let stored = &gateway.get_json("/api/messages")["messages"][0];
    let micros: i64 = header(message, "Dunnage-Received-At").parse().unwrap();
    let millis = stored["received_at"].as_str().unwrap().get(20..23).unwrap().parse::<i64>().unwrap();
    assert_eq!(micros / 1000 % 1000, millis);
}

#[test]
fn a_stream_that_is_deleted_is_made_again_and_what_is_too_large_is_set_aside() {
    let cluster = Cluster::start(1, "max_payload: 2000");
    let gateway = start_with(|config| {
        config.outputs.push(output(&cluster.urls(), "ack_timeout_seconds = 2\n[nats.create]\nreplicas = 1"));
    });
    gateway.post("/ingest/d", JSON, b"1");
    let context = gateway.runtime.block_on(cluster.context());
    gateway.runtime.block_on(read(&context, 1));
    gateway.runtime.block_on(context.delete_stream("FLEET")).unwrap();
    gateway.post("/ingest/d", JSON, format!("\"{}\"", "x".repeat(3000)).as_bytes());
    gateway.post("/ingest/d", JSON, b"3");
    let messages = gateway.runtime.block_on(read(&context, 1));
    assert_eq!(&messages[0].payload[..], b"3");
    let (_, folder) = gateway.stop();
    let buffer = rusqlite::Connection::open(folder.path().join("buffer.sqlite3")).unwrap();
    let aside: (i64, String) = buffer
        .query_row("SELECT message_id, reason FROM undelivered", [], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    assert_eq!(aside.0, 2);
    assert!(aside.1.contains("payload"), "{}", aside.1);
}

#[test]
fn a_stream_that_is_missing_or_a_token_that_is_wrong_is_waited_for() {
    let cluster = Cluster::start(1, "authorization { token: secret }");
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, "wrong\n").unwrap();
    let settings = format!("token_file = {:?}", token.display().to_string());
    let gateway = start_with(|config| config.outputs.push(output(&cluster.urls(), &settings)));
    gateway.post("/ingest/d", JSON, b"1");
    let (_, buffer) = gateway.stop();

    std::fs::write(&token, "secret\n").unwrap();
    let gateway = support::start_in(buffer, |config| config.outputs.push(output(&cluster.urls(), &settings)));
    gateway.post("/ingest/d", JSON, b"2");
    let context = gateway.runtime.block_on(async {
        let options = async_nats::ConnectOptions::with_token("secret".into());
        async_nats::jetstream::new(options.connect(cluster.urls()).await.unwrap())
    });
    // Another stream with these subjects must not get them.
    let config = |name: &str| stream::Config {
        name: name.into(),
        subjects: vec!["dunnage.*".into()],
        ..Default::default()
    };
    gateway.runtime.block_on(context.create_stream(config("OTHER"))).unwrap();
    std::thread::sleep(Duration::from_secs(1));
    let other = gateway.runtime.block_on(context.get_stream("OTHER")).unwrap();
    assert_eq!(other.cached_info().state.messages, 0);
    gateway.runtime.block_on(context.delete_stream("OTHER")).unwrap();
    gateway.runtime.block_on(context.create_stream(config("FLEET"))).unwrap();
    let messages = gateway.runtime.block_on(read(&context, 2));
    let payloads: Vec<_> = messages.iter().map(|m| &m.payload[..]).collect();
    assert_eq!(payloads, [b"1", b"2"]);
}
