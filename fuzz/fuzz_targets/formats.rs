//! Every format's decoder; the first byte of the input selects the format.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

#[path = "../../crates/formats/tests/formats/invariants.rs"]
mod invariants;

fuzz_target!(|input: &[u8]| {
    static FORMATS: LazyLock<Vec<(dunnage_formats::Id, Box<dyn dunnage_formats::Format>)>> =
        LazyLock::new(invariants::all_formats);
    invariants::check_selected(&FORMATS, input);
});
