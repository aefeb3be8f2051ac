//! Converts numbers with a step to scaled integers and back.

use crate::{Decimal, Integer, exact::Exact, quantum};
use dunnage_pson::Value;

/// The reason why a value is not one of a number's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    NotNumber,
    NotFinite,
    NegativeZero,
    /// Not a rounded multiple of the quantum.
    Quantum,
    /// Has more decimals than the number, or is not a multiple of its step.
    Multiple,
    Below,
    Above,
}

impl Integer {
    /// Whether `n` is one of these numbers.
    pub fn contains(&self, n: i128) -> bool {
        self.flaw(n).is_none()
    }

    pub(crate) fn flaw(&self, n: i128) -> Option<Flaw> {
        flaw(n, self.min, self.max, self.step)
    }
}

impl Decimal {
    /// Whether the scaled integer `n` is one of these numbers.
    pub fn contains(&self, n: i128) -> bool {
        self.flaw(n).is_none()
    }

    /// Returns `value` in units of 10^-`places`; `None` unless it is one of these numbers.
    ///
    /// A float that is not whole is the shortest decimal that reads back as it, so that the float 24.56 is 2456 hundredths. -0.0 is
    /// not one of these numbers, because no scaled integer preserves its sign. Without `round`, `scaled(v) == Some(n)` implies
    /// `value(n) == v`.
    pub fn scaled(&self, value: &Value) -> Option<i128> {
        self.check(value).ok()
    }

    /// Returns the same for a value that is one of these numbers without rounding.
    pub fn scaled_exactly(&self, value: &Value) -> Option<i128> {
        self.check_exactly(value).ok()
    }

    /// Returns the number of `scaled` units of 10^-`places`: an integer if it is whole, else the nearest binary64.
    pub fn value(&self, scaled: i128) -> Value {
        if let (Ok(n), Some(unit)) = (i64::try_from(scaled), 10i64.checked_pow(self.places))
            && n.unsigned_abs() < 1 << 53
        {
            // Both operands are exact in binary64, so the division rounds once and correctly.
            return if n % unit == 0 { Value::from(n / unit) } else { Value::F64(n as f64 / unit as f64) };
        }
        let unit = 10i128.saturating_pow(self.places);
        if scaled % unit == 0 {
            let whole = scaled / unit;
            return match (u64::try_from(whole), i64::try_from(whole)) {
                (Ok(n), _) => Value::U64(n),
                (_, Ok(n)) => Value::I64(n),
                _ => Value::F64(whole as f64),
            };
        }
        // Never fails: digits and an exponent are valid text of a float.
        Value::F64(format!("{scaled}e-{}", self.places).parse().unwrap_or(f64::NAN))
    }

    pub(crate) fn check(&self, value: &Value) -> Result<i128, Flaw> {
        match self.check_exactly(value) {
            Err(Flaw::Multiple | Flaw::Quantum | Flaw::NegativeZero | Flaw::Below | Flaw::Above)
                if self.round =>
            {
                let n = self.rounded(value)?;
                self.flaw(n).map_or(Ok(n), Err)
            }
            checked => checked,
        }
    }

    /// Rounds a number half away from zero to the step, and then to the nearest value of the quantum.
    fn rounded(&self, value: &Value) -> Result<i128, Flaw> {
        let step = i128::from(self.step);
        let multiple = match *value {
            Value::U64(n) => quantum::rounded(self.whole(n.into())?, step),
            Value::I64(n) => quantum::rounded(self.whole(n.into())?, step),
            Value::F64(f) => {
                let exact = Exact::shortest(f).ok_or(Flaw::NotFinite)?;
                exact.divided(self.places, step).ok_or(if f < 0.0 { Flaw::Below } else { Flaw::Above })?
            }
            _ => return Err(Flaw::NotNumber),
        };
        let scaled = multiple.saturating_mul(step);
        Ok(if self.quantum.is_some() { self.of_count(self.count_near(scaled)) } else { scaled })
    }

    fn check_exactly(&self, value: &Value) -> Result<i128, Flaw> {
        let n = match *value {
            Value::U64(n) => self.whole(i128::from(n))?,
            Value::I64(n) => self.whole(i128::from(n))?,
            Value::F64(f) => match near(f, self.places) {
                Some(n) => n,
                None => self.float(value, f)?,
            },
            _ => return Err(Flaw::NotNumber),
        };
        self.flaw(n).map_or(Ok(n), Err)
    }

    pub(crate) fn flaw(&self, n: i128) -> Option<Flaw> {
        let off = || self.quantum.is_some() && self.count_of(n).is_none();
        flaw(n, self.min, self.max, self.step).or_else(|| off().then_some(Flaw::Quantum))
    }

    fn whole(&self, n: i128) -> Result<i128, Flaw> {
        n.checked_mul(10i128.saturating_pow(self.places)).ok_or(if n < 0 { Flaw::Below } else { Flaw::Above })
    }

    fn float(&self, value: &Value, f: f64) -> Result<i128, Flaw> {
        if let Some(n) = value.as_integer() {
            return self.whole(n);
        }
        if f == 0.0 {
            return Err(Flaw::NegativeZero);
        }
        let exact = Exact::shortest(f).ok_or(Flaw::NotFinite)?;
        match exact.scaled(self.places) {
            Some(n) => Ok(n),
            None if exact.places() > self.places => Err(Flaw::Multiple),
            None if f < 0.0 => Err(Flaw::Below),
            None => Err(Flaw::Above),
        }
    }
}

