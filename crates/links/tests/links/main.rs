//! Tests of the links and the simulated fleet.

#![allow(clippy::unwrap_used)]

mod bounds;
mod fleet;
mod water;
