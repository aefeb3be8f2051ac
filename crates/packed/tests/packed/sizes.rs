//! The sizes of the bundled schemas' layouts, worked out by hand from `spec/packed.md`.

use dunnage_packed::Layout;
use dunnage_pson::Value;
use dunnage_schema::{Model, bundled_named};

fn bytes(schema: &str) -> (u64, Option<u64>) {
    let text = bundled_named(schema).expect("a bundled schema");
    let layout = Layout::new(&Model::compile(text).expect("the schema compiles")).expect("a layout");
    (layout.min_bytes(), layout.max_bytes())
}

#[test]
fn bundled_schemas_have_known_minimum_and_maximum_sizes() {
    // msisdn 30..54, iso6346 39, time 35, rssi 7, cgi 33..70, ble-m 1, bat-soc 7, acc 87, temperature 15, humidity 14, pressure 24,
    // door 2, gnss 1, latitude 21, longitude 22, altitude 20, speed 14, heading 16, nsat 7, hdop 10
    assert_eq!(bytes("container"), (52, Some(60)));
    // msisdn 27, time 33, rssi 6..13, acc 48, temperature 14, pressure 15, altitude 17, speed 10, nsat 5, hdop 8, the others as above
    assert_eq!(bytes("container-voyage"), (44, Some(49)));
    // time 30, rssi 8, acc 45, temperature 14, humidity 10, pressure 17, altitude 17, speed 11, heading 12, nsat 6, the others as above
    assert_eq!(bytes("container-numeric"), (43, Some(51)));
}

#[test]
fn plain_decimals_are_little_larger_than_modelled_ones() {
    let size = |closed: bool| {
        let properties: Vec<String> = (0..12).map(|i| format!(r#""p{i}":{{"type":"number"}}"#)).collect();
        let required: Vec<String> = (0..12).map(|i| format!(r#""p{i}""#)).collect();
        let schema = format!(
            r#"{{"type":"object","properties":{{{}}},"required":[{}],"additionalProperties":{}}}"#,
            properties.join(","),
            required.join(","),
            !closed
        );
        let layout = Layout::new(&Model::compile(&schema).expect("the schema compiles")).expect("a layout");
        assert_eq!(layout.is_plain(), closed);
        let numbers = [22.5, 1013.25, 0.0034, 61.2, -3.75, 230.1, 4.18, 50.02, 0.98, 12.0, 3.601, 7.5];
        let entries = numbers.into_iter().enumerate().map(|(i, f)| (format!("p{i}"), Value::F64(f)));
        let mut bytes = Vec::new();
        layout.encode(&Value::Map(entries.collect()), &mut bytes).expect("the message encodes");
        bytes.len()
    };
    // With one bit and binary32 or binary64, the plain message would have 79 bytes.
    assert_eq!((size(true), size(false)), (29, 29));
}
