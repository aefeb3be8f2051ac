//! Metrics and the status of outputs.

use super::{Class, ReplayStatus};
use dunnage_base::clock::{self, rfc3339};
use dunnage_buffer::Position;
use prometheus_client::{
    encoding::{EncodeLabelSet, EncodeLabelValue},
    metrics::{
        counter::Counter,
        family::Family,
        gauge::Gauge,
        histogram::{Histogram, exponential_buckets},
    },
    registry::{Registry, Unit},
};
use serde::Serialize;
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError, atomic::AtomicU64},
    time::Duration,
};
use utoipa::ToSchema;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByOutput {
    output: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByReason {
    output: String,
    reason: Class,
}

type Seconds = Gauge<f64, AtomicU64>;

/// The metrics of all outputs. Clones share the metrics.
#[derive(Clone)]
pub struct Families {
    delivered: Family<ByOutput, Counter>,
    duplicates: Family<ByOutput, Counter>,
    refused: Family<ByOutput, Counter>,
    dropped: Family<ByOutput, Counter>,
    skipped: Family<ByOutput, Counter>,
    retried: Family<ByReason, Counter>,
    seconds: Family<ByOutput, Histogram, fn() -> Histogram>,
    calls: Family<ByOutput, Gauge>,
    limit: Family<ByOutput, Gauge>,
    breaker: Family<ByOutput, Gauge>,
    lag: Family<ByOutput, Gauge>,
    age: Family<ByOutput, Seconds>,
}

impl Families {
    /// Registers the metrics, without any output yet.
    pub fn new(registry: &mut Registry) -> Families {
        let seconds: fn() -> Histogram = || Histogram::new(exponential_buckets(0.001, 2.0, 17));
        let f = Families {
            delivered: Family::default(),
            duplicates: Family::default(),
            refused: Family::default(),
            dropped: Family::default(),
            skipped: Family::default(),
            retried: Family::default(),
            seconds: Family::new_with_constructor(seconds),
            calls: Family::default(),
            limit: Family::default(),
            breaker: Family::default(),
            lag: Family::default(),
            age: Family::default(),
        };
        let r = registry;
        r.register("output_delivered_messages", "Messages delivered", f.delivered.clone());
        r.register(
            "output_duplicate_messages",
            "Messages that the receiver already had; they count as delivered too",
            f.duplicates.clone(),
        );
        r.register("output_refused_messages", "Messages that became dead letters", f.refused.clone());
        r.register(
            "output_dropped_messages",
            "Messages and dead letters that were discarded",
            f.dropped.clone(),
        );
        r.register(
            "output_skipped_messages",
            "Messages for which the output had nothing to deliver",
            f.skipped.clone(),
        );
        r.register("output_retried_calls", "Failed calls that are retried, by reason", f.retried.clone());
        let seconds = f.seconds.clone();
        r.register_with_unit("output_call_duration", "Duration of successful calls", Unit::Seconds, seconds);
        r.register("output_calls", "Calls in progress", f.calls.clone());
        r.register("output_call_limit", "Current limit of concurrent calls", f.limit.clone());
        r.register("output_breaker", "0 closed, 1 probing, 2 open: no calls are made", f.breaker.clone());
        r.register("output_lag_messages", "Stored messages that are not resolved yet", f.lag.clone());
        r.register_with_unit(
            "output_queue_age",
            "Age of the oldest unresolved message",
            Unit::Seconds,
            f.age.clone(),
        );
        f
    }

    /// Returns the meter of one output. Meters with the same name share their metrics. `can_replay` is for its status.
    pub fn meter(&self, output: &str, can_replay: bool) -> Meter {
        let by = ByOutput { output: output.into() };
        let retried = |reason| {
            let by = ByReason { output: output.into(), reason };
            (reason, self.retried.get_or_create_owned(&by))
        };
        Meter {
            output: output.into(),
            delivered: self.delivered.get_or_create_owned(&by),
            duplicates: self.duplicates.get_or_create_owned(&by),
            refused: self.refused.get_or_create_owned(&by),
            skipped: self.skipped.get_or_create_owned(&by),
            dropped: self.dropped.get_or_create_owned(&by),
            retried: Class::ALL.map(retried),
            seconds: self.seconds.get_or_create_owned(&by),
            calls: self.calls.get_or_create_owned(&by),
            limit: self.limit.get_or_create_owned(&by),
            breaker: self.breaker.get_or_create_owned(&by),
            lag: self.lag.get_or_create_owned(&by),
            age: self.age.get_or_create_owned(&by),
            place: Mutex::default(),
            can_replay,
        }
    }
}

/// The state of an output's breaker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Breaker {
    /// Calls are made.
    #[default]
    Closed,
    /// One call at a time is made, to test whether the receiver works again.
    Probing,
    /// No calls are made, because the last ones failed.
    Open,
}

