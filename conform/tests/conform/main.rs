//! Tests of the conformance programs, and comparisons of the device library and generated code with the crates.

#![allow(clippy::unwrap_used)]

mod citation;
mod coded;
mod documents;
mod driver;
mod evolution;
mod fingerprints;
mod generated_c;
mod json;
mod packages;
mod packed;
