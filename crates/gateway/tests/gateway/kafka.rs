//! Messages in a topic of a real Kafka broker, which is killed and started again. `make test-kafka` runs these tests.

use crate::support::{JSON, Running, kafka::Kafka, start_with, wait::wait_for};
use dunnage_gateway::{Config, OutputKind, OutputSettings, kafka_output::Settings};
use rdkafka::{
    ClientConfig, Message,
    consumer::{BaseConsumer, Consumer},
    message::Headers,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

const DEVICES: usize = 10;

fn with_kafka(kafka: &Kafka, config: &mut Config) {
    let settings = Settings { brokers: kafka.address(), topic: "telemetry".into(), timeout_seconds: 10 };
    config.outputs.push(OutputSettings::new("log", OutputKind::Kafka(settings)));
}

/// A record. `name` is its header `Dunnage-Name`.
struct Record {
    key: String,
    value: String,
    name: String,
    partition: i32,
}

/// Waits until the topic has at least `count` records. Returns all of them, those of each partition in their order.
fn records(kafka: &Kafka, count: usize) -> Vec<Record> {
    let consumer: BaseConsumer = ClientConfig::new()
        .set("bootstrap.servers", kafka.address())
        .set("group.id", format!("reads {count}"))
        .set("enable.auto.commit", "false")
        .set("auto.offset.reset", "earliest")
        .create()
        .unwrap();
    consumer.subscribe(&["telemetry"]).unwrap();
    let (mut found, begun) = (Vec::new(), Instant::now());
    let mut quiet = Instant::now();
    // Duplicates would arrive in addition to the expected records, so wait until the topic is quiet.
    while found.len() < count || quiet.elapsed() < Duration::from_secs(3) {
        assert!(begun.elapsed() < Duration::from_secs(120), "{} of {count} records", found.len());
        let Some(Ok(record)) = consumer.poll(Duration::from_millis(200)) else { continue };
        let text = |bytes: Option<&[u8]>| String::from_utf8(bytes.unwrap().to_vec()).unwrap();
        let headers = record.headers().unwrap();
        let name = headers.iter().find(|header| header.key == "Dunnage-Name").unwrap();
        found.push(Record {
            key: text(record.key()),
            value: text(record.payload()),
            name: text(name.value),
            partition: record.partition(),
        });
        quiet = Instant::now();
    }
    found
}

fn send(gateway: &Running, range: std::ops::Range<usize>) {
    for n in range {
        let path = format!("/ingest/d{}", n % DEVICES);
        assert_eq!(gateway.post(&path, JSON, n.to_string().as_bytes()).status, 204);
    }
}

#[test]
fn a_killed_broker_gets_every_message_in_the_order_of_its_device() {
    let mut kafka = Kafka::start(1 << 20);
    let gateway = start_with(|config| with_kafka(&kafka, config));
    send(&gateway, 0..300);
    assert!(records(&kafka, 300).len() == 300);
    send(&gateway, 300..400);
    kafka.kill();
    send(&gateway, 400..700);
    kafka.restart();
    send(&gateway, 700..1000);
    let found = records(&kafka, 1000);
    let names: BTreeSet<_> = found.iter().map(|record| &record.name).collect();
    assert_eq!((found.len(), names.len()), (1000, 1000));
    let mut devices: BTreeMap<&str, (BTreeSet<i32>, Vec<usize>)> = BTreeMap::new();
    for record in &found {
        let (partitions, values) = devices.entry(&record.key).or_default();
        partitions.insert(record.partition);
        values.push(record.value.parse().unwrap());
    }
    assert_eq!(devices.len(), DEVICES);
    for (device, (partitions, values)) in devices {
        assert_eq!(partitions.len(), 1, "{device}");
        assert!(values.is_sorted(), "{device}: {values:?}");
    }
    gateway.stop();
}

#[test]
fn a_record_that_is_too_large_becomes_a_dead_letter_and_others_arrive() {
    let kafka = Kafka::start(20_000);
    let gateway = start_with(|config| with_kafka(&kafka, config));
    let large = format!("\"{}\"", "x".repeat(50_000));
    for body in ["1", &large, "2", &large, "3"] {
        assert_eq!(gateway.post("/ingest/d", JSON, body.as_bytes()).status, 204);
    }
    let values: Vec<_> = records(&kafka, 3).into_iter().map(|record| record.value).collect();
    assert_eq!(values, ["1", "2", "3"]);
    let metric = "dunnage_output_refused_messages_total{output=\"log\"} 2";
    wait_for(|| {
        let text = gateway.get("/metrics").text;
        if text.lines().any(|line| line == metric) { Ok(()) } else { Err(text) }
    });
    gateway.stop();
}
