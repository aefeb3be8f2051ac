//! What holds for the formats that a schema drives.

#![allow(clippy::unwrap_used)]

mod container;
mod generated;
mod hostile;
mod interop;
mod known;
mod memory;
mod models;
mod round_trips;
mod user;
