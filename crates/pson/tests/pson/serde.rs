//! serde's data model in PSON.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]

use dunnage_pson::{Error, Kind, Options, Value, append, from_slice, measure, to_slice, to_vec, to_writer};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{
    collections::{BTreeMap, HashMap},
    fmt::Debug,
};

/// Asserts that `value` encodes to `bytes`, and that they decode to it.
fn assert_round_trip<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: T, bytes: &[u8]) {
    assert_eq!(to_vec(&value).unwrap(), bytes, "{value:?}");
    assert_eq!(from_slice::<T>(bytes).unwrap(), value);
    assert_eq!(measure(&value), Ok(bytes.len()));
}

/// Returns the kind and offset of the error of decoding a `T`.
fn decode_error<T: DeserializeOwned + Debug>(bytes: &[u8]) -> (Kind, usize) {
    let error = from_slice::<T>(bytes).unwrap_err();
    (error.kind(), error.offset())
}

fn encode_error<T: Serialize>(value: T) -> (Kind, usize) {
    let error = to_vec(&value).unwrap_err();
    (error.kind(), error.offset())
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Point {
    x: i32,
    y: Option<f64>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Nothing,
    Circle(u8),
    Line(u8, u8),
    Corner { x: u8 },
}

#[derive(Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Wrapped(u16);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Marker;

#[test]
fn scalars() {
    assert_round_trip((), b"\x62");
    assert_round_trip(Marker, b"\x62");
    assert_round_trip(true, b"\x61");
    assert_round_trip(-1i8, b"\x21");
    assert_round_trip(u64::MAX, b"\x1f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    assert_round_trip(i64::MIN, b"\x3f\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01");
    assert_round_trip(23.5f32, b"\x40\x00\x00\xbc\x41");
    assert_round_trip(48.0f64, b"\x1f\x30");
    assert_round_trip('ß', b"\x82\xc3\x9f");
    assert_round_trip(String::from("on"), b"\x82on");
    assert_round_trip(Wrapped(7), b"\x07");
}

#[test]
fn wide_integers_work_within_the_range_of_64_bits() {
    assert_round_trip(i128::from(u64::MAX), b"\x1f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    assert_round_trip(i128::from(i64::MIN), b"\x3f\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01");
    assert_round_trip(5u128, b"\x05");
    assert_eq!(encode_error(u128::from(u64::MAX) + 1), (Kind::Range, 0));
    assert_eq!(encode_error([0, i128::from(i64::MIN) - 1]), (Kind::Range, 2));
    assert_eq!(decode_error::<i128>(b"\x3f\x81\x80\x80\x80\x80\x80\x80\x80\x80\x01"), (Kind::Range, 0));
}

#[test]
fn options_structs_and_sequences() {
    assert_round_trip(None::<u8>, b"\x62");
    assert_round_trip(Some(3u8), b"\x03");
    assert_round_trip(Point { x: -2, y: None }, b"\xc2\x81x\x22\x81y\x62");
    assert_round_trip(Point { x: 1, y: Some(0.5) }, b"\xc2\x81x\x01\x81y\x40\x00\x00\x00\x3f");
    assert_round_trip(vec![1u8, 2], b"\xe2\x01\x02");
    assert_round_trip((1u8, String::new()), b"\xe2\x01\x80");
    assert_eq!(from_slice::<Point>(b"\xc1\x81x\x01").unwrap(), Point { x: 1, y: None });
}

#[test]
fn enums_are_externally_tagged() {
    assert_round_trip(Shape::Nothing, b"\x87Nothing");
    assert_round_trip(Shape::Circle(3), b"\xc1\x86Circle\x03");
    assert_round_trip(Shape::Line(1, 2), b"\xc1\x84Line\xe2\x01\x02");
    assert_round_trip(Shape::Corner { x: 4 }, b"\xc1\x86Corner\xc1\x81x\x04");
    assert_round_trip(vec![Shape::Circle(3), Shape::Nothing], b"\xe2\xc1\x86Circle\x03\x87Nothing");
    assert_eq!(from_slice::<Shape>(b"\xc1\x87Nothing\x62").unwrap(), Shape::Nothing);
    assert_eq!(decode_error::<Shape>(b"\x85Other"), (Kind::Type, 0));
    assert_eq!(decode_error::<Shape>(b"\xc1\x85Other\x62"), (Kind::Type, 1));
    assert_eq!(decode_error::<Shape>(b"\x86Circle"), (Kind::Type, 0));
    assert_eq!(decode_error::<Shape>(b"\xc0"), (Kind::Type, 0));
    assert_eq!(decode_error::<Shape>(b"\xc2\x86Circle\x03\x81x\x00"), (Kind::Type, 0));
    assert_eq!(decode_error::<Shape>(b"\x05"), (Kind::Type, 0));
}

#[test]
fn tagged_and_untagged_enums_and_flattened_structs_work_as_with_other_formats() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(tag = "t")]
    enum Tagged {
        A { n: u8 },
    }
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(untagged)]
    enum Untagged {
        Number(i64),
        Text(String),
    }
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Flat {
        a: u8,
        #[serde(flatten)]
        rest: BTreeMap<String, u8>,
    }
    assert_round_trip(Tagged::A { n: 1 }, b"\xc2\x81t\x81A\x81n\x01");
    assert_round_trip(vec![Untagged::Number(-1), Untagged::Text("x".into())], b"\xe2\x21\x81x");
    // The number of entries is unknown before they are written.
    assert_round_trip(Flat { a: 1, rest: [("b".into(), 2)].into() }, b"\xc2\x81a\x01\x81b\x02");
}

