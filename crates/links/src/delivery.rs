//! The probability that a message arrives in time.

use crate::Link;
use serde::Deserialize;

/// How a link repeats what is lost.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Delivery {
    /// Selective repeat: the message is cut into blocks that follow each other, and a lost one is sent again.
    Blocks {
        /// The seconds before the first block.
        access_s: f64,
        /// The bytes of a block; the last one is filled up.
        block_bytes: usize,
        /// The seconds of a block.
        block_s: f64,
        /// The seconds from a lost block to its repetition.
        repeat_s: f64,
    },
    /// Stop and wait: a frame is sent until it is acknowledged, then the next.
    Frames {
        /// The seconds of waiting for the medium before each frame.
        access_s: f64,
        /// The seconds of a frame apart from its bytes.
        frame_s: f64,
        /// The seconds of a byte.
        byte_s: f64,
        /// The seconds from the end of a frame to the end of its acknowledgement.
        acknowledgement_s: f64,
    },
}

impl Link {
    /// Returns the probability that a message of `bytes` bytes arrives within `seconds`, if each block or frame is lost
    /// with the probability `loss` and repeated without limit; acknowledgements are not lost. `None` if the link refuses
    /// the message or the catalogue does not say how it repeats.
    pub fn arrives_within(&self, bytes: usize, loss: f64, seconds: f64) -> Option<f64> {
        let delivery = self.delivery.filter(|_| self.fits(bytes))?;
        Some(match delivery {
            Delivery::Blocks { access_s, block_bytes, block_s, repeat_s } => {
                let blocks = (bytes + self.overhead_bytes() as usize).div_ceil(block_bytes.max(1));
                let in_time = |block: usize| {
                    let left = seconds - access_s - block as f64 * block_s;
                    let attempts = if left < 0.0 { 0 } else { 1 + (left / repeat_s) as i32 };
                    1.0 - loss.powi(attempts)
                };
                (1..=blocks).map(in_time).product()
            }
            Delivery::Frames { access_s, frame_s, byte_s, acknowledgement_s } => {
                let attempt = |frame: u64| access_s + frame_s + frame as f64 * byte_s + acknowledgement_s;
                let attempts: Vec<f64> = self.frames(bytes).into_iter().map(attempt).collect();
                // The message is there before the acknowledgement of its last frame.
                all_sent(&attempts, loss, seconds + acknowledgement_s)
            }
        })
    }
}

/// The probability that attempts of these seconds, each repeated until it succeeds, end within `seconds`. Times are
/// rounded up to milliseconds.
fn all_sent(attempts: &[f64], loss: f64, seconds: f64) -> f64 {
    let slots = (1e3 * seconds) as usize + 1;
    // The probability that all frames so far end in this millisecond.
    let mut ends = vec![0.0; slots];
    ends[0] = 1.0;
    for attempt in attempts {
        let duration = (1e3 * attempt).ceil() as usize;
        let mut next = vec![0.0; slots];
        for slot in duration..slots {
            next[slot] = (1.0 - loss) * ends[slot - duration] + loss * next[slot - duration];
        }
        ends = next;
    }
    ends.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{catalogue, link};

    #[test]
    fn a_lossless_link_delivers_at_a_known_time() {
        let edge = link("edge").unwrap();
        // 45 bytes and 67 of headers are two blocks of 56: 150 ms and 40 ms.
        assert_eq!(edge.arrives_within(45, 0.0, 0.189), Some(0.0));
        assert_eq!(edge.arrives_within(45, 0.0, 0.191), Some(1.0));
        assert_eq!(edge.arrives_within(46, 0.0, 0.209), Some(0.0));
        let plc = link("g3-plc").unwrap();
        // One frame of 128 bytes: 25, 26.3 + 158.2 ms.
        assert_eq!(plc.arrives_within(64, 0.0, 0.205), Some(0.0));
        assert_eq!(plc.arrives_within(64, 0.0, 0.212), Some(1.0));
    }

    #[test]
    fn a_lost_block_arrives_after_its_repetition() {
        let edge = link("edge").unwrap();
        let one_repetition = edge.arrives_within(45, 0.1, 0.32).unwrap();
        assert!((one_repetition - 0.99 * 0.99).abs() < 1e-12, "{one_repetition}");
    }

    /// Three frames of 0.1 s in half a second: at most two losses.
    #[test]
    fn frames_end_in_time_as_the_negative_binomial_distribution_says() {
        let expected = 0.8_f64.powi(3) * (1.0 + 3.0 * 0.2 + 6.0 * 0.2 * 0.2);
        assert!((all_sent(&[0.1; 3], 0.2, 0.55) - expected).abs() < 1e-12);
    }

    #[test]
    fn more_time_or_fewer_bytes_never_make_delivery_less_probable() {
        for link in catalogue().iter().filter(|link| link.delivery.is_some()) {
            let arrives = |bytes, seconds| link.arrives_within(bytes, 0.1, seconds).unwrap();
            for bytes in 1..600 {
                for seconds in [0.2, 1.0, 10.0] {
                    let here = arrives(bytes, seconds);
                    assert!((0.0..=1.0 + 1e-9).contains(&here), "{} {bytes} {seconds}", link.id);
                    assert!(here <= arrives(bytes, 2.0 * seconds) + 1e-9, "{} {bytes} {seconds}", link.id);
                    assert!(here >= arrives(bytes + 1, seconds) - 1e-9, "{} {bytes} {seconds}", link.id);
                }
            }
        }
        assert_eq!(link("kineis").unwrap().arrives_within(10, 0.1, 1.0), None);
    }
}
