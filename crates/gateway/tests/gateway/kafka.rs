//! Messages in a topic of a real Kafka broker, which is killed and started again.

use crate::support::{JSON, Running, kafka::Kafka, start_with, wait::wait_for};
use dunnage_gateway::{Config, OutputKind, OutputSettings, kafka_output::Settings};
use std::collections::{BTreeMap, BTreeSet};

const DEVICES: usize = 10;

fn with_kafka(kafka: &Kafka, config: &mut Config) {
    let settings = Settings::new(&kafka.address(), "telemetry");
    config.outputs.push(OutputSettings::new("log", OutputKind::Kafka(settings)));
}

fn send(gateway: &Running, range: std::ops::Range<usize>) {
    for n in range {
        let path = format!("/ingest/d{}", n % DEVICES);
        assert_eq!(gateway.post(&path, JSON, n.to_string().as_bytes()).status, 204);
    }
}

/// Waits until nothing waits for the output.
fn wait_until_delivered(gateway: &Running) {
    wait_for(|| {
        let stats = gateway.get_json("/api/stats");
        if stats["outputs"][0]["lag_messages"] == 0 { Ok(()) } else { Err(stats.to_string()) }
    });
}

#[test]
fn a_killed_broker_gets_every_message_in_the_order_of_its_device() {
    let mut kafka = Kafka::start(1 << 20);
    let gateway = start_with(|config| with_kafka(&kafka, config));
    send(&gateway, 0..300);
    assert_eq!(kafka.wait("telemetry", 300).len(), 300);
    send(&gateway, 300..400);
    kafka.kill();
    send(&gateway, 400..700);
    kafka.restart();
    send(&gateway, 700..1000);
    wait_until_delivered(&gateway);
    let found = kafka.records("telemetry");
    let names: BTreeSet<_> = found.iter().map(|record| &record.name).collect();
    assert_eq!((found.len(), names.len()), (1000, 1000));
    let mut devices: BTreeMap<&str, (BTreeSet<u64>, Vec<usize>)> = BTreeMap::new();
    for record in &found {
        let (partitions, values) = devices.entry(&record.key).or_default();
        partitions.insert(record.partition);
        values.push(record.text().parse().unwrap());
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
    wait_until_delivered(&gateway);
    let records = kafka.records("telemetry");
    let values: Vec<_> = records.iter().map(|record| record.text()).collect();
    assert_eq!(values, ["1", "2", "3"]);
    let metric = "dunnage_output_refused_messages_total{output=\"log\"} 2";
    wait_for(|| {
        let text = gateway.get("/metrics").text;
        if text.lines().any(|line| line == metric) { Ok(()) } else { Err(text) }
    });
    gateway.stop();
}
