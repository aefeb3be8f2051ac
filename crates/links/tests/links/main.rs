//! Tests of the links and the simulated fleet.

#![allow(clippy::unwrap_used)]

mod fleet;
mod water;
