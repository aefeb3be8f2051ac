//! Compiles the properties of a sensor's numbers: `x-dunnage-quantum` and `x-dunnage-usual`, or `quantum` and `usual` of numbers in text.

use super::{Schema, bound::bound};
use crate::{
    Decimal, Integer, Quantum, SchemaError,
    exact::{Exact, Round},
};

/// The most decimal places of a quantum.
const MAX_PLACES: u32 = 18;
/// The largest amount by which a number may grow from message to message.
const MAX_EVERY: u64 = 1 << 40;

/// Restricts `number` to the multiples of the quantum under `keyword`, and narrows its range to them.
pub(super) fn quantum(schema: &Schema<'_>, keyword: &str, number: &mut Decimal) -> Result<(), SchemaError> {
    let Some(exact) = bound(schema, keyword)? else { return Ok(()) };
    if !exact.is_positive() {
        return Err(schema.error(keyword, format!("{keyword} must be above 0")));
    }
    if number.step != 1 {
        return Err(
            schema.error("multipleOf", format!("multipleOf beside {keyword} must be 1, 0.1, 0.01 and so on"))
        );
    }
    let places = exact.places().max(number.places);
    let mantissa = exact.scaled(places.min(MAX_PLACES)).and_then(|mantissa| u64::try_from(mantissa).ok());
    let Some(mantissa) = mantissa.filter(|_| places <= MAX_PLACES) else {
        return Err(schema
            .error(keyword, format!("{keyword} must have at most {MAX_PLACES} decimals and fit 64 bits")));
    };
    if i128::from(mantissa) <= 10i128.saturating_pow(places - number.places) {
        return Err(schema.error(keyword, format!("{keyword} must be larger than multipleOf")));
    }
    number.quantum = Some(Quantum { mantissa, places });
    let (first, last) = number.counts();
    if first > last {
        return Err(
            schema.error(keyword, format!("no multiple of {keyword} lies between minimum and maximum"))
        );
    }
    (number.min, number.max) = (number.of_count(first), number.of_count(last));
    Ok(())
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
    let every = every.filter(|every| *every > 0 && *every <= MAX_EVERY && every % step == 0);
    every.map(Some).ok_or_else(|| {
        schema.error(
            keyword,
            format!("{keyword} must be above 0, a multiple of the smallest step and below 2^40 of them"),
        )
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
            let error = schema.error(keyword, format!("{keyword} must lie between minimum and maximum"));
            return Err(error.below(member));
        }
    }
    Ok((usual != whole).then_some(usual))
}
