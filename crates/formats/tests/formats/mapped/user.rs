//! A user's own `.proto`.

use super::models::{container_message, container_model};
use dunnage_formats::{Format, Id, Json, Kind, Mapping, Protobuf, Value};
use dunnage_schema::Model;

/// The definition of the container message's authors: other names and comments than the derived definition, the same numbers and types.
const BY_HAND: &str = r#"
    syntax = "proto3";
    package fleet.v1;
    message Reading {
        string msisdn = 1; string iso6346 = 2; string time = 3; uint32 rssi = 4; string cgi = 5;
        uint32 bleM = 6; uint32 bat_soc = 7; float acc_x = 8; float acc_y = 9; float acc_z = 10;
        float temperature = 11; float humidity = 12; float pressure = 13; string door = 14; uint32 gnss = 15;
        float latitude = 16; float longitude = 17; float altitude = 18; float speed = 19; float heading = 20;
        uint32 nsat = 21; float hdop = 22;
    }
    message Other { bool unused = 1; }
"#;

fn json(text: &str) -> Value {
    Json.decode(text.as_bytes()).unwrap()
}

fn bytes(format: &dyn Format, message: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    format.encode(message, &mut bytes).unwrap();
    bytes
}

fn model(schema: &str) -> Model {
    Model::compile(schema).unwrap()
}

#[test]
fn definition_of_the_authors_encodes_like_the_float32_mapping() {
    let model = container_model();
    let by_hand = Protobuf::from_proto(BY_HAND, Some(&model)).unwrap();
    let derived = Id::Protobuf.open(Some(&model), Mapping::Float32).unwrap();
    let message = container_message();
    assert_eq!(bytes(&by_hand, &message), bytes(&*derived, &message));
    assert_eq!(bytes(&by_hand, &message).len(), 138);
    assert_eq!(by_hand.decode(&bytes(&by_hand, &message)), Ok(message));
}

#[test]
fn number_texts_decode_with_the_decimals_of_the_schema() {
    let schema = r#"{"title":"T","type":"object","additionalProperties":false,"required":["a","b","c","d"],"properties":{
        "a":{"type":"string","x-dunnage-number":{"multipleOf":0.01,"minimum":-50,"maximum":50}},
        "b":{"type":"string","x-dunnage-number":{"multipleOf":0.001,"minimum":0,"maximum":9}},
        "c":{"type":"number","multipleOf":0.1,"minimum":0,"maximum":100},
        "d":{"enum":["open","shut"]}}}"#;
    let proto = r#"syntax = "proto3"; message M {
        enum Door { DOOR_UNSPECIFIED = 0; DOOR_SHUT = 7; DOOR_OPEN = 2; }
        Door d = 9; double a = 1; sint32 b = 2; float c = 3; string note = 4; }"#;
    let format = Protobuf::from_proto(proto, Some(&model(schema))).unwrap();
    let message = json(r#"{"a":"-7.10","b":"1.500","c":0.3,"d":"open"}"#);
    let result = format.round_trip(&message).unwrap();
    assert!(result.lossless, "{:?}", format.decode(&result.bytes));
    // A field that the schema does not have is skipped; a value that it does not allow is an error.
    assert_eq!(format.decode(&[&result.bytes[..], b"\x22\x01x"].concat()), Ok(message));
    assert_eq!(format.decode(b"").unwrap_err().kind(), Kind::Range);
}

