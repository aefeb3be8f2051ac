//! A link, as a row of the catalogue describes it, and how a message is carried over it.

use crate::{Airtime, Currency, Delivery, Energy, Mesh, Price};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A link: what carries the bytes of a message. A figure that is `None` is not published, or no readable
/// source was found.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// The ID in commands and messages, such as `astrocast`.
    pub id: String,
    /// The name for people.
    pub name: String,
    /// Whether commands show the link when no link is named.
    #[serde(default)]
    pub compare: bool,
    /// Whether devices send or receive over the link.
    pub direction: Direction,
    /// The month or day on which the service ended.
    pub ended: Option<String>,
    /// The size of the smallest message in bytes.
    #[serde(default)]
    pub min_payload_bytes: usize,
    /// The size of the largest message in bytes; `None` if the link is `unlimited`, and if no limit is
    /// published.
    pub max_payload_bytes: Option<usize>,
    /// Whether the limit is far above the messages of this project.
    #[serde(default)]
    pub unlimited: bool,
    /// The size of an ordinary message in bytes, for links on which the largest size is an exception or takes
    /// several frames.
    pub standard_payload_bytes: Option<usize>,
    /// The bytes that the link's protocols add to each message.
    #[serde(default)]
    pub overhead: Vec<Overhead>,
    /// The bytes that are billed at least for a message, overhead included.
    #[serde(default)]
    pub minimum_billed_bytes: u64,
    /// The bytes of a message are rounded up to a multiple of this.
    #[serde(default = "one")]
    pub billing_step_bytes: u64,
    /// The currency of `price` and `fees`.
    pub currency: Option<Currency>,
    /// The price of a device's messages.
    pub price: Option<Price>,
    /// The costs of a device apart from its messages.
    #[serde(default)]
    pub fees: Fees,
    /// A caveat about the price, such as that it is an assumption.
    pub price_note: Option<String>,
    /// How messages take several hops; `None` if they take one.
    pub mesh: Option<Mesh>,
    /// The time on the air of one hop.
    pub airtime: Option<Airtime>,
    /// The share of the time, from 0 to 1, that a device may be on the air.
    pub duty_cycle: Option<f64>,
    /// The seconds that one frame may take.
    pub dwell_time_s: Option<f64>,
    /// The messages that the provider accepts from a device in a day.
    pub messages_per_day: Option<f64>,
    /// The seconds from one message to the next at least.
    pub min_interval_s: Option<f64>,
    /// The time from the device to the receiver of the message.
    pub latency: Option<Latency>,
    /// How the link repeats what is lost.
    pub delivery: Option<Delivery>,
    /// Whether the device learns that its message has arrived.
    pub acknowledged: Option<bool>,
    /// Messages to the device.
    pub downlink: Option<Downlink>,
    /// The energy of a message over one hop.
    pub energy: Option<Energy>,
    /// A further caveat.
    pub note: Option<String>,
    /// The IDs of the sources, by figure.
    pub sources: BTreeMap<String, Vec<String>>,
}

fn one() -> u64 {
    1
}

/// Where messages go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// From the device.
    Up,
    /// To the device.
    Down,
}

/// The bytes that one protocol adds to a message.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overhead {
    /// The protocol.
    pub what: String,
    /// Its bytes in each message.
    pub bytes: u64,
}

/// The costs of a device apart from its messages, in the link's currency. A fee that is `None` is not published.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fees {
    /// The SIM card, once.
    pub sim: Option<f64>,
    /// The activation, once.
    pub activation: Option<f64>,
    /// The line, each month.
    pub monthly: Option<f64>,
}

/// The time from the device to the receiver, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latency {
    /// An ordinary message's.
    pub typical_s: f64,
    /// The longest that the source names.
    pub worst_s: Option<f64>,
}

/// Messages to the device.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Downlink {
    /// The size of the largest message in bytes.
    pub max_payload_bytes: Option<usize>,
    /// When they come.
    pub note: String,
}

impl Link {
    /// Returns whether the link can carry a message of `bytes` bytes, in one piece or split by its own protocol.
    /// False if the limit is not published.
    pub fn fits(&self, bytes: usize) -> bool {
        bytes >= self.min_payload_bytes && self.max_payload_bytes.map_or(self.unlimited, |max| bytes <= max)
    }

    /// Returns whether the limit of the link is known.
    pub fn has_limit(&self) -> bool {
        self.unlimited || self.max_payload_bytes.is_some()
    }

    /// Returns whether each message has a port besides its bytes: LoRaWAN's FPort.
    pub fn has_port(&self) -> bool {
        self.id.starts_with("lorawan-")
    }

