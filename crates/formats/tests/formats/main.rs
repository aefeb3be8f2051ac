//! Tests of all formats.

#![allow(clippy::unwrap_used)]

mod facts;
mod invariants;
mod messages;
mod mutations;
mod properties;
