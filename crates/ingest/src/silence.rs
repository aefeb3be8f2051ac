//! Silent devices: those that have not sent for longer than their profile's `silent_after_seconds`.
//!
//! Metrics have no label for each device of a fleet. Only silent devices get one, and at most [`LISTED`] of them: an alert needs only a
//! few, and a fleet of a million devices costs Prometheus nothing while it sends.

use crate::profiles::{Profiles, Subject};
use dunnage_base::clock;
use dunnage_buffer::{Readers, Sent, Use};
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{MetricType, gauge::ConstGauge},
    registry::Unit,
};
use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Most devices that are watched. Each takes some 100 bytes.
const WATCHED: usize = 100_000;
/// Most silent devices in the metrics: those that became silent last.
const LISTED: usize = 1000;

/// The watched devices, and when each last sent.
#[derive(Debug, Default)]
pub struct Silence(Mutex<Watched>);

#[derive(Debug, Default)]
struct Watched {
    devices: HashMap<Arc<str>, Heard>,
    /// Whether the log already has the warning that the limit of watched devices is reached.
    is_full: bool,
}

/// When a device last sent, and how long after that it is silent, both in microseconds.
#[derive(Debug, Clone, Copy)]
struct Heard {
    at: i64,
    after: i64,
}

impl Silence {
    fn watched(&self) -> MutexGuard<'_, Watched> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the message `subject`, which arrived at `at`, if its profile has `silent_after_seconds`. Otherwise the device is no longer
    /// watched.
    pub fn heard(&self, profiles: &Profiles, subject: &Subject<'_>, at: i64) {
        match profiles.silent_after(subject) {
            Some(after) => self.watched().note(subject.device, Heard { at, after }),
            // Only if the origin counts may an earlier message have had another profile.
            None if profiles.watch() && profiles.need_origin() => self.watched().forget(subject.device, at),
            None => {}
        }
    }

    /// Watches exactly the devices that `profiles` want watched. `heard` says when each of them last sent, and after what time it is silent.
    fn watch(&self, profiles: &Profiles, heard: Vec<(String, i64, i64)>) {
        let mut watched = self.watched();
        watched.devices.retain(|device, heard| {
            let after = profiles.silent_after(&Subject::from(&**device));
            heard.after = after.unwrap_or_default();
            // The device alone says nothing if the origin of its last message counts.
            after.is_some() && !profiles.need_origin()
        });
        watched.is_full = false;
        for (device, at, after) in heard {
            watched.note(&device, Heard { at, after });
        }
    }

    /// Returns the number of watched devices, the number of those that are silent at `now`, and when the silent ones last sent. That list
    /// starts with the one that became silent last, and has at most [`LISTED`] entries.
    fn at(&self, now: i64) -> (usize, usize, Vec<(Arc<str>, i64)>) {
        let watched = self.watched();
        let silent = watched.devices.iter().filter(|(_, heard)| now - heard.at > heard.after);
        let mut silent: Vec<_> = silent.map(|(device, heard)| (Arc::clone(device), *heard)).collect();
        let (all, count) = (watched.devices.len(), silent.len());
        drop(watched);
        silent.sort_unstable_by_key(|(_, heard)| -(heard.at + heard.after));
        silent.truncate(LISTED);
        (all, count, silent.into_iter().map(|(device, heard)| (device, heard.at)).collect())
    }
}

impl Watched {
    /// Forgets a device that sent at `at`, unless it has sent since.
    fn forget(&mut self, device: &str, at: i64) {
        if self.devices.get(device).is_some_and(|known| known.at <= at) {
            self.devices.remove(device);
        }
    }

    fn note(&mut self, device: &str, heard: Heard) {
        if let Some(known) = self.devices.get_mut(device) {
            if heard.at >= known.at {
                *known = heard;
            }
        } else if self.devices.len() < WATCHED {
            self.devices.insert(device.into(), heard);
        } else if !self.is_full {
            self.is_full = true;
            tracing::warn!(
                device,
                "{WATCHED} devices are watched for silence, which is the limit; narrow the profiles with silent_after_seconds"
            );
        }
    }
}

/// Has `silence` watch the devices that `profiles` want watched. The buffer knows when they last sent.
pub async fn watch(silence: &Silence, profiles: &Arc<Profiles>, readers: &Readers) {
    let (some, wanted) = (Arc::clone(profiles), Arc::clone(profiles));
    let may_be = move |device: &str| some.may_watch(device);
    let after = move |sent: Sent<'_>| wanted.silent_after(&sent.into());
    let heard = match profiles.watch() {
        true => readers.of(Use::Admin).last_heard(may_be, after, WATCHED).await,
        false => Ok(Vec::new()),
    };
    // A failed read has been logged. Devices are then watched from their next message on.
    silence.watch(profiles, heard.unwrap_or_default());
}

