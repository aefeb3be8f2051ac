//! Lossless numbers: JSON's text for them, and conversion to binary32 when it is exact.

use crate::{Error, Kind, Value};
use dunnage_schema::read_number;

/// Parses a number in JSON's syntax. Returns a `range` error at `offset` if no value keeps its digits.
pub(crate) fn parse(text: &str, offset: usize) -> Result<Value, Error> {
    read_number(text).ok_or_else(|| {
        let reason = match text.bytes().any(|b| matches!(b, b'.' | b'e' | b'E')) {
            true => "a binary64 does not keep this number: it is too large, too close to zero, or has too many digits",
            false => "neither 64 bits nor a binary64 hold this integer exactly",
        };
        Error::new(Kind::Range, offset, format!("{reason}; send it as text"))
    })
}

/// Appends `n` in decimal.
pub(crate) fn write_integer(n: impl itoa::Integer, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(n).as_bytes());
}

/// Appends the shortest text that reads back as `f`, with a point or an exponent: `2.0`, `1e-7`. Infinities and NaN have no such text and
/// are a `range` error.
pub(crate) fn write_float(f: f64, out: &mut Vec<u8>) -> Result<(), Error> {
    if !f.is_finite() {
        return Err(Error::new(Kind::Range, 0, format!("{f} is not a number that this format can write")));
    }
    out.extend_from_slice(zmij::Buffer::new().format_finite(f).as_bytes());
    Ok(())
}

/// Returns `f` as a binary32 if the conversion is exact. All NaNs count as one value.
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
            assert_eq!(text_of(&parse(text, 0).unwrap()), text);
        }
    }

    #[test]
    fn minus_zero_keeps_its_sign() {
        assert_eq!(text_of(&parse("-0", 0).unwrap()), "-0.0");
    }

    #[test]
    fn numbers_that_would_lose_digits_are_out_of_range() {
        for text in ["1e309", "1e-400", "1.000000000000000005", "18446744073709551617"] {
            let e = parse(text, 7).unwrap_err();
            assert_eq!((e.kind(), e.offset()), (Kind::Range, 7), "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_finite_float_comes_back(bits: u64) {
            let f = f64::from_bits(bits);
            prop_assume!(f.is_finite());
            let value = Value::F64(f);
            prop_assert_eq!(parse(&text_of(&value), 0), Ok(value));
        }

        #[test]
        fn every_64_bit_integer_comes_back(u: u64, i: i64) {
            prop_assert_eq!(parse(&text_of(&Value::U64(u)), 0), Ok(Value::U64(u)));
            prop_assert_eq!(parse(&text_of(&Value::from(i)), 0), Ok(Value::from(i)));
        }
    }
}
