//! The PSON decoders: what they accept has to survive encoding, and they have to agree.
#![no_main]

#[path = "../../crates/pson/tests/check/mod.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::check(bytes));
