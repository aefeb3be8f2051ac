//! Sends messages over a simulated link: each is encoded, perhaps lost, decoded and acknowledged, as on a real one.
//!
//! All chance comes from a seed, so that a run can be repeated.

mod containers;
mod device;
mod network;
mod sizes;
mod stations;
mod training;

pub use containers::Containers;
pub use device::{Device, Sent};
pub use network::Network;
pub use sizes::Sizes;
pub use stations::Stations;
pub use training::{ENOUGH, train};
