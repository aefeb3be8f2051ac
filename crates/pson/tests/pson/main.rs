//! Tests of PSON. Those that count allocations are in `hostile.rs`, a program of their own.

#![allow(clippy::unwrap_used)]

mod check;
mod drafts;
mod examples;
mod interop;
mod notation;
mod properties;
mod reader;
mod serde;
mod vectors;
mod writer;
