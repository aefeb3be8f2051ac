//! The PSON decoders must agree, and every message that they accept must survive encoding.
#![no_main]

#[path = "../../crates/pson/tests/pson/check/mod.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::check(bytes));
