//! A simulated fleet: containers that cross the Mediterranean and report their measurements.
//!
//! A seed gives the same fleet on every platform, in however many steps it is advanced: time passes in ticks
//! of 30 seconds, and only whole ticks change the state.

mod container;
mod geo;
mod graph;
mod iso6346;
mod lanes;
mod sensors;
mod voyage;

pub use container::{Container, Detail, Place};
pub use geo::Position;

/// The time at which every fleet starts: 2026-03-01T00:00:00Z, in milliseconds since 1970.
const START_MS: u64 = 1_772_323_200_000;
/// The length of a tick in milliseconds.
const TICK_MS: u64 = 30_000;

/// A fleet of containers.
///
/// ```
/// let mut fleet = dunnage_links::fleet::Fleet::new(7, 3);
/// fleet.step(3600.0);
/// for container in fleet.containers() {
///     println!("{} at sea: {} {:?}", container.device(), container.at_sea(), container.message());
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Fleet {
    containers: Vec<Container>,
    /// The time since the start, in milliseconds.
    passed_ms: u64,
    /// The number of ticks so far.
    ticks: u64,
}

impl Fleet {
    /// Creates the fleet of `seed` with this number of containers. A container is the same in a larger fleet
    /// of the same seed.
    pub fn new(seed: u64, containers: usize) -> Fleet {
        let containers = (0..containers).map(|index| Container::new(seed, index, START_MS)).collect();
        Fleet { containers, passed_ms: 0, ticks: 0 }
    }

    /// Creates a fleet of one container: number `index` of the fleet of `seed`.
    pub fn one(seed: u64, index: usize) -> Fleet {
        Fleet { containers: vec![Container::new(seed, index, START_MS)], passed_ms: 0, ticks: 0 }
    }

    /// Advances the fleet by `seconds`. The run time is proportional to it. Negative values and NaN count as
    /// 0.
    pub fn step(&mut self, seconds: f64) {
        self.passed_ms = self.passed_ms.saturating_add((seconds * 1000.0) as u64);
        while self.ticks < self.passed_ms / TICK_MS {
            self.ticks += 1;
            let now = START_MS + self.ticks * TICK_MS;
            for container in &mut self.containers {
                container.tick(TICK_MS as f64 / 3_600_000.0, now);
            }
        }
    }

    /// Returns the containers, always in the same order.
    pub fn containers(&self) -> &[Container] {
        &self.containers
    }
}
