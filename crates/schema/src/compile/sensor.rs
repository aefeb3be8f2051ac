//! Compiles the properties of a sensor's numbers: `x-dunnage-quantum` and `x-dunnage-usual`, or `quantum` and `usual` of numbers in text.

use super::{Schema, bound::bound};
use crate::{
    Decimal, Integer, Quantum, SchemaError,
    exact::{Exact, Round},
    parse::Node,
};
use std::num::NonZeroU32;

/// The most decimal places of a quantum.
const MAX_PLACES: u32 = 18;
/// A number grows from one message to the next by fewer steps than this.
const MAX_EVERY: u64 = 1 << 40;
/// Products in the arithmetic of counts stay below this.
const MAX_PRODUCT: i128 = 1 << 125;

/// Restricts `number` to the values of the quantum under `keyword`, and narrows its range to them.
pub(super) fn quantum(schema: &Schema<'_>, keyword: &str, number: &mut Decimal) -> Result<(), SchemaError> {
    let Some((value, divisor, offset)) = parts(schema, keyword)? else { return Ok(()) };
    if !value.is_positive() {
        return Err(schema.error(keyword, format!("{keyword} must be above 0")));
    }
    if number.step != 1 {
        return Err(
            schema.error("multipleOf", format!("multipleOf beside {keyword} must be 1, 0.1, 0.01 and so on"))
        );
    }
    let places = value.places().max(offset.places()).max(number.places);
    let scaled = |exact: Exact| exact.scaled(places.min(MAX_PLACES));
    let mantissa = scaled(value).and_then(|mantissa| u64::try_from(mantissa).ok());
    let offset = scaled(offset).and_then(|offset| i64::try_from(offset).ok());
    let (Some(mantissa), Some(offset), true) = (mantissa, offset, places <= MAX_PLACES) else {
        return Err(schema
            .error(keyword, format!("{keyword} must have at most {MAX_PLACES} decimals and fit 64 bits")));
    };
    let unit = 10i128.pow(places - number.places) * i128::from(divisor.get());
    if i128::from(mantissa) < unit {
        let message = format!(
            "{keyword} must be at least multipleOf, so that each number has one count: use a smaller multipleOf"
        );
        return Err(schema.error(keyword, message));
    }
    let most = number.min.abs().max(number.max.abs());
    if divisor > NonZeroU32::MIN && most.checked_mul(unit).is_none_or(|product| product > MAX_PRODUCT) {
        let message = format!("{keyword} has too many digits for the range: narrow minimum and maximum");
        return Err(schema.error(keyword, message));
    }
    number.quantum = Some(Quantum { mantissa, places, divisor, offset });
    let (first, last) = number.counts();
    if first < i64::MIN.into() || last > i64::MAX.into() {
        let message = format!("{keyword} has counts beyond 64 bits: narrow minimum and maximum");
        return Err(schema.error(keyword, message));
    }
    if first > last {
        return Err(
            schema.error(keyword, format!("no multiple of {keyword} lies between minimum and maximum"))
        );
    }
    (number.min, number.max) = (number.of_count(first), number.of_count(last));
    Ok(())
}

/// Returns the value, the divisor and the offset of a quantum, which is a number or an object.
fn parts(schema: &Schema<'_>, keyword: &str) -> Result<Option<(Exact, NonZeroU32, Exact)>, SchemaError> {
    let zero = Exact::ZERO;
    let Some(node @ Node::Object(_)) = schema.get(keyword) else {
        return Ok(bound(schema, keyword)?.map(|value| (value, NonZeroU32::MIN, zero)));
    };
    let inner = Schema { node, at: schema.below(keyword), ..*schema };
    inner.check_members(&["value", "divisor", "offset"])?;
    let value = bound(&inner, "value")?.ok_or_else(|| inner.error("value", "value is missing"))?;
    let divisor = bound(&inner, "divisor")?.map_or(Some(1), |divisor| divisor.scaled(0));
    let divisor = divisor.and_then(|divisor| NonZeroU32::new(u32::try_from(divisor).ok()?));
    let divisor = divisor.ok_or_else(|| {
        inner.error("divisor", format!("divisor must be a whole number from 1 to {}", u32::MAX))
    })?;
    Ok(Some((value, divisor, bound(&inner, "offset")?.unwrap_or(zero))))
}

