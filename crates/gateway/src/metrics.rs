//! Metrics for Prometheus, from the start of the process.

use crate::{buffer::Totals, outputs::Families};
use dunnage_formats::Id;
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{
        counter::Counter,
        family::Family,
        gauge::Gauge,
        histogram::{Histogram, exponential_buckets},
    },
    registry::{Registry, Unit},
};
use std::sync::atomic::AtomicU64;

/// Per format.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByFormat {
    format: &'static str,
}

/// Per kind of error.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByKind {
    kind: &'static str,
}

/// Per type of problem.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByProblem {
    problem: &'static str,
}

/// All metrics of a gateway.
pub struct Metrics {
    registry: Registry,
    stored: Family<ByFormat, Counter>,
    stored_bytes: Family<ByFormat, Counter>,
    json_bytes: Family<ByFormat, Counter>,
    quarantined: Family<ByKind, Counter>,
    duplicates: Counter,
    remembered: Gauge,
    forgotten: Counter,
    /// Messages of the quarantine that were stored after all.
    pub requeued: Counter,
    /// Messages of the quarantine that an operator dropped.
    pub discarded: Counter,
    problems: Family<ByProblem, Counter>,
    /// Messages that waited when the writer took a batch.
    pub batch_messages: Histogram,
    /// From the begin of a transaction to the end of its commit.
    pub commit_seconds: Histogram,
    /// Batches that could not be written.
    pub write_errors: Counter,
    /// Open connections.
    pub connections: Gauge,
    /// Of each output.
    pub outputs: Families,
    queue_messages: Gauge,
    queue_bytes: Gauge,
    devices: Gauge<u64, AtomicU64>,
}

impl Metrics {
    /// Metrics that count from zero.
    pub fn new() -> Metrics {
        let mut registry = Registry::with_prefix("dunnage");
        let mut metrics = Metrics {
            outputs: Families::new(&mut registry),
            registry,
            stored: Family::default(),
            stored_bytes: Family::default(),
            json_bytes: Family::default(),
            quarantined: Family::default(),
            duplicates: Counter::default(),
            remembered: Gauge::default(),
            forgotten: Counter::default(),
            requeued: Counter::default(),
            discarded: Counter::default(),
            problems: Family::default(),
            batch_messages: Histogram::new(exponential_buckets(1.0, 2.0, 12)),
            commit_seconds: Histogram::new(exponential_buckets(0.0001, 2.0, 15)),
            write_errors: Counter::default(),
            connections: Gauge::default(),
            queue_messages: Gauge::default(),
            queue_bytes: Gauge::default(),
            devices: Gauge::default(),
        };
        metrics.register();
        metrics
    }

    fn register(&mut self) {
        let r = &mut self.registry;
        r.register("stored_messages", "Messages made durable", self.stored.clone());
        r.register("stored_bytes", "Their bytes as they arrived", self.stored_bytes.clone());
        r.register("stored_json_bytes", "Their bytes as compact JSON", self.json_bytes.clone());
        r.register("quarantined_messages", "Messages that could not be decoded", self.quarantined.clone());
        r.register("requeued_messages", "Quarantined messages stored after all", self.requeued.clone());
        r.register("discarded_messages", "Quarantined messages dropped by hand", self.discarded.clone());
        r.register("duplicate_messages", "Messages that were stored already", self.duplicates.clone());
        let remembered = self.remembered.clone();
        r.register("remembered_messages", "Messages that are known if they come again", remembered);
        let forgotten = self.forgotten.clone();
        r.register(
            "forgotten_messages",
            "Messages that were forgotten within the window for duplicates",
            forgotten,
        );
        r.register("problem_messages", "Messages answered with an error, by its type", self.problems.clone());
        r.register("write_errors", "Transactions that could not be written", self.write_errors.clone());
        r.register("batch_messages", "Messages in a transaction", self.batch_messages.clone());
        let seconds = self.commit_seconds.clone();
        r.register_with_unit("commit_duration", "Begin to end of a transaction", Unit::Seconds, seconds);
        r.register("open_connections", "Connections of the HTTP input", self.connections.clone());
        r.register("queue_messages", "Messages that wait to be written", self.queue_messages.clone());
        r.register("queue_bytes", "Bytes of messages in memory", self.queue_bytes.clone());
        r.register("devices", "Devices that have stored messages", self.devices.clone());
    }

    /// Counts what a batch added.
    pub fn stored(&self, before: &Totals, now: &Totals) {
        self.duplicates.inc_by(now.duplicates - before.duplicates);
        for (id, (now, then)) in Id::all().zip(now.formats.iter().zip(&before.formats)) {
            if now != then {
                let format = ByFormat { format: id.name() };
                self.stored.get_or_create(&format).inc_by(now.messages - then.messages);
                self.stored_bytes.get_or_create(&format).inc_by(now.bytes - then.bytes);
                self.json_bytes.get_or_create(&format).inc_by(now.json_bytes - then.json_bytes);
            }
        }
    }

    /// Counts a quarantined message.
    pub fn quarantined(&self, kind: &'static str) {
        self.quarantined.get_or_create(&ByKind { kind }).inc();
    }

    /// Shows how many messages are remembered, and how many were forgotten early since the start.
    pub fn remembered(&self, messages: usize, forgotten: u64) {
        self.remembered.set(i64::try_from(messages).unwrap_or(i64::MAX));
        self.forgotten.inc_by(forgotten - self.forgotten.get());
    }

    /// Counts a message that was not stored, by the type of the problem.
    pub fn answered(&self, problem: &'static str) {
        self.problems.get_or_create(&ByProblem { problem }).inc();
    }

    /// The metrics as text. The gauges are what they are at this moment.
    pub fn text(&self, queue_messages: usize, queue_bytes: usize, devices: u64) -> String {
        self.queue_messages.set(i64::try_from(queue_messages).unwrap_or(i64::MAX));
        self.queue_bytes.set(i64::try_from(queue_bytes).unwrap_or(i64::MAX));
        self.devices.set(devices);
        let mut text = String::new();
        // Writing to a String does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
