//! `dunnage.pson`: messages in PSON from and to objects.

mod call;
mod decode;
mod encode;
mod fault;
mod unpacker;

pub use call::add_functions;
pub use decode::decode;
pub use encode::{Settings, TIME, encode};
pub use unpacker::Unpacker;

/// The limit of nested maps and arrays, by default (`spec/pson.md`).
pub const NESTING: usize = 32;
