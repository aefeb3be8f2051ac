//! Measures all formats on the messages of `bench/corpus`, formats of other libraries beside them, and reads of one value. Compares the speed
//! of dunnage-pson with other serde codecs and of dunnage-packed with prost-reflect. All of it runs on one machine and in one run.
//!
//! `cargo run --release -p dunnage-bench-host` runs everything and writes `bench/results/host.jsonl`.

#![allow(clippy::expect_used)]

pub mod access;
pub mod corpus;
pub mod libraries;
pub mod others;
pub mod payloads;
pub mod schema_driven;

/// Calls `$body!(Type)` for every library, ours first.
#[macro_export]
macro_rules! for_each_library {
    ($body:ident) => {
        $body!(Pson);
        $body!(Msgpack);
        $body!(Ciborium);
        $body!(Minicbor);
        $body!(Bson);
        $body!(Json);
    };
}

/// Calls `$body!(Type)` for every payload.
#[macro_export]
macro_rules! for_each_payload {
    ($body:ident) => {
        $body!(Test01);
        $body!(Test02);
        $body!(Test03);
        $body!(Test04);
        $body!(Test05);
        $body!(Test06);
        $body!(Test07);
        $body!(Test08);
        $body!(Test09);
        $body!(Test10);
        $body!(Container);
    };
}
