//! Metrics for Prometheus. They count from the start of the process.

pub mod plain;

use crate::{connections::Counts, silence::Silence};
use dunnage_access::Refusals;
use dunnage_buffer::{Duplicates, Totals};
use dunnage_formats::Id;
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
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// The name of the HTTP listener, where inputs have theirs.
const HTTP: &str = "http";

/// Labels of metrics by format.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByFormat {
    format: &'static str,
}

/// Labels of metrics by input and format; the format is empty if the sender named none.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByInput {
    input: &'static str,
    format: &'static str,
}

/// Labels of metrics by input, with its name in the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByName {
    input: String,
}

/// Labels of metrics by listener and reason.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Closed {
    input: String,
    reason: &'static str,
}

/// Labels of metrics by error kind.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByKind {
    kind: &'static str,
}

/// Labels of metrics by input and outcome of a datagram.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByOutcome {
    input: &'static str,
    outcome: &'static str,
}

/// Labels of metrics by problem code.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByProblem {
    problem: &'static str,
}

/// Labels of metrics by provider and event.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByEvent {
    provider: &'static str,
    event: &'static str,
}

/// Labels of metrics by result.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByResult {
    result: &'static str,
}

/// Counts DTLS handshakes by their results.
#[derive(Debug, Clone, Default)]
pub struct Handshakes(Family<ByResult, Counter>);

impl Handshakes {
    /// Counts one handshake.
    pub fn count(&self, result: &'static str) {
        self.0.get_or_create(&ByResult { result }).inc();
    }
}

/// All metrics of a gateway.
pub struct Metrics {
    registry: Registry,
    received: Family<ByInput, Counter>,
    decoded: Family<ByFormat, Counter>,
    stored: Family<ByFormat, Counter>,
    stored_bytes: Family<ByFormat, Counter>,
    json_bytes: Family<ByFormat, Counter>,
    quarantined: Family<ByKind, Counter>,
    refused: Counter,
    duplicates: Counter,
    dropped: Counter,
    lost: Counter,
    damages: Counter,
    remembered: Gauge,
    forgotten: Counter,
    duplicate_window: Gauge<f64, AtomicU64>,
    /// Messages of the quarantine that were decoded later and stored.
    pub requeued: Counter,
    /// Messages of the quarantine that an operator discarded.
    pub discarded: Counter,
    problems: Family<ByProblem, Counter>,
    events: Family<ByEvent, Counter>,
    datagrams: Family<ByOutcome, Counter>,
    /// CoAP exchanges that were forgotten while their messages could still be repeated.
    pub forgotten_exchanges: Counter,
    /// Messages in a batch of the writer.
    pub batch_messages: Histogram,
    /// Duration of a transaction, with its commit.
    pub commit_seconds: Histogram,
    /// Batches that could not be written.
    pub write_errors: Counter,
    connections: Gauge,
    closed_connections: Family<Closed, Counter>,
    /// Refusals of `[access]`.
    pub refusals: Refusals,
    input_connections: Family<ByName, Gauge>,
    /// TLS handshakes that failed.
    pub handshakes: Counter,
    /// DTLS handshakes by their results.
    pub dtls: Handshakes,
    /// Metrics of the outputs.
    pub outputs: Families,
    /// Silent devices.
    pub silence: Arc<Silence>,
    queue_messages: Gauge,
    queue_bytes: Gauge,
    devices: Gauge<u64, AtomicU64>,
    buffer_bytes: Gauge<u64, AtomicU64>,
    /// Limit of the buffer's messages, in bytes; 0 for no limit.
    pub buffer_limit_bytes: Gauge<u64, AtomicU64>,
    wal_bytes: Gauge<u64, AtomicU64>,
    writable: Gauge,
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
    /// Age of the oldest message of the buffer, in seconds.
    pub oldest_seconds: f64,
}