/// How far a forwarder has come.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    /// The messages that it has resolved.
    pub position: Position,
    /// The last message ID that was read from the buffer.
    pub taken: i64,
    /// Messages that were read and are not resolved.
    pub waiting: u64,
    /// When the oldest of these arrived, in microseconds since 1970.
    pub oldest: Option<i64>,
    /// Partitions whose last call failed.
    pub failing: usize,
    /// Calls in progress.
    pub calls: usize,
    /// Current limit on concurrent calls.
    pub limit: usize,
    /// The state of the breaker.
    pub breaker: Breaker,
    /// The last replay.
    pub replay: Option<ReplayStatus>,
}

/// The metrics and the progress of one output.
pub struct Meter {
    output: String,
    delivered: Counter,
    duplicates: Counter,
    refused: Counter,
    dropped: Counter,
    skipped: Counter,
    retried: [(Class, Counter); Class::ALL.len()],
    seconds: Histogram,
    calls: Gauge,
    limit: Gauge,
    breaker: Gauge,
    lag: Gauge,
    age: Seconds,
    place: Mutex<(Progress, Option<Failure>)>,
    can_replay: bool,
}

/// A failed call.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Failure {
    /// The time, as RFC 3339.
    pub at: String,
    /// The reason, for people.
    pub reason: String,
}

/// An output whose oldest message waits longer than this is behind.
const BEHIND_SECONDS: f64 = 10.0;

/// The status of an output. Counts begin at the start of the gateway.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Status {
    /// The output's name.
    pub output: String,
    /// Messages delivered.
    pub delivered: u64,
    /// Of these, messages that the receiver already had.
    pub duplicates: u64,
    /// Messages that became dead letters.
    pub refused: u64,
    /// Messages and dead letters that were discarded.
    pub dropped: u64,
    /// Messages for which the output had nothing to deliver.
    pub skipped: u64,
    /// Failed calls that are retried, by reason.
    pub retried: BTreeMap<Class, u64>,
    /// Devices whose last call failed: their messages are retried. Of an output that delivers messages of all devices in one order, 1.
    pub failing: usize,
    /// Calls in progress.
    pub calls: usize,
    /// Current limit on concurrent calls.
    pub limit: usize,
    /// The state of the breaker.
    pub breaker: Breaker,
    /// In one word: `idle`, `delivering`, `behind` (its oldest message waits for more than 10 s), `paused` (the breaker is open), `probing`.
    pub state: &'static str,
    /// The last message ID before which the output has resolved everything.
    pub cursor: i64,
    /// Stored messages that are not resolved.
    pub lag_messages: u64,
    /// Age of the oldest of them, in seconds; 0 without any.
    pub age_seconds: f64,
    /// The last failed call.
    #[schema(required)]
    pub last_failure: Option<Failure>,
    /// Whether it can deliver messages again that it has delivered.
    pub can_replay: bool,
    /// The last replay; `null` if there was none, or if it was cancelled.
    #[schema(required)]
    pub replay: Option<ReplayStatus>,
}

