//! The messages of the simulated containers, as their devices send them.

use dunnage_links::fleet::{Detail, Fleet};
use dunnage_packed::Value;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The unit of the times in messages, in milliseconds.
const TIME_MS: u64 = 100;

/// Says how often containers send, and in which detail.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Containers {
    /// The seed of the fleet.
    pub seed: u64,
    /// The seconds between two messages.
    pub cadence_s: f64,
    /// The most seconds by which a message is late, each with the same chance.
    pub jitter_s: f64,
    /// The detail of the messages.
    pub detail: Detail,
}

impl Containers {
    /// Returns `count` messages of container number `index`.
    pub fn messages(self, index: usize, count: usize) -> impl Iterator<Item = Value> {
        let mut fleet = Fleet::one(self.seed, index);
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(index as u64);
        (0..count).filter_map(move |_| {
            fleet.step(self.cadence_s);
            let late = (rng.random::<f64>() * self.jitter_s * 1000.0) as u64;
            let container = fleet.containers().first()?;
            let time = container.unix_ms() + late - late % TIME_MS;
            Some(container.message_at(time, self.detail))
        })
    }
}
