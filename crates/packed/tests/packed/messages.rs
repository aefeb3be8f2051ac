//! The example messages of the bundled schemas.

use dunnage_packed::Layout;
use dunnage_pson::{Kind, Value};
use dunnage_schema::{Model, bundled_named};
use serde_json::Value as Json;

fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(b) => Value::Bool(*b),
        Json::Number(n) => match (n.as_u64(), n.as_i64()) {
            (Some(n), _) => Value::U64(n),
            (_, Some(n)) => Value::I64(n),
            _ => Value::F64(n.as_f64().expect("a number")),
        },
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(items) => Value::Array(items.iter().map(value).collect()),
        Json::Object(entries) => {
            Value::Map(entries.iter().map(|(key, json)| (key.clone(), value(json))).collect())
        }
    }
}

fn bundled(name: &str) -> (Layout, Vec<Value>) {
    let text = bundled_named(name).expect("a bundled schema");
    let schema: Json = serde_json::from_str(text).expect("JSON");
    let examples = schema["examples"].as_array().expect("examples").iter().map(value).collect();
    (Layout::new(&Model::compile(text).expect("the schema compiles")).expect("a layout"), examples)
}

fn encode(layout: &Layout, message: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    layout.encode(message, &mut bytes).expect("the message encodes");
    bytes
}

#[test]
fn examples_of_every_bundled_schema_round_trip() {
    for (name, _) in dunnage_schema::bundled() {
        let (layout, examples) = bundled(name);
        for message in &examples {
            let bytes = encode(&layout, message);
            assert_eq!(layout.decode(&bytes, None).as_ref(), Ok(message), "{name}");
            assert!(layout.max_bytes().unwrap() >= bytes.len() as u64);
            assert!(layout.min_bytes() <= bytes.len() as u64);
            for end in 0..bytes.len() {
                let error = layout.decode(&bytes[..end], None).unwrap_err();
                assert_eq!((error.kind(), error.offset()), (Kind::Truncated, end), "{name}");
            }
        }
        println!("{name}: {:?}", examples.iter().map(|m| encode(&layout, m).len()).collect::<Vec<_>>());
    }
}
