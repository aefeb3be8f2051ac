//! A random number generator that gives the same numbers for the same seed on every machine.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A seeded random number generator.
pub struct Random(ChaCha8Rng);

impl Random {
    /// A generator with the given seed.
    pub fn new(seed: u64) -> Random {
        Random(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A random `u64`.
    pub fn bits(&mut self) -> u64 {
        self.0.random()
    }

    /// A random byte.
    pub fn byte(&mut self) -> u8 {
        self.0.random()
    }

    /// A number from 0 to `end` - 1; 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { self.0.random_range(0..end) }
    }

    /// True with a probability of 1 in `n`.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// A random element of `from`, which must not be empty.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// A number with a random number of bits, so that small ones are as frequent as large ones. Often next to a power of 2.
    pub fn magnitude(&mut self) -> u64 {
        let bits = self.below(65) as u32;
        let top = 1u64.checked_shl(bits).unwrap_or(0);
        match self.below(4) {
            0 => top.wrapping_add(self.below(3) as u64).wrapping_sub(1),
            _ => self.bits() & top.wrapping_sub(1),
        }
    }
}
