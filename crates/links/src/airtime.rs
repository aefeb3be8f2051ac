//! The time that a message is on the air.

use crate::{Link, LoraRate};
use serde::Deserialize;

/// How the time on the air follows from the size of a message.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Airtime {
    /// LoRa's formula.
    Lora(LoraRate),
    /// Frames at the radio's rate.
    Frames {
        /// The bits in a second.
        bits_per_second: f64,
        /// The bytes that the radio sends before a frame, such as its preamble; they are not in the link's overhead.
        preamble_bytes: u64,
        /// How often a frame is sent: once on each of so many channels.
        channels: u32,
    },
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
    /// The seconds that a message of `bytes` bytes is on the air, in all of its fragments, over one hop; `None`
    /// if it is not published.
    pub fn airtime_s(&self, bytes: usize) -> Option<f64> {
        let airtime = self.airtime.as_ref()?;
        Some(self.over_fragments(bytes, |payload, overhead| self.frame_s(airtime, payload, overhead)))
    }

    /// The seconds of the longest fragment of a message of `bytes` bytes.
    pub fn longest_frame_s(&self, bytes: usize) -> Option<f64> {
        let limit = if self.splits() { self.standard_payload_bytes } else { self.max_payload_bytes };
        let longest = bytes.min(limit.unwrap_or(usize::MAX));
        Some(self.frame_s(self.airtime.as_ref()?, longest, self.overhead_bytes()))
    }

    fn frame_s(&self, airtime: &Airtime, payload: usize, overhead: u64) -> f64 {
        let payload = payload.max(self.min_payload_bytes);
        match airtime {
            Airtime::Lora(rate) => rate.frame(payload as f64 + overhead as f64),
            Airtime::Frames { bits_per_second, preamble_bytes, channels } => {
                let bytes = payload as f64 + (overhead + preamble_bytes) as f64;
                f64::from(*channels) * 8.0 * bytes / bits_per_second
            }
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

    /// 63 bytes fill a frame of 127, which takes 4064 µs after 192 µs of synchronization. LongFast sends the largest
    /// frame, 255 bytes, in 16 + 12.25 + 5 * 47 symbols of 8.192 ms.
    #[test]
    fn frames_of_a_mesh_take_the_radios_rate() {
        let airtime = |id, bytes| link(id).unwrap().airtime_s(bytes).unwrap();
        assert!((airtime("thread", 63) - 0.004_256).abs() < 1e-9);
        // A full frame, and one of 6 + 31 + 5 bytes.
        assert!((airtime("thread", 64) - (0.004_256 + 42.0 * 32e-6)).abs() < 1e-9);
        // 47 bytes at 8 µs, on each of three channels.
        assert!((airtime("bluetooth-mesh", 8) - 3.0 * 376e-6).abs() < 1e-9);
        assert!((airtime("meshtastic-longfast-eu868", 231) - 263.25 * 0.008_192).abs() < 1e-9);
        assert_eq!(link("bluetooth-mesh").unwrap().longest_frame_s(377), Some(airtime("bluetooth-mesh", 8)));
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
