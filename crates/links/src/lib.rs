//! Links: how many bytes they carry and what they cost.
//!
//! Pure functions: nothing here reads a clock, a file or the network.

mod catalogue;
mod cost;

pub use catalogue::{Link, Price, catalogue, link};
pub use cost::{Monthly, Traffic};
