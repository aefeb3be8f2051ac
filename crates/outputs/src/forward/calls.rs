//! The calls in progress.
//!
//! Partitions that fail have a share of the calls for themselves. However long their calls take, the others get the calls that the limiter
//! allows.

use super::limiter::Limiter;
use crate::Partitions;
use std::{collections::HashMap, sync::Arc, time::Duration};
use tokio::{task::Id, time::Instant};

/// The share of the calls that partitions may make that fail.
const FAILING_SHARE: usize = 4;

/// A call in progress.
pub struct Call {
    pub partitions: Vec<Arc<str>>,
    /// Whether its partition was failing before.
    pub failing: bool,
    serial: u64,
    /// Whether it began without another one, apart from those of partitions that fail.
    alone: bool,
}

/// The calls in progress, and how many there may be.
pub struct Calls {
    all: HashMap<Id, Call>,
    failing: usize,
    most: usize,
    limiter: Limiter,
    /// How many calls of partitions that do not fail have begun.
    begun: u64,
    /// Whether the last call was of a partition that fails.
    failing_last: bool,
}

impl Calls {
    /// Creates an empty set, for at most `concurrency` calls at a time.
    pub fn new(partitions: Partitions, concurrency: usize, now: Instant) -> Calls {
        let (most, others) = match partitions {
            Partitions::PerDevice => (concurrency, concurrency),
            Partitions::Together => (2, 1),
            Partitions::One => (1, 1),
        };
        let limiter = Limiter::new(others, now);
        Calls { all: HashMap::new(), failing: 0, most, limiter, begun: 0, failing_last: false }
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns how many calls there may be of partitions that do not fail.
    pub fn limit(&self) -> usize {
        self.limiter.limit()
    }

    /// Returns which call is made next: of a partition that fails, or of another. `ready` tells whether there is one of either.
    pub fn next(&self, ready: impl Fn(bool) -> bool) -> Option<bool> {
        let limit = self.limiter.limit();
        let has_room = |failing| match failing {
            true => self.failing < (limit / FAILING_SHARE).max(1),
            false => self.all.len() - self.failing < limit,
        };
        let room = self.all.len() < self.most;
        // Take turns, so that neither waits for the other if there may be one call only.
        let order = [!self.failing_last, self.failing_last];
        order.into_iter().find(|failing| room && has_room(*failing) && ready(*failing))
    }

    /// Records the start of a call as the task `id`.
    pub fn begun(&mut self, id: Id, taken: Vec<Arc<str>>, failing: bool) {
        let mut alone = false;
        if failing {
            self.failing += 1;
        } else {
            self.begun += 1;
            alone = self.limiter.begun(self.all.len() - self.failing + 1);
        }
        self.failing_last = failing;
        self.all.insert(id, Call { partitions: taken, failing, serial: self.begun, alone });
    }

    /// Records the end of the call that the task `id` made, of `messages` messages. `took` is `None` for a failed call.
    pub fn ended(&mut self, id: Id, messages: usize, took: Option<Duration>, now: Instant) -> Option<Call> {
        let call = self.all.remove(&id)?;
        match call.failing {
            // Its failures and its duration say nothing about the receiver.
            true => self.failing -= 1,
            false => self.limiter.ended(messages, took, call.alone && call.serial == self.begun, now),
        }
        Some(call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Partitions that fail and take long must not use up the calls, and must have their turn.
    #[test]
    fn those_that_fail_and_the_others_have_calls_of_their_own() {
        let now = Instant::now();
        let calls = |partitions, concurrency| Calls::new(partitions, concurrency, now);
        let mut one = calls(Partitions::PerDevice, 1);
        assert_eq!(one.next(|_| true), Some(true));
        one.failing_last = true;
        assert_eq!((one.next(|_| true), one.next(|failing| failing)), (Some(false), Some(true)));
        for partitions in [Partitions::PerDevice, Partitions::Together] {
            let mut many = calls(partitions, 64);
            many.failing = 1;
            let id = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let id = id.block_on(async { tokio::spawn(async {}).id() });
            many.all.insert(id, Call { partitions: Vec::new(), failing: true, serial: 0, alone: false });
            assert_eq!((many.next(|_| true), many.next(|failing| failing)), (Some(false), None));
        }
    }
}
