//! Metrics for Prometheus. They count from the start of the process.

pub mod plain;

use dunnage_access::Refusals;
use dunnage_buffer::Totals;
use dunnage_formats::Kind;
use dunnage_ingest::Code;
use dunnage_outputs::Families;
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
use std::sync::atomic::{AtomicU64, Ordering};

/// Labels of metrics by format.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByFormat {
    format: &'static str,
}

/// Labels of metrics by error kind.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByKind {
    kind: &'static str,
}

/// The metrics of a gateway, but for those of inputs (`dunnage_ingest`, `dunnage_inputs`).
pub struct Metrics {
    registry: Registry,
    stored: Family<ByFormat, Counter>,
    stored_bytes: Family<ByFormat, Counter>,
    json_bytes: Family<ByFormat, Counter>,
    quarantined: Family<ByKind, Counter>,
    refused: Counter,
    duplicates: Counter,
    dropped: Counter,
    lost: Counter,
    damages: Counter,
    /// Messages of the quarantine that were decoded later and stored.
    pub requeued: Counter,
    /// Messages of the quarantine that an operator discarded.
    pub discarded: Counter,
    /// Messages in a batch of the writer.
    pub batch_messages: Histogram,
    /// Duration of a transaction, with its commit.
    pub commit_seconds: Histogram,
    /// Batches that could not be written.
    pub write_errors: Counter,
    /// Refusals of `[access]`.
    pub refusals: Refusals,
    /// TLS handshakes that failed.
    pub handshakes: Counter,
    /// Metrics of the outputs.
    pub outputs: Families,
    queue_messages: Gauge,
    queue_bytes: Gauge,
    devices: Gauge<u64, AtomicU64>,
    buffer_bytes: Gauge<u64, AtomicU64>,
    /// Limit of the buffer's messages, in bytes; 0 for no limit.
    pub buffer_limit_bytes: Gauge<u64, AtomicU64>,
    wal_bytes: Gauge<u64, AtomicU64>,
    writable: Gauge,
    full: Gauge,
    oldest: Gauge<f64, AtomicU64>,
}

/// Values that are measured when the metrics are requested.
#[derive(Default)]
pub struct Moment {
    /// Messages that wait to be written.
    pub queue_messages: usize,
    /// Bytes of messages in memory.
    pub queue_bytes: usize,
    /// Bytes of the buffer's file.
    pub buffer_bytes: u64,
    /// Bytes of its write-ahead log.
    pub wal_bytes: u64,
    /// Whether messages can be made durable.
    pub writable: bool,
    /// Whether the buffer is at its limit and drops nothing.
    pub full: bool,
    /// Age of the oldest message of the buffer, in seconds.
    pub oldest_seconds: f64,
}

/// Why messages are put into the quarantine.
const KINDS: [&str; 12] = [
    Kind::Truncated.as_str(),
    Kind::Malformed.as_str(),
    Kind::Type.as_str(),
    Kind::Range.as_str(),
    Kind::Limit.as_str(),
    Kind::Reference.as_str(),
    Code::Schema.as_str(),
    Code::MediaType.as_str(),
    Code::UnknownSchema.as_str(),
    Code::UnknownLayout.as_str(),
    Code::Disabled.as_str(),
    Code::Unregistered.as_str(),
];

impl Metrics {
    /// Creates metrics that are zero, and adds them to those that other parts have registered in `registry`.
    pub fn new(mut registry: Registry) -> Metrics {
        let mut metrics = Metrics {
            outputs: Families::new(&mut registry),
            registry,
            stored: Family::default(),
            stored_bytes: Family::default(),
            json_bytes: Family::default(),
            quarantined: Family::default(),
            refused: Counter::default(),
            duplicates: Counter::default(),
            dropped: Counter::default(),
            lost: Counter::default(),
            damages: Counter::default(),
            requeued: Counter::default(),
            discarded: Counter::default(),
            batch_messages: Histogram::new(exponential_buckets(1.0, 2.0, 12)),
            commit_seconds: Histogram::new(exponential_buckets(0.0001, 2.0, 15)),
            write_errors: Counter::default(),
            refusals: Refusals::default(),
            handshakes: Counter::default(),
            queue_messages: Gauge::default(),
            queue_bytes: Gauge::default(),
            devices: Gauge::default(),
            buffer_bytes: Gauge::default(),
            buffer_limit_bytes: Gauge::default(),
            wal_bytes: Gauge::default(),
            writable: Gauge::default(),
            full: Gauge::default(),
            oldest: Gauge::default(),
        };
        metrics.register_messages();
        metrics.register_buffer();
        metrics
    }

