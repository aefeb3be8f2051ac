//! The circuit breaker of an output. It opens when the receiver fails for many partitions, or for calls of several. After a delay, a single
//! call probes whether the receiver works again.
//!
//! A partition that was failing already when another one succeeded says nothing about the receiver: its failures do not count. Until the first
//! success after the start nothing shows that the receiver works, so those of partitions that failed before the start count, too.

use super::backoff;
use crate::Breaker as State;
use std::{collections::HashSet, sync::Arc, time::Duration};
use tokio::time::Instant;

/// The breaker opens after first failures of this many partitions without a success in between.
const FAILED_PARTITIONS: usize = 5;
/// The breaker also opens after this many failures over at least [`WHILE`] without a success in between, of calls with messages of any
/// devices.
const FAILURES: u32 = 5;
const WHILE: Duration = Duration::from_secs(20);
/// Bounds of the delay before a probe.
const MIN_BACKOFF: Duration = Duration::from_secs(1);
const MAX_BACKOFF: Duration = Duration::from_secs(60);

/// Whose call has failed.
#[derive(Debug, Clone, Copy)]
pub enum Of<'a> {
    /// One with messages of any devices.
    All,
    /// The first one of a partition since its last success.
    New(&'a Arc<str>),
    /// A further one of a partition that fails, or that failed before the start.
    Known(&'a Arc<str>),
}

#[derive(Default)]
pub struct Breaker {
    state: State,
    /// Partitions that began to fail since the last success, at most [`FAILED_PARTITIONS`].
    partitions: HashSet<Arc<str>>,
    /// Failed calls with messages of any devices since the last success, and the first of them.
    failures: u32,
    since: Option<Instant>,
    /// How often the breaker has opened since it was last closed.
    opened: u32,
    until: Option<Instant>,
    /// Whether a call has succeeded since the start.
    proven: bool,
}

impl Breaker {
    pub fn state(&self) -> State {
        self.state
    }

    /// Returns when a probe is allowed, if the breaker is open.
    pub fn until(&self) -> Option<Instant> {
        self.until.filter(|_| self.state == State::Open)
    }

    /// Returns whether a call is allowed while `calls` others are in progress.
    pub fn allows(&self, calls: usize, now: Instant) -> bool {
        match self.state {
            State::Closed => true,
            State::Probing => calls == 0,
            State::Open => calls == 0 && self.until.is_none_or(|until| until <= now),
        }
    }

    /// Records the start of a call. If the breaker is open, the call is the probe.
    pub fn begun(&mut self) {
        if self.state == State::Open {
            self.state = State::Probing;
        }
    }

    /// Records a success. Returns whether it closed the breaker.
    pub fn succeeded(&mut self) -> bool {
        let closed = self.state != State::Closed;
        *self = Breaker { proven: true, ..Breaker::default() };
        closed
    }

    /// Returns whether failures since the last success may be the receiver's.
    pub fn has_failures(&self) -> bool {
        self.failures > 0 || !self.partitions.is_empty() || self.state != State::Closed
    }

    /// Records a failed call, with the delay that the receiver asked for. Returns whether it opened the breaker.
    pub fn failed(&mut self, of: Of<'_>, asked: Option<Duration>, now: Instant) -> bool {
        match of {
            Of::Known(_) if self.proven => {}
            Of::New(partition) | Of::Known(partition) => {
                if self.partitions.len() < FAILED_PARTITIONS {
                    self.partitions.insert(Arc::clone(partition));
                }
            }
            Of::All => {
                self.failures = self.failures.saturating_add(1);
                self.since.get_or_insert(now);
            }
        }
        let long = self.since.is_some_and(|since| now.duration_since(since) >= WHILE);
        let open = match self.state {
            State::Open => false,
            State::Probing => true,
            State::Closed => {
                self.partitions.len() >= FAILED_PARTITIONS || (self.failures >= FAILURES && long)
            }
        };
        if open {
            self.state = State::Open;
            self.opened = self.opened.saturating_add(1);
            // Wait at least half of the base delay: an immediate probe would show nothing new.
            let wait = backoff::wait(MIN_BACKOFF, MAX_BACKOFF, self.opened).max(MIN_BACKOFF / 2);
            self.until = Some(now + backoff::asked(asked, wait));
        }
        open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_opens_when_many_partitions_fail_and_closes_after_a_probe() {
        let (mut breaker, mut now) = (Breaker::default(), Instant::now());
        let partitions: Vec<Arc<str>> = (0..9).map(|n| n.to_string().into()).collect();
        for partition in &partitions[..4] {
            assert!(!breaker.failed(Of::New(partition), None, now) && breaker.allows(9, now));
            assert!(!breaker.failed(Of::New(partition), None, now));
        }
        breaker.succeeded();
        for partition in &partitions[..4] {
            assert!(!breaker.failed(Of::New(partition), None, now));
        }
        assert!(breaker.failed(Of::New(&partitions[4]), None, now) && !breaker.allows(0, now));
        // The calls in progress fail, too.
        assert!(!breaker.failed(Of::New(&partitions[5]), None, now));
        for _ in 0..3 {
            now = breaker.until().unwrap();
            assert!(breaker.allows(0, now) && !breaker.allows(1, now));
            breaker.begun();
            assert!(!breaker.allows(1, now) && breaker.state() == State::Probing);
            assert!(breaker.failed(Of::Known(&partitions[0]), Some(Duration::from_secs(77)), now));
            assert!(breaker.until().unwrap() >= now + Duration::from_secs(77));
        }
        breaker.begun();
        assert!(breaker.succeeded() && breaker.allows(9, now) && !breaker.succeeded());
    }

    #[test]
    fn it_opens_when_calls_of_any_devices_fail_for_long() {
        let (mut breaker, now) = (Breaker::default(), Instant::now());
        for _ in 0..20 {
            assert!(!breaker.failed(Of::All, None, now));
        }
        assert!(breaker.failed(Of::All, None, now + WHILE));
    }

    /// They failed while others succeeded, so they say nothing about the receiver, however many they are.
    #[test]
    fn partitions_that_always_fail_do_not_open_it() {
        let (mut breaker, mut now) = (Breaker::default(), Instant::now());
        breaker.succeeded();
        for n in 0..1000 {
            assert!(!breaker.failed(Of::Known(&n.to_string().into()), None, now) && breaker.allows(9, now));
            now += WHILE;
        }
        assert!(!breaker.has_failures());
    }

    /// After a restart while the receiver is down, every partition has failed before.
    #[test]
    fn before_the_first_success_partitions_that_failed_before_the_start_open_it() {
        let (mut breaker, now) = (Breaker::default(), Instant::now());
        for n in 0..FAILED_PARTITIONS {
            let opens = breaker.failed(Of::Known(&n.to_string().into()), None, now);
            assert_eq!(opens, n + 1 == FAILED_PARTITIONS);
            assert!(opens || !breaker.failed(Of::Known(&n.to_string().into()), None, now));
        }
    }
}
