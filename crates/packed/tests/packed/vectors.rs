//! Runs all vectors of `spec/vectors/packed`.
#[path = "../../../pson/tests/pson/notation/mod.rs"]
pub mod notation;

use dunnage_packed::{Kind, Layout};
use dunnage_schema::{Model, Options};
use notation::{folder, hex, message, value, vectors};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// Returns the vectors of a file, each with its name and layout.
pub fn load(file: &str) -> Vec<(String, Layout, Json)> {
    let path = folder().join("packed").join(file);
    let loaded = vectors(&std::fs::read_to_string(path).unwrap());
    assert!(!loaded.is_empty());
    let layout = |vector: &Json| {
        // A schema's text does not say whether formats are asserted.
        let options = Options { assert_formats: file == "formats.json", ..Options::default() };
        let model = Model::compile_with(&vector["schema"].to_string(), options);
        Layout::new(&model.unwrap_or_else(|error| panic!("{}: {error}", vector["name"]))).expect("a layout")
    };
    loaded
        .into_iter()
        .map(|vector| (vector["name"].as_str().unwrap().to_owned(), layout(&vector), vector))
        .collect()
}

/// Returns what the receiver knows about the device: its ID, and other texts by their names.
pub fn known(vector: &Json) -> BTreeMap<String, String> {
    let mut texts: BTreeMap<String, String> = vector
        .get("known")
        .map_or_else(BTreeMap::new, |known| serde_json::from_value(known.clone()).unwrap());
    texts.extend(vector["device"].as_str().map(|id| ("device".to_owned(), id.to_owned())));
    texts
}

#[test]
fn messages_encode_to_their_bytes_and_back() {
    for file in ["numbers.json", "structure.json", "text.json", "formats.json"] {
        for (name, layout, vector) in load(file).into_iter().filter(|(.., vector)| vector["kind"].is_null()) {
            assert!(layout.is_plain(), "{name}");
            let (message, bytes) = (value(&vector["value"]), message(&vector));
            let mut out = Vec::new();
            layout.encode(&message, &mut out).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(out, bytes, "{name}");
            if let Some(given) = vector.get("given") {
                out.clear();
                layout.encode(&value(given), &mut out).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!(out, bytes, "{name}");
            }
            assert_eq!(layout.decode(&bytes, &known(&vector)).as_ref(), Ok(&message), "{name}");
            for end in 0..bytes.len() {
                let error = layout.decode(&bytes[..end], &known(&vector)).unwrap_err();
                assert_eq!((error.kind(), error.offset()), (Kind::Truncated, Some(end)), "{name}");
            }
            assert!(
                layout.min_bytes() <= bytes.len() as u64 && bytes.len() as u64 <= layout.max_bytes().unwrap()
            );
        }
    }
}

#[test]
fn modelled_messages_encode_to_their_bytes_and_back() {
    for (name, layout, vector) in load("modelled.json") {
        assert!(!layout.is_plain(), "{name}");
        let (message, bytes) = (value(&vector["value"]), message(&vector));
        let mut out = Vec::new();
        layout.encode(&message, &mut out).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(out, bytes, "{name}");
        assert_eq!(layout.decode(&bytes, None).as_ref(), Ok(&message), "{name}");
        for end in 0..bytes.len() {
            assert_eq!(layout.decode(&bytes[..end], None).unwrap_err().kind(), Kind::Truncated, "{name}");
        }
    }
}

#[test]
fn invalid_messages_are_rejected() {
    let of_formats = load("formats.json").into_iter().filter(|(.., vector)| vector["kind"].is_string());
    for (name, layout, vector) in load("invalid.json").into_iter().chain(of_formats) {
        let error = layout.decode(&message(&vector), &known(&vector)).expect_err(&name);
        assert_eq!(error.kind().as_str(), vector["kind"], "{name}: {error}");
        assert_eq!(error.offset().map(|at| at as u64), vector["offset"].as_u64(), "{name}: {error}");
    }
}

#[test]
fn values_that_the_schema_does_not_allow_are_rejected() {
    for (name, layout, vector) in load("refused.json") {
        let mut out = b"before".to_vec();
        let error = layout.encode(&value(&vector["value"]), &mut out).expect_err(&name);
        assert_eq!(error.kind().as_str(), vector["kind"], "{name}: {error}");
        assert_eq!(error.pointer(), vector["pointer"], "{name}: {error}");
        assert_eq!(out, b"before", "{name}");
    }
}

#[test]
fn layouts_have_their_canonical_text_fingerprint_and_size() {
    for (name, layout, vector) in load("layouts.json") {
        assert_eq!(layout.canonical(), vector["canonical"], "{name}");
        assert_eq!(layout.fingerprint().to_vec(), hex(vector["fingerprint"].as_str().unwrap()), "{name}");
        assert_eq!(layout.min_bytes(), vector["min_bytes"], "{name}");
        assert_eq!(layout.max_bytes(), vector["max_bytes"].as_u64(), "{name}");
        assert_eq!(layout.is_plain(), !vector["max_bytes"].is_null(), "{name}");
    }
}
