//! Links on which devices pass messages on, hop by hop, and the frames of one hop.

use crate::{Link, LoadError};
use serde::Deserialize;

/// How a link carries messages over several hops.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mesh {
    /// The most hops of a message.
    pub max_hops: u32,
    /// How the link splits messages above its ordinary one, which one frame carries; `None` if it does not
    /// split messages.
    pub split: Option<Split>,
}

/// The frames of a message that the link splits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Split {
    /// The first frame.
    pub first: Frame,
    /// Each further frame; the last one may carry less.
    pub next: Frame,
}

/// A frame of a message that the link splits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frame {
    /// The bytes of the message in it.
    pub payload_bytes: usize,
    /// The bytes that the link's protocols add to it.
    pub overhead_bytes: u64,
}

impl Link {
    /// Returns the hops of a message that is to take `hops` of them: 1 on a link without hops.
    ///
    /// # Errors
    /// A message on this link cannot take so many.
    pub fn hops(&'static self, hops: u32) -> Result<u32, LoadError> {
        match &self.mesh {
            None => Ok(1),
            Some(mesh) if (1..=mesh.max_hops).contains(&hops) => Ok(hops),
            Some(mesh) => Err(LoadError::Hops { link: &self.id, most: mesh.max_hops }),
        }
    }

    /// Returns whether the link's own protocol splits and joins large messages.
    pub fn splits(&self) -> bool {
        self.mesh.as_ref().is_some_and(|mesh| mesh.split.is_some())
    }

