//! Known sizes and texts of messages, and limits of the formats.

use crate::messages::{as_message, self_describing};
use dunnage_formats::{Format, Id, Json, Kind, Mapping, Value};

const CONTAINER: &str = include_str!("../../../../bench/corpus/container.json");
const PAPER: &str = include_str!("../../../../bench/corpus/pson-paper.json");

fn size(id: Id, message: &Value) -> usize {
    id.open(None, Mapping::Exact).unwrap().round_trip(message).unwrap().bytes.len()
}

fn as_json(message: &Value) -> String {
    let mut out = Vec::new();
    Json.encode(message, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Table 2 of the container paper has 298 bytes of CBOR, for a shorter sample.
#[test]
fn the_container_message_has_its_known_sizes() {
    let message = Json.decode(CONTAINER.as_bytes()).unwrap();
    assert_eq!(size(Id::Json, &message), 379);
    assert_eq!(size(Id::Msgpack, &message), 301);
    assert_eq!(size(Id::Cbor, &message), 300);
}

#[test]
fn known_messages_round_trip_byte_for_byte_through_every_format() {
    let paper = Json.decode(PAPER.as_bytes()).unwrap();
    let Some(Value::Map(payloads)) = paper.get("payloads") else { panic!("payloads") };
    assert_eq!(payloads.len(), 10);
    let container = Json.decode(CONTAINER.as_bytes()).unwrap();
    assert_eq!(as_json(&container), CONTAINER.trim_end());
    for message in payloads.iter().map(|(_, payload)| payload).chain([&container]) {
        for (id, format) in self_describing() {
            let message = &as_message(id, message);
            let round_trip = format.round_trip(message).unwrap();
            assert!(round_trip.lossless, "{id}");
            assert_eq!(as_json(&format.decode(&round_trip.bytes).unwrap()), as_json(message), "{id}");
        }
    }
}

#[test]
fn json_converts_to_the_pson_of_the_specification() {
    let message = Json.decode(br#"{"a":23.5,"b":[1,2,3],"c":-2,"d":null,"e":true,"f":1.03}"#).unwrap();
    let mut out = Vec::new();
    Id::Pson.open(None, Mapping::Exact).unwrap().encode(&message, &mut out).unwrap();
    let hex: String = out.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, "c68161400000bc418162e30102038163228164628165618166417b14ae47e17af03f");
}

#[test]
fn large_and_small_numbers_round_trip() {
    let text = "[9007199254740993,18446744073709551615,-9223372036854775808,1e-7,-0.0]";
    let message = Json.decode(text.as_bytes()).unwrap();
    for (id, format) in self_describing() {
        let (mut bytes, message) = (Vec::new(), as_message(id, &message));
        match format.encode(&message, &mut bytes) {
            Ok(()) => assert_eq!(as_json(&format.decode(&bytes).unwrap()), text, "{id}"),
            Err(e) => assert_eq!((id, e.kind()), (Id::Bson, Kind::Range), "BSON has no unsigned integers"),
        }
    }
}

#[test]
fn nesting_is_limited_in_both_directions() {
    let nested = |depth| (0..depth).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
    let in_maps = |depth| (0..depth).fold(Value::Null, |inner, _| Value::Map(vec![("k".into(), inner)]));
    for (id, format) in self_describing() {
        // An object around the arrays is a level, too.
        let arrays = 32 - usize::from(id == Id::Bson);
        for deep in [as_message(id, &nested(arrays)), in_maps(32)] {
            assert!(format.round_trip(&deep).unwrap().lossless, "{id}");
        }
        for deeper in [as_message(id, &nested(arrays + 1)), in_maps(33)] {
            assert_eq!(format.encode(&deeper, &mut Vec::new()).unwrap_err().kind(), Kind::Limit, "{id}");
        }
    }
}

#[test]
fn messages_over_a_mebibyte_are_rejected_in_both_directions() {
    let long = Value::Text("x".repeat(1 << 20));
    for (id, format) in self_describing() {
        let mut out = b"before".to_vec();
        assert_eq!(format.encode(&as_message(id, &long), &mut out).unwrap_err().kind(), Kind::Limit, "{id}");
        assert_eq!(out, b"before", "{id}");
        let e = format.decode(&vec![b'1'; (1 << 20) + 1]).unwrap_err();
        assert_eq!((e.kind(), e.offset()), (Kind::Limit, Some(1 << 20)), "{id}");
    }
}

#[test]
fn many_keys_take_no_more_than_linear_time() {
    let entries = (0..50_000).map(|n| (format!("k{n}"), Value::Null)).collect();
    let message = Value::Map(entries);
    for (id, format) in self_describing() {
        assert!(format.round_trip(&message).unwrap().lossless, "{id}");
    }
}

#[test]
fn integer_keys_are_the_text_of_their_digits() {
    let expected = Json.decode(br#"{"1":21.5,"-7":{"300":true},"18446744073709551615":null}"#);
    for (id, hex) in [
        (Id::Cbor, "a3 01 fa41ac0000 26 a1 19012c f5 1bffffffffffffffff f6"),
        (Id::Msgpack, "83 01 ca41ac0000 f9 81 cd012c c3 cfffffffffffffffff c0"),
    ] {
        let digits: String = hex.split(' ').collect();
        let bytes: Vec<u8> = (0..digits.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap())
            .collect();
        let format = id.open(None, Mapping::Exact).unwrap();
        assert_eq!(format.decode(&bytes), expected, "{id}");
        assert!(format.round_trip(expected.as_ref().unwrap()).unwrap().lossless);
    }
}
