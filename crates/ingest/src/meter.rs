//! Counts of the messages that each input has received since the start, for operators. Prometheus gets the counts by kind of input
//! (`metrics.rs`).

use dunnage_base::clock;
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

/// Most characters of a reason that are kept.
const REASON: usize = 300;

/// The counts and the last failure of one input.
#[derive(Debug, Default)]
pub struct Meter {
    received: AtomicU64,
    rejected: AtomicU64,
    last: Mutex<Option<Failure>>,
}

/// The last failure of an input: a rejected message, or a connection that broke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// When, in microseconds since 1970.
    pub at: i64,
    /// Why, for people.
    pub reason: String,
}

impl Meter {
    /// Counts a message that arrived completely.
    pub fn received(&self) {
        self.received.fetch_add(1, Relaxed);
    }

    /// Counts a message that was not stored, and notes why.
    pub fn rejected(&self, reason: &str) {
        self.rejected.fetch_add(1, Relaxed);
        self.failed(reason);
    }

    /// Notes why the input does not work.
    pub fn failed(&self, reason: &str) {
        let failure = Failure { at: clock::now(), reason: reason.chars().take(REASON).collect() };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
    }

    /// Returns how many messages arrived and how many were not stored.
    pub fn counts(&self) -> (u64, u64) {
        (self.received.load(Relaxed), self.rejected.load(Relaxed))
    }

    /// Returns the last failure.
    pub fn last_failure(&self) -> Option<Failure> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The meters of all inputs, by their names in the configuration.
#[derive(Debug, Default)]
pub struct Meters(RwLock<BTreeMap<String, Arc<Meter>>>);

impl Meters {
    /// Returns the meter of the input `name`. The names are those of the configuration, so there are few.
    pub fn of(&self, name: &str) -> Arc<Meter> {
        if let Some(meter) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(name) {
            return Arc::clone(meter);
        }
        Arc::clone(self.0.write().unwrap_or_else(PoisonError::into_inner).entry(name.to_owned()).or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_has_one_meter_that_keeps_the_last_reason() {
        let meters = Meters::default();
        meters.of("yard").received();
        meters.of("yard").rejected("first");
        meters.of("yard").failed(&"é".repeat(1000));
        assert_eq!(meters.of("yard").counts(), (1, 1));
        assert_eq!(meters.of("yard").last_failure().unwrap().reason, "é".repeat(REASON));
        assert_eq!((meters.of("http").counts(), meters.of("http").last_failure()), ((0, 0), None));
    }
}
