use super::Cbor;
use crate::{Format, Kind, Value};

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|b| *b != b' ').collect();
    digits.chunks(2).map(|d| u8::from_str_radix(str::from_utf8(d).unwrap(), 16).unwrap()).collect()
}

fn value_of(text: &str) -> Value {
    Cbor.decode(&hex(text)).unwrap()
}

fn error_of(text: &str) -> (Kind, usize) {
    let e = Cbor.decode(&hex(text)).unwrap_err();
    (e.kind(), e.offset().unwrap())
}

fn bytes_of(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    Cbor.encode(value, &mut out).unwrap();
    out
}

/// The examples of RFC 8949, appendix A.
#[test]
fn examples_of_the_rfc_round_trip() {
    for (value, bytes) in [
        (Value::U64(0), "00"),
        (Value::U64(1_000_000), "1a 000f4240"),
        (Value::U64(u64::MAX), "1b ffffffffffffffff"),
        (Value::I64(-1000), "39 03e7"),
        (Value::I64(i64::MIN), "3b 7fffffffffffffff"),
        (Value::F64(-0.0), "f9 8000"),
        (Value::F64(1.0), "f9 3c00"),
        (Value::F64(1.1), "fb 3ff199999999999a"),
        (Value::F64(65504.0), "f9 7bff"),
        (Value::F64(100000.0), "fa 47c35000"),
        (Value::F64(5.960464477539063e-8), "f9 0001"),
        (Value::F64(1.0e+300), "fb 7e37e43c8800759c"),
        (Value::F64(f64::INFINITY), "f9 7c00"),
        (Value::F64(f64::NAN), "f9 7e00"),
        (Value::from("\u{6c34}"), "63 e6b0b4"),
        (Value::Bytes(vec![1, 2, 3, 4]), "44 01020304"),
        (Value::Array(vec![Value::U64(1), Value::Array(vec![Value::U64(2)])]), "82 01 81 02"),
        (Value::Map(vec![("a".into(), Value::from("A"))]), "a1 61 61 61 41"),
    ] {
        assert_eq!(bytes_of(&value), hex(bytes), "{value:?}");
        assert_eq!(value_of(bytes), value, "{bytes}");
    }
}

#[test]
fn non_preferred_encodings_are_read() {
    assert_eq!(value_of("fb 3ff0000000000000"), Value::F64(1.0));
    assert_eq!(value_of("1b 0000000000000001"), Value::U64(1));
    assert_eq!(value_of("7f 65 7374726561 64 6d696e67 ff"), Value::from("streaming"));
    assert_eq!(value_of("5f 42 0102 43 030405 ff"), Value::Bytes(vec![1, 2, 3, 4, 5]));
    assert_eq!(value_of("bf 61 61 9f 01 ff ff"), value_of("a1 61 61 81 01"));
    assert_eq!(value_of("f7"), Value::Null);
    assert_eq!(value_of("d9 d9f7 01"), Value::U64(1));
    assert_eq!(value_of("c2 43 000001"), Value::U64(1));
    assert_eq!(value_of("c2 49 010000000000000000"), Value::F64(18446744073709551616.0));
    assert_eq!(value_of("c3 41 00"), Value::I64(-1));
    assert_eq!(value_of("3b ffffffffffffffff"), Value::F64(-18446744073709551616.0));
}

