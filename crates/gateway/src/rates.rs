//! The rates of the last hours: a point a minute, in memory, since the start of the process.

use dunnage_base::clock::{self, rfc3339};
use dunnage_buffer::Totals;
use serde::Serialize;
use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};
use utoipa::ToSchema;

/// Points that are kept: a day.
const POINTS: usize = 24 * 60;
/// The time that a point covers.
pub const INTERVAL: Duration = Duration::from_secs(60);
/// Shortest time of which a rate is computed.
const SHORTEST: f64 = 1.0;

/// Counts that only grow.
#[derive(Clone, Copy)]
struct Counts {
    messages: u64,
    bytes: u64,
    rejected: u64,
}

impl Counts {
    /// Returns the counts of a gateway that has stored `requeued` messages of the quarantine since the start. These are no longer among
    /// the quarantined ones of `totals`.
    fn of(totals: &Totals, requeued: u64) -> Counts {
        let rejected = totals.quarantined + totals.refused + requeued;
        Counts { messages: totals.stored, bytes: totals.sum().bytes, rejected }
    }
}

/// The rates of a minute, per second.
#[derive(Clone, Copy, Serialize, ToSchema)]
pub struct Point {
    /// The end of the minute, in milliseconds since 1970.
    at: i64,
    /// Messages stored, per second.
    messages: f64,
    /// Their bytes as they arrived, per second.
    bytes: f64,
    /// Messages that were quarantined or refused, per second.
    rejected: f64,
}

/// The rates of the last hours.
#[derive(Serialize, ToSchema)]
pub struct RatesObject {
    /// When the gateway was started, which is when the points begin.
    started_at: String,
    /// The number of minutes that are kept.
    kept_minutes: usize,
    /// The oldest first. The last one is of the current minute so far.
    points: Vec<Point>,
}

/// The rates of a running gateway.
pub struct Rates(Mutex<Ring>);

struct Ring {
    points: VecDeque<Point>,
    last: Counts,
    since: Instant,
}

impl Ring {
    /// Returns the rates since the last point, or `None` if that was just now.
    fn current(&self, now: Counts) -> Option<Point> {
        let seconds = self.since.elapsed().as_secs_f64();
        // After damage to the buffer, counts may be lower than before.
        let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
        // A clock that was set back does not make times run backwards.
        let at = (clock::now() / 1000).max(self.points.back().map_or(0, |last| last.at + 1));
        (seconds >= SHORTEST).then(|| Point {
            at,
            messages: rate(now.messages, self.last.messages),
            bytes: rate(now.bytes, self.last.bytes),
            rejected: rate(now.rejected, self.last.rejected),
        })
    }

    fn end_minute(&mut self, now: Counts) {
        let Some(point) = self.current(now) else { return };
        if self.points.len() == POINTS {
            self.points.pop_front();
        }
        self.points.push_back(point);
        (self.last, self.since) = (now, Instant::now());
    }
}

impl Rates {
    /// Begins to measure at `totals`.
    pub fn new(totals: &Totals) -> Rates {
        let last = Counts::of(totals, 0);
        Rates(Mutex::new(Ring { points: VecDeque::new(), last, since: Instant::now() }))
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the point of a minute that ends at `totals`, with `requeued` messages of the quarantine stored since the start.
    pub fn end_minute(&self, totals: &Totals, requeued: u64) {
        self.ring().end_minute(Counts::of(totals, requeued));
    }

    /// Returns the rates of a gateway that was started at `started_at`, in microseconds since 1970, and is at `totals` now.
    pub fn object(&self, started_at: i64, totals: &Totals, requeued: u64) -> RatesObject {
        let ring = self.ring();
        let points = ring.points.iter().copied().chain(ring.current(Counts::of(totals, requeued))).collect();
        RatesObject { started_at: rfc3339(started_at), kept_minutes: POINTS, points }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_is_bounded_and_its_times_ascend() {
        let begin = Counts { messages: 100, bytes: 1000, rejected: 5 };
        let mut ring = Ring { points: VecDeque::new(), last: begin, since: Instant::now() };
        assert!(ring.current(begin).is_none(), "no rate of no time");
        for n in 1..=POINTS as u64 + 2 {
            ring.since = Instant::now() - INTERVAL;
            ring.end_minute(Counts { messages: 100 + 60 * n, bytes: 1000 + 600 * n, rejected: 5 });
        }
        assert_eq!(ring.points.len(), POINTS);
        assert!(ring.points.iter().zip(ring.points.iter().skip(1)).all(|(a, b)| a.at < b.at));
        let last = ring.points.back().unwrap();
        let near = |rate: f64, expected: f64| (rate - expected).abs() < 0.05 * expected;
        assert!(near(last.messages, 1.0) && near(last.bytes, 10.0) && last.rejected == 0.0);
        // A count that falls does not become a negative rate.
        ring.since = Instant::now() - INTERVAL;
        assert_eq!(ring.current(begin).unwrap().messages, 0.0);
    }
}
