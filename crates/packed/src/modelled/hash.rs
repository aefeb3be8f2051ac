//! Hashes contexts, places and texts to 32 bits.

use crate::wire::At;

/// Adds `value` to a hash.
pub(super) fn hash(seed: u32, value: u32) -> u32 {
    let h = (seed ^ value).wrapping_mul(0x2C1B_3C6D).rotate_left(13).wrapping_mul(0x9E37_79B1);
    h ^ h >> 15
}

/// Hashes several values.
pub(super) fn hashes(values: &[u32]) -> u32 {
    values.iter().fold(0x1234_5678, |seed, &value| hash(seed, value))
}

impl At {
    /// Returns a hash of the place.
    pub(super) fn place(self) -> u32 {
        hashes(&[self.node, self.part as u32])
    }

    /// Returns a hash of the place and the last key.
    pub(super) fn under(self, key: u32) -> u32 {
        hash(self.place(), key)
    }
}
