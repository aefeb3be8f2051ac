//! Malicious and damaged messages.

use super::generated::model_and_messages;
use super::models::{container_message, container_model};
use dunnage_formats::{Format, Id, Json, Kind, Mapping};
use dunnage_schema::Model;
use proptest::prelude::*;

fn formats(model: &Model) -> Vec<(String, Box<dyn Format>)> {
    let mut formats = Vec::new();
    for id in Id::all().filter(|id| id.needs_schema()) {
        for mapping in [Mapping::Exact, Mapping::Float32] {
            if let Ok(format) = id.open(Some(model), mapping) {
                formats.push((format!("{id} {mapping:?}"), format));
            }
        }
    }
    formats
}

/// Decodes `bytes`. Panics unless the result is a valid message or an error with an offset within them.
fn decode(model: &Model, name: &str, format: &dyn Format, bytes: &[u8]) {
    match format.decode(bytes) {
        Ok(message) => assert_eq!(model.validate(&message), Ok(()), "{name}"),
        Err(e) => assert!(e.offset().is_none_or(|at| at <= bytes.len()), "{name}: {e}"),
    }
}

#[test]
fn truncated_messages_are_rejected_at_their_end() {
    let model = container_model();
    for (name, format) in formats(&model) {
        let mut bytes = Vec::new();
        format.encode(&container_message(), &mut bytes).unwrap();
        for end in 0..bytes.len() {
            match format.decode(&bytes[..end]) {
                // A Protobuf message may end after any field: the fields that are missing hold their defaults.
                Ok(_) => assert!(name.starts_with("protobuf"), "{name} at {end}"),
                Err(e) if name.starts_with("protobuf") && e.kind() == Kind::Range => {}
                Err(e) => assert_eq!((e.kind(), e.offset()), (Kind::Truncated, Some(end)), "{name}: {e}"),
            }
        }
    }
}

#[test]
fn bytes_after_a_message_are_rejected() {
    let model = container_model();
    for (name, format) in formats(&model) {
        let mut bytes = Vec::new();
        format.encode(&container_message(), &mut bytes).unwrap();
        let end = bytes.len();
        bytes.push(0);
        let e = format.decode(&bytes).unwrap_err();
        assert_eq!((e.kind(), e.offset()), (Kind::Malformed, Some(end)), "{name}: {e}");
    }
}

#[test]
fn messages_over_a_mebibyte_are_rejected() {
    for (name, format) in formats(&container_model()) {
        assert_eq!(format.decode(&vec![0; (1 << 20) + 1]).unwrap_err().kind(), Kind::Limit, "{name}");
    }
}

/// Panics unless the format `id` with `schema` rejects `bytes` with an error of `kind`.
fn assert_rejected(schema: &str, id: Id, bytes: &[u8], kind: Kind) {
    let format = id.open(Some(&Model::compile(schema).unwrap()), Mapping::Exact).unwrap();
    let e = format.decode(bytes).unwrap_err();
    assert_eq!(e.kind(), kind, "{id}: {e}");
}

const LIST: &str = r#"{"title":"L","type":"object","additionalProperties":false,"required":["a"],
    "properties":{"a":{"type":"array","items":{"type":"boolean"}}}}"#;
const WORDS: &str = r#"{"title":"W","type":"object","additionalProperties":false,"required":["a"],
    "properties":{"a":{"type":"string"}}}"#;
const NULLS: &str = r#"{"title":"N","type":"object","additionalProperties":false,"required":["a"],
    "properties":{"a":{"type":"array","items":{"type":"null"}}}}"#;

