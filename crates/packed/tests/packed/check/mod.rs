//! Invariants of the decoder for any bytes. The fuzz target and the tests share this file.

use dunnage_packed::{Kind, Layout};
use dunnage_schema::{Model, bundled};

/// Returns the layouts that inputs select from: those of the bundled schemas, and two with every kind of node.
pub fn layouts() -> Vec<Layout> {
    let schemas = bundled().iter().map(|(_, text)| *text);
    let all = schemas.chain([include_str!("plain.json"), include_str!("open.json")]);
    all.map(|text| Layout::new(&Model::compile(text).expect("the schema compiles")).expect("a layout"))
        .collect()
}

/// Checks the bytes after the first with a layout. The first byte is its index.
pub fn check_selected(layouts: &[Layout], input: &[u8]) {
    let Some((selector, bytes)) = input.split_first() else { return };
    if let Some(layout) = layouts.get(usize::from(*selector)) {
        check(layout, bytes);
    }
}

/// Decodes `bytes`. Panics unless the result is an error with an offset within them, or a message that encodes to the same bytes.
pub fn check(layout: &Layout, bytes: &[u8]) {
    match layout.decode(bytes, None) {
        Ok(message) => {
            let mut again = Vec::new();
            if let Err(error) = layout.encode(&message, &mut again) {
                panic!("{error}: {message:?}");
            }
            assert_eq!(again, bytes, "{message:?}");
        }
        Err(error) => {
            assert!(error.offset().is_some_and(|at| at <= bytes.len()), "{error}");
            assert!(error.kind() != Kind::Truncated || error.offset() == Some(bytes.len()), "{error}");
        }
    }
}
