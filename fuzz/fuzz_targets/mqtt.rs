//! Packets of an MQTT client; the first byte of the input selects the protocol version, and the size of the reads that split the rest.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dunnage_inputs::fuzzing::mqtt(bytes));
