//! A user's own `.proto`.

use super::models::{container_message, container_model};
use dunnage_formats::{Definition, Format, Id, Json, Kind, Mapping, Protobuf, Value};
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
    assert!(error_of("int32 a = 1; int32 b = 2;").contains("always has a value"));
    assert!(error_of("optional int32 b = 2;").contains("no field of its name at /a"));
    assert!(error_of("repeated int32 a = 1;").contains("the field is repeated at /a"));
    assert!(error_of("map<string, int32> a = 1;").contains("the field is a map at /a"));
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
            "inner":{"bat_soc":1,"time-stamp":0,"states":[],"ok":false,"more":{},"raw":"AQI="}}"#,
    );
    let back = json(
        r#"{"bat_soc":96,"time-stamp":-5,"states":["ON","OFF"],"more":{"x":1.5},"raw":"",
            "inner":{"bat_soc":1,"time-stamp":0,"states":[],"ok":false,"more":{},"raw":"AQI="}}"#,
    );
    assert_eq!(format.decode(&bytes(&format, &message)), Ok(back));
    assert_eq!(format.encode(&json(r#"{"batSoc":1}"#), &mut Vec::new()), Ok(()));
    assert_eq!(format.encode(&json(r#"{"nothing":1}"#), &mut Vec::new()).unwrap_err().kind(), Kind::Type);
    assert_eq!(format.encode(&json(r#"{"bat_soc":-1}"#), &mut Vec::new()).unwrap_err().kind(), Kind::Range);
    assert_eq!(
        format.encode(&json(r#"{"states":["UP"]}"#), &mut Vec::new()).unwrap_err().kind(),
        Kind::Range
    );
}

/// The types of Google that Protobuf's JSON has as text, a number or any value.
const WELL_KNOWN: &str = r#"
    syntax = "proto3";
    import "google/protobuf/timestamp.proto"; import "google/protobuf/duration.proto";
    import "google/protobuf/wrappers.proto"; import "google/protobuf/struct.proto"; import "google/protobuf/field_mask.proto";
    message W {
        google.protobuf.Timestamp at = 1; google.protobuf.Duration every = 2; google.protobuf.DoubleValue t = 3;
        google.protobuf.Struct extra = 4; google.protobuf.BytesValue raw = 5; google.protobuf.Value any = 6;
        google.protobuf.ListValue list = 7; google.protobuf.FieldMask mask = 8; google.protobuf.Int64Value big = 9;
        repeated google.protobuf.Timestamp times = 10; map<int32, google.protobuf.Duration> spans = 11;
        oneof u { string a = 12; int32 b = 13; } W inner = 14;
    }"#;

#[test]
fn well_known_types_are_what_protobufs_json_has() {
    let format = Protobuf::from_proto(WELL_KNOWN, None).unwrap();
    // As protoc --encode=W writes: at { seconds: 1700000000 nanos: 500000000 } every { seconds: 900 } t { value: 21.5 }
    let wire = b"\x0a\x0c\x08\x80\xe2\xcf\xaa\x06\x10\x80\xca\xb5\xee\x01\x12\x03\x08\x84\x07\x1a\x09\x09\0\0\0\0\0\x80\x35\x40";
    let read = json(r#"{"at":"2023-11-14T22:13:20.500Z","every":"900s","t":21.5,"times":[],"spans":{}}"#);
    assert_eq!(format.decode(wire), Ok(read));
    for message in [
        r#"{"times":["1969-12-31T23:59:59.999999999Z"],"spans":{"-1":"-1.500s","7":"0.000000001s"}}"#,
        r#"{"extra":{"a":null,"b":[1.5,"x",{"c":true}]},"any":null,"times":[],"spans":{},"inner":{"list":[[],{}],"times":[],"spans":{}}}"#,
        r#"{"raw":"AQI=","any":{"k":[]},"mask":"a.bC,d","big":-9223372036854775808,"times":[],"spans":{},"b":0}"#,
    ] {
        let message = json(message);
        assert_eq!(format.decode(&bytes(&format, &message)), Ok(message));
    }
    for (message, kind) in [
        (r#"{"at":"yesterday"}"#, Kind::Type),
        (r#"{"every":"1h"}"#, Kind::Type),
        (r#"{"raw":"*"}"#, Kind::Type),
    ] {
        let e = format.encode(&json(message), &mut Vec::new()).unwrap_err();
        assert!(e.kind() == kind && !e.pointer().is_empty(), "{e}");
    }
    assert_eq!(format.decode(b"\x0a\x06\x10\x80\x94\xeb\xdc\x03").unwrap_err().pointer(), "/at");
}

#[test]
fn a_number_with_several_names_has_the_first() {
    let proto = |values: &str| {
        format!(
            "syntax = \"proto3\"; message M {{ enum S {{ option allow_alias = true; UNKNOWN = 0; {values} }} S s = 5; }}"
        )
    };
    for (values, first) in [("OPEN = 1; AJAR = 1;", "OPEN"), ("AJAR = 1; OPEN = 1;", "AJAR")] {
        let plain = Protobuf::from_proto(&proto(values), None).unwrap();
        assert_eq!(plain.decode(b"\x28\x01"), Ok(json(&format!(r#"{{"s":"{first}"}}"#))));
        // A number that a newer definition has is that number.
        for (number, wire) in
            [("7", &b"\x28\x07"[..]), ("-1", b"\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")]
        {
            let message = json(&format!(r#"{{"s":{number}}}"#));
            assert_eq!((plain.decode(wire), bytes(&plain, &message)), (Ok(message), wire.to_vec()));
        }
        // Every name is written, and a schema that knows only one of them reads it.
        for known in ["OPEN", "AJAR"] {
            let schema = format!(
                r#"{{"type":"object","properties":{{"s":{{"enum":["UNKNOWN","{known}"]}}}},"required":["s"],"additionalProperties":false}}"#
            );
            let format = Protobuf::from_proto(&proto(values), Some(&model(&schema))).unwrap();
            let message = json(&format!(r#"{{"s":"{known}"}}"#));
            assert_eq!(bytes(&plain, &message), b"\x28\x01");
            assert_eq!(format.decode(b"\x28\x01"), Ok(message), "{values} {known}");
        }
    }
}

#[test]
fn an_open_schema_loses_no_field() {
    let proto = r#"syntax = "proto3"; message M { sint32 temperature = 1; uint32 bat_soc = 2; map<string, double> more = 3; M inner = 4; }"#;
    let message = json(
        r#"{"temperature":-5,"bat_soc":96,"more":{"x":1.5},"inner":{"temperature":0,"bat_soc":1,"more":{}}}"#,
    );
    let wire = bytes(&Protobuf::from_proto(proto, None).unwrap(), &message);
    let read = |schema: &str| {
        Protobuf::from_proto(proto, Some(&model(schema))).and_then(|format| {
            let read = format.decode(&wire)?;
            assert_eq!(bytes(&format, &read), wire, "{schema}");
            Ok(read)
        })
    };
    assert_eq!(read(r#"{"type":"object"}"#), Ok(message.clone()));
    // The spelling of a property is that of the schema; recursion and maps are described as any schema describes them.
    let spelt = r##"{"$ref":"#/$defs/m","$defs":{"m":{"type":"object","required":["temperature","batSoc"],"properties":{
        "temperature":{"type":"integer"},"batSoc":{"type":"integer","maximum":100},
        "more":{"type":"object","additionalProperties":{"type":"number"}},"inner":{"$ref":"#/$defs/m"}}}}}"##;
    let expected =
        r#"{"temperature":-5,"batSoc":96,"more":{"x":1.5},"inner":{"temperature":0,"batSoc":1,"more":{}}}"#;
    assert_eq!(read(spelt), Ok(json(expected)));
    let e = read(&spelt.replace("100", "95")).unwrap_err();
    assert_eq!((e.kind(), e.pointer()), (Kind::Range, "/batSoc"));
    // A scaled integer is read only if the schema is closed, and the error says so.
    let scaled = r#"{"type":"object","required":["temperature"],"properties":{"temperature":{"type":"number","multipleOf":0.1}}}"#;
    let proto =
        "syntax = \"proto3\"; message M { sint32 temperature = 1; uint32 bat_soc = 2; string id = 3; }";
    let e = Protobuf::from_proto(proto, Some(&model(scaled))).unwrap_err();
    assert!(e.message().contains("additionalProperties") && e.message().contains("bat_soc, id"), "{e}");
    let closed = scaled.replacen('{', r#"{"additionalProperties":false,"#, 1);
    let format = Protobuf::from_proto(proto, Some(&model(&closed))).unwrap();
    assert_eq!(format.decode(b"\x08\x09\x10\x60"), Ok(json(r#"{"temperature":-0.5}"#)));
}

#[test]
fn a_message_is_chosen_by_name_and_its_imports_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    };
    write("lib/common/unit.proto", "syntax = \"proto3\"; package common; message Unit { string name = 1; }");
    write("head.proto", "syntax = \"proto3\"; message Header { uint32 seq = 1; }");
    let main = write(
        "main.proto",
        "syntax = \"proto2\"; package p; import \"head.proto\"; import \"common/unit.proto\";
         message First { required int32 a = 1; extensions 100 to 200; }
         message Second { optional Header header = 1; optional common.Unit unit = 2; message Inner { optional bool ok = 1; } }
         extend First { optional string note = 100; }",
    );
    let folders = [folder.path().join("lib")];
    let open = |message: Option<&str>| {
        Definition::read(&main, &folders, message).and_then(|found| Protobuf::from_definition(&found, None))
    };
    let round_trip = |message: Option<&str>, text: &str| {
        let format = open(message).unwrap();
        assert_eq!(format.decode(&bytes(&format, &json(text))), Ok(json(text)));
    };
    round_trip(None, r#"{"a":1,"[p.note]":"x"}"#);
    for name in ["Second", "p.Second"] {
        round_trip(Some(name), r#"{"header":{"seq":7},"unit":{"name":"K"}}"#);
    }
    round_trip(Some("Second.Inner"), r#"{"ok":true}"#);
    let unknown = open(Some("Third")).unwrap_err();
    assert!(unknown.message().contains("p.First, p.Second"), "{unknown}");
    let missing = Definition::read(&main, &[], None).unwrap_err();
    assert!(missing.message().contains("common/unit.proto"), "{missing}");
    let edition = Definition::of("edition = \"2023\"; message M { int32 a = 1; }", None).unwrap_err();
    assert!(edition.message().contains("edition") && edition.message().contains("proto3"), "{edition}");
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

/// What Protobuf cannot hold is an error, and no value is left out.
#[test]
fn a_message_that_would_lose_a_value_is_not_written() {
    let proto = "syntax = \"proto2\"; message A { oneof v { int32 a = 1; string b = 2; } map<int32, int32> m = 3; \
                 required int32 id = 4; optional int32 long_name = 5; }";
    let format = Protobuf::from_proto(proto, None).unwrap();
    let write = |json: &str| format.encode(&Json.decode(json.as_bytes()).unwrap(), &mut Vec::new());
    for json in [
        r#"{"id":1,"a":1,"b":"x"}"#,
        r#"{"id":1,"m":{"1":5,"01":6}}"#,
        r#"{"id":1,"m":{"+1":5}}"#,
        r#"{"id":1,"m":{"-0":5}}"#,
        r#"{"id":1,"long_name":1,"longName":2}"#,
        r#"{"a":1}"#,
        r#"{"id":null}"#,
    ] {
        assert_eq!(write(json).map_err(|e| e.kind()), Err(Kind::Type), "{json}");
    }
    for json in [r#"{"id":1,"a":1,"b":null}"#, r#"{"id":1,"m":{"-1":5,"10":6}}"#, r#"{"id":0,"longName":2}"#]
    {
        assert_eq!(write(json), Ok(()), "{json}");
    }
}
