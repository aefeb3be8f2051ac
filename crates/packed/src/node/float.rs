//! Floats: decimal, binary32 or binary64. `spec/packed.md`, "Floats" and "Modelled bodies".

use crate::coded::{Leaves, expected};
use crate::explain::Words;
use crate::wire::{At, Part, Sink, Source};
use crate::{Bits, Error};
use dunnage_pson::{Kind, Value};
use dunnage_schema::shortest;

/// The shortest decimal text of a float: the mantissa times 10^-`places`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Shortest {
    negative: bool,
    places: u32,
    mantissa: u64,
}

/// The maximum number of decimal places in a modelled body.
const MAX_PLACES: u32 = 15;
/// The index of the decimal form in a modelled or coded body, and the number of forms there.
const DECIMAL: u64 = 0;
const FORMS: u64 = 3;
/// The numbers of decimal places in a modelled body.
const MODELLED_PLACES: u64 = MAX_PLACES as u64 + 1;

/// The maximum number of decimal places in a plain body. With more of them, a device would need more than 64-bit arithmetic
/// to find the decimal of a float.
const PLAIN_PLACES: u32 = 12;
/// The numbers of decimal places in a plain or coded body.
const PLACES: u64 = PLAIN_PLACES as u64 + 1;
/// The mantissas of a plain body are below this. Up to here, each decimal is the shortest text of a float.
const PLAIN_MANTISSAS: u64 = 1 << 48;
/// The number of values of the places and of the mantissa's size in the short form.
const SHORT_PLACES: u64 = 8;
const SHORT_SIZES: u64 = 32;

/// The form of a float in a plain body.
#[derive(Debug, Clone, Copy, PartialEq)]
enum PlainForm {
    /// A decimal of few places and digits.
    Short(Shortest),
    /// Binary32.
    Single,
    /// Any other decimal.
    Long(Shortest),
    /// Binary64.
    Double,
}

impl PlainForm {
    /// Returns the only form in which a plain body has `f`.
    fn of(f: f64) -> PlainForm {
        let decimal = Shortest::of(f).filter(|d| d.is_plain());
        let forms = [
            decimal.filter(|d| d.is_short()).map(PlainForm::Short),
            is_single(f).then_some(PlainForm::Single),
            decimal.filter(|d| !d.is_short()).map(PlainForm::Long),
            Some(PlainForm::Double),
        ];
        forms.into_iter().flatten().min_by_key(|form| form.bits()).unwrap_or(PlainForm::Double)
    }

    fn bits(self) -> u32 {
        match self {
            PlainForm::Short(decimal) => 1 + 1 + 3 + 5 + decimal.size().saturating_sub(1),
            PlainForm::Single => 2 + 32,
            PlainForm::Long(decimal) => 3 + 1 + 4 + 6 + decimal.size().saturating_sub(1),
            PlainForm::Double => 3 + 64,
        }
    }
}

impl Shortest {
    /// Returns `None` if the float has too many places or digits, or is not finite.
    fn of(f: f64) -> Option<Shortest> {
        let (digits, exponent) = shortest(f)?;
        let digits = u64::try_from(digits.unsigned_abs()).ok()?;
        let mantissa = match u32::try_from(exponent) {
            Ok(zeros) => digits.checked_mul(10u64.checked_pow(zeros)?)?,
            Err(_) => digits,
        };
        let places = u32::try_from(-exponent).unwrap_or(0);
        let negative = f.is_sign_negative();
        (places <= MAX_PLACES && mantissa < 1 << 63).then_some(Shortest { negative, places, mantissa })
    }

    /// Returns the number of significant bits of the mantissa.
    fn size(self) -> u32 {
        u64::BITS - self.mantissa.leading_zeros()
    }

    /// Returns whether a plain or coded body has this decimal.
    fn is_plain(&self) -> bool {
        self.places <= PLAIN_PLACES && self.mantissa < PLAIN_MANTISSAS
    }

    fn is_short(self) -> bool {
        u64::from(self.places) < SHORT_PLACES && u64::from(self.size()) < SHORT_SIZES
    }

    /// Returns the float, if this is its shortest text.
    fn to_float(self) -> Option<f64> {
        let f: f64 = format!("{}e-{}", self.mantissa, self.places).parse().ok()?;
        let f = if self.negative { -f } else { f };
        (Shortest::of(f) == Some(self)).then_some(f)
    }
}

pub(super) fn carries(value: &Value) -> bool {
    exact(value).is_ok()
}

/// Returns the binary float that holds a number exactly.
fn exact(value: &Value) -> Result<f64, Error> {
    let f = match *value {
        Value::U64(n) => n as f64,
        Value::I64(n) => n as f64,
        Value::F64(f) => f,
        _ => return Err(Error::new(Kind::Type, 0, format!("a number in {}", value.type_name()))),
    };
    if !f.is_finite() || Value::F64(f) != *value {
        return Err(Error::new(Kind::Range, 0, "a number that is not finite, or not exact as a binary64"));
    }
    Ok(f)
}

