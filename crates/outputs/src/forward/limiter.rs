//! Limits the number of concurrent calls. The limit falls when calls fail, or take clearly longer than a call that is alone. Otherwise it
//! grows if more calls are wanted.
//!
//! The algorithm is additive increase and multiplicative decrease by the gradient of the latency, as in Netflix's concurrency-limits.
//! Unlike there, the latency of a lone call is measured again from time to time, so that the baseline cannot drift.

use std::time::Duration;
use tokio::time::Instant;

/// How many times the latency of a lone call is tolerated.
const TOLERANCE: f64 = 2.0;
/// Fewest calls in a measuring window. With a higher limit, it has as many calls as the limit.
const LEAST_CALLS: u32 = 4;
/// The share of failed calls in a window above which the limit is multiplied by [`AFTER_FAILURES`].
const FAILED: f64 = 0.1;
const AFTER_FAILURES: f64 = 0.7;
/// How long the latency of a lone call stays valid.
const BELIEVED: Duration = Duration::from_secs(60);
/// Latencies are kept by number of messages: 1, 2 to 3, 4 to 7, ...
const SIZES: usize = 16;

pub struct Limiter {
    limit: f64,
    most: f64,
    /// The limit doubles with each window until its first decrease.
    starting: bool,
    /// The latency of a lone call, in seconds.
    alone: [Option<f64>; SIZES],
    measured: Instant,
    /// Whether calls are made one at a time, to measure the latency of a lone call.
    measuring: bool,
    /// Of this window: calls, failures, the sum of the latencies relative to a lone call, and whether the limit was reached.
    calls: u32,
    failures: u32,
    slowness: f64,
    reached: bool,
}

impl Limiter {
    /// Creates a limit of one call, which can grow to `most`.
    pub fn new(most: usize, now: Instant) -> Limiter {
        Limiter {
            limit: 1.0,
            most: most as f64,
            starting: true,
            alone: [None; SIZES],
            measured: now,
            measuring: false,
            calls: 0,
            failures: 0,
            slowness: 0.0,
            reached: false,
        }
    }

    /// Returns the current limit.
    pub fn limit(&self) -> usize {
        if self.measuring { 1 } else { self.limit as usize }
    }

    /// Records the start of a call; now `calls` are in progress. Returns whether it is alone.
    pub fn begun(&mut self, calls: usize) -> bool {
        self.reached |= calls >= self.limit();
        calls == 1
    }

    /// Records the end of a call of `messages` messages. `took` is `None` for a failed call. `stayed_alone` means that no other call was in
    /// progress at the same time.
    pub fn ended(&mut self, messages: usize, took: Option<Duration>, stayed_alone: bool, now: Instant) {
        self.calls += 1;
        match took.map(|took| took.as_secs_f64().max(1e-6)) {
            None => self.failures += 1,
            Some(took) => {
                let alone = &mut self.alone[(messages.max(1).ilog2() as usize).min(SIZES - 1)];
                if stayed_alone {
                    *alone = Some(alone.map_or(took, |before| before + (took - before) / 4.0));
                    self.measured = now;
                    self.measuring = false;
                }
                self.slowness += alone.map_or(1.0, |alone| took / alone);
                // Measure an unknown size alone before the limit grows.
                self.measuring |= alone.is_none();
            }
        }
        if self.calls >= LEAST_CALLS.max(self.limit as u32) {
            self.adapt(now);
        }
    }

    fn adapt(&mut self, now: Instant) {
        let (calls, failures) = (f64::from(self.calls), f64::from(self.failures));
        let slowness = self.slowness / (calls - failures).max(1.0);
        if failures > calls * FAILED {
            self.limit *= AFTER_FAILURES;
            self.starting = false;
        } else if slowness > TOLERANCE && self.limit > 1.0 {
            self.limit *= (TOLERANCE / slowness).max(0.5);
            self.starting = false;
        } else if self.reached && !self.measuring {
            self.limit = if self.starting { self.limit * 2.0 } else { self.limit + 1.0 };
        }
        self.limit = self.limit.clamp(1.0, self.most);
        self.measuring |= self.limit >= 2.0 && now.duration_since(self.measured) >= BELIEVED;
        (self.calls, self.failures, self.slowness, self.reached) = (0, 0, 0.0, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates a server that handles `capacity` calls at a time in `service` seconds and queues the others. Returns the limit at the end.
    fn run(limiter: &mut Limiter, capacity: usize, service: f64, rounds: usize, now: &mut Instant) -> usize {
        for _ in 0..rounds {
            let calls = limiter.limit();
            let took = Duration::from_secs_f64(service * (calls as f64 / capacity as f64).max(1.0));
            *now += took;
            for call in 1..=calls {
                limiter.begun(call);
            }
            for _ in 0..calls {
                limiter.ended(1, Some(took), calls == 1, *now);
            }
        }
        limiter.limit()
    }

    #[test]
    fn it_finds_the_concurrency_of_the_receiver() {
        for (capacity, least, most) in [(1, 1, 3), (8, 8, 18), (32, 32, 64), (1000, 64, 64)] {
            let mut now = Instant::now();
            let mut limiter = Limiter::new(64, now);
            let limit = run(&mut limiter, capacity, 0.02, 2000, &mut now);
            assert!((least..=most).contains(&limit), "{capacity}: {limit}");
        }
    }

    #[test]
    fn it_follows_a_server_that_becomes_slower_for_many_and_faster_again() {
        let mut now = Instant::now();
        let mut limiter = Limiter::new(64, now);
        assert!(run(&mut limiter, 40, 0.01, 2000, &mut now) >= 40);
        assert!(run(&mut limiter, 4, 0.01, 2000, &mut now) <= 9);
        assert!(run(&mut limiter, 40, 0.01, 2000, &mut now) >= 40);
        // Slow for each call, but independent of their number.
        assert!(run(&mut limiter, 40, 0.05, 20_000, &mut now) >= 35);
    }

    #[test]
    fn failures_make_it_one() {
        let mut now = Instant::now();
        let mut limiter = Limiter::new(64, now);
        run(&mut limiter, 64, 0.01, 500, &mut now);
        for _ in 0..400 {
            limiter.begun(1);
            limiter.ended(1, None, false, now);
        }
        assert_eq!(limiter.limit(), 1);
    }

    #[test]
    fn it_does_not_grow_without_need() {
        let mut now = Instant::now();
        let mut limiter = Limiter::new(64, now);
        run(&mut limiter, 64, 0.01, 4, &mut now);
        let limit = limiter.limit();
        for _ in 0..1000 {
            limiter.begun(1);
            limiter.ended(1, Some(Duration::from_millis(10)), true, now);
        }
        assert!(limiter.limit() <= limit.max(2), "{limit}");
    }
}
