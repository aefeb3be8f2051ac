//! How many messages have each size.

/// A histogram of sizes in bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sizes {
    counts: Vec<u64>,
}

impl Sizes {
    /// Adds a message.
    pub fn add(&mut self, bytes: usize) {
        if self.counts.len() <= bytes {
            self.counts.resize(bytes + 1, 0);
        }
        self.counts[bytes] += 1;
    }

    /// Adds the messages of another histogram.
    pub fn merge(&mut self, other: &Sizes) {
        for (bytes, count) in other.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            self.add(bytes);
            self.counts[bytes] += count - 1;
        }
    }

    /// Returns the number of messages.
    pub fn messages(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the number of messages of each size, from 0 bytes.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Returns the mean size in bytes, 0 without messages.
    pub fn mean(&self) -> f64 {
        let bytes: u64 = self.counts.iter().enumerate().map(|(bytes, count)| bytes as u64 * count).sum();
        bytes as f64 / self.messages().max(1) as f64
    }

    /// Returns the share of messages of at most `bytes`, 0 to 1.
    pub fn share(&self, bytes: usize) -> f64 {
        let within: u64 = self.counts.iter().take(bytes + 1).sum();
        within as f64 / self.messages().max(1) as f64
    }

    /// Returns the size that `share` of the messages, 0 to 1, do not exceed.
    pub fn percentile(&self, share: f64) -> usize {
        let wanted = (share * self.messages() as f64).ceil() as u64;
        let mut within = 0;
        let found = self.counts.iter().position(|count| {
            within += count;
            within >= wanted
        });
        found.unwrap_or(0)
    }
}
