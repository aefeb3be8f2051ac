//! What the crates of the gateway share, and none of them owns.
//!
//! Points in time, IDs and their patterns, folders that survive a power failure, and reading settings with the place of each mistake.
//! Everything here is small, has no state, and knows nothing of messages. Whatever has a better home belongs there: this crate is for
//! what the buffer, the inputs and the outputs would otherwise define twice.

pub mod clock;
mod document;
pub mod folders;
pub mod hex;
pub mod kind;
mod mistake;
pub mod name;
mod network;

pub use document::{Document, Wrong, nearest};
pub use mistake::Mistake;
pub use network::network;
