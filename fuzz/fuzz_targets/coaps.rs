//! Datagrams at a CoAP port with DTLS while a client with a key sends: repeated, changed and foreign ones, also from other addresses.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dunnage_inputs::fuzzing::coaps(bytes));
