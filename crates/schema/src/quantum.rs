//! Converts scaled numbers to counts of steps or of a sensor's units, and back.
//!
//! With a quantum, the number of k counts is offset + k * quantum, rounded half away from zero to units of 10^-`places`. The quantum is
//! at least such a unit, so two counts never have the same number.

use crate::{Decimal, number_text::plain};
use std::{fmt, num::NonZeroU32};

/// The values of a sensor's counts: k counts are (`offset` + k * `mantissa` / `divisor`) * 10^-`places`. A count is at least the step
/// of its [`Decimal`]. 0.7324443 is 7324443 with 7 places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantum {
    /// Above 0.
    pub mantissa: u64,
    /// At least the places of the decimal, at most 18.
    pub places: u32,
    /// The divisor of the mantissa.
    pub divisor: NonZeroU32,
    /// The value of the count 0.
    pub offset: i64,
}

impl Quantum {
    /// Returns `mantissa` * 10^-`places` for each count.
    pub const fn new(mantissa: u64, places: u32) -> Quantum {
        Quantum { mantissa, places, divisor: NonZeroU32::MIN, offset: 0 }
    }

    /// Whether the values are whole multiples of a decimal.
    pub fn is_decimal(&self) -> bool {
        self.divisor == NonZeroU32::MIN && self.offset == 0
    }
}

impl fmt::Display for Quantum {
    /// Writes `0.7324443`, or `175 / 65535 from -45`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&plain(self.mantissa.into(), self.places))?;
        if self.divisor != NonZeroU32::MIN {
            write!(f, " / {}", self.divisor)?;
        }
        if self.offset != 0 {
            write!(f, " from {}", plain(self.offset.into(), self.places))?;
        }
        Ok(())
    }
}

impl Decimal {
    /// Returns k if `scaled` is the number of k counts, or the k-th multiple of the step without a quantum; `None` if there is no
    /// such k. Does not check the range.
    pub fn count_of(&self, scaled: i128) -> Option<i128> {
        let k = self.count_near(scaled);
        (self.of_count(k) == scaled).then_some(k)
    }

    /// Returns the k whose number is nearest to `scaled`.
    pub fn count_near(&self, scaled: i128) -> i128 {
        let Some(quantum) = &self.quantum else { return rounded(scaled, i128::from(self.step)) };
        let above = scaled.saturating_mul(self.unit(quantum)).saturating_sub(quantum.base());
        let k = rounded(above, i128::from(quantum.mantissa));
        // If a quantum is about as large as a unit, rounding twice may lead to a neighbour.
        let near = [k, k.saturating_sub(1), k.saturating_add(1)];
        near.into_iter().min_by_key(|k| self.of_count(*k).abs_diff(scaled)).unwrap_or(k)
    }

    /// Returns the scaled number of `k` counts, or of `k` steps without a quantum.
    pub fn of_count(&self, k: i128) -> i128 {
        match &self.quantum {
            Some(quantum) => {
                let product = k.saturating_mul(i128::from(quantum.mantissa));
                rounded(product.saturating_add(quantum.base()), self.unit(quantum))
            }
            None => k.saturating_mul(i128::from(self.step)),
        }
    }

    /// Returns the first and last k whose number is in the range of this type.
    pub fn counts(&self) -> (i128, i128) {
        self.counts_within(self.min, self.max)
    }

    /// Returns the first and last k whose number is in `min..=max`. The first is above the last if there is none.
    pub(crate) fn counts_within(&self, min: i128, max: i128) -> (i128, i128) {
        let (first, last) = (self.count_near(min), self.count_near(max));
        (first + i128::from(self.of_count(first) < min), last - i128::from(self.of_count(last) > max))
    }

    /// Returns what a unit of the scaled numbers is in terms of the quantum's mantissa.
    fn unit(&self, quantum: &Quantum) -> i128 {
        10i128
            .saturating_pow(quantum.places.saturating_sub(self.places))
            .saturating_mul(quantum.divisor.get().into())
    }
}

impl Quantum {
    /// Returns what the offset is in terms of the mantissa.
    fn base(&self) -> i128 {
        i128::from(self.offset) * i128::from(self.divisor.get())
    }
}

