//! Runs the vectors of `spec/vectors/packed` in C.

use super::{SANITIZERS, ask, compile, hex, tokens};
use dunnage_codegen::c;
use dunnage_packed::{Known, Layout};
use dunnage_schema::Model;
use serde_json::Value;
use std::{collections::BTreeMap, fs, path::Path};

/// The vectors of `file`, grouped by the text of their schema.
fn vectors(file: &str) -> BTreeMap<String, Vec<Value>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec/vectors/packed").join(file);
    let text = fs::read_to_string(path).expect("the vectors");
    // The order of a schema's properties is the order of its bits, so the text must keep it.
    let file: Value = serde_json::from_str(&text).expect("vectors are JSON");
    let mut by_schema = BTreeMap::<String, Vec<Value>>::new();
    for vector in file["vectors"].as_array().expect("vectors") {
        by_schema.entry(vector["schema"].to_string()).or_default().push(vector.clone());
    }
    by_schema
}

/// Tests the C code of every schema in `file` that C supports. Returns the number of requests.
fn run(file: &str) -> usize {
    let mut asked = 0;
    for (schema, vectors) in vectors(file) {
        let layout = Layout::new(&Model::compile(&schema).expect("a schema")).expect("a layout");
        let Ok(plan) = c::plan(&layout) else { continue };
        let (mut requests, mut expected) = (String::new(), Vec::new());
        for vector in vectors {
            let bytes = vector["hex"].as_str().expect("hex");
            if let Some(kind) = vector["kind"].as_str() {
                // A known field is not part of the C struct, so its absence is not an error in C. The struct bounds what is decoded, so C
                // counts no values.
                let applies =
                    kind != "type" && kind != "limit" && (kind != "range" || !tokens::is_unchecked(&layout));
                if applies {
                    requests += &format!("d {bytes}\n");
                    expected.push(format!("error {kind}"));
                }
                continue;
            }
            let bytes: Vec<u8> = (0..bytes.len() / 2)
                .map(|i| u8::from_str_radix(&bytes[2 * i..2 * i + 2], 16).expect("hex"))
                .collect();
            let texts: BTreeMap<String, String> = vector
                .get("known")
                .map_or_else(BTreeMap::new, |k| serde_json::from_value(k.clone()).expect("texts"));
            let known = Known { device: vector["device"].as_str(), texts: Some(&texts) };
            let message = layout.decode(&bytes, known).expect("a message");
            let words = tokens::message(&layout, &plan, &message).expect("C values");
            if words.iter().all(|word| word != "x-nul") {
                requests += &format!("d {0}\ne {1}\n", hex(&bytes), words.join(" "));
                expected.extend([words.join(" "), hex(&bytes)]);
            }
        }
        if expected.is_empty() {
            continue;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let program = compile(&layout, &plan, folder.path(), &SANITIZERS);
        assert_eq!(ask(&program, &requests), expected, "{schema}\n{requests}");
        asked += expected.len();
    }
    asked
}

/// Each vector counts twice, for decoding and encoding. C lacks patterns beyond ASCII and unbounded integers.
fn pass(file: &str, least: usize) {
    let asked = run(file);
    assert!(asked >= least, "only {asked} of {file}");
}

#[test]
fn the_vectors_of_numbers_pass_in_c() {
    pass("numbers.json", 80);
}

#[test]
fn the_vectors_of_structure_pass_in_c() {
    pass("structure.json", 50);
}

#[test]
fn the_vectors_of_text_pass_in_c() {
    pass("text.json", 20);
}

#[test]
fn the_invalid_vectors_fail_in_c() {
    pass("invalid.json", 25);
}
