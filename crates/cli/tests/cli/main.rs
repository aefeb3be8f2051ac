//! Runs the real binary. `BLESS=1` rewrites the golden files and the README's table.
#![allow(clippy::unwrap_used)] // a test may fail here

mod bench;
mod codec;
mod compare;
mod convert;
mod corpus;
mod demo;
mod deploy;
mod device;
mod diff;
mod filters;
mod from_codec;
mod gateway;
mod generate;
mod infer;
mod inspect;
mod manual;
#[cfg(unix)]
mod modem;
mod plan;
mod play;
mod readme;
mod run;
mod schema;
mod shrink;
mod simulate;
mod size;
mod token;
mod transcript;

use dunnage_test_support::wait;
