//! The packed decoder; the first byte of the input selects the layout.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

#[path = "../../crates/packed/tests/packed/check/mod.rs"]
mod check;

fuzz_target!(|input: &[u8]| {
    static LAYOUTS: LazyLock<Vec<dunnage_packed::Layout>> = LazyLock::new(check::layouts);
    check::check_selected(&LAYOUTS, input);
});