#[test]
fn maps_and_sequences_of_unknown_length() {
    struct Unknown(usize);
    impl Serialize for Unknown {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            use serde::ser::SerializeSeq;
            let mut seq = serializer.serialize_seq(None)?;
            (0..self.0).try_for_each(|n| seq.serialize_element(&(n as u8 % 31)))?;
            seq.end()
        }
    }
    for n in [0, 1, 30, 31, 127, 128, 20_000] {
        let known: Vec<u8> = (0..n).map(|n| n as u8 % 31).collect();
        let bytes = to_vec(&known).unwrap();
        assert_eq!(to_vec(&Unknown(n)).unwrap(), bytes);
        assert_eq!(measure(&Unknown(n)), Ok(bytes.len()));
        let mut buffer = vec![0; bytes.len()];
        assert_eq!(to_slice(&Unknown(n), &mut buffer), Ok(bytes.len()));
        assert_eq!(buffer, bytes);
        buffer.pop();
        let error = to_slice(&Unknown(n), &mut buffer).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (Kind::Truncated, bytes.len() - 1));
    }
}

#[test]
fn a_wrong_length_is_an_error() {
    struct WrongLength;
    impl Serialize for WrongLength {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            use serde::ser::SerializeSeq;
            let mut seq = serializer.serialize_seq(Some(2))?;
            seq.serialize_element(&1)?;
            seq.end()
        }
    }
    assert_eq!(encode_error((1, WrongLength)), (Kind::Type, 2));
}

#[test]
fn scalar_keys_become_text() {
    assert_round_trip(BTreeMap::from([(-7i32, 1u8)]), b"\xc1\x82-7\x01");
    assert_round_trip(BTreeMap::from([(u64::MAX, 1u8)]), b"\xc1\x9418446744073709551615\x01");
    assert_round_trip(BTreeMap::from([(true, 1u8)]), b"\xc1\x84true\x01");
    assert_round_trip(BTreeMap::from([('x', 1u8)]), b"\xc1\x81x\x01");
    assert_round_trip(HashMap::from([(Wrapped(9), 1u8)]), b"\xc1\x819\x01");
    assert_eq!(encode_error(BTreeMap::from([((1, 2), 1)])), (Kind::Type, 1));
    assert_eq!(encode_error(BTreeMap::from([(vec![1], 1)])), (Kind::Type, 1));
    assert_eq!(encode_error(BTreeMap::from([((), 1)])), (Kind::Type, 1));
}