/// The bits of a float in a plain body: a zero, and a binary64.
pub(super) const BITS: Bits = Bits { min: 10, max: Some(67) };

/// Writes a number as a float. Rejects a number that no binary64 holds exactly.
pub(super) fn write<S: Sink>(node: u32, value: &Value, sink: &mut S) -> Result<(), Error> {
    let f = exact(value)?;
    if S::MODELLED || S::CODED { write_in_three_forms(node, f, sink) } else { write_plain(node, f, sink) }
}

/// Returns the decimal of a float in a modelled or coded body, if it has one there.
fn decimal_of(f: f64, coded: bool) -> Option<Shortest> {
    Shortest::of(f).filter(|decimal| !coded || decimal.is_plain())
}

/// Returns the number of decimal places in a modelled or coded body.
fn place_count(coded: bool) -> u64 {
    if coded { PLACES } else { MODELLED_PLACES }
}

/// Writes a float of a modelled or coded body.
fn write_in_three_forms<S: Sink>(node: u32, f: f64, sink: &mut S) -> Result<(), Error> {
    let [form, sign, places, at] = parts(node);
    if let Some(shortest) = decimal_of(f, S::CODED) {
        sink.index(form, DECIMAL, FORMS)?;
        sink.index(sign, shortest.negative.into(), 2)?;
        sink.index(places, shortest.places.into(), place_count(S::CODED))?;
        return sink.sized(at, shortest.mantissa);
    }
    sink.index(form, if is_single(f) { 1 } else { 2 }, FORMS)?;
    if is_single(f) { sink.raw(at, (f as f32).to_bits().into(), 32) } else { sink.raw(at, f.to_bits(), 64) }
}

fn write_plain<S: Sink>(node: u32, f: f64, sink: &mut S) -> Result<(), Error> {
    let [form, sign, places, at] = parts(node);
    match PlainForm::of(f) {
        PlainForm::Short(decimal) => {
            sink.index(form, 0, 2)?;
            sink.index(sign, decimal.negative.into(), 2)?;
            sink.index(places, decimal.places.into(), SHORT_PLACES)?;
            sink.index(at, decimal.size().into(), SHORT_SIZES)?;
            let rest = decimal.size().saturating_sub(1);
            sink.raw(at, decimal.mantissa & ((1 << rest) - 1), rest)
        }
        PlainForm::Single => {
            sink.index(form, 0b10, 4)?;
            sink.raw(at, (f as f32).to_bits().into(), 32)
        }
        PlainForm::Long(decimal) => {
            sink.index(form, 0b110, 8)?;
            sink.index(sign, decimal.negative.into(), 2)?;
            sink.index(places, decimal.places.into(), PLACES)?;
            sink.sized(at, decimal.mantissa)
        }
        PlainForm::Double => {
            sink.index(form, 0b111, 8)?;
            sink.raw(at, f.to_bits(), 64)
        }
    }
}

/// Reads a float. Rejects one in any other form than that of the writer.
pub(super) fn read<S: Source>(node: u32, source: &mut S) -> Result<f64, Error> {
    if S::MODELLED || S::CODED {
        return source
            .read_other(|source| read_three_forms(node, source), |f, plain| write_plain(node, *f, plain));
    }
    let offset = source.offset();
    let (form, f) = read_plain(node, source, offset)?;
    if PlainForm::of(f) == form { Ok(f) } else { Err(other_form(offset)) }
}

/// Reads a float of a modelled or coded body.
fn read_three_forms<S: Source>(node: u32, source: &mut S) -> Result<f64, Error> {
    let offset = source.offset();
    match source.index(parts(node)[0], FORMS)? {
        DECIMAL => {
            let decimal = read_decimal(node, source, place_count(S::CODED), Source::sized)?;
            let known = Some(decimal).filter(|decimal| !S::CODED || decimal.is_plain());
            known.and_then(Shortest::to_float).ok_or_else(|| other_form(offset))
        }
        form => {
            let f = read_binary(node, source, form as u32 * 32, offset)?;
            let shorter = form == 2 && is_single(f) || decimal_of(f, S::CODED).is_some();
            if shorter { Err(other_form(offset)) } else { Ok(f) }
        }
    }
}

/// Reads a float in whichever form a plain body has it. A decimal that is not the shortest text of its float is `malformed`.
fn read_plain<S: Source>(node: u32, source: &mut S, offset: usize) -> Result<(PlainForm, f64), Error> {
    let form = parts(node)[0];
    if source.index(form, 2)? == 0 {
        let decimal = read_decimal(node, source, SHORT_PLACES, |source, at| {
            Ok(match source.index(at, SHORT_SIZES)? as u32 {
                0 => 0,
                size => 1 << (size - 1) | source.raw(at, size - 1)?,
            })
        })?;
        let f = decimal.to_float().ok_or_else(|| other_form(offset))?;
        return Ok((PlainForm::Short(decimal), f));
    }
    if source.index(form, 2)? == 0 {
        return Ok((PlainForm::Single, read_binary(node, source, 32, offset)?));
    }
    if source.index(form, 2)? == 1 {
        return Ok((PlainForm::Double, read_binary(node, source, 64, offset)?));
    }
    let decimal = read_decimal(node, source, PLACES, Source::sized)?;
    let f = decimal.to_float().ok_or_else(|| other_form(offset))?;
    Ok((PlainForm::Long(decimal), f))
}