    /// Returns what carries the link's ordinary message, for people.
    pub fn ordinary(&self) -> &'static str {
        if self.splits() { "one frame" } else { "a standard message" }
    }

    /// Returns the sum of `f` over the frames of one link message. `f` takes the payload and the overhead of a
    /// frame.
    pub(crate) fn over_frames(&self, payload: usize, f: impl Fn(usize, u64) -> f64) -> f64 {
        let split = self.mesh.as_ref().and_then(|mesh| mesh.split);
        let Some(Split { first, next }) = split.filter(|_| self.standard_payload_bytes < Some(payload))
        else {
            return f(payload, self.overhead_bytes());
        };
        let rest = payload.saturating_sub(first.payload_bytes);
        let full = rest.saturating_sub(1) / next.payload_bytes.max(1);
        let last = rest - full * next.payload_bytes;
        f(first.payload_bytes, first.overhead_bytes)
            + full as f64 * f(next.payload_bytes, next.overhead_bytes)
            + f(last, next.overhead_bytes)
    }

    /// Returns the bytes of each frame of a message that the link accepts, those of the link's protocols included.
    pub(crate) fn frames(&self, bytes: usize) -> Vec<u64> {
        let split = self.mesh.as_ref().and_then(|mesh| mesh.split);
        let Some(Split { first, next }) = split.filter(|_| self.standard_payload_bytes < Some(bytes)) else {
            return vec![bytes as u64 + self.overhead_bytes()];
        };
        let (mut frames, mut frame, mut rest) = (Vec::new(), first, bytes);
        while rest > 0 {
            let payload = rest.min(frame.payload_bytes.max(1));
            frames.push(payload as u64 + frame.overhead_bytes);
            (frame, rest) = (next, rest - payload);
        }
        frames
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{catalogue, link};

    fn split(id: &str) -> Split {
        link(id).unwrap().mesh.as_ref().unwrap().split.unwrap()
    }

    fn fragments(id: &str, sizes: &[usize]) -> Vec<u64> {
        sizes.iter().map(|size| link(id).unwrap().fragments(*size).unwrap()).collect()
    }

    /// IEEE 802.15.4 allows 127 bytes, the advertising PDU of Bluetooth 37 besides its header of 2 and its CRC of
    /// 3, and LoRa's length field 255.
    #[test]
    fn full_frames_are_as_long_as_the_radio_allows() {
        for (id, frame) in [("thread", 127), ("zigbee", 127), ("bluetooth-mesh", 42)] {
            let link = link(id).unwrap();
            let whole = link.standard_payload_bytes.unwrap() as u64 + link.overhead_bytes();
            let Split { first, next } = split(id);
            let split = [first, next].map(|part| part.payload_bytes as u64 + part.overhead_bytes);
            assert_eq!((whole, split), (frame, [frame; 2]), "{id}");
        }
        let meshtastic = link("meshtastic-longfast-eu868").unwrap();
        assert_eq!(meshtastic.max_payload_bytes.unwrap() as u64 + meshtastic.overhead_bytes(), 255);
    }

    /// RFC 4944, section 5.3: offsets count 8 bytes of the datagram, in which IPv6 and UDP take 48 bytes and DTLS
    /// takes 29.
    #[test]
    fn fragments_of_6lowpan_end_at_a_multiple_of_8_bytes() {
        let Split { first, next } = split("thread");
        assert_eq!(((48 + 29 + first.payload_bytes) % 8, next.payload_bytes % 8), (0, 0));
        assert_eq!(fragments("thread", &[0, 63, 64, 155, 156, 251, 252, 1203]), [1, 1, 2, 2, 3, 3, 4, 13]);
    }

    #[test]
    fn the_list_of_frames_agrees_with_the_sums() {
        for id in ["thread", "bluetooth-mesh", "g3-plc", "wi-sun-fan"] {
            let link = link(id).unwrap();
            for bytes in (0..400).filter(|bytes| link.fits(*bytes)) {
                let frames = link.frames(bytes);
                assert_eq!(Some(frames.len() as u64), link.fragments(bytes), "{id} {bytes}");
                let sum = link.over_fragments(bytes, |payload, overhead| payload as f64 + overhead as f64);
                assert_eq!(frames.iter().sum::<u64>() as f64, sum, "{id} {bytes}");
            }
        }
    }

    /// An opcode of 3 bytes and a TransMIC of 4: 15 bytes whole, else 12 in each segment.
    #[test]
    fn bluetooth_carries_up_to_32_segments() {
        assert_eq!(fragments("bluetooth-mesh", &[0, 8, 9, 17, 18, 377]), [1, 1, 2, 2, 3, 32]);
        assert!(!link("bluetooth-mesh").unwrap().fits(378));
    }

    #[test]
    fn zigbee_sends_blocks_and_meshtastic_and_wi_sun_split_nothing() {
        assert_eq!(fragments("zigbee", &[82, 83, 160, 161, 20_400]), [1, 2, 2, 3, 255]);
        for id in ["meshtastic-longfast-eu868", "wi-sun-fan"] {
            let link = link(id).unwrap();
            let most = link.max_payload_bytes.unwrap();
            assert!(!link.splits() && link.fits(most) && !link.fits(most + 1), "{id}");
        }
    }

    #[test]
    fn only_links_with_hops_take_hops() {
        for link in catalogue() {
            let most = link.mesh.as_ref().map(|mesh| mesh.max_hops);
            assert_eq!(link.hops(1), Ok(1));
            assert_eq!(link.hops(5), Ok(if most.is_some() { 5 } else { 1 }));
            if let Some(most) = most {
                let error = Err(LoadError::Hops { link: &link.id, most });
                assert_eq!((link.hops(most), link.hops(0), link.hops(most + 1)), (Ok(most), error, error));
            }
        }
        assert_eq!(catalogue().iter().filter(|link| link.mesh.is_some()).count(), 6);
    }

    #[test]
    fn a_link_that_splits_has_an_ordinary_message_for_one_frame() {
        for link in catalogue().iter().filter(|link| link.splits()) {
            let Split { first, next } = split(&link.id);
            let whole = link.standard_payload_bytes.unwrap();
            assert!(first.payload_bytes <= whole && next.payload_bytes > 0, "{}", link.id);
        }
    }
}
