//! Compares the examples of `docs/drafts/draft-dunnage-packed-00.xml` with the vectors that they name and with what this crate writes.
#[path = "../../../pson/tests/pson/examples/mod.rs"]
mod examples;

use crate::vectors::known;
use crate::vectors::notation::{folder, hex, message, value, vectors};
use dunnage_packed::Layout;
use dunnage_pson::Value;
use dunnage_schema::Model;
use examples::{Example, compact, draft};
use serde_json::Value as Json;

/// Returns the vector with this name in `spec/vectors/packed`.
fn vector(name: &str) -> Json {
    let files = ["numbers", "structure", "text", "invalid", "layouts"];
    let read = |file| std::fs::read_to_string(folder().join(format!("packed/{file}.json"))).unwrap();
    let mut all = files.into_iter().flat_map(|file| vectors(&read(file)));
    all.find(|vector| vector["name"] == name).unwrap_or_else(|| panic!("no vector {name}"))
}

/// Checks the bytes of a message and, part by part, its bits.
fn check_message(name: &str, example: &Example, layout: &Layout, vector: &Json) {
    let bytes = hex(&compact(&example["bytes"]));
    assert_eq!(bytes, message(vector), "{name}");
    assert_eq!(example.get("device").map(String::as_str), vector["device"].as_str(), "{name}");
    let Some(json) = example.get("message") else {
        let error = layout.decode(&bytes, &known(vector)).expect_err(name);
        let found = format!("{} {}", error.kind().as_str(), error.offset().unwrap());
        assert_eq!(found, example["error"], "{name}");
        return;
    };
    let given: Value = serde_json::from_str(json).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(given, value(&vector["value"]), "{name}");
    let mut out = Vec::new();
    layout.encode(&given, &mut out).unwrap();
    assert_eq!(out, bytes, "{name}");
    assert_eq!(layout.decode(&bytes, &known(vector)).as_ref(), Ok(&given), "{name}");
    if let Some(bits) = example.get("bits") {
        let written: String = bytes.iter().map(|byte| format!("{byte:08b}")).collect();
        assert_eq!(compact(bits), written, "{name}");
    }
}

#[test]
fn examples_are_what_the_encoder_writes() {
    let examples = examples::examples(&draft("draft-dunnage-packed-00"));
    assert_eq!(examples.len(), 18);
    for example in &examples {
        let name = &example["vector"];
        let vector = vector(name);
        let schema: Json = serde_json::from_str(&example["schema"]).unwrap();
        assert_eq!(schema, vector["schema"], "{name}");
        let layout = Layout::new(&Model::compile(&example["schema"]).unwrap()).unwrap();
        if let Some(canonical) = example.get("layout") {
            assert_eq!(layout.canonical(), *canonical, "{name}");
            assert_eq!(layout.fingerprint().to_vec(), hex(&example["fingerprint"]), "{name}");
        } else {
            check_message(name, example, &layout, &vector);
        }
    }
}
