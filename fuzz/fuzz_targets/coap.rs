//! Datagrams of a CoAP client, each preceded by its length in one byte, and the messages reassembled from their blocks.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dunnage_inputs::fuzzing::coap(bytes));
