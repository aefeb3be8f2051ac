//! Webhook requests of providers; the first byte of the input selects the provider.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dunnage_inputs::fuzzing::webhook(bytes));