#[test]
fn error_names_the_field_that_a_definition_cannot_carry() {
    let schema = r#"{"title":"T","type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},
        "required":["a"],"additionalProperties":false}"#;
    let error_of = |fields: &str| {
        let proto = format!("syntax = \"proto3\"; message M {{ {fields} }}");
        Protobuf::from_proto(&proto, Some(&model(schema))).unwrap_err().to_string()
    };
    assert!(error_of("int32 b = 1;").contains("/a"));
    assert!(error_of("string a = 1;").contains("/a"));
    assert!(error_of("int32 a = 1; int32 b = 2;").contains(" at /b"));
    assert!(error_of("int32 a = 1; M inner = 2;").contains("holds itself"));
    assert!(error_of("int32 a = ;").contains("does not compile"));

    let without_b = r#"syntax = "proto3"; message M { int64 a = 1; }"#;
    let format = Protobuf::from_proto(without_b, Some(&model(schema))).unwrap();
    assert!(format.round_trip(&json(r#"{"a":1}"#)).unwrap().lossless);
    let e = format.round_trip(&json(r#"{"a":1,"b":2}"#)).unwrap_err();
    assert_eq!(e.kind(), Kind::Range);
    assert_eq!(e.pointer(), "/b");
}

#[test]
fn without_a_schema_field_names_come_from_the_definition() {
    let proto = r#"syntax = "proto3"; message M {
        enum State { OFF = 0; ON = 3; }
        uint32 bat_soc = 1; sint64 t = 2 [json_name = "time-stamp"]; repeated State states = 3; optional bool ok = 4;
        map<string, double> more = 5; bytes raw = 6; M inner = 7; }"#;
    let format = Protobuf::from_proto(proto, None).unwrap();
    let message = json(
        r#"{"bat_soc":96,"time-stamp":-5,"states":["ON","OFF"],"more":{"x":1.5},
            "inner":{"bat_soc":1,"time-stamp":0,"states":[],"ok":false,"more":{},"raw":null}}"#,
    );
    let back = json(
        r#"{"bat_soc":96,"time-stamp":-5,"states":["ON","OFF"],"more":{"x":1.5},"raw":null,
            "inner":{"bat_soc":1,"time-stamp":0,"states":[],"ok":false,"more":{},"raw":null}}"#,
    );
    let nulls_are_empty_bytes = |value: &Value| -> Value { replace_null(value) };
    assert_eq!(format.decode(&bytes(&format, &message)), Ok(nulls_are_empty_bytes(&back)));
    assert_eq!(format.encode(&json(r#"{"batSoc":1}"#), &mut Vec::new()), Ok(()));
    assert_eq!(format.encode(&json(r#"{"nothing":1}"#), &mut Vec::new()).unwrap_err().kind(), Kind::Type);
    assert_eq!(format.encode(&json(r#"{"bat_soc":-1}"#), &mut Vec::new()).unwrap_err().kind(), Kind::Range);
    assert_eq!(
        format.encode(&json(r#"{"states":["UP"]}"#), &mut Vec::new()).unwrap_err().kind(),
        Kind::Range
    );
}

/// Replaces null by empty bytes, because the JSON above has null for `raw`.
fn replace_null(value: &Value) -> Value {
    match value {
        Value::Null => Value::Bytes(Vec::new()),
        Value::Map(entries) => {
            Value::Map(entries.iter().map(|(k, v)| (k.clone(), replace_null(v))).collect())
        }
        other => other.clone(),
    }
}

#[test]
fn nesting_is_limited_to_32_levels() {
    let format = Protobuf::from_proto(r#"syntax = "proto3"; message M { M m = 1; }"#, None).unwrap();
    let nested = |depth: usize| {
        (1..depth).fold(Vec::new(), |inner, _| {
            let mut outer = vec![0x0a];
            let mut length = inner.len();
            while length > 0x7f {
                outer.push(length as u8 | 0x80);
                length >>= 7;
            }
            outer.push(length as u8);
            outer.extend(inner);
            outer
        })
    };
    assert!(format.decode(&nested(32)).is_ok());
    assert_eq!(format.decode(&nested(33)).unwrap_err().kind(), Kind::Limit);
    assert_eq!(format.decode(&nested(200)).unwrap_err().kind(), Kind::Limit);
    assert_eq!(format.decode(&nested(100_000)).unwrap_err().kind(), Kind::Limit);
}
