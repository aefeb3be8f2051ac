//! Packets of an MQTT client; the first byte of the input selects the version, and in what pieces the rest arrives.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dunnage_gateway::fuzzing::mqtt(bytes));
