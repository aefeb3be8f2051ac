//! Tests of all formats.

#![allow(clippy::unwrap_used)]

mod facts;
mod ids;
mod invariants;
mod mapped;
mod messages;
mod mutations;
mod properties;
mod suites;
