//! Links, with their limits, prices, airtime and energy, and a simulated fleet that uses them.
//!
//! The functions are pure and the simulation is seeded: this crate reads no clock, file or network.

mod airtime;
mod catalogue;
mod cost;
mod delivery;
mod document;
mod energy;
pub mod fleet;
mod link;
mod lora;
mod mesh;
mod price;
mod rate;
mod table7;

pub use airtime::Airtime;
pub use catalogue::{catalogue, link, near, source};
pub use cost::{Load, LoadError, Month, Monthly, Traffic};
pub use delivery::Delivery;
pub use document::Source;
pub use energy::Energy;
pub use link::{Direction, Downlink, Fees, Latency, Link, Overhead};
pub use lora::LoraRate;
pub use mesh::{Frame, Mesh, Split};
pub use price::{Currency, Money, Overage, Price};
pub use rate::Rate;
pub use table7::{Table7, table_7};

/// Seconds in a day.
pub(crate) const DAY_S: f64 = 86_400.0;
