//! What happens at a CoAP port with DTLS, beside a client that has a key: its datagrams again, others, from elsewhere.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dunnage_gateway::fuzzing::coaps(bytes));