fn read_binary<S: Source>(node: u32, source: &mut S, bits: u32, offset: usize) -> Result<f64, Error> {
    let raw = source.raw(parts(node)[3], bits)?;
    let f = if bits == 32 { f64::from(f32::from_bits(raw as u32)) } else { f64::from_bits(raw) };
    if f.is_finite() { Ok(f) } else { Err(Error::new(Kind::Range, offset, "a number that is not finite")) }
}

fn read_decimal<S: Source>(
    node: u32,
    source: &mut S,
    place_count: u64,
    read_mantissa: impl FnOnce(&mut S, At) -> Result<u64, Error>,
) -> Result<Shortest, Error> {
    let [_, sign, places, at] = parts(node);
    let negative = source.index(sign, 2)? == 1;
    let places = source.index(places, place_count)? as u32;
    Ok(Shortest { negative, places, mantissa: read_mantissa(source, at)? })
}

/// Returns the parts of a float: form, sign, places and value.
fn parts(node: u32) -> [At; 4] {
    [Part::Form, Part::Sign, Part::Places, Part::Value].map(|part| At { node, part })
}

fn other_form(offset: usize) -> Error {
    Error::new(Kind::Malformed, offset, "a float that has another, shorter form")
}

/// Returns whether binary32 holds `f` exactly.
fn is_single(f: f64) -> bool {
    f64::from(f as f32).to_bits() == f.to_bits()
}

pub(super) fn leaves(node: u32, leaves: &mut Leaves) {
    leaves.index(node, Part::Form, 0, FORMS);
    leaves.index(node, Part::Sign, 0, 2);
    leaves.index(node, Part::Places, 0, PLACES);
    leaves.opaque(node, Part::Value, 0);
}

pub(super) fn expected(node: u32, times: expected::Times, walk: &mut expected::Walk<'_>) {
    let form = walk.index(node, Part::Form, 0, FORMS, times);
    let decimal = times.by(1.0 - walk.from(form, FORMS, 1), 1.0);
    walk.index(node, Part::Sign, 0, 2, decimal);
    walk.index(node, Part::Places, 0, PLACES, decimal);
    walk.unknown(node, 0, Bits { min: 0, max: Some(u64::BITS.into()) }, times);
}

pub(super) fn explain() -> Words {
    let why = "decimal, binary32 or binary64; multipleOf, minimum and maximum would make it a number";
    Words::says("any float", why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The decimal of `f` as devices find it: the fewest places with which a division of whole numbers gives `f`.
    fn divided(f: f64) -> Option<(u32, u64)> {
        (0..=PLAIN_PLACES).find_map(|places| {
            let power = 10f64.powi(places as i32);
            let mantissa = (f.abs() * power).round();
            let found = mantissa < PLAIN_MANTISSAS as f64 && mantissa / power == f.abs();
            found.then_some((places, mantissa as u64))
        })
    }

    fn decimal(f: f64) -> Option<(u32, u64)> {
        Shortest::of(f)
            .filter(|d| d.places <= PLAIN_PLACES && d.mantissa < PLAIN_MANTISSAS)
            .map(|d| (d.places, d.mantissa))
    }

    proptest! {
        #[test]
        fn the_shortest_text_is_the_first_exact_division(bits: u64, mantissa in 0u64..1 << 50, places in 0i32..16) {
            for f in [f64::from_bits(bits), mantissa as f64 / 10f64.powi(places)] {
                if f.is_finite() {
                    prop_assert_eq!(divided(f), decimal(f), "{}", f);
                    prop_assert_eq!(divided((f as f32).into()), decimal((f as f32).into()), "{}", f as f32);
                }
            }
        }

        /// A device whose `double` has 32 bits needs no division: a decimal of binary32 has as many places as bits after the point.
        #[test]
        fn a_decimal_of_binary32_is_exact(mantissa in 0u32..1 << 24, exponent in 0i32..60) {
            let f = f64::from(mantissa) / 2f64.powi(exponent);
            if let Some((places, found)) = decimal(f) {
                let odd = mantissa.checked_shr(mantissa.trailing_zeros()).unwrap_or(0);
                let bits = (exponent - mantissa.trailing_zeros() as i32).max(0);
                prop_assert_eq!(places as i32, if odd == 0 { 0 } else { bits });
                prop_assert_eq!(found as f64 / 10f64.powi(places as i32), f);
                prop_assert_eq!(u128::from(found) << places, (f * 2f64.powi(places as i32)) as u128 * 10u128.pow(places));
            }
        }
    }
}
