//! Mutations that turn a valid frame into an invalid or a different one.

use super::frames::Frame;

/// A generator with a seed, so that the frames are the same each time.
pub struct Random(fastrand::Rng);

impl Random {
    /// A generator with any seed.
    pub fn new(seed: u64) -> Random {
        Random(fastrand::Rng::with_seed(seed))
    }

    /// A number below `limit`; 0 if `limit` is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0.usize(..limit.max(1))
    }

    /// A random item of `all`, which must not be empty.
    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// Boundary values of lengths, IDs and options.
const BOUNDARIES: [u8; 8] = [0x00, 0x01, 0x7f, 0x80, 0xc0, 0xf0, 0xfe, 0xff];

/// Changes `frame` in one to three places. A change may insert a piece of one of `others`, which are valid frames.
pub fn mutate(frame: &mut Vec<u8>, others: &[Frame], random: &mut Random) {
    for _ in 0..=random.below(3) {
        let at = random.below(frame.len() + 1);
        let to = at + random.below(frame.len() + 1 - at);
        match random.below(8) {
            0 => frame.truncate(at),
            1 => drop(frame.drain(at..to)),
            2 => frame.insert(at, *random.pick(&BOUNDARIES)),
            3 => frame.extend_from_within(at..to),
            4 if !others.is_empty() => {
                let other = &random.pick(others).body;
                let begin = random.below(other.len() + 1);
                frame.splice(at..to, other[begin..].iter().copied());
            }
            5 if at < frame.len() => frame[at] = *random.pick(&BOUNDARIES),
            6 if at < frame.len() => frame[at] = random.below(256) as u8,
            _ if at < frame.len() => frame[at] ^= 1 << random.below(8),
            _ => {}
        }
    }
    // Bounds the size, because several changes can double the frame.
    frame.truncate(256 << 10);
}
