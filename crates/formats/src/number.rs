//! Numbers without loss: JSON's text for them, and the binary32 that is exact.

use crate::{Error, Kind, Value};

/// The number that `text`, a number in JSON's syntax, is.
///
/// Integers keep every digit: those outside -2^63 ..= 2^64-1 are numbers only when a binary64 holds them exactly.
/// What is written with a point or an exponent becomes the nearest binary64. `-0` keeps its sign.
/// `None`: out of range.
pub(crate) fn parse(text: &str) -> Option<Value> {
    if text.bytes().any(|b| matches!(b, b'.' | b'e' | b'E')) {
        return float(text).map(Value::F64);
    }
    if text == "-0" {
        return Some(Value::F64(-0.0));
    }
    if let Ok(n) = text.parse() {
        return Some(Value::U64(n));
    }
    if let Ok(n) = text.parse() {
        return Some(Value::I64(n));
    }
    float(text).filter(|f| format!("{f:.0}") == text).map(Value::F64)
}

fn float(text: &str) -> Option<f64> {
    text.parse().ok().filter(|f: &f64| f.is_finite())
}

/// Appends `n`.
pub(crate) fn write_integer(n: impl itoa::Integer, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(n).as_bytes());
}

/// Appends the shortest text that reads back as `f`, with a point or an exponent: `2.0`, `1e-7`.
/// Infinities and NaN have none: a `range` error.
pub(crate) fn write_float(f: f64, out: &mut Vec<u8>) -> Result<(), Error> {
    if !f.is_finite() {
        return Err(Error::new(Kind::Range, 0, format!("{f} is not a number that this format can write")));
    }
    out.extend_from_slice(zmij::Buffer::new().format_finite(f).as_bytes());
    Ok(())
}

/// `f` as a binary32, when that changes nothing; NaN is one value.
pub(crate) fn single(f: f64) -> Option<f32> {
    let single = f as f32;
    (f.is_nan() || f64::from(single) == f).then_some(single)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text_of(value: &Value) -> String {
        let mut out = Vec::new();
        match *value {
            Value::U64(n) => write_integer(n, &mut out),
            Value::I64(n) => write_integer(n, &mut out),
            Value::F64(f) => write_float(f, &mut out).unwrap(),
            ref other => panic!("{other:?}"),
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_keep_their_text() {
        for text in [
            "0",
            "-0.0",
            "2.0",
            "1e-7",
            "23.5",
            "-1",
            "9007199254740993",
            "18446744073709551615",
            "-9223372036854775808",
            "5e-324",
            "1.7976931348623157e+308",
        ] {
            assert_eq!(text_of(&parse(text).unwrap()), text);
        }
    }

    #[test]
    fn minus_zero_keeps_its_sign() {
        assert_eq!(text_of(&parse("-0").unwrap()), "-0.0");
    }

    #[test]
    fn integers_beyond_64_bits_are_exact_or_out_of_range() {
        assert_eq!(parse("18446744073709551616"), Some(Value::F64(18446744073709551616.0)));
        assert_eq!(parse("18446744073709551617"), None);
        assert_eq!(parse("-9223372036854775809"), None);
        assert_eq!(parse("-9223372036854777856"), Some(Value::F64(-9223372036854777856.0)));
        assert_eq!(parse(&"9".repeat(400)), None);
        assert_eq!(parse("1e309"), None);
    }

    proptest! {
        #[test]
        fn every_finite_float_comes_back(bits: u64) {
            let f = f64::from_bits(bits);
            prop_assume!(f.is_finite());
            let value = Value::F64(f);
            prop_assert_eq!(parse(&text_of(&value)), Some(value));
        }

        #[test]
        fn every_64_bit_integer_comes_back(u: u64, i: i64) {
            prop_assert_eq!(parse(&text_of(&Value::U64(u))), Some(Value::U64(u)));
            prop_assert_eq!(parse(&text_of(&Value::from(i))), Some(Value::from(i)));
        }
    }
}
