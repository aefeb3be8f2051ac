//! Runs the JavaScript with which vendors decode the messages of their devices: the LoRa Alliance's payload codec API (TS013), and the older
//! forms of ChirpStack v3 and The Things Network v2.
//!
//! A [`Codec`] is a checked file, which threads share. An [`Engine`] runs it on one thread, within limits of memory, stack and processor
//! time, without a clock, randomness or I/O. The same bytes always have the same result. A [`Pool`] runs the engines of many codecs on
//! threads of its own, so that a slow codec delays neither its caller nor other codecs.
//!
//! The engine is QuickJS by the crate `rquickjs`: it limits all three resources, creates globals in microseconds, and needs a C compiler
//! alone. Boa has no limit of memory, and V8 needs a download of its binaries.

mod call;
mod codec;
mod engine;
mod error;
mod exchange;
mod fault;
pub mod limits;
mod load;
mod pool;
mod realm;
mod result;

pub use codec::Codec;
pub use engine::Engine;
pub use error::Error;
pub use exchange::{Downlink, Input, Output};
pub use pool::{Job, Pool};
