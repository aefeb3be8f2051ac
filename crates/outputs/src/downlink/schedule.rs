//! Decides which messages are acknowledged: one in every n messages of a device, not too often for the device and for all devices together,
//! and never an old one.
//!
//! The state is in memory. After a restart, the first message of each device is acknowledged.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Largest number of devices whose downlinks are remembered.
const DEVICES: usize = 100_000;

/// When downlinks are due.
pub struct Schedule {
    every: u32,
    interval: Duration,
    max_age: Duration,
    /// The time of one downlink in the limit for all devices; zero without a limit.
    each: Duration,
    state: Mutex<State>,
}

/// The time in which the downlinks that the limit for all devices allows may be sent at once.
const MINUTE: Duration = Duration::from_secs(60);

#[derive(Default)]
struct State {
    devices: HashMap<String, Last>,
    /// When the limit for all devices has been restored (the generic cell rate algorithm).
    restored: Option<Instant>,
}

/// The last downlink to a device.
struct Last {
    at: Instant,
    /// Messages since then that have a name.
    since: u32,
}

/// Messages of one device, in order.
#[derive(Debug, Clone, Copy)]
pub struct Named<'d> {
    /// The device's ID.
    pub device: &'d str,
    /// How many of them have a name.
    pub count: u32,
    /// The age of the last of these.
    pub age: Duration,
}

impl Schedule {
    /// Creates a schedule that acknowledges one in `every` messages.
    pub fn new(every: u32, interval: Duration, max_age: Duration) -> Schedule {
        Schedule { every, interval, max_age, each: Duration::ZERO, state: Mutex::default() }
    }

    /// Limits the downlinks to all devices; 0 is no limit.
    pub fn limited(self, per_minute: u32) -> Schedule {
        Schedule { each: MINUTE.checked_div(per_minute).unwrap_or_default(), ..self }
    }

    /// Returns whether the last of the messages is to be acknowledged now.
    pub fn is_due(&self, named: Named<'_>, now: Instant) -> bool {
        if named.count == 0 || named.age > self.max_age {
            return false;
        }
        let mut state = self.state();
        if self.restored_after(&state, now) > now + MINUTE {
            return false;
        }
        let devices = &mut state.devices;
        if let Some(last) = devices.get(named.device) {
            let enough = last.since.saturating_add(named.count) >= self.every;
            return enough && now.duration_since(last.at) >= self.interval;
        }
        if devices.len() >= DEVICES {
            devices.retain(|_, last| now.duration_since(last.at) < self.interval);
        }
        devices.len() < DEVICES
    }

    /// Takes one downlink from the limit for all devices, and returns whether there was one.
    pub fn take(&self, now: Instant) -> bool {
        let mut state = self.state();
        let restored = self.restored_after(&state, now);
        let is_left = restored <= now + MINUTE;
        if is_left {
            state.restored = Some(restored);
        }
        is_left
    }

    /// Returns when the limit for all devices will have been restored after one more downlink.
    fn restored_after(&self, state: &State, now: Instant) -> Instant {
        state.restored.map_or(now, |restored| restored.max(now)) + self.each
    }

    /// Counts messages that are not acknowledged.
    pub fn skipped(&self, named: Named<'_>) {
        if let Some(last) = self.state().devices.get_mut(named.device) {
            last.since = last.since.saturating_add(named.count);
        }
    }

    /// Records a downlink to `device`.
    pub fn sent(&self, device: &str, now: Instant) {
        self.state().devices.insert(device.into(), Last { at: now, since: 0 });
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(device: &str) -> Named<'_> {
        Named { device, count: 1, age: Duration::ZERO }
    }

    /// Returns which of the messages that arrive in `intervals` are acknowledged.
    fn acknowledged(schedule: &Schedule, device: &str, intervals: &[Duration]) -> Vec<usize> {
        let mut now = Instant::now();
        let mut all = Vec::new();
        for (index, interval) in intervals.iter().enumerate() {
            now += *interval;
            if schedule.is_due(one(device), now) {
                schedule.sent(device, now);
                all.push(index);
            } else {
                schedule.skipped(one(device));
            }
        }
        all
    }

    #[test]
    fn one_in_n_messages_of_each_device_is_acknowledged() {
        let schedule = Schedule::new(4, MINUTE, MINUTE);
        assert_eq!(acknowledged(&schedule, "a", &[MINUTE; 10]), [0, 4, 8]);
        assert_eq!(acknowledged(&schedule, "b", &[MINUTE; 5]), [0, 4]);
        let all = Schedule::new(1, MINUTE, MINUTE);
        assert_eq!(acknowledged(&all, "a", &[MINUTE; 3]), [0, 1, 2]);
    }

    #[test]
    fn the_interval_delays_an_acknowledgement_and_the_next_message_gets_it() {
        let schedule = Schedule::new(2, 5 * MINUTE, MINUTE);
        assert_eq!(acknowledged(&schedule, "a", &[MINUTE; 12]), [0, 5, 10]);
    }

    #[test]
    fn messages_that_arrive_together_count_all_and_old_ones_are_not_acknowledged() {
        let schedule = Schedule::new(4, Duration::ZERO, MINUTE);
        let now = Instant::now();
        schedule.sent("a", now);
        assert!(!schedule.is_due(Named { device: "a", count: 3, age: MINUTE }, now));
        assert!(schedule.is_due(Named { device: "a", count: 4, age: MINUTE }, now));
        let old = Named { device: "a", count: 4, age: MINUTE + Duration::from_micros(1) };
        assert!(!schedule.is_due(old, now));
        assert!(!schedule.is_due(Named { device: "b", count: 0, age: Duration::ZERO }, now));
    }

    #[test]
    fn the_number_of_devices_is_bounded() {
        let schedule = Schedule::new(4, MINUTE, MINUTE);
        let now = Instant::now();
        (0..DEVICES).for_each(|n| schedule.sent(&n.to_string(), now));
        assert!(!schedule.is_due(one("new"), now));
        assert!(schedule.is_due(one("new"), now + MINUTE));
        assert!(schedule.state().devices.is_empty());
    }

    #[test]
    fn all_devices_share_a_limit() {
        let schedule = Schedule::new(1, Duration::ZERO, MINUTE).limited(3);
        let now = Instant::now();
        let sent = |from: u32, now: Instant| {
            let names = (from..from + 10).map(|n| n.to_string());
            names.filter(|name| schedule.is_due(one(name), now) && schedule.take(now)).count()
        };
        assert_eq!(sent(0, now), 3);
        assert!(!schedule.take(now + Duration::from_secs(19)));
        assert_eq!(sent(10, now + Duration::from_secs(20)), 1);
        // A limit that was not used does not grow beyond a minute.
        assert_eq!(sent(20, now + 10 * MINUTE), 3);
        assert!((0..1000).all(|_| Schedule::new(1, MINUTE, MINUTE).limited(0).take(now)));
    }
}
