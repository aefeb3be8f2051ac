//! How often a device is expected to send, and whether its next message is late.

use serde::Serialize;
use utoipa::ToSchema;

/// A device is late after this many of its intervals without a message, in tenths: the next message may come somewhat late, or be lost.
const LATE_TENTHS: i64 = 25;
/// Messages within a second are one sending, in microseconds.
const BURST: i64 = 1_000_000;
/// How many intervals must have been seen before the usual one counts as known.
const KNOWN: u8 = 3;

/// Where the expected interval of a device comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// `interval_seconds` of the register.
    Register,
    /// Its schema says it: `every` of `x-dunnage-time`, or `x-dunnage-every` of a time in seconds.
    Schema,
    /// `silent_after_seconds` of its profile.
    Profile,
    /// The usual interval between its messages.
    Messages,
}

/// Statistics of the intervals between the messages of a device. Times are microseconds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cadence {
    /// The interval that the register says.
    pub registered: Option<i64>,
    /// The interval that the schema says.
    pub every: Option<i64>,
    /// The time of the profile after which the device counts as silent.
    pub silent_after: Option<i64>,
    usual: i64,
    seen: u8,
}

impl Cadence {
    /// Adds an interval between two messages. The usual interval moves by at most a quarter, so that one long silence does not count much.
    pub fn add(&mut self, interval: i64) {
        if interval < BURST {
            return;
        }
        if self.seen == 0 {
            self.usual = interval;
        } else {
            let most = self.usual / 4;
            self.usual += (interval - self.usual).clamp(-most, most);
        }
        self.seen = self.seen.saturating_add(1);
    }

    /// Sets the usual interval from the times of messages, newest first.
    pub fn learn(&mut self, times: &[i64]) {
        let all = times.windows(2).map(|pair| pair[0].saturating_sub(pair[1]));
        let mut all: Vec<i64> = all.filter(|interval| *interval >= BURST).collect();
        if all.len() >= usize::from(KNOWN) {
            let middle = all.len() / 2;
            self.usual = *all.select_nth_unstable(middle).1;
            self.seen = KNOWN;
        }
    }

    /// Returns the expected interval, and where it comes from.
    pub fn expected(&self) -> Option<(i64, Source)> {
        let usual = (self.seen >= KNOWN).then_some(self.usual);
        self.registered
            .map(|every| (every, Source::Register))
            .or_else(|| self.every.map(|every| (every, Source::Schema)))
            .or_else(|| self.silent_after.map(|after| (after, Source::Profile)))
            .or_else(|| usual.map(|usual| (usual, Source::Messages)))
    }

    /// Returns when the next message is expected after one at `last`.
    pub fn due(&self, last: i64) -> Option<i64> {
        self.expected().map(|(every, _)| last.saturating_add(every))
    }

    /// Returns how long after its last message a device is late, if anything is known.
    pub fn late_after(&self) -> Option<i64> {
        let (every, source) = self.expected()?;
        let several = every.saturating_mul(LATE_TENTHS) / 10;
        Some(match source {
            Source::Profile => every,
            Source::Register | Source::Schema | Source::Messages => {
                self.silent_after.map_or(several, |after| after.min(several))
            }
        })
    }

    /// Returns by how much the next message is late at `now`; `None` if it is not, or if nothing is known.
    pub fn late(&self, last: i64, now: i64) -> Option<i64> {
        let silence = now.saturating_sub(last);
        let (every, _) = self.expected()?;
        (silence > self.late_after()?).then(|| (silence - every).max(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000_000;

    #[test]
    fn the_schema_comes_before_the_profile_and_the_profile_before_the_messages() {
        let mut cadence = Cadence::default();
        assert_eq!((cadence.expected(), cadence.late(0, i64::MAX)), (None, None));
        (0..3).for_each(|_| cadence.add(MINUTE));
        assert_eq!(cadence.expected(), Some((MINUTE, Source::Messages)));
        cadence.silent_after = Some(10 * MINUTE);
        assert_eq!(cadence.expected(), Some((10 * MINUTE, Source::Profile)));
        assert_eq!((cadence.late(0, 10 * MINUTE), cadence.late(0, 11 * MINUTE)), (None, Some(MINUTE)));
        cadence.every = Some(15 * MINUTE);
        assert_eq!(cadence.expected(), Some((15 * MINUTE, Source::Schema)));
        // The profile's limit is the shorter one here, and the device is not yet late by the schema.
        assert_eq!((cadence.late(0, 9 * MINUTE), cadence.late(0, 12 * MINUTE)), (None, Some(0)));
        cadence.registered = Some(20 * MINUTE);
        assert_eq!(cadence.expected(), Some((20 * MINUTE, Source::Register)));
        cadence.registered = None;
        cadence.silent_after = None;
        assert_eq!((cadence.late(0, 37 * MINUTE), cadence.late(0, 195 * MINUTE)), (None, Some(180 * MINUTE)));
        // The clock was ahead when the last message came.
        assert_eq!(cadence.late(i64::MAX, 0), None);
    }

    #[test]
    fn a_long_silence_hardly_changes_the_usual_interval() {
        let mut cadence = Cadence::default();
        (0..20).for_each(|_| cadence.add(MINUTE));
        cadence.add(1000 * MINUTE);
        assert_eq!(cadence.expected(), Some((MINUTE + MINUTE / 4, Source::Messages)));
        (0..100).for_each(|_| cadence.add(2 * MINUTE));
        assert_eq!(cadence.expected(), Some((2 * MINUTE, Source::Messages)));
        // Messages that come together are one sending.
        (0..100).for_each(|_| cadence.add(1000));
        assert_eq!(cadence.expected(), Some((2 * MINUTE, Source::Messages)));
        cadence.learn(&[100, 90, 90, 80, 20, 10, 0].map(|time| time * MINUTE));
        assert_eq!(cadence.expected(), Some((10 * MINUTE, Source::Messages)));
    }
}
