//! Numbers: JSON's text for them, what happens to those that no value holds exactly, and conversion to binary32 when it is exact.

use crate::{Error, Kind, Value};
use dunnage_schema::{read_nearest, read_number};
use std::cell::Cell;

/// The treatment of a number in text that no value holds exactly ([spec/formats.md](https://github.com/dunnage/dunnage/blob/main/spec/formats.md), "Numbers in text").
///
/// ```
/// use dunnage_formats::{Altered, Format, Json, Numbers, Reception, Value};
///
/// let altered = Altered::default();
/// let reception = Reception { numbers: Numbers::Lenient(&altered), ..Reception::default() };
/// let message = Json.decode_from(b"[NaN, 0.10000000000000000001]", &reception)?;
/// assert_eq!(message, Value::Array(vec![Value::Null, Value::F64(0.1)]));
/// assert_eq!((altered.nulls(), altered.rounded()), (1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub enum Numbers<'a> {
    /// It is a `range` error.
    #[default]
    Exact,
    /// It is the nearest binary64.
    Nearest(&'a Altered),
    /// As with `Nearest`, and NaN and infinities in JSON, which JSON does not have, are null.
    Lenient(&'a Altered),
}

/// How many numbers of a message are not what the sender wrote.
#[derive(Debug, Default)]
pub struct Altered {
    rounded: Cell<u64>,
    nulls: Cell<u64>,
}

impl Altered {
    /// Returns how many numbers are the nearest binary64.
    pub fn rounded(&self) -> u64 {
        self.rounded.get()
    }

    /// Returns how many are null in place of NaN or an infinity.
    pub fn nulls(&self) -> u64 {
        self.nulls.get()
    }

    pub(crate) fn count_nulls(&self, count: usize) {
        self.nulls.set(self.nulls.get() + count as u64);
    }
}

impl Numbers<'_> {
    /// Forgets what was counted, before a message is read again.
    pub(crate) fn restart(self) {
        if let Numbers::Nearest(altered) | Numbers::Lenient(altered) = self {
            altered.rounded.set(0);
            altered.nulls.set(0);
        }
    }

    /// Parses a number in JSON's syntax. Returns a `range` error at `offset` if no value keeps its digits and it may not be rounded.
    pub(crate) fn parse(self, text: &str, offset: usize) -> Result<Value, Error> {
        if let Some(number) = read_number(text) {
            return Ok(number);
        }
        let (Numbers::Nearest(altered) | Numbers::Lenient(altered)) = self else {
            let reason = match text.bytes().any(|b| matches!(b, b'.' | b'e' | b'E')) {
                true => {
                    "a binary64 does not keep this number: it is too large, too close to zero, or has too many digits"
                }
                false => "neither 64 bits nor a binary64 hold this integer exactly",
            };
            let error = Error::new(Kind::Range, offset, format!("{reason}; send it as text"));
            return Err(error.readable_with(read_nearest(text).map(|_| "nearest")));
        };
        let nearest = read_nearest(text).ok_or_else(|| {
            let reason = "the nearest binary64 of this number is zero or an infinity; send it as text";
            Error::new(Kind::Range, offset, reason)
        })?;
        altered.rounded.set(altered.rounded.get() + 1);
        Ok(Value::F64(nearest))
    }
}

/// Replaces each number that is a binary32 by the shortest decimal that is the same binary32: 31.420000076293945 by 31.42. A sensor's value
/// that a device held as a float then has the digits that it was written with, if those were at most six.
///
/// ```
/// use dunnage_formats::{Value, shorten_binary32};
/// let mut message = Value::F64(31.42_f32.into());
/// assert_eq!(message, Value::F64(31.420000076293945));
/// shorten_binary32(&mut message);
/// assert_eq!(message, Value::F64(31.42));
/// ```
pub fn shorten_binary32(message: &mut Value) {
    match message {
        Value::F64(number) if f64::from(*number as f32) == *number => {
            // The shortest text of a binary32 is the shortest decimal; it always is a number.
            *number = (*number as f32).to_string().parse().unwrap_or(*number);
        }
        Value::Array(elements) => elements.iter_mut().for_each(shorten_binary32),
        Value::Map(members) => members.iter_mut().for_each(|(_, member)| shorten_binary32(member)),
        _ => {}
    }
}

/// Appends `n` in decimal.
#[cfg(feature = "json")]
pub(crate) fn write_integer(n: impl itoa::Integer, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(n).as_bytes());
}

/// Appends the shortest text that reads back as `f`, with a point or an exponent: `2.0`, `1e-7`. Infinities and NaN have no such text and
/// are a `range` error.
#[cfg(feature = "json")]
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
#[cfg(feature = "json")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_binary32_becomes_its_shortest_decimal_and_other_numbers_stay() {
        let f = |f: f64| Value::F64(f);
        let mut message = Value::Map(vec![
            (
                "a".into(),
                Value::Array(vec![f(f64::from(31.42_f32)), f(f64::from(-0.1_f32)), f(f64::from(1e30_f32))]),
            ),
            (
                "b".into(),
                Value::Array(vec![f(31.42), f(0.5), f(-0.0), f(f64::INFINITY), Value::U64(16_777_217)]),
            ),
        ]);
        let Value::Map(before) = message.clone() else { unreachable!() };
        shorten_binary32(&mut message);
        assert_eq!(message.get("a"), Some(&Value::Array(vec![f(31.42), f(-0.1), f(1e30)])));
        assert_eq!(message.get("b"), Some(&before[1].1));
    }

    proptest! {
        #[test]
        fn the_shortest_decimal_is_the_same_binary32(bits: u32) {
            let narrow = f32::from_bits(bits);
            let mut value = Value::F64(narrow.into());
            shorten_binary32(&mut value);
            let Value::F64(short) = value else { unreachable!() };
            prop_assert!(short as f32 == narrow || narrow.is_nan());
        }
    }

    fn parse(text: &str, offset: usize) -> Result<Value, Error> {
        Numbers::Exact.parse(text, offset)
    }

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
            assert_eq!((e.kind(), e.offset().unwrap()), (Kind::Range, 7), "{text}");
        }
    }

    #[test]
    fn a_number_that_no_value_holds_is_the_nearest_and_counted() {
        let altered = Altered::default();
        for (text, nearest, rounded) in [
            ("49.297333333333334", Some(49.297333333333334), 0),
            ("49.297333333333336", Some(49.297333333333334), 1),
            ("3.14159265358979323846", Some(std::f64::consts::PI), 2),
            ("18446744073709551617", Some(18446744073709551616.0), 3),
            ("1e309", None, 3),
            ("1e-400", None, 3),
            ("0.000e-400", Some(0.0), 3),
        ] {
            let read = Numbers::Nearest(&altered).parse(text, 0);
            assert_eq!((read.ok(), altered.rounded()), (nearest.map(Value::F64), rounded), "{text}");
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
