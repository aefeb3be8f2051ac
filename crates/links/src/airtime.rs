//! The time that a message is on the air.

use crate::{Link, LoraRate};
use serde::Deserialize;

/// How the time on the air follows from the size of a message.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Airtime {
    /// LoRa's formula.
    Lora(LoraRate),
    /// In proportion to the payload, between two sizes.
    Linear {
        /// The smallest payload, in bytes.
        min_payload_bytes: usize,
        /// The seconds of the smallest payload.
        min_s: f64,
        /// The largest payload, in bytes.
        max_payload_bytes: usize,
        /// The seconds of the largest payload.
        max_s: f64,
    },
    /// The same for every message, that of the largest one.
    Constant {
        /// The seconds.
        seconds: f64,
    },
}

impl Link {
    /// The seconds that a message of `bytes` bytes is on the air, in all of its fragments; `None` if it is
    /// not published.
    pub fn airtime_s(&self, bytes: usize) -> Option<f64> {
        let airtime = self.airtime.as_ref()?;
        Some(self.over_fragments(bytes, |payload| self.frame_s(airtime, payload)))
    }

    /// The seconds of the longest fragment of a message of `bytes` bytes.
    pub fn longest_frame_s(&self, bytes: usize) -> Option<f64> {
        let longest = bytes.min(self.max_payload_bytes.unwrap_or(usize::MAX));
        Some(self.frame_s(self.airtime.as_ref()?, longest))
    }

    fn frame_s(&self, airtime: &Airtime, payload: usize) -> f64 {
        let payload = payload.max(self.min_payload_bytes);
        match airtime {
            Airtime::Lora(rate) => rate.frame(payload as f64 + self.overhead_bytes() as f64),
            Airtime::Linear { min_payload_bytes, min_s, max_payload_bytes, max_s } => {
                let span = max_payload_bytes.saturating_sub(*min_payload_bytes).max(1) as f64;
                min_s + (max_s - min_s) * payload.saturating_sub(*min_payload_bytes) as f64 / span
            }
            Airtime::Constant { seconds } => *seconds,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::link;

    #[test]
    fn a_lorawan_frame_has_13_bytes_more_than_its_payload() {
        let airtime = link("lorawan-eu868-dr0").unwrap().airtime_s(51).unwrap();
        assert!((airtime - 2.793_472).abs() < 1e-9, "{airtime}");
    }

    #[test]
    fn fragments_are_on_the_air_one_after_the_other() {
        let link = link("lorawan-eu868-dr0").unwrap();
        let (whole, rest) = (link.airtime_s(51).unwrap(), link.airtime_s(10).unwrap());
        assert!((link.airtime_s(61).unwrap() - whole - rest).abs() < 1e-9);
        assert_eq!(link.longest_frame_s(61), Some(whole));
    }

    #[test]
    fn argos_messages_take_from_360_to_920_milliseconds() {
        let airtime = |bytes| link("argos-ptt").unwrap().airtime_s(bytes).unwrap();
        assert!((airtime(4) - 0.36).abs() < 1e-9 && (airtime(32) - 0.92).abs() < 1e-9);
        // A smaller message is padded.
        assert_eq!(airtime(1), airtime(4));
    }

    #[test]
    fn sigfox_takes_six_seconds_for_each_message() {
        let link = link("sigfox").unwrap();
        assert_eq!(
            (link.airtime_s(1), link.airtime_s(12), link.airtime_s(13)),
            (Some(6.0), Some(6.0), Some(12.0))
        );
        assert_eq!(crate::link("lte-m").unwrap().airtime_s(1), None);
    }
}
