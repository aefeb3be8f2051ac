//! The documents of `spec/vectors/interop.json`, with bytes from thinger.io's encoder.
use crate::notation;
use dunnage_pson::{Options, Value, to_vec};
use serde_json::Value as Json;

#[test]
fn every_document_encodes_as_with_the_other_encoder() {
    let vectors =
        notation::vectors(&std::fs::read_to_string(notation::folder().join("interop.json")).unwrap());
    assert_eq!(vectors.len(), 300);
    for vector in vectors {
        let (value, bytes) = (plain(&vector["json"]), notation::message(&vector));
        assert_eq!(to_vec(&value).unwrap(), bytes, "{value:?}");
        let back: Value = Options::new().strict(true).from_slice(&bytes).unwrap();
        assert_eq!(back, value);
    }
}

fn plain(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(b) => Value::Bool(*b),
        Json::Number(n) => match (n.as_u64(), n.as_i64()) {
            (Some(n), _) => Value::U64(n),
            (None, Some(n)) => Value::I64(n),
            (None, None) => Value::F64(n.as_f64().unwrap()),
        },
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(elements) => Value::Array(elements.iter().map(plain).collect()),
        Json::Object(entries) => Value::Map(entries.iter().map(|(k, v)| (k.clone(), plain(v))).collect()),
    }
}
