//! The vectors for libraries that interpret exported layouts: `exported.json`. `BLESS=1` writes them again, from the other vectors.

use crate::vectors::{known, load, notation::folder, notation::message, notation::value};
use dunnage_packed::Layout;
use serde_json::{Value as Json, json};
use std::{env, fs};

const FILE: &str = "exported.json";
const DESCRIPTION: &str = "The other vectors of modes 0 and 1, with exported layouts in place of schemas.";

/// Returns what `dunnage schema layout --json` exports, as far as libraries need it.
pub fn export(layout: &Layout) -> Json {
    let fingerprint: String = layout.fingerprint().iter().map(|byte| format!("{byte:02x}")).collect();
    let canonical: Json = serde_json::from_str(&layout.canonical()).unwrap();
    let mut export =
        json!({"packed": {"slot": layout.slot(), "fingerprint": fingerprint}, "layout": canonical});
    if !layout.dropped().is_empty() {
        export["dropped"] = json!(layout.dropped());
    }
    if !layout.rounded().is_empty() {
        export["rounded"] = json!(layout.rounded());
    }
    export
}

/// Returns the vectors of messages that are decoded, and encoded if they are valid.
fn messages() -> Vec<Json> {
    let mut all = Vec::new();
    for file in [
        "numbers.json",
        "structure.json",
        "text.json",
        "formats.json",
        "invalid.json",
        "coded.json",
        "modelled.json",
    ] {
        for (name, layout, vector) in load(file) {
            let mut one = json!({"name": name, "exported": export(&layout), "hex": hex(&message(&vector))});
            if !layout.is_plain() {
                one["modelled"] = json!(true);
            }
            if !known(&vector).is_empty() {
                one["known"] = json!(known(&vector));
            }
            // An exported layout accepts values that only a restriction of the schema rejects.
            match layout.exported().decode(&message(&vector), &known(&vector)) {
                Err(error) => {
                    one["kind"] = json!(error.kind().as_str());
                    one["offset"] = json!(error.offset());
                }
                Ok(message) if vector["kind"].is_null() => {
                    assert_eq!(message, value(&vector["value"]), "{name}");
                    one["value"] = vector["value"].clone();
                }
                Ok(_) => continue,
            }
            all.push(one);
        }
    }
    all
}

/// Returns the vectors of values that the layout rejects.
fn refused() -> Vec<Json> {
    let mut all = Vec::new();
    for (name, layout, vector) in load("refused.json") {
        if let Err(error) = layout.exported().encode(&value(&vector["value"]), &mut Vec::new()) {
            let (kind, pointer) = (error.kind().as_str(), error.pointer());
            let exported = export(&layout);
            all.push(json!({"name": name, "exported": exported, "value": vector["value"], "kind": kind, "pointer": pointer}));
        }
    }
    all
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_vectors_of_exported_layouts_are_those_of_their_schemas() {
    let all = [messages(), refused()].concat();
    let lines: Vec<String> = all.iter().map(|vector| format!("    {vector}")).collect();
    let text = format!(
        "{{\n  \"description\": {},\n  \"vectors\": [\n{}\n  ]\n}}\n",
        json!(DESCRIPTION),
        lines.join(",\n")
    );
    let path = folder().join("packed").join(FILE);
    if env::var_os("BLESS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    assert!(
        fs::read_to_string(&path).is_ok_and(|written| written == text),
        "run BLESS=1 cargo test -p dunnage-packed"
    );
}
