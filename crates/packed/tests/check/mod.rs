//! What holds for any bytes at all. The fuzzer and the stable tests share it.

use dunnage_packed::{Kind, Layout};
use dunnage_schema::{Model, bundled};

/// The layouts that inputs select from: of the bundled schemas, and two that have every kind of node.
pub fn layouts() -> Vec<Layout> {
    let schemas = bundled().iter().map(|(_, text)| *text);
    let all = schemas.chain([include_str!("plain.json"), include_str!("open.json")]);
    all.map(|text| Layout::new(&Model::compile(text).expect("it compiles"))).collect()
}

/// Gives the bytes after the first to the layout whose place the first one is.
pub fn check_selected(layouts: &[Layout], input: &[u8]) {
    let Some((selector, bytes)) = input.split_first() else { return };
    if let Some(layout) = layouts.get(usize::from(*selector)) {
        check(layout, bytes);
    }
}

/// Decodes `bytes`: there is an error within them, or a message whose bytes are these and no others.
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
            assert!(error.offset() <= bytes.len(), "{error}");
            assert!(error.kind() != Kind::Truncated || error.offset() == bytes.len(), "{error}");
        }
    }
}
