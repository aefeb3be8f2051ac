//! Links, with their size limits and prices, and a simulated fleet that uses them.
//!
//! The functions are pure and the simulation is seeded: this crate reads no clock, file or network.

mod catalogue;
mod cost;
pub mod fleet;

pub use catalogue::{Link, Price, catalogue, link};
pub use cost::{Monthly, Traffic};
