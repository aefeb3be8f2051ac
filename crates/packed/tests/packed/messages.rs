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
                assert_eq!((error.kind(), error.offset()), (Kind::Truncated, Some(end)), "{name}");
            }
        }
        println!("{name}: {:?}", examples.iter().map(|m| encode(&layout, m).len()).collect::<Vec<_>>());
    }
}

#[test]
fn a_writer_rounds_only_where_the_schema_says_so_and_to_what_a_reader_accepts() {
    let layout = |more: &str| {
        let schema = format!(
            r#"{{"type":"array","maxItems":3,"items":{{"type":"number","multipleOf":0.01,"minimum":0,"maximum":5,
                "x-dunnage-round":true}}{more}}}"#
        );
        Layout::new(&Model::compile(&schema).unwrap()).expect("a layout")
    };
    let noisy =
        Value::Array(vec![Value::F64(0.9512450499999999), Value::F64(0.9549999999999999), Value::U64(2)]);
    let rounded = Value::Array(vec![Value::F64(0.95), Value::F64(0.95), Value::U64(2)]);
    let plain = layout("");
    assert_eq!(encode(&plain, &noisy), encode(&plain, &rounded));
    assert_eq!(plain.decode(&encode(&plain, &noisy), None), Ok(rounded));
    // The two items differ before they are rounded. A reader would reject them.
    let mut out = Vec::new();
    let error = layout(r#","uniqueItems":true"#).encode(&noisy, &mut out).unwrap_err();
    assert_eq!((error.kind(), out.len()), (Kind::Range, 0));
    // In a union, rounding would make another type carry the number that the reader sees.
    let union = r#"{"anyOf":[{"type":"number","multipleOf":1,"minimum":0,"maximum":5},
        {"type":"number","multipleOf":0.1,"minimum":0,"maximum":5,"x-dunnage-round":true}]}"#;
    let union = Layout::new(&Model::compile(union).unwrap()).expect("a layout");
    assert_eq!(union.encode(&Value::F64(3.04), &mut out).unwrap_err().kind(), Kind::Range);
    assert_eq!(union.decode(&encode(&union, &Value::F64(3.1)), None), Ok(Value::F64(3.1)));
}
