//! Links: how many bytes they carry and what they cost, and a simulated fleet that uses them.
//!
//! Pure functions and seeded simulation: nothing here reads a clock, a file or the network.

mod catalogue;
mod cost;
pub mod fleet;

pub use catalogue::{Link, Price, catalogue, link};
pub use cost::{Monthly, Traffic};
