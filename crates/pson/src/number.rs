//! Numbers, and the types that hold them exactly (`spec/pson.md`, "Numbers").

use crate::Floats;

/// A number in the form that it has in a message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Unsigned(u64),
    /// The magnitude, never 0.
    Negative(u64),
    Float(f64),
}

/// The reason of `range` errors.
pub(crate) const OUT_OF_RANGE: &str = "a number that the type asked for does not hold exactly";

/// The magnitude of the smallest integer, -2^63.
const LEAST: u64 = 1 << 63;

impl Number {
    /// Returns the integer, if the number is one in -2^63 ..= 2^64-1.
    pub fn to_i128(self) -> Option<i128> {
        match self {
            Number::Unsigned(n) => Some(i128::from(n)),
            Number::Negative(n) => (n <= LEAST).then(|| -i128::from(n)),
            Number::Float(f) => whole(f),
        }
    }

    #[inline]
    pub fn to_u64(self) -> Option<u64> {
        match self {
            Number::Unsigned(n) => Some(n),
            Number::Negative(_) => None,
            Number::Float(f) => u64::try_from(whole(f)?).ok(),
        }
    }

    #[inline]
    pub fn to_i64(self) -> Option<i64> {
        match self {
            Number::Unsigned(n) => i64::try_from(n).ok(),
            Number::Negative(n) => negative(n),
            Number::Float(f) => i64::try_from(whole(f)?).ok(),
        }
    }

    #[inline]
    pub fn to_f64(self) -> Option<f64> {
        // Up to 2^53, every integer is a float.
        const EXACT: u64 = 1 << 53;
        match self {
            Number::Float(f) => Some(f),
            Number::Unsigned(n) if n <= EXACT => Some(n as f64),
            Number::Negative(n) if n <= EXACT => Some(-(n as f64)),
            Number::Unsigned(n) => exact(n),
            Number::Negative(n) => exact(n).map(|f| -f),
        }
    }

    pub fn to_f32(self) -> Option<f32> {
        let wide = self.to_f64()?;
        let narrow = wide as f32;
        (f64::from(narrow) == wide || wide.is_nan()).then_some(narrow)
    }
}

/// Returns `-magnitude`, if it is in range.
#[inline]
pub(crate) fn negative(magnitude: u64) -> Option<i64> {
    (magnitude <= LEAST).then(|| (magnitude as i64).wrapping_neg())
}

/// Returns `n` as a float, if one holds it exactly.
fn exact(n: u64) -> Option<f64> {
    let f = n as f64;
    // Converts through i128, because `f as u64` saturates at 2^64.
    (f as i128 == i128::from(n)).then_some(f)
}

/// Returns the integer that equals `f`, if PSON can carry it as one: whole, not `-0.0`, in -2^63 ..= 2^64-1.
pub(crate) fn whole(f: f64) -> Option<i128> {
    match integer(f)? {
        Number::Unsigned(n) => Some(i128::from(n)),
        Number::Negative(n) => Some(-i128::from(n)),
        Number::Float(_) => None,
    }
}

/// Returns the canonical form of a float.
#[inline]
pub(crate) fn canonical(f: f64, floats: Floats) -> Number {
    if let Some(integer) = integer(f) {
        return integer;
    }
    if floats == Floats::Single {
        let rounded = f64::from(f as f32);
        if rounded.is_finite() {
            return integer(rounded).unwrap_or(Number::Float(rounded));
        }
    }
    Number::Float(f)
}

/// Returns true only if `f` is neither whole nor a binary32. This quick test is true for most measurements.
#[inline]
pub(crate) fn needs_binary64(f: f64) -> bool {
    // The fraction bits that binary32 lacks. A whole number has some of them only from 2^24 on, and the exponent excludes NaN.
    const ONLY_WIDE: u64 = (1 << 29) - 1;
    let bits = f.to_bits();
    bits & ONLY_WIDE != 0 && exponent(bits) < BIAS + 24
}

const BIAS: u64 = 1023;
const DIGITS: u64 = 52;

#[inline]
fn exponent(bits: u64) -> u64 {
    (bits >> DIGITS) & 0x7ff
}

