//! Numbers as members: the C type that holds them, and constants of their range.

use dunnage_packed::{Form, Number, Source};
use dunnage_schema::Quantum;

/// A number as a multiple of its step. The member holds this multiple, and so does the wire.
#[derive(Debug, Clone, PartialEq)]
pub struct Count {
    /// The smallest count.
    pub min: i128,
    /// The largest count.
    pub max: i128,
    /// The range of expected counts.
    pub usual: Option<(i128, i128)>,
    /// The encoding of counts outside `usual`, or of all counts if there is no `usual`.
    pub form: Form,
    /// The unit of a count: `unit.0` * 10^-`unit.1`. It is 1 for integers.
    pub unit: (u64, u32),
    /// The values of the counts, if these have a divisor or an offset. `unit` is not their unit then.
    pub quantum: Option<Quantum>,
    /// The epoch of a time, in seconds since 1970; `None` if the number is not a time.
    pub epoch: Option<i64>,
    /// The counts by which a number that is an index grows from message to message.
    pub every: Option<u64>,
    /// The C type of the member.
    pub kind: Whole,
}

/// An integer type of C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Whole {
    /// 8, 16, 32 or 64.
    pub bits: u32,
    /// Whether it has a sign.
    pub signed: bool,
}

impl Whole {
    /// Returns the smallest type that holds `min` to `max`.
    pub fn holding(min: i128, max: i128) -> Whole {
        let signed = min < 0;
        let fits = |bits: &u32| Whole { bits: *bits, signed }.range();
        let inside = |(first, last): (i128, i128)| first <= min && max <= last;
        let bits = [8, 16, 32].into_iter().find(|bits| inside(fits(bits))).unwrap_or(64);
        Whole { bits, signed }
    }

    /// Returns the first and the last value of the type.
    pub fn range(self) -> (i128, i128) {
        match self.signed {
            true => (-(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1),
            false => (0, (1 << self.bits) - 1),
        }
    }

    /// Returns the name of the type, such as `int16_t`.
    pub fn name(self) -> String {
        format!("{}int{}_t", if self.signed { "" } else { "u" }, self.bits)
    }

    /// Returns the name of its unsigned counterpart, such as `uint16_t`.
    pub fn unsigned(self) -> String {
        format!("uint{}_t", self.bits)
    }
}

impl Count {
    /// Returns the counts of `number`.
    pub(super) fn of(number: &Number) -> Count {
        let step = i128::from(number.step.max(1));
        let (min, max) = (number.min / step, number.max / step);
        let unit = match &number.source {
            Source::Integer => (number.step, 0),
            Source::Decimal(decimal) | Source::Text(dunnage_schema::NumberText { number: decimal, .. }) => {
                match &decimal.quantum {
                    Some(quantum) => (quantum.mantissa, quantum.places),
                    None => (number.step, decimal.places),
                }
            }
            Source::Time(time) => (1, time.places),
        };
        let quantum = match &number.source {
            Source::Decimal(decimal) | Source::Text(dunnage_schema::NumberText { number: decimal, .. }) => {
                decimal.quantum.filter(|quantum| !quantum.is_decimal())
            }
            _ => None,
        };
        let epoch = match &number.source {
            // Texts with an offset count from the epoch in their own time.
            Source::Time(time) => Some(time.epoch - time.offset()),
            _ => None,
        };
        let mut kind = Whole::holding(min, max);
        let form = number.form();
        let every = number.every.filter(|_| matches!(form, Form::Index(_)));
        let mut count = Count { min, max, usual: None, form, unit, quantum, epoch, every, kind };
        if count.has_scale() && count.spare().is_none() && kind.bits < 64 {
            // Leave room for a value that is always rejected, see `spare`.
            kind.bits *= 2;
            count.kind = kind;
        }
        count.usual = number.usual.map(|(first, last)| (first / step, last / step));
        count
    }

    /// Whether the unit of a count is not 1.
    pub(super) fn has_scale(&self) -> bool {
        self.unit != (1, 0) && self.epoch.is_none() && self.quantum.is_none()
    }

    /// Returns a value of the member's type that is out of range.
    pub(super) fn spare(&self) -> Option<i128> {
        let (first, last) = self.kind.range();
        [first, last].into_iter().find(|n| *n < self.min || *n > self.max)
    }

    /// Returns the largest absolute value of a count.
    fn magnitude(&self) -> u128 {
        self.min.unsigned_abs().max(self.max.unsigned_abs())
    }

    /// Whether binary32, with its 24 bits, distinguishes each count from its neighbours.
    pub(super) fn fits_single(&self) -> bool {
        self.magnitude() <= 1 << 23
    }

    /// Whether the error of two binary32 roundings is less than half a count.
    pub(super) fn is_coarse(&self) -> bool {
        self.magnitude() <= 1 << 21
    }

