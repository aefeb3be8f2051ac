//! Logs messages that go into the quarantine: as many as a person can read, and a count of the rest.

use dunnage_buffer::NewQuarantined;
use std::time::{Duration, Instant};

/// Most lines at once.
const BURST: u32 = 10;
/// Interval after which there may be one more.
const EVERY: Duration = Duration::from_secs(6);

/// A rate limiter and writer of these log lines, at the level `info`.
pub struct QuarantineLog {
    lines: u32,
    since: Instant,
    left_out: u64,
}

impl QuarantineLog {
    /// Creates one that allows a full burst.
    pub fn new() -> QuarantineLog {
        QuarantineLog { lines: BURST, since: Instant::now(), left_out: 0 }
    }

    /// Logs a message that is in the quarantine now, if the rate allows it.
    pub fn add(&mut self, message: &NewQuarantined) {
        let Some(left_out) = self.admit(Instant::now()) else { return };
        let NewQuarantined { provenance, kind, reason, .. } = message;
        let (device, request) = (&*provenance.device, &*provenance.request);
        tracing::info!(device, kind, reason, request, left_out, "a message was quarantined");
    }

    /// Returns the number of lines left out since the last one, or `None` if there may be no line at `now`.
    fn admit(&mut self, now: Instant) -> Option<u64> {
        let earned = now.saturating_duration_since(self.since).as_secs() / EVERY.as_secs();
        let earned = u32::try_from(earned).unwrap_or(u32::MAX);
        self.since += EVERY * earned.min(BURST);
        self.lines = self.lines.saturating_add(earned).min(BURST);
        if self.lines == BURST {
            self.since = now;
        }
        if self.lines == 0 {
            self.left_out += 1;
            return None;
        }
        self.lines -= 1;
        Some(std::mem::take(&mut self.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_a_few_lines_and_a_count() {
        let mut log = QuarantineLog::new();
        let begin = log.since;
        let flood: Vec<_> = (0..100).filter_map(|_| log.admit(begin)).collect();
        assert_eq!(flood, vec![0; BURST as usize]);
        assert_eq!(log.admit(begin + EVERY / 2), None);
        assert_eq!(log.admit(begin + EVERY), Some(91));
        assert_eq!(log.admit(begin + EVERY), None);
        // After a long quiet time, only one burst is admitted.
        let later = begin + 1000 * EVERY;
        assert_eq!((0..100).filter_map(|_| log.admit(later)).collect::<Vec<_>>().len(), BURST as usize);
        assert_eq!(log.admit(later + EVERY), Some(90));
    }
}