/// The first six come from RFC 8949, appendix A and sections 3.4.4 and 3.4.5.
#[test]
fn tags_are_read_as_text_or_numbers() {
    for (bytes, value) in [
        ("c0 74 323031332d30332d32315432303a30343a30305a", Value::from("2013-03-21T20:04:00Z")),
        ("c1 1a 514b67b0", Value::U64(1_363_896_240)),
        ("c1 fb 41d452d9ec200000", Value::F64(1_363_896_240.5)),
        ("d7 44 01020304", Value::from("01020304")),
        ("d8 20 76 687474703a2f2f7777772e6578616d706c652e636f6d", Value::from("http://www.example.com")),
        ("c4 82 21 19 6ab3", Value::F64(273.15)),
        ("c1 20", Value::I64(-1)),
        ("c4 82 02 05", Value::U64(500)),
        ("c4 82 00 39 03e7", Value::I64(-1000)),
        ("c4 9f 20 14 ff", Value::F64(2.0)),
        ("c4 82 19 012c 05", Value::F64(5e300)),
        ("c4 82 3b ffffffffffffffff 00", Value::F64(0.0)),
        ("d5 42 fbff", Value::from("-_8")),
        ("d6 42 fbff", Value::from("+/8=")),
        ("d8 25 50 f81d4fae7dec11d0a76500a0c91e6bf6", Value::from("f81d4fae-7dec-11d0-a765-00a0c91e6bf6")),
        ("d9 03ec 6a 323032362d30352d3031", Value::from("2026-05-01")),
        ("d8 64 19 5060", Value::U64(20_576)),
    ] {
        assert_eq!(value_of(bytes), value, "{bytes}");
    }
    for malformed in
        ["c0 01", "c1 60", "c2 01", "c4 83 01 01 01", "c4 82 01 f9 3c00", "c4 81 01", "d7 60", "d8 25 41 00"]
    {
        assert_eq!(error_of(malformed).0, Kind::Malformed, "{malformed}");
    }
    for length in 1..6 {
        assert_eq!(error_of(&"c482216ab3"[..2 * length.min(3)]).0, Kind::Truncated);
    }
}

#[test]
fn values_that_json_cannot_represent_are_errors() {
    assert_eq!(error_of("81 c5 82 20 03"), (Kind::Type, 1), "a bigfloat");
    assert_eq!(error_of("81 d8 64 60"), (Kind::Malformed, 3), "days that are text");
    assert_eq!(error_of("81 d8 18 41 00"), (Kind::Type, 1), "CBOR in CBOR");
    assert_eq!(error_of("c4 82 31 1b 0de0b6b3a7640005"), (Kind::Range, 0), "1.000000000000000005");
    assert_eq!(error_of("c4 82 1b ffffffffffffffff 01"), (Kind::Range, 0), "1e18446744073709551615");
    assert_eq!(error_of("a1 f5 02"), (Kind::Type, 1));
    assert_eq!(error_of("a2 01 02 61 31 03"), (Kind::Malformed, 3), "1 and \"1\"");
    assert_eq!(error_of("81 f0"), (Kind::Type, 1));
    assert_eq!(error_of("f8 ff"), (Kind::Type, 0));
    assert_eq!(error_of("c2 49 010000000000000001"), (Kind::Range, 0));
    assert_eq!(error_of("3b 8000000000000000"), (Kind::Range, 0));
    assert_eq!(
        error_of("c2 58 20 ff00000000000000000000000000000000000000000000000000000000000000"),
        (Kind::Range, 0)
    );
}

#[test]
fn errors_have_their_kind_and_offset() {
    assert_eq!(error_of(""), (Kind::Truncated, 0));
    assert_eq!(error_of("65 61"), (Kind::Truncated, 2));
    assert_eq!(error_of("9f 01"), (Kind::Truncated, 2));
    assert_eq!(error_of("7b ffffffffffffffff 61"), (Kind::Truncated, 10));
    assert_eq!(error_of("bb ffffffffffffffff"), (Kind::Truncated, 9));
    assert_eq!(error_of("82 01 62 c328"), (Kind::Malformed, 2));
    assert_eq!(error_of("81 1c"), (Kind::Malformed, 1));
    assert_eq!(error_of("81 ff"), (Kind::Malformed, 1));
    assert_eq!(error_of("f8 18"), (Kind::Malformed, 0));
    assert_eq!(error_of("7f 41 00 ff"), (Kind::Malformed, 1));
    assert_eq!(error_of("00 00"), (Kind::Malformed, 1));
    assert_eq!(error_of("a2 61 61 01 61 61 02"), (Kind::Malformed, 4));
    assert_eq!(error_of(&"81".repeat(40)), (Kind::Limit, 32));
}
