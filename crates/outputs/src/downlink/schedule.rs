//! Decides which messages are acknowledged: one in so many of each device, not too often, and none that is too old.
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
    devices: Mutex<HashMap<String, Last>>,
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
        Schedule { every, interval, max_age, devices: Mutex::default() }
    }

    /// Returns whether the last of the messages is to be acknowledged now.
    pub fn is_due(&self, named: Named<'_>, now: Instant) -> bool {
        if named.count == 0 || named.age > self.max_age {
            return false;
        }
        let mut devices = self.devices();
        if let Some(last) = devices.get(named.device) {
            let enough = last.since.saturating_add(named.count) >= self.every;
            return enough && now.duration_since(last.at) >= self.interval;
        }
        if devices.len() >= DEVICES {
            devices.retain(|_, last| now.duration_since(last.at) < self.interval);
        }
        devices.len() < DEVICES
    }

    /// Counts messages that are not acknowledged.
    pub fn skipped(&self, named: Named<'_>) {
        if let Some(last) = self.devices().get_mut(named.device) {
            last.since = last.since.saturating_add(named.count);
        }
    }

    /// Records a downlink to `device`.
    pub fn sent(&self, device: &str, now: Instant) {
        self.devices().insert(device.into(), Last { at: now, since: 0 });
    }

    fn devices(&self) -> MutexGuard<'_, HashMap<String, Last>> {
        self.devices.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

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
        assert!(schedule.devices().is_empty());
    }
}