/// Returns `n / d`, rounded half away from zero. `d` must be above 0.
pub(crate) fn rounded(n: i128, d: i128) -> i128 {
    let magnitude = n.saturating_abs().saturating_add(d / 2) / d;
    if n < 0 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decimal(places: u32, quantum: Option<Quantum>) -> Decimal {
        Decimal {
            places,
            step: 1,
            min: -10_000_000,
            max: 10_000_000,
            usual: None,
            quantum,
            round: false,
            changes: None,
        }
    }

    /// 0.7324443 mg, the accelerometer of the container message.
    const ACCELEROMETER: Quantum = Quantum::new(7_324_443, 7);

    #[test]
    fn the_accelerometer_counts() {
        let number = decimal(4, Some(ACCELEROMETER));
        // -993.9269 -27.1004 -52.0035
        for (scaled, k) in [(-9_939_269, -1357), (-271_004, -37), (-520_035, -71), (0, 0), (7324, 1)] {
            assert_eq!((number.count_of(scaled), number.of_count(k)), (Some(k), scaled));
        }
        for scaled in [-9_939_270, -9_939_268, 1, 7325] {
            assert_eq!(number.count_of(scaled), None, "{scaled}");
        }
        // 1365 * 0.7324443 is 999.7864695, 1366 times it more than 1000.
        assert_eq!(number.counts(), (-1365, 1365));
    }

    #[test]
    fn halves_are_rounded_away_from_zero() {
        let number = decimal(0, Some(Quantum::new(25, 1)));
        let counted: Vec<_> = (-3..=3).map(|k| number.of_count(k)).collect();
        assert_eq!(counted, [-8, -5, -3, 0, 3, 5, 8]);
    }

    #[test]
    fn without_a_quantum_steps_are_counted() {
        let number = Decimal {
            places: 2,
            step: 5,
            min: -100,
            max: 115,
            usual: None,
            quantum: None,
            round: false,
            changes: None,
        };
        assert_eq!(number.counts(), (-20, 23));
        assert_eq!((number.count_of(35), number.count_of(36), number.of_count(7)), (Some(7), None, 35));
    }

    #[test]
    fn what_does_not_fit_is_no_number() {
        let number = decimal(0, Some(Quantum::new(u64::MAX, 18)));
        for n in [i128::MAX, i128::MIN, i128::MAX / 2] {
            let _ = (number.count_of(n), number.of_count(n));
        }
        assert_eq!(number.count_of(i128::MAX), None);
    }

    #[test]
    fn a_temperature_sensor_has_a_fraction_and_an_offset() {
        // -45 + 175 * k / 65535, as Sensirion's SHT3x has it, in steps of 0.001.
        let quantum = Quantum {
            mantissa: 175_000,
            places: 3,
            divisor: NonZeroU32::new(65_535).unwrap(),
            offset: -45_000,
        };
        let number = Decimal { min: -45_000, max: 130_000, ..decimal(3, Some(quantum)) };
        for (k, scaled) in
            [(0, -45_000), (1, -44_997), (16_851, -2), (16_852, 0), (65_534, 129_997), (65_535, 130_000)]
        {
            assert_eq!((number.of_count(k), number.count_of(scaled)), (scaled, Some(k)));
        }
        assert_eq!((number.counts(), number.count_of(1)), ((0, 65_535), None));
        assert_eq!(quantum.to_string(), "175 / 65535 from -45");
    }

    #[test]
    fn a_quantum_of_one_step_with_half_a_step_as_offset_leaves_out_0() {
        let number =
            decimal(0, Some(Quantum { mantissa: 10, places: 1, divisor: NonZeroU32::MIN, offset: 5 }));
        let counted: Vec<_> = (-3..=2).map(|k| number.of_count(k)).collect();
        assert_eq!(counted, [-3, -2, -1, 1, 2, 3]);
        for (k, scaled) in (-3..=2).zip(counted) {
            assert_eq!(number.count_of(scaled), Some(k));
        }
        assert_eq!(number.count_of(0), None);
        assert_eq!(number.counts_within(-1, 1), (-1, 0));
        assert_eq!(number.counts_within(0, 0), (0, -1));
    }

    proptest! {
        #[test]
        fn a_count_with_offset_and_divisor_comes_back(
            k in -100_000i128..100_000, unit in 1u64..1000, divisor in 1u32.., more in 0u32..3, offset: i32,
        ) {
            let places = 2 + more;
            // At least a unit of 0.01.
            let mantissa = u64::from(divisor) * 10u64.pow(more) + unit;
            let number = decimal(2, Some(Quantum { mantissa, places, divisor: NonZeroU32::new(divisor).unwrap(), offset: offset.into() }));
            prop_assert_eq!(number.count_of(number.of_count(k)), Some(k));
            let (first, last) = number.counts();
            prop_assert!(number.of_count(first) >= number.min && number.of_count(first - 1) < number.min);
            prop_assert!(number.of_count(last) <= number.max && number.of_count(last + 1) > number.max);
        }

        #[test]
        fn a_count_comes_back(k in -(1i128 << 62)..1i128 << 62, mantissa in 1u64..u64::MAX, places in 0u32..=6, more in 0u32..=12) {
            let quantum = Quantum::new(mantissa, places + more);
            prop_assume!(i128::from(mantissa) > 10i128.pow(more));
            let number = Decimal { min: i64::MIN.into(), max: i64::MAX.into(), ..decimal(places, Some(quantum)) };
            let k = k % (1 + (i128::from(i64::MAX) * 10i128.pow(more) / i128::from(mantissa)));
            prop_assert_eq!(number.count_of(number.of_count(k)), Some(k));
            let (first, last) = number.counts();
            prop_assert!(number.of_count(first) >= number.min && number.of_count(first - 1) < number.min);
            prop_assert!(number.of_count(last) <= number.max && number.of_count(last + 1) > number.max);
        }
    }
}
