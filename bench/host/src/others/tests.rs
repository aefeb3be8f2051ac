use super::*;
use crate::corpus::message_sets;
use dunnage_formats::Json;
use rasn::{AsnType, Encode};

const READING: &str = r#"{
    "type": "object",
    "properties": {
        "celsius": {"type": "number", "multipleOf": 0.01, "minimum": -40, "maximum": 85},
        "door": {"enum": ["open", "closed", "ajar"]},
        "name": {"type": "string"},
        "counts": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 999}, "maxItems": 6},
        "free": {"type": "array", "items": {"type": "boolean"}}
    },
    "required": ["celsius", "name", "counts", "free"],
    "additionalProperties": false
}"#;
const MESSAGE: &str =
    r#"{"celsius":23.5,"door":"closed","name":"hold","counts":[7,0,999],"free":[true,false]}"#;

fn model() -> Model {
    Model::compile(READING).expect("a schema")
}

fn message(text: &str) -> Value {
    Json.decode(text.as_bytes()).expect("JSON")
}

fn bytes(format: &str) -> Vec<u8> {
    let others = others(&model());
    let other = others.iter().find(|other| other.format == format).expect("a format");
    round_trip(&*other.codec, &message(MESSAGE)).expect("it carries the message")
}

/// The types that an ASN.1 compiler would generate for the record of [`READING`].
#[derive(AsnType, Encode, Debug, PartialEq)]
#[rasn(automatic_tags)]
struct Reading {
    #[rasn(value("-4000..=8500"))]
    celsius: i32,
    door: Option<Door>,
    name: String,
    #[rasn(size("0..=6"))]
    counts: Vec<Count>,
    free: Vec<bool>,
}

#[derive(AsnType, Encode, Debug, PartialEq, Clone, Copy)]
#[rasn(enumerated)]
enum Door {
    Open,
    Closed,
    Ajar,
}

#[derive(AsnType, Encode, Debug, PartialEq)]
#[rasn(delegate, value("0..=999"))]
struct Count(u16);

