//! Metrics of messages on their way to the buffer. They count from the start of the process.

use crate::{decoded::Counts, encoding::stored_formats, meter::Meters, rejected::Code, silence::Silence};
use dunnage_buffer::Duplicates;
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::{Registry, Unit},
};
use std::{
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

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

/// Labels of metrics by problem code.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByProblem {
    problem: &'static str,
}

/// What became of a number that no binary64 holds.
const NEAREST: &str = "nearest";
const NULL: &str = "null";

/// Labels of messages for vendors' codecs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByCodec {
    codec: String,
    result: &'static str,
}

/// Labels of numbers that are not what their sender wrote.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByResult {
    result: &'static str,
}

/// The metrics of all inputs together.
#[derive(Default)]
pub struct Metrics {
    received: Family<ByInput, Counter>,
    decoded: Family<ByFormat, Counter>,
    problems: Family<ByProblem, Counter>,
    altered: Family<ByResult, Counter>,
    codecs: Family<ByCodec, Counter>,
    remembered: Gauge,
    forgotten: Counter,
    duplicate_window: Gauge<f64, AtomicU64>,
    /// The counts of each input.
    pub inputs: Meters,
    /// Silent devices.
    pub silence: Arc<Silence>,
}

impl Metrics {
    /// Creates metrics that are zero, and registers them.
    pub fn new(registry: &mut Registry) -> Metrics {
        let metrics = Metrics::default();
        // An alert on a rise needs a value before the first message.
        for format in stored_formats() {
            drop(metrics.decoded.get_or_create(&ByFormat { format }));
        }
        for result in [NEAREST, NULL] {
            drop(metrics.altered.get_or_create(&ByResult { result }));
        }
        let r = registry;
        r.register("received_messages", "Messages received completely", metrics.received.clone());
        r.register("decoded_messages", "Messages decoded", metrics.decoded.clone());
        r.register(
            "problem_messages",
            "Messages answered with an error, by its type",
            metrics.problems.clone(),
        );
        r.register(
            "altered_numbers",
            "Numbers that are not what their sender wrote: the nearest binary64, or null in place of NaN or an infinity",
            metrics.altered.clone(),
        );
        r.register(
            "codec_messages",
            "Messages that a vendor's codec decoded, by its file: ok, warning (with warnings), error or limit (of time or memory)",
            metrics.codecs.clone(),
        );
        r.register(
            "remembered_messages",
            "Messages remembered to recognize duplicates",
            metrics.remembered.clone(),
        );
        r.register(
            "forgotten_messages",
            "Messages forgotten before the window for duplicates ended",
            metrics.forgotten.clone(),
        );
        r.register_with_unit(
            "duplicate_window",
            "How far back duplicates are recognized; less than the setting if too many messages came, or if some had left the buffer at the start",
            Unit::Seconds,
            metrics.duplicate_window.clone(),
        );
        r.register_collector(Box::new(Arc::clone(&metrics.silence)));
        metrics
    }

    /// Counts a message that arrived completely over `input`. `format` is the one that its sender names, if it is known.
    pub fn received(&self, input: &'static str, format: Option<&'static str>) {
        let format = format.unwrap_or_default();
        self.received.get_or_create(&ByInput { input, format }).inc();
    }

    /// Counts a message that could be decoded.
    pub fn decoded(&self, format: &'static str) {
        self.decoded.get_or_create(&ByFormat { format }).inc();
    }

    /// Counts the numbers of a message that differ from those that its sender wrote.
    pub(crate) fn altered(&self, counts: Counts) {
        for (result, count) in [(NEAREST, counts.rounded), (NULL, counts.nulls)] {
            if count > 0 {
                self.altered.get_or_create(&ByResult { result }).inc_by(count);
            }
        }
    }

    /// Counts a message that the vendor's codec in `file` decoded, or did not, with `result`.
    pub(crate) fn run(&self, file: &str, result: &'static str) {
        self.codecs.get_or_create(&ByCodec { codec: file.to_owned(), result }).inc();
    }

    /// Counts a message that was not stored.
    pub fn rejected(&self, code: Code) {
        self.answered(code.as_str());
    }

    /// Counts a message that was answered with the code `problem`, which may be specific to its protocol.
    pub fn answered(&self, problem: &'static str) {
        self.problems.get_or_create(&ByProblem { problem }).inc();
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
}
