//! Exact decimal numbers, for keywords whose decimals binary floats cannot represent.

use crate::quantum::rounded;

/// The number `mantissa` * 10^`exponent`. The mantissa does not end in the digit 0, unless the number is zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exact {
    mantissa: i128,
    exponent: i32,
}

/// The direction in which [`Exact::scaled_towards`] rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Round {
    Down,
    Up,
}

impl Exact {
    pub(crate) const ZERO: Exact = Exact { mantissa: 0, exponent: 0 };

    /// Parses a JSON number; `None` if it has more than 38 significant digits or an exponent far out of range.
    pub(crate) fn parse(text: &str) -> Option<Exact> {
        let (digits, exponent) = match text.split_once(['e', 'E']) {
            Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (digits, negative) = match digits.strip_prefix('-') {
            Some(rest) => (rest, true),
            None => (digits, false),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        // Count zeros until another digit follows, so that the zeros of 1e30 and 0.10 use no digits.
        let (mut mantissa, mut zeros) = (0i128, 0u32);
        for byte in whole.bytes().chain(fraction.bytes()) {
            match byte {
                b'0' => zeros += 1,
                b'1'..=b'9' => {
                    let shift = if mantissa == 0 { 1 } else { 10i128.checked_pow(zeros + 1)? };
                    mantissa = mantissa.checked_mul(shift)?.checked_add(i128::from(byte - b'0'))?;
                    zeros = 0;
                }
                _ => return None,
            }
        }
        if mantissa == 0 {
            return Some(Exact { mantissa: 0, exponent: 0 });
        }
        let shift = i32::try_from(zeros).ok()?.checked_sub(i32::try_from(fraction.len()).ok()?)?;
        let mantissa = if negative { -mantissa } else { mantissa };
        Some(Exact { mantissa, exponent: exponent.checked_add(shift)? })
    }

    /// Returns the shortest decimal that reads back as `f`, as JSON writers print it; `None` for NaN and infinities. Of two that are equally near,
    /// it is the one with an even last digit, which the standard library's formatting does not ensure.
    pub(crate) fn shortest(f: f64) -> Option<Exact> {
        if !f.is_finite() {
            return None;
        }
        Exact::parse(zmij::Buffer::new().format_finite(f))
    }

    pub(crate) fn is_positive(self) -> bool {
        self.mantissa > 0
    }

    /// Returns the decimal places needed to write the number: 2 for 0.05, 0 for 500.
    pub(crate) fn places(self) -> u32 {
        self.exponent.min(0).unsigned_abs()
    }

    /// Returns the number in units of 10^-`places`, if that is a whole number that fits.
    pub(crate) fn scaled(self, places: u32) -> Option<i128> {
        let shift = self.exponent.checked_add(i32::try_from(places).ok()?)?;
        if self.mantissa == 0 {
            return Some(0);
        }
        self.mantissa.checked_mul(10i128.checked_pow(u32::try_from(shift).ok()?)?)
    }

    /// Returns the number divided by `step` units of 10^-`places`, rounded half away from zero; `None` if it does not fit.
    pub(crate) fn divided(self, places: u32, step: i128) -> Option<i128> {
        match self.scaled(places) {
            Some(n) => Some(rounded(n, step)),
            None if self.places() <= places => None,
            // A divisor that does not fit is far above any mantissa.
            None => Some(rounded(
                self.mantissa,
                10i128.saturating_pow(self.places() - places).saturating_mul(step),
            )),
        }
    }

    /// Returns the number in units of 10^-`places`, rounded down or up to a whole number; `None` if it does not fit.
    pub(crate) fn scaled_towards(self, places: u32, round: Round) -> Option<i128> {
        let shift = self.exponent.checked_add(i32::try_from(places).ok()?)?;
        if shift >= 0 {
            return self.scaled(places);
        }
        let rest_is_negative = self.mantissa < 0;
        Some(match 10i128.checked_pow(shift.unsigned_abs()) {
            Some(unit) if round == Round::Down => self.mantissa.div_euclid(unit),
            // The mantissa does not end in 0, so the division always has a remainder.
            Some(unit) => self.mantissa.div_euclid(unit) + i128::from(self.mantissa != 0),
            None if round == Round::Down => -i128::from(rest_is_negative),
            None => i128::from(!rest_is_negative && self.mantissa != 0),
        })
    }
}

/// Returns the shortest decimal that reads back as `f`, as a mantissa and an exponent of 10: 2456 and -2 for 24.56. The mantissa does not end in 0,
/// unless `f` is 0. Of two that are equally near, it is the one with an even last digit. Returns `None` for NaN and infinities.
///
/// ```
/// use dunnage_schema::shortest;
/// assert_eq!(shortest(24.56), Some((2456, -2)));
/// assert_eq!(shortest(f64::NAN), None);
/// ```
pub fn shortest(f: f64) -> Option<(i128, i32)> {
    Exact::shortest(f).map(|exact| (exact.mantissa, exact.exponent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn exact(text: &str) -> Exact {
        Exact::parse(text).unwrap()
    }

    #[test]
    fn notations_of_one_number_are_equal() {
        for text in ["0.01", "1e-2", "1E-2", "0.0100", "100e-4", "0.1e-1"] {
            assert_eq!(exact(text), Exact { mantissa: 1, exponent: -2 }, "{text}");
        }
        for text in ["500", "5e2", "5E+2", "0.5e3", "500.000"] {
            assert_eq!(exact(text), Exact { mantissa: 5, exponent: 2 }, "{text}");
        }
        for text in ["0", "-0", "0.00", "0e9", "-0e-9"] {
            assert_eq!(exact(text), Exact { mantissa: 0, exponent: 0 }, "{text}");
        }
        assert_eq!(exact("-40.5"), Exact { mantissa: -405, exponent: -1 });
        assert_eq!(exact("1e300"), Exact { mantissa: 1, exponent: 300 });
    }

    #[test]
    fn numbers_that_no_sensor_has_are_refused() {
        assert_eq!(Exact::parse(&"9".repeat(40)), None);
        assert_eq!(Exact::parse("1e99999999999"), None);
        assert_eq!(Exact::parse("1e2147483647").and_then(|e| e.scaled(18)), None);
    }

    #[test]
    fn scaling_is_exact_or_nothing() {
        assert_eq!(exact("24.56").scaled(2), Some(2456));
        assert_eq!(exact("24.5").scaled(2), Some(2450));
        assert_eq!(exact("24.567").scaled(2), None);
        assert_eq!(exact("1e300").scaled(2), None);
        assert_eq!(exact("0").scaled(2), Some(0));
    }

    #[test]
    fn rounding_goes_down_and_up() {
        for (text, down, up) in
            [("1.25", 12, 13), ("-1.25", -13, -12), ("1.2", 12, 12), ("-3", -30, -30), ("0", 0, 0)]
        {
            assert_eq!(exact(text).scaled_towards(1, Round::Down), Some(down), "{text}");
            assert_eq!(exact(text).scaled_towards(1, Round::Up), Some(up), "{text}");
        }
        assert_eq!(exact("1e-60").scaled_towards(0, Round::Up), Some(1));
        assert_eq!(exact("1e-60").scaled_towards(0, Round::Down), Some(0));
        assert_eq!(exact("-1e-60").scaled_towards(0, Round::Up), Some(0));
        assert_eq!(exact("-1e-60").scaled_towards(0, Round::Down), Some(-1));
        assert_eq!(exact("1e60").scaled_towards(0, Round::Down), None);
    }

    proptest! {
        #[test]
        fn a_float_is_its_shortest_text(f in any::<f64>().prop_filter("finite", |f| f.is_finite())) {
            let (mantissa, exponent) = shortest(f).unwrap();
            prop_assert_eq!(format!("{mantissa}e{exponent}").parse::<f64>(), Ok(f));
            // The standard library's text is as short, but may be the other one of two.
            let other = Exact::parse(&format!("{f}")).unwrap();
            prop_assert!(other.exponent == exponent && other.mantissa.abs_diff(mantissa) <= 1, "{other:?}");
        }
    }

    /// ECMAScript, Python and Java print these floats in the same way.
    #[test]
    fn of_two_shortest_decimals_the_even_one_counts() {
        assert_eq!(shortest(-7_239_001_517_333_589.0 / 4.0), Some((-18_097_503_793_333_972, -1)));
        assert_eq!(shortest(2_264_503_502_144_365.0 / 4.0), Some((5_661_258_755_360_912, -1)));
        assert_eq!(shortest(-0.0), Some((0, 0)));
        assert_eq!(shortest(f64::NAN), None);
    }
}
