//! The NATS output and input, against a real NATS server.

use crate::support::{
    JSON,
    nats::Cluster,
    start_with,
    wait::{wait_for, wait_until},
};
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
        assert!(begun.elapsed() < Duration::from_secs(60), "{count} messages did not arrive");
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
fn messages_have_the_device_in_the_subject_and_their_origin_in_headers() {
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
fn deleted_stream_is_created_again_and_too_large_messages_become_dead_letters() {
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
    let dead_letter: (i64, String) = buffer
        .query_row("SELECT message_id, reason FROM undelivered", [], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    assert_eq!(dead_letter.0, 2);
    assert!(dead_letter.1.contains("payload"), "{}", dead_letter.1);
}

#[test]
fn created_stream_has_limits_and_messages_beyond_them_wait() {
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
        // A full stream rejects new messages until somebody makes room, as the purge below does.
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
fn reload_reads_the_tokens_of_nats_outputs_and_inputs_again() {
    let cluster = Cluster::start(1, "authorization { token: secret }");
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, "wrong\n").unwrap();
    let secret = format!("token_file = {:?}\n", token.display().to_string());
    let create = format!("payload = \"raw\"\n{secret}[nats.create]\nreplicas = 1");
    let sender = start_with(|config| config.outputs.push(output(&cluster.urls(), &create)));
    let urls = cluster.urls();
    let settings_of_input = format!(
        "name = \"fleet\"\n[nats]\nservers = {urls:?}\nstream = \"FLEET\"\nconsumer = \"f\"\n{secret}"
    );
    let receiver = start_with(|config| config.inputs.push(toml::from_str(&settings_of_input).unwrap()));
    assert_eq!(sender.post("/ingest/d", JSON, b"1").status, 204);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(receiver.get_json("/api/stats")["received"], 0);
    std::fs::write(&token, "secret\n").unwrap();
    for gateway in [&sender, &receiver] {
        gateway.runtime.block_on(gateway.gateway.reload()).unwrap();
    }
    wait_for_stats(&receiver, 1, 0);
    // If the file cannot be read, the gateway goes on with the old token.
    std::fs::remove_file(&token).unwrap();
    let error = sender.runtime.block_on(sender.gateway.reload()).unwrap_err().to_string();
    assert!(error.contains("[[output]] name = \"stream\"") && error.contains("token_file"), "{error}");
    assert_eq!(sender.post("/ingest/d", JSON, b"2").status, 204);
    wait_for_stats(&receiver, 2, 0);
}

#[test]
fn output_waits_for_a_missing_stream_and_a_valid_token() {
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
    // Another stream with the same subjects must not receive the messages.
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
fn messages_of_a_stream_are_stored_or_quarantined_and_redeliveries_are_duplicates() {
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
    let all_headers = [
        ("Content-Type", "application/cbor"),
        ("Dunnage-Device", "a.b"),
        ("Dunnage-Received-At", "1587602980049999"),
        ("Dunnage-Link", "astrocast"),
        ("X-Request-Id", "request-1"),
        ("Nats-Msg-Id", "m0a1b2c3d-7"),
    ];
    publish("x.1", &all_headers, &[0xa1, 0x61, b't', 0x17]);
    publish("x.c%2Ed", &[("Content-Type", JSON)], b"2");
    publish("x.c%2Ed", &[("Content-Type", JSON)], b"2");
    publish("x.e", &[("Content-Type", JSON)], b"[");
    publish("x.e", &[], b"1");
    publish("x.e", &[("Content-Type", JSON), ("Dunnage-Device", "no%00id")], b"1");
    publish("x.e", &[("Content-Type", JSON), ("Dunnage-Schema", "nowhere")], b"1");
    publish("x.e", &[("Content-Type", JSON)], &[b' '; 2000]);
    let stats = wait_for_stats(&gateway, 3, 5);
    assert_eq!((&stats["refused"], &stats["received"]), (&0.into(), &8.into()));
    let of = |device: &str| gateway.get_json(&format!("/api/devices/{device}/messages"))["messages"].clone();
    let message = &of("a.b")[0];
    assert_eq!(message["value"]["t"], 23);
    assert_eq!(message["received_at"], "2020-04-23T00:49:40.049Z");
    assert_eq!(message["link"], "astrocast");
    assert_eq!(of("c.d").as_array().unwrap().len(), 2);
    let quarantined = gateway.get_json("/api/quarantine")["messages"].clone();
    let mut kinds: Vec<_> = quarantined
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

    // Without its consumer, the input reads the stream from its beginning again. Stored messages are duplicates, even with an old receive time.
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

/// Waits until the gateway has `stored` messages in the buffer and `quarantined` in the quarantine. Returns the stats.
fn wait_for_stats(gateway: &crate::support::Running, stored: u64, quarantined: u64) -> serde_json::Value {
    wait_for(|| {
        let stats = gateway.get_json("/api/stats");
        let complete = stats["stored"] == stored && stats["quarantined"] == quarantined;
        if complete { Ok(stats) } else { Err(stats) }
    })
}

#[test]
fn configurations_of_the_containers_start_a_gateway() {
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

#[test]
fn a_message_may_have_its_device_inside() {
    let cluster = Cluster::start(1, "");
    let gateway = start_with(|config| {
        let urls = cluster.urls();
        let text = format!(
            "name = 'n'\n[nats]\nservers = {urls:?}\nstream = 'TRACKERS'\nconsumer = 'c'\ndevice_at = '/imei'"
        );
        config.inputs.push(toml::from_str(&text).unwrap());
    });
    gateway.runtime.block_on(async {
        let context = cluster.context().await;
        let (name, subjects) = ("TRACKERS".into(), vec!["trackers.>".into()]);
        context.create_stream(stream::Config { name, subjects, ..Default::default() }).await.unwrap();
        for (device, bytes) in [
            (None, &br#"{"imei":356938035643809,"t":1}"#[..]),
            (Some("named"), br#"{"imei":"inside"}"#),
            (None, b"{}"),
            (None, b"["),
        ] {
            let mut headers = async_nats::HeaderMap::new();
            device.inspect(|device| headers.insert("Dunnage-Device", *device));
            device.inspect(|_| headers.insert("Content-Type", JSON));
            let sent = context.publish_with_headers("trackers.up", headers, bytes.into()).await.unwrap();
            sent.await.unwrap();
        }
    });
    wait_until("all messages arrive", || gateway.get_json("/api/stats")["quarantined"] == 2);
    for device in ["356938035643809", "named"] {
        let messages = gateway.get_json(&format!("/api/devices/{device}/messages"));
        assert_eq!(messages["messages"][0]["format"], "json", "{messages}");
    }
    let kept = gateway.get_json("/api/quarantine").to_string();
    assert!(kept.contains("/imei") && kept.matches("\"unknown\"").count() == 2, "{kept}");
}