    fn register_messages(&mut self) {
        let r = &mut self.registry;
        r.register("stored_messages", "Messages stored on disk", self.stored.clone());
        r.register(
            "stored_bytes",
            "Size of the stored messages as they arrived, in bytes",
            self.stored_bytes.clone(),
        );
        r.register(
            "stored_json_bytes",
            "Size of the stored messages as compact JSON, in bytes",
            self.json_bytes.clone(),
        );
        // An alert on a rise needs a value before the first message.
        for format in dunnage_ingest::stored_formats() {
            let format = ByFormat { format };
            drop(self.stored.get_or_create(&format));
            drop(self.stored_bytes.get_or_create(&format));
            drop(self.json_bytes.get_or_create(&format));
        }
        for kind in KINDS {
            drop(self.quarantined.get_or_create(&ByKind { kind }));
        }
        r.register("quarantined_messages", "Messages put into the quarantine", self.quarantined.clone());
        r.register(
            "requeued_messages",
            "Quarantined messages decoded again and stored",
            self.requeued.clone(),
        );
        r.register(
            "discarded_messages",
            "Quarantined messages discarded by an operator",
            self.discarded.clone(),
        );
        let refused = self.refused.clone();
        r.register(
            "refused_messages",
            "Messages neither stored nor quarantined: refused, dropped, or abandoned by their sender",
            refused,
        );
        r.register(
            "duplicate_messages",
            "Duplicates of messages that were already stored",
            self.duplicates.clone(),
        );
        r.register("write_errors", "Transactions that could not be written", self.write_errors.clone());
        r.register("batch_messages", "Messages per transaction", self.batch_messages.clone());
        let seconds = self.commit_seconds.clone();
        r.register_with_unit("commit_duration", "Duration of a transaction", Unit::Seconds, seconds);
        let handshakes = self.handshakes.clone();
        r.register("tls_handshake_errors", "Connections that failed in the TLS handshake", handshakes);
        self.refusals.register(
            r,
            "access_refusals",
            "Messages, requests and connections refused by [access]",
        );
    }

    fn register_buffer(&mut self) {
        let r = &mut self.registry;
        r.register("queue_messages", "Messages waiting to be written", self.queue_messages.clone());
        r.register("queue_bytes", "Bytes of messages in memory", self.queue_bytes.clone());
        r.register("devices", "Devices with stored messages", self.devices.clone());
        let dropped = self.dropped.clone();
        r.register(
            "buffer_dropped_messages",
            "Messages removed after all outputs had resolved them",
            dropped,
        );
        let lost = self.lost.clone();
        r.register("buffer_lost_messages", "Messages of the buffer that could no longer be read", lost);
        let damages = self.damages.clone();
        r.register("buffer_damages", "Times that the buffer's file was damaged and moved aside", damages);
        r.register("buffer_bytes", "Size of the buffer's file, in bytes", self.buffer_bytes.clone());
        let limit = self.buffer_limit_bytes.clone();
        r.register(
            "buffer_limit_bytes",
            "Limit of the size of the buffer's messages, in bytes; 0 for no limit",
            limit,
        );
        r.register(
            "buffer_wal_bytes",
            "Size of the buffer's write-ahead log, in bytes",
            self.wal_bytes.clone(),
        );
        let writable = self.writable.clone();
        r.register(
            "buffer_writable",
            "1 while messages can be made durable, 0 while the disk or its files prevent it",
            writable,
        );
        let full = self.full.clone();
        r.register(
            "buffer_full",
            "1 while messages are refused because the buffer is at its limit, otherwise 0",
            full,
        );
        let oldest = self.oldest.clone();
        r.register_with_unit(
            "buffer_oldest_age",
            "Age of the buffer's oldest message",
            Unit::Seconds,
            oldest,
        );
    }

    /// Adds the difference between two totals, before and after a batch.
    pub fn stored(&self, before: &Totals, now: &Totals) {
        self.duplicates.inc_by(now.duplicates - before.duplicates);
        for name in dunnage_ingest::stored_formats() {
            let counts = |totals: &Totals| totals.formats.get(name).copied().unwrap_or_default();
            let (now, then) = (counts(now), counts(before));
            if now != then {
                let format = ByFormat { format: name };
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

    /// Returns the metrics at this moment, in the OpenMetrics text format.
    pub fn text(&self, totals: &Totals, moment: &Moment) -> String {
        let number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        self.queue_messages.set(number(moment.queue_messages));
        self.queue_bytes.set(number(moment.queue_bytes));
        self.buffer_bytes.set(moment.buffer_bytes);
        self.wal_bytes.set(moment.wal_bytes);
        self.writable.set(moment.writable.into());
        self.full.set(moment.full.into());
        self.oldest.set(moment.oldest_seconds);
        self.devices.set(totals.devices);
        for (counter, now) in [
            (&self.refused, totals.refused),
            (&self.dropped, totals.dropped),
            (&self.lost, totals.lost),
            (&self.damages, totals.damages),
        ] {
            counter.inner().store(now, Ordering::Relaxed);
        }
        let mut text = String::new();
        // Writing to a String does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
