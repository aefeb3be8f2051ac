//! Bodies of several messages; the first byte of the input selects the framing.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dunnage_inputs::fuzzing::batch(bytes));