    /// Returns 1 / unit as factor * 2^-shift, with a factor of 32 bits. It is exact if the unit divides a power of ten up to 10^13.
    pub(super) fn factor(&self) -> (u32, i32) {
        let (mantissa, places) = (u128::from(self.unit.0), 10u128.pow(self.unit.1));
        let rounded = |shift: i32| {
            // Beyond this, the shift overflows, and the factor would exceed 2^62 for any mantissa.
            if shift + 1 >= places.leading_zeros() as i32 {
                return None;
            }
            let (n, d) = (places << shift.max(0), mantissa << (-shift).max(0));
            u32::try_from((2 * n + d) / (2 * d)).ok()
        };
        // 10^0 / (2^63 - 1) needs the largest shift, with a factor of 2^31; 10^18 / 1 needs the smallest.
        (-30..=94).rev().find_map(|shift| Some((rounded(shift)?, shift))).unwrap_or_default()
    }

    /// Returns the unit as a fraction in lowest terms.
    pub(super) fn fraction(&self) -> (u64, u64) {
        let (mantissa, power) = (self.unit.0, 10u64.pow(self.unit.1));
        let (mut a, mut b) = (mantissa, power);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        (mantissa / a, power / a)
    }

    /// Whether binary32 distinguishes the values of all counts, and computes each with one rounding at most.
    pub(super) fn is_single_exact(&self) -> bool {
        let (numerator, denominator) = self.fraction();
        let odd = denominator >> denominator.trailing_zeros();
        self.fits_single() && self.magnitude() * u128::from(numerator) <= 1 << 24 && odd < 1 << 24
    }

    /// Whether the error of the roundings in binary32 is less than half a count for values with a divisor and an offset: those of the three
    /// constants, of the product, the quotient and the sum.
    pub(super) fn is_raw_coarse(&self, quantum: &Quantum) -> bool {
        let offset = u128::from(quantum.offset.unsigned_abs()) * u128::from(quantum.divisor.get());
        self.magnitude() + offset / u128::from(quantum.mantissa) <= 1 << 20
    }

    /// Returns the count nearest to 0.
    pub(super) fn nearest_zero(&self) -> i128 {
        0.clamp(self.min, self.max)
    }
}

/// Formats `n` as a C constant with a suffix for the type that it needs on every target.
pub(super) fn literal(n: i128) -> String {
    match n {
        n if n == i128::from(i64::MIN) => "(-9223372036854775807LL - 1)".to_owned(),
        n if n == i128::from(i32::MIN) => "(-2147483647L - 1)".to_owned(),
        n if n < i128::from(i32::MIN) => format!("({n}LL)"),
        n if n < i128::from(i16::MIN) + 1 => format!("({n}L)"),
        n if n < 0 => format!("({n})"),
        n if n <= i128::from(i16::MAX) => n.to_string(),
        n if n <= i128::from(i32::MAX) => format!("{n}L"),
        n if n <= i128::from(u32::MAX) => format!("{n}UL"),
        n if n <= i128::from(i64::MAX) => format!("{n}LL"),
        n => format!("{n}ULL"),
    }
}

/// Formats `n` as an unsigned C constant.
pub(super) fn unsigned(n: i128) -> String {
    match n {
        n if n <= i128::from(u16::MAX) => format!("{n}u"),
        n if n <= i128::from(u32::MAX) => format!("{n}ul"),
        n => format!("{n}ull"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_type_holds_the_range() {
        for (min, max, name) in [
            (0, 255, "uint8_t"),
            (0, 256, "uint16_t"),
            (-1, 127, "int8_t"),
            (-1, 128, "int16_t"),
            (0, 1 << 32, "uint64_t"),
            (-(1 << 31), 0, "int32_t"),
        ] {
            assert_eq!(Whole::holding(min, max).name(), name);
        }
    }

    #[test]
    fn constants_have_the_type_that_they_need_where_int_has_16_bits() {
        assert_eq!(literal(-32768), "(-32768L)");
        assert_eq!(literal(32768), "32768L");
        assert_eq!(literal(4_000_000_000), "4000000000UL");
    }

    #[test]
    fn a_factor_has_32_bits() {
        let count = |mantissa, places| Count {
            min: 0,
            max: 1,
            usual: None,
            form: Form::Offset,
            unit: (mantissa, places),
            quantum: None,
            epoch: None,
            every: None,
            kind: Whole::holding(0, 1),
        };
        for (mantissa, places, factor, shift) in [
            (1, 0, 1 << 31, 31),
            (1, 1, 0xa000_0000, 28),
            (5, 2, 0xa000_0000, 27),
            (3, 0, 0xaaaa_aaab, 33),
            (1, 18, 0xde0b_6b3a, -28),
            ((1 << 63) - 1, 0, 1 << 31, 94),
        ] {
            assert_eq!(count(mantissa, places).factor(), (factor, shift), "{mantissa}e-{places}");
        }
    }
}