/// Returns the n for which n / 10^`places` is the float `f`, if binary64 is precise enough to distinguish all such n.
///
/// Below 2^50 units, neighbouring multiples of 10^-`places` are further apart than neighbouring floats. Only one multiple then reads as
/// `f`, so it is also the shortest text of `f`.
fn near(f: f64, places: u32) -> Option<i128> {
    if places > 22 || f == 0.0 && f.is_sign_negative() {
        return None;
    }
    let unit = 10f64.powi(places as i32);
    let n = (f * unit).round();
    (n.abs() < (1u64 << 50) as f64 && n / unit == f).then_some(n as i128)
}

fn flaw(n: i128, min: i128, max: i128, step: u64) -> Option<Flaw> {
    if n < min {
        Some(Flaw::Below)
    } else if n > max {
        Some(Flaw::Above)
    } else if step > 1 && n % i128::from(step) != 0 {
        Some(Flaw::Multiple)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decimal(places: u32) -> Decimal {
        Decimal {
            places,
            step: 1,
            min: i64::MIN.into(),
            max: i64::MAX.into(),
            usual: None,
            quantum: None,
            round: false,
            changes: None,
        }
    }

    /// Reads JSON text as a value.
    fn read(text: &str) -> Value {
        match text.parse::<i64>() {
            Ok(n) => Value::from(n),
            Err(_) => Value::F64(text.parse().unwrap()),
        }
    }

    fn text(n: i64, places: usize) -> String {
        let unit = 10i64.pow(places as u32);
        let sign = if n < 0 { "-" } else { "" };
        format!("{sign}{}.{:0places$}", n.abs() / unit, n.abs() % unit)
    }

    #[test]
    fn every_number_with_two_decimals_from_minus_100_to_100_survives() {
        for n in (-10_000..=10_000).filter(|n| *n != 0) {
            let value = Value::F64(text(n, 2).parse().unwrap());
            assert_eq!(decimal(2).scaled(&value), Some(n.into()));
            assert_eq!(decimal(2).value(n.into()), value);
        }
    }

    #[test]
    fn every_pressure_with_four_decimals_survives() {
        for n in 9_500_000..=10_500_000 {
            let value = Value::F64(text(n, 4).parse().unwrap());
            assert_eq!(decimal(4).scaled(&value), Some(n.into()));
            assert_eq!(decimal(4).value(n.into()), value);
        }
    }

    #[test]
    fn whole_numbers_become_integers() {
        assert!(matches!(decimal(2).value(1700), Value::U64(17)));
        assert!(matches!(decimal(2).value(-1700), Value::I64(-17)));
        assert!(matches!(decimal(0).value(0), Value::U64(0)));
        assert!(matches!(decimal(2).value(1750), Value::F64(f) if f == 17.5));
    }

    #[test]
    fn what_is_finer_negative_zero_or_not_a_number_is_none() {
        for (value, flaw) in [
            (Value::F64(0.005), Flaw::Multiple),
            (Value::F64(f64::from_bits(24.56f64.to_bits() + 1)), Flaw::Multiple),
            (Value::F64(-0.0), Flaw::NegativeZero),
            (Value::F64(f64::NAN), Flaw::NotFinite),
            (Value::F64(f64::INFINITY), Flaw::NotFinite),
            (Value::F64(1e300), Flaw::Above),
            (Value::F64(-1e300), Flaw::Below),
            (Value::F64(1e-300), Flaw::Multiple),
            (Value::U64(u64::MAX), Flaw::Above),
            (Value::Text("1".into()), Flaw::NotNumber),
        ] {
            assert_eq!(decimal(2).check(&value), Err(flaw), "{value:?}");
        }
    }

    #[test]
    fn bounds_and_step_hold() {
        let coarse = Decimal {
            places: 2,
            step: 5,
            min: -100,
            max: 100,
            usual: None,
            quantum: None,
            round: false,
            changes: None,
        };
        assert_eq!(coarse.scaled(&Value::F64(0.35)), Some(35));
        assert_eq!(coarse.check(&Value::F64(0.36)), Err(Flaw::Multiple));
        assert_eq!(coarse.check(&Value::F64(1.05)), Err(Flaw::Above));
        assert_eq!(coarse.check(&Value::F64(-1.05)), Err(Flaw::Below));
    }

    proptest! {
        #[test]
        fn decimal_text_survives(n in any::<i64>(), places in 0u32..=18) {
            let value = read(&text(n / 2, places as usize));
            if let Some(scaled) = decimal(places).scaled(&value) {
                prop_assert_eq!(decimal(places).value(scaled), value);
            }
        }

        #[test]
        fn up_to_15_digits_always_survive(n in -999_999_999_999_999i64..=999_999_999_999_999, places in 0u32..=18) {
            let value = Value::F64(format!("{n}e-{places}").parse().unwrap());
            prop_assume!(n != 0);
            prop_assert_eq!(decimal(places).scaled(&value), Some(n.into()));
            prop_assert_eq!(decimal(places).value(n.into()), value);
        }

        #[test]
        fn the_short_way_is_the_way_over_text(f in prop_oneof![any::<f64>(), -1e9..1e9, -1.0..1.0], places in 0u32..=18) {
            prop_assume!(f.is_finite() && f != 0.0);
            if let Some(n) = near(f, places) {
                prop_assert_eq!(Exact::shortest(f).and_then(|e| e.scaled(places)), Some(n));
            }
        }

        #[test]
        fn any_float_that_scales_comes_back(f in prop_oneof![any::<f64>(), (-1i64 << 60..1i64 << 60).prop_map(|n| n as f64 / 4.0)], places in 0u32..=18) {
            let value = Value::F64(f);
            if let Some(n) = decimal(places).scaled(&value) {
                prop_assert_eq!(decimal(places).value(n), value);
            }
        }
    }
}