#[test]
fn ambiguous_integer_keys_are_rejected() {
    type Integers = HashMap<i8, u8>;
    assert_eq!(from_slice::<Integers>(b"\xc2\x817\x00\x82-7\x00").unwrap().len(), 2);
    for (key, kind) in
        [("07", Kind::Type), ("+7", Kind::Type), ("-0", Kind::Type), ("", Kind::Type), ("x", Kind::Type)]
    {
        let bytes = [b"\xc1", [0x80 | key.len() as u8].as_slice(), key.as_bytes(), b"\x00"].concat();
        assert_eq!(decode_error::<Integers>(&bytes), (kind, 1), "{key}");
    }
    assert_eq!(decode_error::<Integers>(b"\xc1\x83128\x00"), (Kind::Range, 1));
}

#[test]
fn text_and_bytes_are_borrowed() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Borrowed<'a> {
        text: &'a str,
        bytes: &'a [u8],
    }
    let message = b"\xc2\x84text\x82on\x85bytes\xa2\x01\x02";
    let Borrowed { text, bytes } = from_slice(message).unwrap();
    assert!(
        message.as_ptr_range().contains(&text.as_ptr()) && message.as_ptr_range().contains(&bytes.as_ptr())
    );
    assert_eq!((text, bytes), ("on", b"\x01\x02".as_slice()));
}

#[test]
fn duplicate_keys_are_rejected() {
    #[derive(Debug, Deserialize)]
    #[allow(dead_code)]
    struct Known {
        a: u8,
    }
    let known = b"\xc2\x81a\x01\x81a\x02";
    assert_eq!(decode_error::<Known>(known), (Kind::Malformed, 4));
    assert_eq!(decode_error::<Value>(known), (Kind::Malformed, 4));
    assert_eq!(decode_error::<HashMap<String, u8>>(known), (Kind::Malformed, 4));
    assert_eq!(decode_error::<(Known,)>(b"\xe1\xc2\x81a\x01\x81a\x02"), (Kind::Malformed, 5));
    // The error comes before the value is decoded, and also for keys that the struct does not have.
    assert_eq!(decode_error::<Known>(b"\xc2\x81a\x01\x81a\x42"), (Kind::Malformed, 4));
    let unknown = b"\xc3\x81a\x01\x81b\x02\x81b\x42";
    assert_eq!(decode_error::<Known>(unknown), (Kind::Malformed, 7));
}

#[test]
fn type_errors_have_the_offset_of_the_rejected_item() {
    assert_eq!(decode_error::<(u8, Point)>(b"\xe2\x00\xc1\x81y\x01"), (Kind::Type, 2)); // x is missing
    assert_eq!(decode_error::<Vec<std::num::NonZeroU8>>(b"\xe2\x01\x00"), (Kind::Range, 2));
    assert_eq!(decode_error::<(u8, u8)>(b"\xe3\x01\x02\x03"), (Kind::Type, 0));
    assert_eq!(decode_error::<(u8, u8)>(b"\xe1\x01"), (Kind::Type, 0));
    assert_eq!(decode_error::<Vec<char>>(b"\xe1\x82ab"), (Kind::Range, 1));
    assert_eq!(decode_error::<Vec<u8>>(b"\xa1\x01"), (Kind::Type, 0));
    let error = from_slice::<Point>(b"\xc0").unwrap_err();
    assert_eq!(error.to_string(), "type: missing field `x` at byte 0");
}