/// Returns `f` as an integer, if it is one. Looking at the bits is the fastest way to see that most floats are not.
#[inline]
fn integer(f: f64) -> Option<Number> {
    let bits = f.to_bits();
    let exponent = exponent(bits);
    if exponent < BIAS {
        // The magnitude is below 1. Of these only +0.0 is an integer, and all its bits are 0; -0.0 has its sign bit set.
        return (bits == 0).then_some(Number::Unsigned(0));
    }
    let places = exponent - BIAS;
    if places < DIGITS {
        // The bits after the decimal point.
        if bits << (12 + places) != 0 {
            return None;
        }
        let n = f as i64;
        return Some(if n < 0 { Number::Negative(n.unsigned_abs()) } else { Number::Unsigned(n as u64) });
    }
    large(f)
}

/// Returns `f` as an integer. Its magnitude must be 2^52 or more.
#[cold]
fn large(f: f64) -> Option<Number> {
    const END: f64 = 18_446_744_073_709_551_616.0;
    if f > 0.0 {
        (f < END).then_some(Number::Unsigned(f as u64))
    } else {
        // The comparison is false for NaN.
        (f >= -(LEAST as f64)).then(|| Number::Negative((-f) as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_floats_in_range_are_integers() {
        assert_eq!(whole(48.0), Some(48));
        assert_eq!(whole(-1.0), Some(-1));
        assert_eq!(whole(-9_223_372_036_854_775_808.0), Some(-(1 << 63)));
        assert_eq!(whole(18_446_744_073_709_549_568.0), Some((1 << 64) - 2048));
        for none in [-0.0, 0.5, -0.5, 18_446_744_073_709_551_616.0, -9_223_372_036_854_777_856.0, f64::NAN] {
            assert_eq!(whole(none), None, "{none}");
        }
        assert_eq!(whole(f64::INFINITY), None);
        assert_eq!(whole(f64::NEG_INFINITY), None);
        assert_eq!(whole(1e300), None);
    }

    #[test]
    fn integers_are_read_as_floats_only_when_exact() {
        assert_eq!(Number::Unsigned(1 << 53).to_f64(), Some(9_007_199_254_740_992.0));
        assert_eq!(Number::Unsigned((1 << 53) + 1).to_f64(), None);
        assert_eq!(Number::Unsigned(u64::MAX).to_f64(), None);
        assert_eq!(Number::Unsigned(1 << 63).to_f64(), Some(9_223_372_036_854_775_808.0));
        assert_eq!(Number::Negative(u64::MAX).to_f64(), None);
        assert_eq!(Number::Unsigned(16_777_217).to_f32(), None);
        assert_eq!(Number::Unsigned(16_777_216).to_f32(), Some(16_777_216.0));
        assert_eq!(Number::Float(1.03).to_f32(), None);
        assert!(Number::Float(f64::NAN).to_f32().is_some_and(f32::is_nan));
    }

    #[test]
    fn the_least_integer_is_reached_and_not_passed() {
        assert_eq!(Number::Negative(1 << 63).to_i64(), Some(i64::MIN));
        assert_eq!(Number::Negative((1 << 63) + 1).to_i64(), None);
        assert_eq!(Number::Negative((1 << 63) + 1).to_i128(), None);
        assert_eq!(Number::Negative(1).to_u64(), None);
    }

    #[test]
    fn what_needs_binary64_is_neither_whole_nor_a_binary32() {
        for f in [1.03, -2.3, 1e-300, 16_777_215.1, 0.1, 5e-324] {
            assert!(needs_binary64(f), "{f}");
            assert_eq!(whole(f), None);
            assert_ne!(f64::from(f as f32), f);
        }
        for f in [
            0.0,
            -0.0,
            0.5,
            16_777_217.0,
            1e15,
            1e300,
            f64::NAN,
            -f64::NAN,
            f64::INFINITY,
            f64::from(0.1_f32),
        ] {
            assert!(!needs_binary64(f), "{f}");
        }
    }

    #[test]
    fn single_rounds_only_what_is_no_integer_and_stays_finite() {
        assert_eq!(canonical(1.03, Floats::Single), Number::Float(f64::from(1.03_f32)));
        assert_eq!(canonical(16_777_217.0, Floats::Single), Number::Unsigned(16_777_217));
        assert_eq!(canonical(16_777_217.5, Floats::Single), Number::Unsigned(16_777_218));
        assert_eq!(canonical(1e39, Floats::Single), Number::Float(1e39));
        assert_eq!(canonical(1e-60, Floats::Single), Number::Unsigned(0));
    }
}