/// Sets the usual range of a decimal.
pub(super) fn usual_decimal(
    schema: &Schema<'_>,
    keyword: &str,
    number: &mut Decimal,
) -> Result<(), SchemaError> {
    let Some((low, high)) = range(schema, keyword, number.places)? else { return Ok(()) };
    let (first, last) = number.counts_within(low, high);
    let usual = (number.of_count(first), number.of_count(last));
    number.usual = inside(schema, keyword, usual, (number.min, number.max))?;
    Ok(())
}

/// Sets the usual range of a whole number.
pub(super) fn usual_integer(
    schema: &Schema<'_>,
    keyword: &str,
    number: &mut Integer,
) -> Result<(), SchemaError> {
    let Some((low, high)) = range(schema, keyword, 0)? else { return Ok(()) };
    let step = i128::from(number.step);
    let usual = (-(-low).div_euclid(step) * step, high.div_euclid(step) * step);
    number.usual = inside(schema, keyword, usual, (number.min, number.max))?;
    Ok(())
}

/// Returns the amount under `keyword` by which a number grows from message to message, in units of 10^-`places`.
pub(super) fn every(
    schema: &Schema<'_>,
    keyword: &str,
    places: u32,
    step: u64,
) -> Result<Option<u64>, SchemaError> {
    let Some(exact) = bound(schema, keyword)? else { return Ok(None) };
    let every = exact.scaled(places).and_then(|every| u64::try_from(every).ok());
    let every = every.filter(|every| *every > 0 && every % step == 0 && every / step < MAX_EVERY);
    every.map(Some).ok_or_else(|| {
        schema.error(
            keyword,
            format!("{keyword} must be above 0, a multiple of the smallest step and below 2^40 of them"),
        )
    })
}

/// Returns the usual change under `keyword`, in units of 10^-`places`.
pub(super) fn changes(schema: &Schema<'_>, keyword: &str, places: u32) -> Result<Option<u32>, SchemaError> {
    let Some(exact) = bound(schema, keyword)? else { return Ok(None) };
    let changes = exact.scaled(places).and_then(|changes| u32::try_from(changes).ok());
    changes.map(Some).ok_or_else(|| {
        let message = format!("{keyword} must be at least 0, have no more decimals than the number, and be below 2^32 in its last place");
        schema.error(keyword, message)
    })
}

/// Returns the range under `keyword` in units of 10^-`places`, rounded inwards.
fn range(schema: &Schema<'_>, keyword: &str, places: u32) -> Result<Option<(i128, i128)>, SchemaError> {
    let Some(node) = schema.get(keyword) else { return Ok(None) };
    let inner = Schema { node, at: schema.below(keyword), ..*schema };
    inner.check_members(&["minimum", "maximum"])?;
    let bound = |name: &str, round| {
        let exact: Option<Exact> = bound(&inner, name)?;
        let exact = exact.ok_or_else(|| inner.error(name, format!("{name} is missing")))?;
        let scaled = exact.scaled_towards(places, round).filter(|n| n.unsigned_abs() <= 1 << 64);
        scaled.ok_or_else(|| inner.error(name, format!("{name} in steps of multipleOf does not fit 64 bits")))
    };
    Ok(Some((bound("minimum", Round::Up)?, bound("maximum", Round::Down)?)))
}

/// Checks that the usual range lies in the whole range. Returns `None` if the two are equal.
fn inside(
    schema: &Schema<'_>,
    keyword: &str,
    usual: (i128, i128),
    whole: (i128, i128),
) -> Result<Option<(i128, i128)>, SchemaError> {
    if usual.0 > usual.1 {
        return Err(schema.error(keyword, format!("{keyword} has no number in it")));
    }
    for (member, outside) in [("minimum", usual.0 < whole.0), ("maximum", usual.1 > whole.1)] {
        if outside {
            let error = schema.error(
                keyword,
                format!("{keyword} must lie between minimum and maximum: narrow it, or leave it out"),
            );
            return Err(error.below(member));
        }
    }
    Ok((usual != whole).then_some(usual))
}
