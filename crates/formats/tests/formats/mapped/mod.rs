//! Tests of the schema-driven formats.

mod container;
mod generated;
mod hostile;
mod interop;
mod known;
mod memory;
mod models;
mod round_trips;
mod rounded;
mod user;
