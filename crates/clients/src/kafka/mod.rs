//! A producer for one topic of Kafka, on the codec of `kafka-protocol`. It is idempotent: what it repeats is in the topic once.
//!
//! [`Producer::send`] writes records in their order. Within its time it repeats what may succeed later: after a lost connection, when a
//! leader moves, while a broker restarts. Each batch of a partition has a sequence number, by which the broker drops repetitions. What is
//! not acknowledged in that time gets a new producer ID when the caller sends it again, and may then be in the topic twice.
//!
//! The answers of a broker are decoded as they come, so a broker must be trusted not to exhaust the memory.

mod access;
mod cluster;
mod connection;
mod error;
mod lane;
mod partition;
mod producer;
mod sasl;
mod scram;

pub use access::{Access, Address, Login, Mechanism, Password};
pub use error::{Error, Kind};
pub use partition::partition_of;
pub use producer::{Producer, Record};
