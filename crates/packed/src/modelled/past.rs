//! The previous numbers of a place.

/// The previous numbers of a place.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Past {
    /// The last number, and the one before it.
    pub values: [u64; 2],
    /// The number of numbers so far.
    pub count: u32,
    /// How many times in succession the number repeated the last one, and how many times it continued the last difference.
    pub hits: [u32; 2],
}

impl Past {
    /// Returns the number that continues the last difference.
    pub fn next(&self) -> u64 {
        self.values[0].wrapping_mul(2).wrapping_sub(self.values[1])
    }

    /// Records `value` as the last number.
    pub fn learn(&mut self, value: u64) {
        let hit = [self.count > 0 && value == self.values[0], self.count > 1 && value == self.next()];
        for (hits, hit) in self.hits.iter_mut().zip(hit) {
            *hits = if hit { *hits + 1 } else { 0 };
        }
        self.values = [value, self.values[0]];
        self.count += 1;
    }
}
