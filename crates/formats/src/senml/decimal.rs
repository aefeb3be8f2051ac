//! Exact sums of decimals, which are rounded only when they become a number of a message.

use crate::Value;

/// The number `mantissa` * 10^`exponent`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Decimal {
    mantissa: i128,
    exponent: i32,
}

impl Decimal {
    /// Converts microseconds to seconds, truncated to milliseconds: no sender knows to the microsecond when its message arrives.
    pub(super) fn seconds(microseconds: i64) -> Decimal {
        Decimal { mantissa: i128::from(microseconds.div_euclid(1000)), exponent: -3 }
    }

    /// Returns the shortest decimal of `value`, or `None` if it is not a finite number.
    pub(super) fn of(value: &Value) -> Option<Decimal> {
        let f = match *value {
            Value::U64(n) => return Some(Decimal { mantissa: n.into(), exponent: 0 }),
            Value::I64(n) => return Some(Decimal { mantissa: n.into(), exponent: 0 }),
            Value::F64(f) => f,
            _ => return None,
        };
        let (mantissa, exponent) = dunnage_schema::shortest(f)?;
        Some(Decimal { mantissa, exponent })
    }

    /// Returns the sum, or `None` if it needs more than about 38 digits.
    pub(super) fn plus(self, other: Decimal) -> Option<Decimal> {
        if self.mantissa == 0 {
            return Some(other);
        }
        if other.mantissa == 0 {
            return Some(self);
        }
        let exponent = self.exponent.min(other.exponent);
        let scaled = |n: Decimal| {
            n.mantissa.checked_mul(10i128.checked_pow(u32::try_from(n.exponent - exponent).ok()?)?)
        };
        Some(Decimal { mantissa: scaled(self)?.checked_add(scaled(other)?)?, exponent })
    }

    pub(super) fn to_f64(self) -> f64 {
        // Digits with an exponent always parse as a float.
        format!("{}e{}", self.mantissa, self.exponent).parse().unwrap_or(f64::NAN)
    }

    /// Returns the value as an integer if 64 bits hold it, else as the nearest binary64.
    pub(super) fn to_value(self) -> Value {
        let unit = 10i128.checked_pow(self.exponent.unsigned_abs());
        let whole = match unit {
            Some(unit) if self.exponent >= 0 => self.mantissa.checked_mul(unit),
            Some(unit) => (self.mantissa % unit == 0).then(|| self.mantissa / unit),
            None => None,
        };
        match whole.map(|n| (u64::try_from(n), i64::try_from(n))) {
            Some((Ok(n), _)) => Value::U64(n),
            Some((_, Ok(n))) => Value::I64(n),
            _ => Value::F64(self.to_f64()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(a: &Value, b: &Value) -> Option<Value> {
        Some(Decimal::of(a)?.plus(Decimal::of(b)?)?.to_value())
    }

    #[test]
    fn sums_are_those_of_decimals_and_not_of_binary_floats() {
        let float = Value::F64;
        assert!(matches!(sum(&float(0.1), &float(0.2)), Some(Value::F64(f)) if f == 0.3));
        assert!(matches!(sum(&float(1.320067464e9), &Value::I64(-5)), Some(Value::U64(1_320_067_459))));
        assert!(
            matches!(sum(&float(1276020076.001), &float(-0.3)), Some(Value::F64(f)) if f == 1276020075.701)
        );
        assert!(matches!(sum(&float(-1.5), &float(0.5)), Some(Value::I64(-1))));
        assert!(matches!(sum(&float(0.0), &float(1e300)), Some(Value::F64(f)) if f == 1e300));
        assert_eq!(sum(&Value::U64(u64::MAX), &Value::U64(1)), Some(float(18446744073709551616.0)));
        assert_eq!(sum(&float(1e300), &float(1.0)), None);
        assert_eq!(sum(&float(f64::NAN), &float(1.0)), None);
        assert_eq!(sum(&float(1e300), &float(-1e300)), Some(Value::U64(0)));
    }
}
