//! Bodies with a `Content-Encoding`; the first byte of the input selects the encoding.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dunnage_inputs::fuzzing::compressed(bytes));