    /// Returns the number of fragments that `bytes` bytes need; `None` if the limit is not published.
    ///
    /// More than one needs a transport that numbers and joins them, unless the link [splits](Link::splits)
    /// messages itself. The header of such a transport is not counted.
    pub fn fragments(&self, bytes: usize) -> Option<u64> {
        self.has_limit().then(|| self.over_fragments(bytes, |_, _| 1.0) as u64)
    }

    /// The bytes that the link's protocols add to each message.
    pub fn overhead_bytes(&self) -> u64 {
        self.overhead.iter().map(|part| part.bytes).sum()
    }

    /// Returns the sum of `f` over the fragments of a message of `bytes` bytes. `f` takes the payload of a
    /// fragment and the bytes that the link's protocols add to it. A link without a published limit carries the
    /// message in one piece.
    pub(crate) fn over_fragments(&self, bytes: usize, f: impl Fn(usize, u64) -> f64) -> f64 {
        let max = self.max_payload_bytes.unwrap_or(usize::MAX).max(1);
        let full = bytes.saturating_sub(1) / max;
        self.over_frames(bytes - full * max, &f) + full as f64 * self.over_frames(max, &f)
    }

    /// Returns the bytes that are billed for a message of `bytes` bytes: all of its fragments with their
    /// overhead, rounded up as the provider does.
    pub fn billed_bytes(&self, bytes: usize) -> f64 {
        self.over_fragments(bytes, |payload, overhead| self.billed(payload, overhead) as f64)
    }

    /// The billed bytes of one fragment.
    pub(crate) fn billed(&self, payload: usize, overhead: u64) -> u64 {
        let sent = (payload.max(self.min_payload_bytes) as u64).saturating_add(overhead);
        let billed = sent.max(self.minimum_billed_bytes);
        billed.checked_next_multiple_of(self.billing_step_bytes.max(1)).unwrap_or(billed)
    }
}

#[cfg(test)]
mod tests {
    use crate::link;

    #[test]
    fn the_limits_are_inclusive() {
        let fits = |id, bytes| link(id).unwrap().fits(bytes);
        assert!(fits("astrocast", 160) && !fits("astrocast", 161));
        assert!(fits("iridium-sbd-mo", 340) && !fits("iridium-sbd-mo", 341));
        assert!(fits("iridium-sbd-mt", 270) && !fits("iridium-sbd-mt", 271));
        assert!(!fits("orbcomm", 5) && fits("orbcomm", 6) && fits("orbcomm", 250) && !fits("orbcomm", 251));
        assert!(fits("kineis", 30) && !fits("kineis", 31));
        assert!(fits("lte-m", 1 << 20));
    }

    #[test]
    fn nothing_is_said_to_fit_a_link_without_a_published_limit() {
        let link = link("echostar-lora").unwrap();
        assert!(!link.has_limit() && !link.fits(1));
        assert_eq!(link.fragments(1), None);
    }

    #[test]
    fn fragments_are_counted_from_the_first_byte_over_the_limit() {
        let fragments = |id, bytes| link(id).unwrap().fragments(bytes);
        assert_eq!(fragments("astrocast", 0), Some(1));
        assert_eq!(fragments("astrocast", 160), Some(1));
        assert_eq!(fragments("astrocast", 161), Some(2));
        assert_eq!(fragments("kineis", 418), Some(14));
        assert_eq!(fragments("lte-m", 1 << 20), Some(1));
    }

    #[test]
    fn billed_bytes_count_overhead_minimum_and_step() {
        let billed = |id, bytes| link(id).unwrap().billed_bytes(bytes);
        assert_eq!(billed("astrocast", 56), 56.0);
        // IPv4 20, UDP 8, DTLS 29.
        assert_eq!(billed("lte-m", 56), 56.0 + 57.0);
        // A service number of 1 byte, at least 15 bytes, in steps of 10.
        assert_eq!(billed("isatdata-pro", 3), 20.0);
        assert_eq!(billed("isatdata-pro", 19), 20.0);
        assert_eq!(billed("isatdata-pro", 20), 30.0);
        // Two fragments have two headers.
        assert_eq!(billed("nb-iot", 1224), 1224.0 + 2.0 * 57.0);
        // Thread splits 64 bytes itself: 59 with 68 bytes of headers, and 5 with 31.
        assert_eq!(billed("thread", 63), 63.0 + 64.0);
        assert_eq!(billed("thread", 64), 64.0 + 68.0 + 31.0);
        // ORBCOMM has no messages of less than 6 bytes.
        assert_eq!(billed("orbcomm", 2), 6.0);
    }
}
