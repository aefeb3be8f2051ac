//! Into a real NATS stream.

use crate::support::{JSON, nats::Cluster, start_with};
use async_nats::jetstream::{Context, consumer::pull, message::StreamMessage, stream};
use dunnage_gateway::{InputSettings, OutputKind, OutputSettings};
use std::time::{Duration, Instant};

fn output(urls: &[String], more: &str) -> OutputSettings {
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
fn a_stream_that_is_made_has_bounds_and_what_does_not_fit_waits() {
    const MESSAGES: usize = 60;
    let cluster = Cluster::start(1, "");
    let create = "ack_timeout_seconds = 2\n[nats.create]\nreplicas = 1\nmax_bytes = 50000";
    let gateway = start_with(|config| config.outputs.push(output(&cluster.urls(), create)));
    for n in 0..MESSAGES {
        let body = format!("\"{n:02}{}\"", "x".repeat(2000));
        assert_eq!(gateway.post(&format!("/ingest/d{n}"), JSON, body.as_bytes()).status, 204);
    }
    let context = gateway.runtime.block_on(cluster.context());
    let mut seen = std::collections::BTreeSet::new();
    let begun = Instant::now();
    while seen.len() < MESSAGES {
        let messages = gateway.runtime.block_on(read(&context, 1));
        seen.extend(messages.iter().map(|m| m.payload.get(1..3).unwrap().to_vec()));
        // A full stream keeps what it has; there is room when somebody makes it.
        let mut stream = gateway.runtime.block_on(context.get_stream("FLEET")).unwrap();
        let info = gateway.runtime.block_on(stream.info()).unwrap();
        assert!(info.state.bytes <= 50_000, "{}", info.state.bytes);
        assert_eq!((info.config.max_bytes, info.config.discard), (50_000, stream::DiscardPolicy::New));
        assert_eq!(info.config.max_age, Duration::from_secs(604_800));
        let last = messages.last().unwrap().sequence;
        gateway.runtime.block_on(async { stream.purge().sequence(last + 1).await }).unwrap();
        assert!(begun.elapsed() < Duration::from_secs(90), "{}", seen.len());
    }
}

#[test]
fn tokens_of_an_output_and_an_input_are_read_again_by_a_reload() {
    let cluster = Cluster::start(1, "authorization { token: secret }");
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, "wrong\n").unwrap();
    let secret = format!("token_file = {:?}\n", token.display().to_string());
    let create = format!("payload = \"raw\"\n{secret}[nats.create]\nreplicas = 1");
    let sender = start_with(|config| config.outputs.push(output(&cluster.urls(), &create)));
    let urls = cluster.urls();
    let taken = format!(
        "name = \"fleet\"\n[nats]\nservers = {urls:?}\nstream = \"FLEET\"\nconsumer = \"f\"\n{secret}"
    );
    let taker = start_with(|config| config.inputs.push(toml::from_str(&taken).unwrap()));
    assert_eq!(sender.post("/ingest/d", JSON, b"1").status, 204);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(taker.get_json("/api/stats")["received"], 0);
    std::fs::write(&token, "secret\n").unwrap();
    for gateway in [&sender, &taker] {
        gateway.runtime.block_on(gateway.gateway.reload()).unwrap();
    }
    wait_for_stats(&taker, 1, 0);
    // A file that cannot be read leaves everything as it was.
    std::fs::remove_file(&token).unwrap();
    let error = sender.runtime.block_on(sender.gateway.reload()).unwrap_err().to_string();
    assert!(error.contains("[[output]] name = \"stream\"") && error.contains("token_file"), "{error}");
    assert_eq!(sender.post("/ingest/d", JSON, b"2").status, 204);
    wait_for_stats(&taker, 2, 0);
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
    let gateway =
        crate::support::start_in(buffer, |config| config.outputs.push(output(&cluster.urls(), &settings)));
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

fn input(urls: &[String]) -> InputSettings {
    let text = format!("name = \"fleet\"\n[nats]\nservers = {urls:?}\nstream = \"FLEET\"\nconsumer = \"f\"");
    toml::from_str(&text).unwrap()
}

#[test]
fn what_is_in_a_stream_is_stored_or_kept_and_known_when_it_comes_again() {
    let cluster = Cluster::start(1, "");
    let gateway = start_with(|config| {
        config.inputs.push(input(&cluster.urls()));
        config.http.body_limit_bytes = 1000;
    });
    let context = gateway.runtime.block_on(cluster.context());
    let config = stream::Config { name: "FLEET".into(), subjects: vec!["x.>".into()], ..Default::default() };
    gateway.runtime.block_on(context.create_stream(config)).unwrap();
    let publish = |subject: &str, headers: &[(&str, &str)], payload: &[u8]| {
        let mut map = async_nats::HeaderMap::new();
        headers.iter().for_each(|(name, value)| map.insert(*name, *value));
        let sent = context.publish_with_headers(subject.to_owned(), map, payload.to_vec().into());
        gateway.runtime.block_on(async { sent.await.unwrap().await.unwrap() });
    };
    let whole = [
        ("Content-Type", "application/cbor"),
        ("Dunnage-Device", "a.b"),
        ("Dunnage-Received-At", "1587602980049999"),
        ("Dunnage-Link", "astrocast"),
        ("X-Request-Id", "request-1"),
        ("Nats-Msg-Id", "m0a1b2c3d-7"),
    ];
    publish("x.1", &whole, &[0xa1, 0x61, b't', 0x17]);
    publish("x.c%2Ed", &[("Content-Type", JSON)], b"2");
    publish("x.c%2Ed", &[("Content-Type", JSON)], b"2");
    publish("x.e", &[("Content-Type", JSON)], b"[");
    publish("x.e", &[], b"1");
    publish("x.e", &[("Content-Type", JSON), ("Dunnage-Device", "no id")], b"1");
    publish("x.e", &[("Content-Type", JSON), ("Dunnage-Schema", "nowhere")], b"1");
    publish("x.e", &[("Content-Type", JSON)], &[b' '; 2000]);
    let stats = wait_for_stats(&gateway, 3, 5);
    assert_eq!((&stats["refused"], &stats["received"]), (&0.into(), &8.into()));
    let of = |device: &str| gateway.get_json(&format!("/api/devices/{device}/messages"))["messages"].clone();
    let whole = &of("a.b")[0];
    assert_eq!(whole["value"]["t"], 23);
    assert_eq!(whole["received_at"], "2020-04-23T00:49:40.049Z");
    assert_eq!(whole["link"], "astrocast");
    assert_eq!(of("c.d").as_array().unwrap().len(), 2);
    let kept = gateway.get_json("/api/quarantine")["messages"].clone();
    let mut kinds: Vec<_> = kept
        .as_array()
        .unwrap()
        .iter()
        .map(|m| (m["kind"].as_str().unwrap(), m["device"].as_str().unwrap()))
        .collect();
    kinds.sort_unstable();
    let expected = [
        ("limit", "e"),
        ("media-type", "e"),
        ("name", "unknown"),
        ("truncated", "e"),
        ("unknown-schema", "e"),
    ];
    assert_eq!(kinds, expected);

    // Without its consumer the stream is taken from its begin: what is stored is known, however old it says it is.
    let (_, folder) = gateway.stop();
    let runtime = crate::support::runtime();
    runtime.block_on(async {
        let context = cluster.context().await;
        let stream = context.get_stream("FLEET").await.unwrap();
        assert_eq!(
            stream.get_consumer::<pull::Config>("f").await.unwrap().cached_info().ack_floor.stream_sequence,
            8
        );
        stream.delete_consumer("f").await.unwrap();
    });
    let gateway = crate::support::start_in(folder, |config| {
        config.inputs.push(input(&cluster.urls()));
        config.http.body_limit_bytes = 1000;
    });
    let stats = wait_for_stats(&gateway, 3, 10);
    assert_eq!(stats["duplicates"], 3);
    let buffer = rusqlite::Connection::open(gateway.folder.path().join("buffer.sqlite3")).unwrap();
    let request: String =
        buffer.query_row("SELECT request FROM messages WHERE device = 'a.b'", [], |row| row.get(0)).unwrap();
    assert_eq!(request, "request-1");
}

/// Waits until so many messages are stored, and so many kept.
fn wait_for_stats(gateway: &crate::support::Running, stored: u64, kept: u64) -> serde_json::Value {
    let begun = Instant::now();
    loop {
        let stats = gateway.get_json("/api/stats");
        if stats["stored"] == stored && stats["quarantined"] == kept {
            return stats;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{stats}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_containers_configurations_are_some() {
    for file in ["gateway.toml", "forwarder.toml"] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy").join(file);
        let of_container = dunnage_gateway::Config::load(Some(&path)).unwrap();
        assert!(of_container.outputs.len() + of_container.inputs.len() > 0);
        let gateway = start_with(|config| {
            (config.inputs, config.outputs) = (of_container.inputs, of_container.outputs);
            for output in &mut config.outputs {
                if let OutputKind::Files(files) = &mut output.kind {
                    files.path = config.buffer.path.with_extension("files");
                }
            }
        });
        assert_eq!(gateway.post("/ingest/d", JSON, b"1").status, 204);
        gateway.stop();
    }
}