#[test]
fn lengths_beyond_the_end_are_rejected() {
    let long = b"\xfe\xff\xff\xff\x0f"; // zigzag of 2^31-1
    assert_rejected(LIST, Id::Avro, long, Kind::Truncated);
    assert_rejected(LIST, Id::Avro, b"\xfd\xff\xff\xff\x0f\x02", Kind::Truncated); // the same length for a block with its size
    assert_rejected(LIST, Id::Avro, b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x02", Kind::Malformed); // -2^63 elements
    assert_rejected(WORDS, Id::Avro, long, Kind::Truncated);
    assert_rejected(WORDS, Id::Avro, b"\x01", Kind::Malformed); // -1 bytes
    assert_rejected(LIST, Id::ThriftBinary, b"\x0f\x00\x01\x02\x7f\xff\xff\xff", Kind::Truncated);
    assert_rejected(LIST, Id::ThriftBinary, b"\x0f\x00\x01\x02\xff\xff\xff\xff", Kind::Malformed);
    assert_rejected(WORDS, Id::ThriftBinary, b"\x0b\x00\x01\x7f\xff\xff\xff", Kind::Truncated);
    assert_rejected(LIST, Id::ThriftCompact, b"\x19\xf1\xff\xff\xff\xff\x07", Kind::Truncated);
    assert_rejected(WORDS, Id::ThriftCompact, b"\x18\xff\xff\xff\xff\x07", Kind::Truncated);
    assert_rejected(LIST, Id::Struct, b"\xff\xff\x01", Kind::Truncated);
    assert_rejected(WORDS, Id::Struct, b"\xff\xffx", Kind::Truncated);
    assert_rejected(WORDS, Id::Protobuf, b"\x0a\xff\xff\xff\xff\x07", Kind::Truncated);
}

#[test]
fn no_array_has_elements_without_bytes() {
    // Nulls are encoded as PSON, a byte each. Any other element takes at least a byte in every format.
    assert_rejected(NULLS, Id::Avro, b"\xfe\xff\xff\xff\x0f", Kind::Truncated);
    assert_rejected(NULLS, Id::Avro, b"\x0c\xff\xff\xff\xff\xff\x0f", Kind::Truncated);
    let format = Id::Avro.open(Some(&Model::compile(NULLS).unwrap()), Mapping::Exact).unwrap();
    let bytes = format.round_trip(&Json.decode(br#"{"a":[null,null,null]}"#).unwrap()).unwrap().bytes;
    assert_eq!(bytes, b"\x08\xe3\x62\x62\x62");
}

#[test]
fn zlib_streams_are_inflated_to_at_most_a_mebibyte() {
    let mut bomb = Vec::with_capacity(1 << 20);
    let mut stream = flate2::Compress::new(flate2::Compression::best(), true);
    let zeros = vec![0; 64 << 20];
    stream.compress_vec(&zeros, &mut bomb, flate2::FlushCompress::Finish).unwrap();
    assert!(bomb.len() < 100_000);
    assert_rejected(WORDS, Id::StructZlib, &bomb, Kind::Limit);
    assert_rejected(WORDS, Id::StructZlib, &bomb[..2000], Kind::Limit);
    assert_rejected(WORDS, Id::StructZlib, &bomb[..100], Kind::Truncated);
    assert_rejected(WORDS, Id::StructZlib, b"\x78\xda\xff", Kind::Malformed);
}

#[test]
fn numbers_that_the_schema_does_not_allow_are_out_of_range() {
    let schema = r#"{"title":"R","type":"object","additionalProperties":false,"required":["a","b"],"properties":{
        "a":{"type":"string","x-dunnage-number":{"multipleOf":0.1,"minimum":-4,"maximum":10}},"b":{"enum":["x","y","z"]}}}"#;
    assert_rejected(schema, Id::Protobuf, b"\x08\xca\x01", Kind::Range); // 101 tenths
    assert_rejected(schema, Id::Protobuf, b"\x08\x51", Kind::Range); // -41 tenths
    assert_rejected(schema, Id::Protobuf, b"\x10\x03", Kind::Range); // a fourth value
    assert_rejected(schema, Id::Struct, b"\x65\x00", Kind::Range);
    assert_rejected(schema, Id::Struct, b"\x00\x03", Kind::Range);
    assert_rejected(schema, Id::Avro, b"\xca\x01\x00", Kind::Range);
    assert_rejected(schema, Id::Avro, b"\x00\x06", Kind::Malformed);
    assert_rejected(
        schema,
        Id::ThriftBinary,
        b"\x03\x00\x01\x65\x08\x00\x02\x00\x00\x00\x00\x00",
        Kind::Range,
    );
    assert_rejected(
        schema,
        Id::ThriftBinary,
        b"\x03\x00\x01\x00\x08\x00\x02\x00\x00\x00\x03\x00",
        Kind::Range,
    );
    assert_rejected(schema, Id::ThriftBinary, b"\x03\x00\x01\x00\x00", Kind::Malformed); // b is missing
    let by_hand = Id::Protobuf.open(Some(&Model::compile(schema).unwrap()), Mapping::Float32).unwrap();
    for float in [f32::NAN, f32::INFINITY, 10.1, -4.06, f32::MAX] {
        let bytes = [&b"\x0d"[..], &float.to_le_bytes(), b"\x12\x01x"].concat();
        assert_eq!(by_hand.decode(&bytes).unwrap_err().kind(), Kind::Range, "{float}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn any_bytes_are_a_valid_message_or_an_error((model, _) in model_and_messages(), bytes in any::<Vec<u8>>()) {
        for (name, format) in formats(&model) {
            decode(&model, &name, &*format, &bytes);
        }
    }

    #[test]
    fn a_changed_message_is_a_valid_message_or_an_error(
        (model, messages) in model_and_messages(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        for (name, format) in formats(&model) {
            for message in &messages {
                let mut bytes = Vec::new();
                if format.encode(message, &mut bytes).is_err() || bytes.is_empty() {
                    continue;
                }
                for (at, byte) in &changes {
                    let at = at.index(bytes.len());
                    bytes[at] = *byte;
                }
                decode(&model, &name, &*format, &bytes);
            }
        }
    }
}
