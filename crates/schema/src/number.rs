//! Reads JSON numbers as values that keep every digit.

use dunnage_pson::Value;

/// Every decimal with at most this number of significant digits survives a round trip through binary64.
const ALWAYS_KEPT: usize = 15;

/// The most significant digits that a binary64 has when written in full: those of 2^-1022 + 2^-1074.
const MAX_SIGNIFICANT_DIGITS: usize = 767;

/// Reads `text`, a number in JSON's syntax; returns `None` if no value keeps its digits.
///
/// Integers from -2^63 to 2^64-1 are read as integers. A larger integer is read only if a binary64 is exactly equal to it. A number with a
/// point or an exponent is read as a [`binary64`]. `-0` keeps its sign.
///
/// ```
/// use dunnage_pson::Value;
/// use dunnage_schema::read_number;
/// assert_eq!(read_number("24.56"), Some(Value::F64(24.56)));
/// assert_eq!(read_number("18446744073709551615"), Some(Value::U64(u64::MAX)));
/// assert_eq!(read_number("0.10000000000000000001"), None); // no binary64 keeps these digits
/// ```
pub fn read_number(text: &str) -> Option<Value> {
    if text.bytes().any(|b| matches!(b, b'.' | b'e' | b'E')) {
        return binary64(text).map(Value::F64);
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
    nearest(text).filter(|f| format!("{f:.0}") == text).map(Value::F64)
}

/// Reads `text`, a number in JSON's syntax that [`read_number`] does not read, as the nearest binary64. `None` if that is an infinity, or
/// zero for a number that is not.
///
/// ```
/// use dunnage_schema::read_nearest;
/// assert_eq!(read_nearest("0.10000000000000000001"), Some(0.1));
/// ```
pub fn read_nearest(text: &str) -> Option<f64> {
    nearest(text).filter(|f| *f != 0.0 || Digits::of(text).is_none())
}

/// Returns the binary64 nearest to the decimal number `text`, if it reproduces the digits of the text. It does if rounding it to the text's
/// number of significant digits gives the number in the text, or if the text is its shortest representation, which may end in another
/// digit.
///
/// `0.1` is accepted, and so is `0.10000000000000001`, as C's `%.17g` prints the same binary64. `1.000000000000000005` and `1e-400` are
/// rejected: the nearest binary64, 1 and 0, would lose digits.
pub fn binary64(text: &str) -> Option<f64> {
    let f = nearest(text)?;
    // One character is a point or the letter of an exponent.
    let is_short = text.len() <= ALWAYS_KEPT + 1 && f.abs() >= f64::MIN_POSITIVE;
    (is_short || gives_back(f, text)).then_some(f)
}

fn nearest(text: &str) -> Option<f64> {
    text.parse().ok().filter(|f: &f64| f.is_finite())
}

fn gives_back(f: f64, text: &str) -> bool {
    let Some(said) = Digits::of(text) else { return f == 0.0 };
    let count = said.digits.len();
    let is = |text: &str| Digits::of(text).as_ref() == Some(&said);
    f != 0.0
        && count <= MAX_SIGNIFICANT_DIGITS
        && (is(&format!("{f:.*e}", count - 1)) || is(&format!("{f:e}")))
}

/// A number other than zero, without its sign: its significant digits, and the power of ten of the last one.
#[derive(PartialEq)]
struct Digits {
    digits: Vec<u8>,
    exponent: i64,
}

impl Digits {
    /// Parses the number; `None` for zero. An exponent that overflows 64 bits is far beyond binary64 in any case.
    fn of(text: &str) -> Option<Digits> {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits: Vec<u8> = whole
            .bytes()
            .chain(fraction.bytes())
            .filter(u8::is_ascii_digit)
            .skip_while(|b| *b == b'0')
            .collect();
        let zeros = digits.iter().rev().take_while(|b| **b == b'0').count();
        digits.truncate(digits.len() - zeros);
        let shift = i64::try_from(zeros).ok()? - i64::try_from(fraction.len()).ok()?;
        let exponent = exponent.parse::<i64>().unwrap_or(i64::MAX).saturating_add(shift);
        (!digits.is_empty()).then_some(Digits { digits, exponent })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn decimals_that_a_binary64_gives_back_are_numbers() {
        for (text, f) in [
            ("0.1", 0.1),
            ("-40.50", -40.5),
            ("1e25", 1e25),
            ("0.30000000000000004", 0.1 + 0.2),
            ("0.10000000000000001", 0.1),
            ("0.33333333333333331", 1.0 / 3.0),
            ("0.1000000000000000055511151231257827021181583404541015625", 0.1),
            ("0.100000000000000000000000", 0.1),
            ("100000000000000000000000e-1", 1e22),
            ("4.9E-324", 5e-324),
            ("5e-324", 5e-324),
            ("2.2250738585072014e-308", f64::MIN_POSITIVE),
            // The 16 digits of these numbers, correctly rounded, end in 2 and 3, but that text reads as the neighbouring binary64.
            ("5.426657103235053e-166", 5.426657103235053e-166),
            ("-6.070840288205404e+82", -6.070840288205404e82),
            ("1.7976931348623157e+308", f64::MAX),
            ("0e999999999999999999999", 0.0),
            ("-0.0", -0.0),
            ("+.5", 0.5),
            ("5.", 5.0),
        ] {
            assert_eq!(binary64(text).map(f64::to_bits), Some(f.to_bits()), "{text}");
        }
        let all = format!("{:.*e}", MAX_SIGNIFICANT_DIGITS - 1, f64::from_bits((1 << 52) + 1));
        assert_eq!(binary64(&all), Some(f64::from_bits((1 << 52) + 1)));
    }

    #[test]
    fn decimals_that_would_lose_digits_are_none() {
        for text in [
            "1.000000000000000005",
            "1e-400",
            "-1e-400",
            "3e-324",
            "9007199254740993.0",
            "12345678901234567890.0",
            "0.123456789012345678",
            "1e309",
            "1e99999999999999999999",
            "1e-99999999999999999999",
            &format!("0.1{}1", "0".repeat(1000)),
            &format!("0.{}1", "0".repeat(100_000)),
        ] {
            assert_eq!(binary64(text), None, "{text}");
        }
    }

    #[test]
    fn integers_beyond_64_bits_are_exact_or_out_of_range() {
        assert_eq!(read_number("18446744073709551615"), Some(Value::U64(u64::MAX)));
        assert_eq!(read_number("-9223372036854775808"), Some(Value::I64(i64::MIN)));
        assert_eq!(read_number("18446744073709551616"), Some(Value::F64(18446744073709551616.0)));
        assert_eq!(read_number("18446744073709551617"), None);
        assert_eq!(read_number("-9223372036854775809"), None);
        assert_eq!(read_number("-9223372036854777856"), Some(Value::F64(-9223372036854777856.0)));
        assert_eq!(read_number(&"9".repeat(400)), None);
        assert!(matches!(read_number("-0"), Some(Value::F64(f)) if f == 0.0 && f.is_sign_negative()));
    }

    proptest! {
        #[test]
        fn what_any_printer_writes_of_a_binary64_is_read(bits: u64, digits in 17usize..60) {
            let f = f64::from_bits(bits);
            prop_assume!(f.is_finite());
            for text in [format!("{f:?}"), format!("{f:e}"), format!("{f:.digits$e}")] {
                prop_assert_eq!(binary64(&text).map(f64::to_bits), Some(bits), "{}", text);
            }
        }

        #[test]
        fn every_decimal_of_15_digits_is_read(n in 0u64..1_000_000_000_000_000, exponent in -290i32..290) {
            let text = format!("{n}e{exponent}");
            prop_assert!(binary64(&text).is_some(), "{}", text);
        }

        #[test]
        fn a_decimal_is_read_when_no_neighbour_of_its_length_is_nearer(n in 0u64.., point in 1usize..19) {
            let text = format!("{n:020}");
            let text = format!("{}.{}", &text[..point], &text[point..]);
            let printed = format!("{:.*}", 20 - point, text.parse::<f64>().unwrap());
            let same = printed.trim_start_matches('0') == text.trim_start_matches('0');
            // Trailing zeros are not significant: with them, the text has fewer significant digits than were printed.
            if !text.ends_with('0') {
                prop_assert_eq!(binary64(&text).is_some(), same, "{} {}", text, printed);
            }
        }
    }
}