impl Meter {
    /// Records messages that a call of this duration has delivered.
    pub fn delivered(&self, messages: usize, took: Duration) {
        if messages == 0 {
            return;
        }
        self.delivered.inc_by(messages as u64);
        self.seconds.observe(took.as_secs_f64());
    }

    /// Records `more` messages that the receiver already had.
    pub fn duplicates(&self, more: u64) {
        self.duplicates.inc_by(more);
    }

    /// Records messages and dead letters that were discarded.
    pub fn dropped(&self, messages: u64) {
        self.dropped.inc_by(messages);
    }

    /// Records messages for which the output had nothing to deliver.
    pub fn skipped(&self, messages: usize) {
        self.skipped.inc_by(messages as u64);
    }

    /// Records a new dead letter.
    pub fn refused(&self, reason: &str) {
        self.refused.inc();
        self.failed(reason);
    }

    /// Records a failed call that is retried.
    pub fn retried(&self, class: Class, reason: &str) {
        if let Some((_, counter)) = self.retried.iter().find(|(of, _)| *of == class) {
            counter.inc();
        }
        self.failed(reason);
    }

    fn failed(&self, reason: &str) {
        let failure = Failure { at: rfc3339(clock::now()), reason: reason.into() };
        self.place.lock().unwrap_or_else(PoisonError::into_inner).1 = Some(failure);
    }

    /// Publishes the progress of the forwarder.
    pub fn show(&self, place: Progress) {
        self.place.lock().unwrap_or_else(PoisonError::into_inner).0 = place;
    }

    /// Returns the last message ID before which the output has resolved everything.
    pub fn cursor(&self) -> i64 {
        self.place.lock().unwrap_or_else(PoisonError::into_inner).0.position.cursor()
    }

    /// Returns the progress of the output.
    pub fn position(&self) -> Position {
        self.place.lock().unwrap_or_else(PoisonError::into_inner).0.position.clone()
    }

    /// Returns the status. `last` is the last message ID stored.
    pub fn status(&self, last: i64) -> Status {
        let (place, last_failure) = self.place.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let age = place.oldest.map_or(0, |oldest| clock::now().saturating_sub(oldest).max(0));
        let retried = self.retried.iter().filter(|(_, counter)| counter.get() > 0);
        let lag_messages = u64::try_from(last - place.taken).unwrap_or_default() + place.waiting;
        let age_seconds = age as f64 / 1e6;
        Status {
            output: self.output.clone(),
            delivered: self.delivered.get(),
            duplicates: self.duplicates.get(),
            refused: self.refused.get(),
            dropped: self.dropped.get(),
            skipped: self.skipped.get(),
            retried: retried.map(|(class, counter)| (*class, counter.get())).collect(),
            failing: place.failing,
            calls: place.calls,
            limit: place.limit,
            breaker: place.breaker,
            state: match place.breaker {
                Breaker::Open => "paused",
                Breaker::Probing => "probing",
                Breaker::Closed if lag_messages == 0 => "idle",
                Breaker::Closed if age_seconds > BEHIND_SECONDS => "behind",
                Breaker::Closed => "delivering",
            },
            cursor: place.position.cursor(),
            lag_messages,
            age_seconds,
            last_failure,
            can_replay: self.can_replay,
            replay: place.replay,
        }
    }

    /// Sets the gauges to the current values. `last` is the last message ID stored.
    pub fn gauge(&self, last: i64) {
        let status = self.status(last);
        let number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        self.calls.set(number(status.calls));
        self.limit.set(number(status.limit));
        self.breaker.set(match status.breaker {
            Breaker::Closed => 0,
            Breaker::Probing => 1,
            Breaker::Open => 2,
        });
        self.lag.set(i64::try_from(status.lag_messages).unwrap_or(i64::MAX));
        self.age.set(status.age_seconds);
    }
}

impl EncodeLabelValue for Class {
    fn encode(
        &self,
        encoder: &mut prometheus_client::encoding::LabelValueEncoder<'_>,
    ) -> Result<(), std::fmt::Error> {
        self.name().encode(encoder)
    }
}