impl Collector for Silence {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        let (watched, silent, listed) = self.at(clock::now());
        let counts = [
            ("watched_devices", "Devices whose profile has silent_after_seconds", watched),
            ("silent_devices", "Watched devices silent for longer than silent_after_seconds", silent),
        ];
        for (name, help, count) in counts {
            let gauge = ConstGauge::new(i64::try_from(count).unwrap_or(i64::MAX));
            gauge.encode(encoder.encode_descriptor(name, help, None, gauge.metric_type())?)?;
        }
        let mut family = encoder.encode_descriptor(
            "silent_device_last_message_timestamp",
            "When a silent device last sent; for the 1,000 that became silent last",
            Some(&Unit::Seconds),
            MetricType::Gauge,
        )?;
        for (device, at) in &listed {
            let gauge = ConstGauge::new(*at as f64 / 1e6);
            gauge.encode(family.encode_family(&[("device", &**device)])?)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profiles::settings::{Profile, SchemaSettings};

    fn profiles(watched: &[(&str, u64)]) -> Profiles {
        let profile = |(device, seconds): &(&str, u64)| Profile {
            device: (*device).into(),
            silent_after_seconds: Some(*seconds),
            ..Profile::default()
        };
        let profiles: Vec<_> = watched.iter().map(profile).collect();
        Profiles::load(&SchemaSettings::default(), &profiles).unwrap()
    }

    #[test]
    fn a_device_is_silent_after_the_time_of_its_profile_and_until_it_sends() {
        let (silence, profiles) = (Silence::default(), profiles(&[("fast*", 10), ("slow*", 1000)]));
        for device in ["fast-1", "fast-2", "slow-1", "other"] {
            silence.heard(&profiles, &device.into(), 0);
        }
        let silent = |now: i64| {
            let (watched, count, listed) = silence.at(now * 1_000_000);
            assert_eq!(count, listed.len());
            (watched, listed.into_iter().map(|(device, _)| device.to_string()).collect::<Vec<_>>())
        };
        assert_eq!(silent(10), (3, vec![]));
        silence.heard(&profiles, &"fast-2".into(), 9_000_000);
        assert_eq!(silent(11), (3, vec!["fast-1".into()]));
        silence.heard(&profiles, &"fast-1".into(), 11_000_000);
        assert_eq!(silent(11), (3, vec![]));
        // The device that became silent last comes first. A message that arrives late does not make its device older.
        silence.heard(&profiles, &"fast-1".into(), 1_000_000);
        assert_eq!(silent(1001), (3, vec!["slow-1".into(), "fast-1".into(), "fast-2".into()]));
    }

    #[test]
    fn other_profiles_watch_other_devices() {
        let silence = Silence::default();
        silence.watch(&profiles(&[("a*", 10)]), vec![("a1".into(), 0, 10_000_000)]);
        assert_eq!(silence.at(11_000_000).1, 1);
        silence.watch(&profiles(&[("b*", 20), ("a*", 12)]), vec![("b1".into(), 5, 20_000_000)]);
        assert_eq!((silence.at(11_000_000).0, silence.at(11_000_000).1), (2, 0));
        assert_eq!(silence.at(21_000_000).2, [(Arc::from("b1"), 5), (Arc::from("a1"), 0)]);
    }

    #[test]
    fn the_last_message_decides_whether_its_device_is_watched() {
        let profile = toml::from_str("match.port = 3\nsilent_after_seconds = 10").unwrap();
        let profiles = Profiles::load(&SchemaSettings::default(), &[profile]).unwrap();
        let silence = Silence::default();
        let heard = |port: u8, at: i64| {
            let origin = format!(r#"{{"port":{port}}}"#);
            silence.heard(&profiles, &Subject::new("d", Some(&origin)), at);
            silence.at(at).0
        };
        assert_eq!([heard(3, 10), heard(4, 9), heard(4, 11), heard(3, 12)], [1, 1, 0, 1]);
        // What the buffer says of the last messages replaces what was known by other profiles.
        silence.watch(&profiles, vec![("e".into(), 5, 10_000_000)]);
        assert_eq!(silence.at(20_000_000).2, [(Arc::from("e"), 5)]);
    }

    #[test]
    fn devices_are_watched_and_listed_up_to_a_bound() {
        let (silence, profiles) = (Silence::default(), profiles(&[("*", 1)]));
        (0..=WATCHED as i64).for_each(|n| silence.heard(&profiles, &n.to_string().as_str().into(), n));
        let (watched, silent, listed) = silence.at(10_000_000);
        assert_eq!((watched, silent, listed.len()), (WATCHED, WATCHED, LISTED));
        assert_eq!(&*listed[0].0, (WATCHED - 1).to_string());
    }
}