#[test]
fn uper_has_the_bits_of_a_type_that_rasn_derives() {
    let typed = |free: Vec<bool>, door| Reading {
        celsius: 2350,
        door,
        name: "hold".into(),
        counts: vec![Count(7), Count(0), Count(999)],
        free,
    };
    let theirs = rasn::uper::encode(&typed(vec![true, false], Some(Door::Closed))).expect("it encodes");
    assert_eq!(bytes("uper"), theirs);
    // A list whose length needs two bytes, and an absent field.
    let free: Vec<bool> = (0..200).map(|n| n % 3 == 0).collect();
    let theirs = rasn::uper::encode(&typed(free.clone(), None)).expect("it encodes");
    let text = format!(r#"{{"celsius":23.5,"name":"hold","counts":[7,0,999],"free":{free:?}}}"#);
    let codec = Records::new(&model(), Uper);
    assert_eq!(round_trip(&codec, &message(&text)).expect("it carries the message"), theirs);
}

#[test]
fn postcard_has_the_bytes_of_a_struct() {
    #[derive(serde::Serialize)]
    struct Reading {
        celsius: i16,
        door: Option<Door>,
        name: &'static str,
        counts: Vec<u16>,
        free: Vec<bool>,
    }
    #[derive(serde::Serialize)]
    #[allow(dead_code)] // only one of its variants is written
    enum Door {
        Open,
        Closed,
        Ajar,
    }
    let reading = Reading {
        celsius: 2350,
        door: Some(Door::Closed),
        name: "hold",
        counts: vec![7, 0, 999],
        free: vec![true, false],
    };
    assert_eq!(bytes("postcard"), ::postcard::to_allocvec(&reading).expect("it encodes"));
}

#[test]
fn integers_replace_the_keys_of_cbor() {
    assert_eq!(bytes("cbor-keys")[..2], [0xa5, 0x00], "a map of five entries, whose first key is 0");
    let schema = r#"{"type":"object","properties":{"a":{"type":"object","properties":{"b":{},"a":{}}}}}"#;
    let codec = CborKeys::new(&Model::compile(schema).expect("a schema"));
    let trip = round_trip(&codec, &message(r#"{"a":{"a":1,"b":2},"c":3}"#)).expect("it carries the message");
    assert_eq!(trip, [0xa2, 0x00, 0xa2, 0x00, 0x01, 0x01, 0x02, 0x61, b'c', 0x03]);
}

#[test]
fn cayenne_lpp_writes_its_types_and_refuses_the_rest() {
    let schema = r#"{"type":"object","properties":{"temperature":{"type":"number"},"n":{"type":"number"},"on":{"type":"boolean"}}}"#;
    let codec = Cayenne::new(&Model::compile(schema).expect("a schema"));
    let sent = |text| round_trip(&codec, &message(text));
    // 27.2 degrees are 0x0110 in <https://www.thethingsindustries.com/docs/integrations/payload-formatters/cayenne>.
    assert_eq!(sent(r#"{"temperature":27.2}"#).expect("a temperature"), [0, 103, 0x01, 0x10]);
    assert_eq!(sent(r#"{"temperature":-4.1}"#).expect("a temperature"), [0, 103, 0xff, 0xd7]);
    assert_eq!(sent(r#"{"n":0.29,"on":true}"#).expect("numbers"), [1, 2, 0x00, 0x1d, 2, 142, 1]);
    for (text, pointer) in [
        (r#"{"n":0.125}"#, "/n"),
        (r#"{"n":"7"}"#, "/n"),
        (r#"{"n":null}"#, "/n"),
        (r#"{"n":[1]}"#, "/n"),
        (r#"{"other":1}"#, "/other"),
        (r#"{"n":-400000}"#, "/n"),
    ] {
        assert_eq!(sent(text).expect_err("it does not fit").pointer(), pointer, "{text}");
    }
}

#[test]
fn flatbuffers_leave_out_zeros_but_not_optional_ones() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"integer","minimum":0,"maximum":9},"b":{"type":"integer","minimum":0,"maximum":9}},
        "required":["a"],"additionalProperties":false}"#;
    let codec = Records::new(&Model::compile(schema).expect("a schema"), Flatbuffers);
    let bytes = |text| round_trip(&codec, &message(text)).expect("it carries the message");
    assert!(bytes(r#"{"a":0}"#).len() < bytes(r#"{"a":1}"#).len());
    assert!(bytes(r#"{"a":0,"b":0}"#).len() > bytes(r#"{"a":0}"#).len());
}

#[test]
fn another_value_is_found_and_the_order_of_keys_does_not_count() {
    let differ = |a, b| difference(&message(a), &message(b));
    assert_eq!(differ(r#"{"a":1,"b":[2,3]}"#, r#"{"b":[2,3],"a":1.0}"#), None);
    assert_eq!(differ(r#"{"a":1,"b":[2,3]}"#, r#"{"b":[2,4],"a":1}"#).as_deref(), Some("/b/1"));
    assert_eq!(differ(r#"{"a":null}"#, r#"{"b":null}"#).as_deref(), Some("/a"));
    assert_eq!(differ("[1,2]", "[1]").as_deref(), Some(""));
}

#[test]
fn every_message_of_the_corpus_comes_back_or_has_a_reason() {
    let mut carried = 0;
    for set in message_sets().expect("a corpus") {
        for other in others(&set.model) {
            match round_trip(&*other.codec, &set.messages[0]) {
                Ok(_) => carried += 1,
                Err(error) => {
                    let known = ["cayenne-lpp"].contains(&other.format);
                    assert!(known, "{} {}: {error}", set.name, other.format);
                }
            }
        }
    }
    assert!(carried > 300, "{carried}");
}

#[test]
fn the_probes_tell_the_formats_apart() {
    let probed = probed().expect("probes");
    let carries = |probe, format| {
        probed.iter().find(|p| (p.probe, p.format) == (probe, format)).expect("a probe").outcome.is_ok()
    };
    assert!(carries("null", "ion") && !carries("null", "cayenne-lpp"));
    assert!(carries("a missing key", "uper") && carries("a missing key", "cayenne-lpp"));
    let arrays = |format| {
        let found =
            probed.iter().find(|p| (p.probe, p.format) == ("nested arrays of different types", format));
        found.expect("a probe").outcome.as_ref().expect("it is carried").ends_with(records::AS_PSON)
    };
    assert!(arrays("postcard") && !arrays("smile"));
    assert!(carries("integers of 64 bits", "flexbuffers") && !carries("integers of 64 bits", "cayenne-lpp"));
}
