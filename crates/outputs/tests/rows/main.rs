//! Outputs that write rows, with real servers.

#![allow(clippy::unwrap_used)]

mod influx;
mod objects;
mod postgres;
