//! A user's own `.proto`.

use super::models::{container_message, container_model};
use dunnage_formats::{Definition, Error, Format, Id, Json, Kind, Mapping, Protobuf, Value};
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
        oneof u { string a = 12; int32 b = 13; google.protobuf.NullValue none = 15; } W inner = 14;
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
        r#"{"at":"9999-12-31T23:59:59Z","every":"-315576000000s","times":[],"spans":{},"none":null}"#,
    ] {
        let message = json(message);
        assert_eq!(format.decode(&bytes(&format, &message)), Ok(message));
    }
    for (message, kind) in [
        (r#"{"at":"yesterday"}"#, Kind::Type),
        (r#"{"every":"1h"}"#, Kind::Type),
        (r#"{"raw":"*"}"#, Kind::Type),
        (r#"{"at":"0000-12-31T23:59:59Z"}"#, Kind::Range),
        (r#"{"every":"315576000001s"}"#, Kind::Range),
    ] {
        let e = format.encode(&json(message), &mut Vec::new()).unwrap_err();
        assert!(e.kind() == kind && !e.pointer().is_empty(), "{e}");
    }
    assert_eq!(format.decode(b"\x0a\x06\x10\x80\x94\xeb\xdc\x03").unwrap_err().pointer(), "/at");
    // Base64 is read in either alphabet, with and without padding.
    for raw in ["-_8=", "-_8", "+/8", "+/8="] {
        let message = json(&format!(r#"{{"raw":"{raw}"}}"#));
        assert!(bytes(&format, &message).ends_with(b"\x0a\x02\xfb\xff"), "{raw}");
    }
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
            // An open schema that leaves out a field has to have the first name, and is rejected when it is loaded, not with each message.
            let open = schema.replace(r#","additionalProperties":false"#, "");
            let more = proto(values).replace("S s = 5;", "S s = 5; int32 more = 6;");
            let format = Protobuf::from_proto(&more, Some(&model(&open)));
            assert_eq!(format.as_ref().map_err(Error::pointer).err(), (known != first).then_some("/s"));
            assert!(format.err().is_none_or(|e| e.message().contains("the first")));
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
    assert!(
        missing.message().contains("main.proto:1:") && missing.message().contains("proto_path"),
        "{missing}"
    );
    let nowhere = Definition::read(&main, &[folder.path().join("nowhere")], None).unwrap_err();
    assert!(nowhere.message().contains("there is no folder"), "{nowhere}");
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

/// Fields that a closed schema does not mention may be anything, such as recursive messages. Fields that it mentions are never lost.
#[test]
fn messages_that_hold_themselves_are_skipped_by_a_closed_schema() {
    let schema = r#"{"type":"object","additionalProperties":false,"required":["state"],"properties":{
        "state":{"enum":["OFF","ON"]},"child":true}}"#;
    let schema = |child: &str| schema.replace("true", child);
    let source = |field: &str| {
        format!(
            "syntax = \"proto3\"; import \"google/protobuf/struct.proto\";
             message M {{ enum State {{ STATE_OFF = 0; STATE_ON = 1; }} State state = 1; {field} }}"
        )
    };
    for (field, held) in [
        ("M rest = 3;", b"\x1a\x02\x08\x01".as_slice()),
        ("google.protobuf.Struct x = 3;", b"\x1a\x05\x0a\x03\x0a\x01a"),
    ] {
        let wire = [b"\x08\x01", held].concat();
        let format = Protobuf::from_proto(&source(field), Some(&model(&schema("{\"type\":\"string\"}"))));
        assert_eq!(format.unwrap().decode(&wire), Ok(json(r#"{"state":"ON"}"#)), "{field}");
    }
    let numbers = "syntax = \"proto3\"; message M { optional int32 state = 1; optional M child = 3; }";
    for child in [r#"{"type":"object"}"#, r#"{"type":"object","properties":{"state":{"type":"integer"}}}"#] {
        let schema = schema(child).replace(r#"{"enum":["OFF","ON"]}"#, r#"{"type":"integer"}"#);
        let format = Protobuf::from_proto(numbers, Some(&model(&schema))).unwrap();
        let read = format.decode(b"\x08\x01\x1a\x02\x08\x02").unwrap();
        assert_eq!(read, json(r#"{"state":1,"child":{"state":2}}"#), "{child}");
    }
    // Messages that hold others twice, and these others twice, have more fields than any schema.
    let many: Vec<_> =
        (0..40).map(|n| format!("message A{n} {{ A{0} a = 1; A{0} b = 2; }}", n + 1)).collect();
    let many = format!("syntax = \"proto3\"; {} message A40 {{ int32 n = 1; }}", many.concat());
    let e = Protobuf::from_proto(&many, Some(&model(&schema("{\"type\":\"string\"}")))).unwrap_err();
    assert!(e.message().contains("more than 100000 fields"), "{e}");
}

/// An entry of a map may leave out what is 0 or empty, in every syntax.
#[test]
fn an_entry_without_key_or_value_has_the_defaults() {
    for syntax in ["syntax = 'proto2'", "syntax = 'proto3'", "edition = '2023'"] {
        let proto = format!("{syntax}; message M {{ map<string, sint32> a = 1; map<int32, M> b = 2; }}");
        let format = Protobuf::from_proto(&proto, None).unwrap();
        let expected = json(r#"{"a":{"":0},"b":{"0":{"a":{},"b":{}}}}"#);
        assert_eq!(format.decode(b"\x0a\x00\x12\x00"), Ok(expected), "{syntax}");
    }
}

/// An edition says with features what labels say in the syntaxes before it.
#[test]
fn editions_are_read_as_the_syntax_that_means_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).unwrap();
        folder.path().join(name)
    };
    write("old.proto", "syntax = \"proto2\"; message Old { required int32 n = 1; }");
    let main = write(
        "main.proto",
        r#"// A comment with edition = "1999";
edition = "2024"; package p; /* default = 1; */
import option "custom.proto"; import "google/protobuf/cpp_features.proto"; import "old.proto";
option features.(pb.cpp).string_type = VIEW;
option features.field_presence = IMPLICIT;
export message M {
  option features.enum_type = CLOSED;
  reserved 90 to max, 7; reserved gone, lost;
  int32 a = 1;
  int32 b = 2 [features.field_presence = EXPLICIT];
  int32 c = 3 [features = { field_presence: LEGACY_REQUIRED }];
  repeated int32 packed = 4;
  repeated int32 expanded = 5 [features.repeated_field_encoding = EXPANDED];
  string text = 6 [default = "it's \"x\"", features.field_presence = EXPLICIT];
  local enum E { option features.enum_type = CLOSED; ONE = 0; TWO = 2; }
  E e = 8; Old old = 9; oneof which { int32 x = 10; E y = 11; } map<string, E> map = 12;
  extensions 20 to 30;
}
extend M { int32 more = 20 [features.field_presence = EXPLICIT]; }
"#,
    );
    let format = Definition::read(&main, &[], None).and_then(|found| Protobuf::from_definition(&found, None));
    let format = format.unwrap();
    let all = r#"{"a":1,"b":0,"c":0,"packed":[1,2],"expanded":[1,2],"text":"","e":"TWO","old":{"n":5},"y":"TWO","map":{"k":"TWO"},"[p.more]":0}"#;
    let wire = bytes(&format, &json(all));
    assert_eq!(format.decode(&wire), Ok(json(all)));
    assert!(wire.windows(8).any(|part| part == b"\x22\x02\x01\x02\x28\x01\x28\x02"), "{wire:02x?}");
    // Without presence 0 is always there; with presence an absent field is; a required one has to be there.
    let least = r#"{"a":0,"c":0,"packed":[],"expanded":[],"e":"ONE","map":{}}"#;
    assert_eq!(format.decode(b"\x18\x00"), Ok(json(least)));
    assert!(format.encode(&json("{\"a\":1}"), &mut Vec::new()).unwrap_err().message().contains('c'));
    // Groups, as a file or a field has them.
    let groups = "edition = '2023'; option features.message_encoding = DELIMITED;
        message M { enum E { A = 0; } E e = 1; M m = 2; map<int32, M> map = 3; repeated M list = 4; M plain = 5 [features.message_encoding = LENGTH_PREFIXED]; }";
    let format = Protobuf::from_proto(groups, None).unwrap();
    let all = r#"{"e":"A","m":{"e":"A","map":{},"list":[]},"map":{},"list":[{"map":{},"list":[]}],"plain":{"map":{},"list":[]}}"#;
    let wire = b"\x08\x00\x13\x08\x00\x14\x23\x24\x2a\x00";
    assert_eq!(bytes(&format, &json(all)), wire);
    assert_eq!(format.decode(wire), Ok(json(all)));
    for (cut, kind) in [(4, Kind::Truncated), (2, Kind::Malformed)] {
        let wire = if cut == 4 { &wire[..cut] } else { b"\x08\x00\x14" };
        assert_eq!(format.decode(wire).unwrap_err().kind(), kind, "{wire:02x?}");
    }
    // An enumeration that does not begin with 0, which proto3 does not have.
    let closed = "edition = '2023'; message M { enum E { option features.enum_type = CLOSED; ONE = 1; } E e = 1; repeated E list = 2; int32 n = 3; }";
    let format = Protobuf::from_proto(closed, None).unwrap();
    let all = r#"{"e":"ONE","list":["ONE","ONE"],"n":0}"#;
    let wire = b"\x08\x01\x12\x02\x01\x01\x18\x00";
    assert_eq!((format.decode(wire), bytes(&format, &json(all))), (Ok(json(all)), wire.to_vec()));
    let implicit = closed.replace("int32 n = 3", "int32 n = 3 [features.field_presence = IMPLICIT]");
    assert!(Definition::of(&implicit, None).unwrap_err().message().contains("n: IMPLICIT"));
    let explicit = Protobuf::from_proto("edition = '2023'; message M { int32 a = 1; }", None).unwrap();
    assert_eq!(explicit.decode(b""), Ok(json("{}")));

    for (text, says) in [
        ("edition = '2026';", "message.proto: edition \"2026\" is not 2023 or 2024"),
        ("edition = '2023';\nmessage M { int32 a = 1 [features.field_presence = NEVER]; }", "no value NEVER"),
        ("edition = '2023';\nmessage M { optional int32; }", "message.proto:2:27: "),
        ("edition = '2023';\nmessage M { Missing m = 1; }", "Missing"),
        ("edition", "expected"),
        ("edition =", "edition"),
        ("edition = '2023'; message M { reserved", "end of file"),
        ("edition = '2023'; message M { string \"", "message.proto: expected string terminator"),
        ("edition = '2023'; /* é", "comment"),
    ] {
        let e = Definition::of(text, None).unwrap_err();
        assert!(e.message().contains(says), "{text}: {e}");
    }
}
