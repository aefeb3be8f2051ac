//! The numbers that a message has had at a place.

/// The numbers at a place.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Past {
    /// The last, and the one before.
    pub values: [u64; 2],
    /// How many there were.
    pub count: u32,
    /// How often in succession a number was the last one, and as far from the last one as that from the one before.
    pub hits: [u32; 2],
}

impl Past {
    /// The number as far from the last as that from the one before.
    pub fn next(&self) -> u64 {
        self.values[0].wrapping_mul(2).wrapping_sub(self.values[1])
    }

    /// Remembers `value` as the last one.
    pub fn learn(&mut self, value: u64) {
        let hit = [self.count > 0 && value == self.values[0], self.count > 1 && value == self.next()];
        for (hits, hit) in self.hits.iter_mut().zip(hit) {
            *hits = if hit { *hits + 1 } else { 0 };
        }
        self.values = [value, self.values[0]];
        self.count += 1;
    }
}