impl Metrics {
    /// Creates metrics that are zero.
    pub fn new() -> Metrics {
        let mut registry = Registry::with_prefix("dunnage");
        let mut metrics = Metrics {
            outputs: Families::new(&mut registry),
            registry,
            received: Family::default(),
            decoded: Family::default(),
            stored: Family::default(),
            stored_bytes: Family::default(),
            json_bytes: Family::default(),
            quarantined: Family::default(),
            refused: Counter::default(),
            duplicates: Counter::default(),
            dropped: Counter::default(),
            lost: Counter::default(),
            damages: Counter::default(),
            remembered: Gauge::default(),
            forgotten: Counter::default(),
            duplicate_window: Gauge::default(),
            requeued: Counter::default(),
            discarded: Counter::default(),
            problems: Family::default(),
            events: Family::default(),
            datagrams: Family::default(),
            forgotten_exchanges: Counter::default(),
            batch_messages: Histogram::new(exponential_buckets(1.0, 2.0, 12)),
            commit_seconds: Histogram::new(exponential_buckets(0.0001, 2.0, 15)),
            write_errors: Counter::default(),
            connections: Gauge::default(),
            closed_connections: Family::default(),
            refusals: Refusals::default(),
            input_connections: Family::default(),
            handshakes: Counter::default(),
            dtls: Handshakes::default(),
            silence: Arc::default(),
            queue_messages: Gauge::default(),
            queue_bytes: Gauge::default(),
            devices: Gauge::default(),
            buffer_bytes: Gauge::default(),
            buffer_limit_bytes: Gauge::default(),
            wal_bytes: Gauge::default(),
            writable: Gauge::default(),
            oldest: Gauge::default(),
        };
        metrics.register();
        metrics
    }

