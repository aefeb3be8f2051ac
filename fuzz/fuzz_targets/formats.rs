//! Every format's decoder; the first byte of the input selects the format.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

#[path = "../../crates/formats/tests/formats/owed.rs"]
mod owed;

fuzz_target!(|input: &[u8]| {
    static FORMATS: LazyLock<Vec<(dunnage_formats::Id, Box<dyn dunnage_formats::Format>)>> =
        LazyLock::new(owed::all_formats);
    owed::check_selected(&FORMATS, input);
});
