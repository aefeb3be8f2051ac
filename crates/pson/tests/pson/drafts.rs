//! Compares the examples of `docs/drafts/draft-dunnage-pson-00.xml` with the vectors that they name and with what this crate writes.
use crate::examples::{compact, draft, examples, rows};
use crate::notation;
use dunnage_pson::{Options, Value, to_vec};
use serde_json::Value as Json;

const DRAFT: &str = "draft-dunnage-pson-00";

/// Returns the vector with this name in `spec/vectors/pson` or `spec/vectors/invalid`.
fn vector(name: &str) -> Json {
    let all = ["pson", "invalid"].into_iter().flat_map(notation::load);
    all.into_iter().find(|vector| vector["name"] == name).unwrap_or_else(|| panic!("no vector {name}"))
}

fn bytes(text: &str) -> Vec<u8> {
    notation::hex(&compact(text))
}

/// Checks that `message`, JSON, is encoded as `hex`, and that the vector has both.
fn check(name: &str, message: &str, hex: &str) {
    let (vector, bytes) = (vector(name), bytes(hex));
    assert_eq!(bytes, notation::message(&vector), "{name}");
    let value: Value = serde_json::from_str(message).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(to_vec(&value).unwrap(), bytes, "{name}");
    let strict: Value = Options::new().strict(true).from_slice(&bytes).unwrap();
    assert_eq!(strict, notation::value(&vector["value"]), "{name}");
}

#[test]
fn examples_are_what_the_encoder_writes() {
    let draft = draft(DRAFT);
    let examples = examples(&draft);
    assert_eq!(examples.len(), 2);
    for example in examples {
        check(&example["vector"], &example["message"], &example["bytes"]);
    }
    let short = rows(&draft, "vectors-short");
    assert_eq!(short.len(), 8);
    for row in short {
        check(&row[0], &row[1], &row[2]);
    }
}

#[test]
fn only_the_lenient_mode_accepts_what_the_draft_says() {
    let rows = rows(&draft(DRAFT), "vectors-lenient");
    assert_eq!(rows.len(), 5);
    for row in rows {
        let (name, accepted) = (&row[0], bytes(&row[2]));
        assert_eq!(accepted, notation::message(&vector(name)), "{name}");
        let value: Value = Options::new().from_slice(&accepted).unwrap();
        assert_eq!(value, serde_json::from_str(&row[1]).unwrap(), "{name}");
        assert_eq!(to_vec(&value).unwrap(), bytes(&row[3]), "{name}");
        Options::new().strict(true).from_slice::<Value>(&accepted).unwrap_err();
    }
}

#[test]
fn errors_are_those_of_the_draft() {
    let rows = rows(&draft(DRAFT), "vectors-errors");
    assert_eq!(rows.len(), 7);
    for row in rows {
        let (name, bytes) = (&row[0], bytes(&row[1]));
        assert_eq!(bytes, notation::message(&vector(name)), "{name}");
        let error = Options::new().from_slice::<Value>(&bytes).unwrap_err();
        assert_eq!(
            (error.kind().as_str(), error.offset().to_string()),
            (row[2].as_str(), row[3].clone()),
            "{name}"
        );
    }
}
