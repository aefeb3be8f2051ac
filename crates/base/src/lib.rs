//! Small helpers that the crates of the gateway share.
//!
//! Points in time, IDs and their patterns, durable folders, processes with limits, and a TOML reader that reports each mistake with its place. Everything here is
//! small, has no state, and knows nothing of messages. Code with a better home belongs there: this crate is only for what the buffer, the
//! inputs and the outputs would otherwise define twice.

pub mod child;
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
