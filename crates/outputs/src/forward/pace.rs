//! Gives live messages precedence over a backlog. An output that is behind could otherwise take the processor from the ingest.
//!
//! While the gateway is busy, that is, while requests wait for the writer and tasks wait for the processor, outputs may only do a fraction
//! of the work of the ingest.

use std::time::Duration;
use tokio::time::Instant;

/// Averages above which the gateway is busy: entries in the writer's queue, and seconds that a task waits for the processor. Both are
/// required, because an output on an otherwise idle gateway makes tasks wait, too, but nothing waits in the queue.
const DEPTH: f64 = 16.0;
const DELAY: f64 = 0.000_2;
/// The cost of a call, relative to the ingest of a message, and the additional cost of each message in it.
const CALL: f64 = 1.0;
const MESSAGE: f64 = 0.15;
/// The allowance that all outputs share per stored message, and the minimum allowance of each output per second.
const SHARE: f64 = 0.06;
const LEAST: f64 = 200.0;
/// Largest allowance that can be saved.
const SAVED: f64 = 64.0;
/// How long an output pauses when its allowance is used up.
pub const THROTTLE_DELAY: Duration = Duration::from_millis(2);

pub struct Pace {
    depth: f64,
    delay: f64,
    stored: u64,
    allowance: f64,
    at: Instant,
}

/// A measurement of the gateway's load.
pub struct Load {
    /// Entries in the writer's queue.
    pub depth: usize,
    /// How long a task waited for the processor.
    pub delay: Duration,
    /// Messages stored over the life of the buffer.
    pub stored: u64,
    /// How many outputs share the allowance.
    pub outputs: usize,
}

impl Pace {
    pub fn new(stored: u64, now: Instant) -> Pace {
        Pace { depth: 0.0, delay: 0.0, stored, allowance: SAVED, at: now }
    }

    pub fn look(&mut self, load: &Load, now: Instant) {
        // Averages over about the last 10 ms, independent of how often this is called.
        let passed = now.duration_since(self.at).as_secs_f64();
        let weight = (passed / 0.01).min(1.0);
        self.depth += (load.depth as f64 - self.depth) * weight;
        self.delay += (load.delay.as_secs_f64() - self.delay) * weight;
        let stored = load.stored.saturating_sub(self.stored) as f64;
        let earned = SHARE * stored / load.outputs.max(1) as f64 + LEAST * passed;
        self.allowance = (self.allowance + earned).min(SAVED);
        (self.stored, self.at) = (load.stored, now);
    }

    fn is_busy(&self) -> bool {
        self.depth > DEPTH && self.delay > DELAY
    }

    /// Returns whether a call is allowed.
    pub fn allows(&self) -> bool {
        self.allowance > 0.0 || !self.is_busy()
    }

    /// Charges a call of `messages` messages.
    pub fn spend(&mut self, messages: usize) {
        let cost = CALL + MESSAGE * messages as f64;
        // Work in quiet times must not leave a debt.
        self.allowance = (self.allowance - cost).max(if self.is_busy() { f64::MIN } else { 0.0 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how many calls an output makes in ten seconds if it makes all that are allowed, beside an ingest of `rate` messages a
    /// second.
    fn calls(rate: u64, depth: usize, delay: Duration, batch: usize) -> u64 {
        let (mut now, mut calls) = (Instant::now(), 0);
        let mut pace = Pace::new(0, now);
        for ms in 1..=10_000 {
            now += Duration::from_millis(1);
            pace.look(&Load { depth, delay, stored: rate * ms / 1000, outputs: 1 }, now);
            for _ in 0..20 {
                if pace.allows() {
                    pace.spend(batch);
                    calls += 1;
                }
            }
        }
        calls
    }

    #[test]
    fn a_busy_gateway_is_slowed_by_a_part_and_an_idle_one_is_used() {
        let (short, long) = (Duration::from_micros(10), Duration::from_millis(2));
        let all = 200_000;
        assert_eq!(calls(1000, 2, long, 1), all);
        assert_eq!(calls(30_000, 100, short, 1), all);
        let single = calls(30_000, 100, long, 1);
        assert!((15_000..20_000).contains(&single), "{single}");
        let batches = calls(30_000, 100, long, 500) * 500;
        assert!((100_000..200_000).contains(&batches), "{batches}");
        assert!(calls(0, 100, long, 1) > 1000);
    }
}
