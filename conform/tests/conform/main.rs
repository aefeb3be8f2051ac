//! Tests of the conformance programs, and of the device library and generated code beside the crates.

#![allow(clippy::unwrap_used)]

mod coded;
mod documents;
mod driver;
mod evolution;
mod fingerprints;
mod generated_c;
mod json;
mod packages;
mod packed;
