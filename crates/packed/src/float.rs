//! Binary floats: binary32 or binary64 in plain bodies, and also decimal in modelled ones.

use crate::Error;
use crate::wire::{At, Part, Sink, Source};
use dunnage_pson::{Kind, Value};

/// The shortest decimal text of a float: the mantissa times 10^-`places`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Shortest {
    negative: bool,
    places: u32,
    mantissa: u64,
}

/// The maximum number of decimal places.
const MAX_PLACES: u32 = 15;
const DECIMAL: u64 = 0;
const FORMS: u64 = 3;
/// The number of forms in a plain body.
pub(crate) const PLAIN_FORMS: u64 = 2;

impl Shortest {
    /// Returns `None` if the float has too many places or digits, or is not finite.
    fn of(f: f64) -> Option<Shortest> {
        let text = format!("{f:e}");
        let (digits, exponent) = text.split_once('e')?;
        let negative = digits.starts_with('-');
        let digits = digits.trim_start_matches('-');
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all: u64 = format!("{whole}{fraction}").parse().ok()?;
        // The number of digits behind the decimal point.
        let places = fraction.len() as i32 - exponent.parse::<i32>().ok()?;
        let mantissa = match u32::try_from(-places) {
            Ok(zeros) => all.checked_mul(10u64.checked_pow(zeros)?)?,
            Err(_) => all,
        };
        let places = u32::try_from(places).unwrap_or(0);
        (places <= MAX_PLACES && mantissa < 1 << 63).then_some(Shortest { negative, places, mantissa })
    }

    /// Returns the float, if this is its shortest text.
    fn to_float(self) -> Option<f64> {
        let f: f64 = format!("{}e-{}", self.mantissa, self.places).parse().ok()?;
        let f = if self.negative { -f } else { f };
        (Shortest::of(f) == Some(self)).then_some(f)
    }
}

/// Returns the binary float that holds a number exactly.
pub(crate) fn exact(value: &Value) -> Result<f64, Error> {
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

/// Writes a number as a binary float. Rejects a number that no binary64 holds exactly.
pub(crate) fn write<S: Sink>(node: u32, value: &Value, sink: &mut S) -> Result<(), Error> {
    let f = exact(value)?;
    let form = At { node, part: Part::Form };
    if S::MODELLED {
        if let Some(shortest) = Shortest::of(f) {
            sink.index(form, DECIMAL, FORMS)?;
            sink.index(At { node, part: Part::Sign }, shortest.negative.into(), 2)?;
            sink.index(At { node, part: Part::Places }, shortest.places.into(), 16)?;
            return sink.sized(At { node, part: Part::Value }, shortest.mantissa);
        }
        sink.index(form, if is_single(f) { 1 } else { 2 }, FORMS)?;
    } else {
        sink.index(form, u64::from(!is_single(f)), 2)?;
    }
    let at = At { node, part: Part::Value };
    if is_single(f) { sink.raw(at, (f as f32).to_bits().into(), 32) } else { sink.raw(at, f.to_bits(), 64) }
}

/// Reads a float. Rejects one that has a shorter form.
pub(crate) fn read<S: Source>(node: u32, source: &mut S) -> Result<f64, Error> {
    let offset = source.offset();
    let form = At { node, part: Part::Form };
    let bits = if S::MODELLED {
        match source.index(form, FORMS)? {
            DECIMAL => return decimal(node, source, offset),
            form => form * 32,
        }
    } else {
        (1 + source.index(form, 2)?) * 32
    };
    let raw = source.raw(At { node, part: Part::Value }, bits as u32)?;
    let f = if bits == 32 { f64::from(f32::from_bits(raw as u32)) } else { f64::from_bits(raw) };
    if !f.is_finite() {
        return Err(Error::new(Kind::Range, offset, "a number that is not finite"));
    }
    let shorter = bits == 64 && is_single(f) || S::MODELLED && Shortest::of(f).is_some();
    if shorter { Err(longer(offset)) } else { Ok(f) }
}

fn decimal<S: Source>(node: u32, source: &mut S, offset: usize) -> Result<f64, Error> {
    let negative = source.index(At { node, part: Part::Sign }, 2)? == 1;
    let places = source.index(At { node, part: Part::Places }, 16)? as u32;
    let mantissa = source.sized(At { node, part: Part::Value })?;
    Shortest { negative, places, mantissa }.to_float().ok_or_else(|| longer(offset))
}

fn longer(offset: usize) -> Error {
    Error::new(Kind::Malformed, offset, "a float that has a shorter form")
}

/// Returns whether binary32 holds `f` exactly.
fn is_single(f: f64) -> bool {
    f64::from(f as f32).to_bits() == f.to_bits()
}