#[test]
fn bytes_that_the_type_does_not_need_are_checked_too() {
    assert_eq!(decode_error::<Point>(b"\xc2\x81x\x01\x81z\x81\xff"), (Kind::Malformed, 6));
    assert_eq!(decode_error::<Point>(b"\xc1\x81x\x01\x00"), (Kind::Malformed, 4));
    assert_eq!(decode_error::<u8>(b"\x85ab"), (Kind::Truncated, 3));
    assert_eq!(decode_error::<u8>(b"\x81\xff"), (Kind::Malformed, 0));
}

#[test]
fn nesting_is_limited_on_both_sides() {
    #[derive(Debug, Serialize, Deserialize)]
    struct Nested(Vec<Nested>);
    fn nested(levels: usize) -> Nested {
        (1..levels).fold(Nested(vec![]), |inner, _| Nested(vec![inner]))
    }
    assert!(from_slice::<Nested>(&to_vec(&nested(32)).unwrap()).is_ok());
    assert_eq!(encode_error(nested(33)), (Kind::Limit, 32));
    let deep = Options::new().max_nesting(64);
    let bytes = deep.to_vec(&nested(64)).unwrap();
    assert!(deep.from_slice::<Nested>(&bytes).is_ok());
    assert!(deep.from_slice::<Value>(&bytes).is_ok());
    assert_eq!(decode_error::<Nested>(&bytes), (Kind::Limit, 32));
    let flat = Options::new().max_nesting(0);
    assert_eq!(flat.to_vec(&5).unwrap(), b"\x05");
    assert_eq!(flat.from_slice::<Vec<u8>>(b"\xe0").unwrap_err().kind(), Kind::Limit);
}

#[test]
fn append_leaves_the_vector_unchanged_on_an_error() {
    let mut out = b"\xee".to_vec();
    append(&1u8, &mut out).unwrap();
    assert_eq!(out, b"\xee\x01");
    append(&(2, u128::MAX), &mut out).unwrap_err();
    assert_eq!(out, b"\xee\x01");
    let error = Options::new().max_size(2).append("ab", &mut out).unwrap_err();
    assert_eq!((error.kind(), error.offset()), (Kind::Limit, 2));
    assert_eq!(out, b"\xee\x01");
}

#[test]
fn to_writer_writes_one_message() {
    let mut out = Vec::new();
    to_writer(&mut out, "on").unwrap();
    assert_eq!(out, b"\x82on");
    let error = to_writer(&mut out, &u128::MAX).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
    assert_eq!(error.get_ref().unwrap().downcast_ref::<Error>().unwrap().kind(), Kind::Range);
    assert_eq!(out, b"\x82on");
}

#[test]
fn formatted_text_is_written_without_a_string() {
    let address: std::net::Ipv4Addr = [127, 0, 0, 1].into();
    struct Shown<T>(T);
    impl<T: std::fmt::Display> Serialize for Shown<T> {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_str(&self.0)
        }
    }
    assert_eq!(to_vec(&Shown(address)).unwrap(), b"\x89127.0.0.1");
    assert_eq!(to_vec(&Shown("x".repeat(31))).unwrap(), [b"\x9f\x1f".as_slice(), &[b'x'; 31]].concat());
}

#[test]
fn values_convert_to_and_from_other_formats() {
    let value: Value = serde_json::from_str(r#"{"a":[1,-1,0.5,null,true],"b":"x"}"#).unwrap();
    assert_eq!(serde_json::to_string(&value).unwrap(), r#"{"a":[1,-1,0.5,null,true],"b":"x"}"#);
    assert_eq!(from_slice::<Value>(&to_vec(&value).unwrap()).unwrap(), value);
    assert!(serde_json::from_str::<Value>(r#"{"a":1,"a":2}"#).is_err());
    let twice = Value::Map(vec![("a".into(), Value::Null), ("a".into(), Value::Null)]);
    assert_eq!(to_vec(&twice).unwrap_err().kind(), Kind::Type);
}