    fn register(&mut self) {
        let r = &mut self.registry;
        r.register("received_messages", "Messages received completely", self.received.clone());
        r.register("decoded_messages", "Messages decoded", self.decoded.clone());
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
        let remembered = self.remembered.clone();
        r.register("remembered_messages", "Messages remembered to recognize duplicates", remembered);
        let forgotten = self.forgotten.clone();
        r.register(
            "forgotten_messages",
            "Messages forgotten before the window for duplicates ended",
            forgotten,
        );
        let window = self.duplicate_window.clone();
        r.register_with_unit(
            "duplicate_window",
            "How far back duplicates are recognized; less than the setting if too many messages came, or if some had left the buffer at the start",
            Unit::Seconds,
            window,
        );
        r.register("problem_messages", "Messages answered with an error, by its type", self.problems.clone());
        r.register("hook_events", "Requests of providers that carry no message", self.events.clone());
        let datagrams = self.datagrams.clone();
        r.register("datagrams", "Datagrams of inputs over UDP, by outcome", datagrams);
        let forgotten = self.forgotten_exchanges.clone();
        r.register(
            "forgotten_exchanges",
            "CoAP messages forgotten while their sender could still repeat them",
            forgotten,
        );
        r.register("write_errors", "Transactions that could not be written", self.write_errors.clone());
        r.register("batch_messages", "Messages per transaction", self.batch_messages.clone());
        let seconds = self.commit_seconds.clone();
        r.register_with_unit("commit_duration", "Duration of a transaction", Unit::Seconds, seconds);
        r.register("open_connections", "Open connections of the HTTP input", self.connections.clone());
        let closed = self.closed_connections.clone();
        r.register(
            "closed_connections",
            "Connections closed for lack of room: idle ones, or new ones from an address that had too many",
            closed,
        );
        let handshakes = self.handshakes.clone();
        r.register("tls_handshake_errors", "Connections that failed in the TLS handshake", handshakes);
        let dtls = self.dtls.0.clone();
        r.register(
            "dtls_handshakes",
            "DTLS handshakes of clients that proved their address, by result",
            dtls,
        );
        self.refusals.register(
            r,
            "access_refusals",
            "Messages, requests and connections refused by [access]",
        );
        let of_inputs = self.input_connections.clone();
        r.register(
            "input_connections",
            "Open connections and DTLS sessions of the inputs other than HTTP",
            of_inputs,
        );
        r.register("queue_messages", "Messages waiting to be written", self.queue_messages.clone());
        r.register("queue_bytes", "Bytes of messages in memory", self.queue_bytes.clone());
        r.register("devices", "Devices with stored messages", self.devices.clone());
        r.register_collector(Box::new(Arc::clone(&self.silence)));
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
            "1 while messages can be made durable, 0 while they are refused",
            writable,
        );
        let oldest = self.oldest.clone();
        r.register_with_unit(
            "buffer_oldest_age",
            "Age of the buffer's oldest message",
            Unit::Seconds,
            oldest,
        );
    }

    /// Counts a message that arrived completely over `input`. `format` is the one that its sender names, if it is known.
    pub fn received(&self, input: &'static str, format: Option<Id>) {
        let format = format.map_or("", Id::name);
        self.received.get_or_create(&ByInput { input, format }).inc();
    }

    /// Returns the gauge of open connections of the input `name`.
    pub fn input_connections(&self, name: &str) -> Gauge {
        self.input_connections.get_or_create_owned(&ByName { input: name.to_owned() })
    }

    /// Returns the connection metrics of the HTTP listener.
    pub fn http_connections(&self) -> Counts {
        self.connections(HTTP, self.connections.clone())
    }

    /// Returns the connection metrics of the input `name`.
    pub fn connections_of(&self, name: &str) -> Counts {
        self.connections(name, self.input_connections(name))
    }

    fn connections(&self, name: &str, open: Gauge) -> Counts {
        let closed =
            |reason| self.closed_connections.get_or_create_owned(&Closed { input: name.to_owned(), reason });
        Counts { open, gave_way: closed("idle"), refused: closed("address") }
    }

    /// Counts a message that could be decoded.
    pub fn decoded(&self, format: &'static str) {
        self.decoded.get_or_create(&ByFormat { format }).inc();
    }

    /// Adds the difference between two totals, before and after a batch.
    pub fn stored(&self, before: &Totals, now: &Totals) {
        self.duplicates.inc_by(now.duplicates - before.duplicates);
        for id in Id::readable() {
            let counts = |totals: &Totals| totals.formats.get(id.name()).copied().unwrap_or_default();
            let (now, then) = (counts(now), counts(before));
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

    /// Sets the metrics of the memory of duplicates: how many messages it has, how far it reaches back, and how many were forgotten too
    /// early since the start.
    pub fn remembered(&self, duplicates: &Duplicates) {
        self.remembered.set(i64::try_from(duplicates.remembered()).unwrap_or(i64::MAX));
        self.forgotten.inc_by(duplicates.forgotten().saturating_sub(self.forgotten.get()));
        self.duplicate_window.set(duplicates.reaches().as_secs_f64());
    }

    /// Returns how far back duplicates are recognized, as last set.
    pub fn reaches(&self) -> Duration {
        Duration::try_from_secs_f64(self.duplicate_window.get()).unwrap_or_default()
    }

    /// Counts a message that was not stored, by its problem code.
    pub fn answered(&self, problem: &'static str) {
        self.problems.get_or_create(&ByProblem { problem }).inc();
    }

    /// Counts a request of `provider` that carries no message.
    pub fn event(&self, provider: &'static str, event: &'static str) {
        self.events.get_or_create(&ByEvent { provider, event }).inc();
    }

    /// Counts a datagram of `input`, by its outcome.
    pub fn datagram(&self, input: &'static str, outcome: &'static str) {
        self.datagrams.get_or_create(&ByOutcome { input, outcome }).inc();
    }

    /// Returns the metrics at this moment, in the OpenMetrics text format.
    pub fn text(&self, totals: &Totals, moment: &Moment) -> String {
        let number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        self.queue_messages.set(number(moment.queue_messages));
        self.queue_bytes.set(number(moment.queue_bytes));
        self.buffer_bytes.set(moment.buffer_bytes);
        self.wal_bytes.set(moment.wal_bytes);
        self.writable.set(moment.writable.into());
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
