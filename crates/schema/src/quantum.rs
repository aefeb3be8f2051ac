//! Converts scaled numbers to counts of steps or of a sensor's units, and back.
//!
//! With a quantum q, the numbers are k*q for whole k, rounded half away from zero to units of 10^-`places`. q is larger than such a unit,
//! so a number is less than q/2 away from its k*q and determines k.

use crate::{Decimal, Quantum};

impl Decimal {
    /// Returns k if `scaled` is the k-th multiple of the quantum, rounded, or of the step without a quantum; `None` if it is not a
    /// multiple. Does not check the range.
    pub fn count_of(&self, scaled: i128) -> Option<i128> {
        let k = self.count_near(scaled);
        (self.of_count(k) == scaled).then_some(k)
    }

    /// Returns the k of the multiple that is nearest to `scaled`.
    pub fn count_near(&self, scaled: i128) -> i128 {
        match &self.quantum {
            Some(quantum) => rounded(scaled.saturating_mul(self.unit(quantum)), i128::from(quantum.mantissa)),
            None => rounded(scaled, i128::from(self.step)),
        }
    }

    /// Returns the scaled number that is `k` times the quantum, rounded, or `k` times the step without a quantum.
    pub fn of_count(&self, k: i128) -> i128 {
        match &self.quantum {
            Some(quantum) => rounded(k.saturating_mul(i128::from(quantum.mantissa)), self.unit(quantum)),
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

    /// Returns the number of units of the quantum's mantissa in one unit of the scaled numbers.
    fn unit(&self, quantum: &Quantum) -> i128 {
        10i128.saturating_pow(quantum.places.saturating_sub(self.places))
    }
}

/// Returns `n / d`, rounded half away from zero. `d` must be above 0.
fn rounded(n: i128, d: i128) -> i128 {
    let magnitude = n.saturating_abs().saturating_add(d / 2) / d;
    if n < 0 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decimal(places: u32, quantum: Option<Quantum>) -> Decimal {
        Decimal { places, step: 1, min: -10_000_000, max: 10_000_000, usual: None, quantum }
    }

    /// 0.7324443 mg, the accelerometer of the container message.
    const ACCELEROMETER: Quantum = Quantum { mantissa: 7_324_443, places: 7 };

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
        let number = decimal(0, Some(Quantum { mantissa: 25, places: 1 }));
        let counted: Vec<_> = (-3..=3).map(|k| number.of_count(k)).collect();
        assert_eq!(counted, [-8, -5, -3, 0, 3, 5, 8]);
    }

    #[test]
    fn without_a_quantum_steps_are_counted() {
        let number = Decimal { places: 2, step: 5, min: -100, max: 115, usual: None, quantum: None };
        assert_eq!(number.counts(), (-20, 23));
        assert_eq!((number.count_of(35), number.count_of(36), number.of_count(7)), (Some(7), None, 35));
    }

    #[test]
    fn what_does_not_fit_is_no_number() {
        let number = decimal(0, Some(Quantum { mantissa: u64::MAX, places: 18 }));
        for n in [i128::MAX, i128::MIN, i128::MAX / 2] {
            let _ = (number.count_of(n), number.of_count(n));
        }
        assert_eq!(number.count_of(i128::MAX), None);
    }

    proptest! {
        #[test]
        fn a_count_comes_back(k in -(1i128 << 62)..1i128 << 62, mantissa in 1u64..u64::MAX, places in 0u32..=6, more in 0u32..=12) {
            let quantum = Quantum { mantissa, places: places + more };
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
