//! Datagrams of a CoAP client, each behind its length in a byte, and the messages that their blocks make.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dunnage_gateway::fuzzing::coap(bytes));
