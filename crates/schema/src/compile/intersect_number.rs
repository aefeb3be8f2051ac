//! Intersects number types.

use super::number::gcd;
use crate::{
    Decimal, Float, Integer, Type,
    exact::{Exact, Round},
};

/// Returns the type of the numbers that both types allow; `Ok(None)` if there are none. `Err` means that no single type has exactly these
/// numbers, so that the caller has to keep both.
pub(super) fn intersect(a: &Type, b: &Type) -> Result<Option<Type>, ()> {
    match (a, b) {
        (Type::Integer(a), Type::Integer(b)) => integers(a, b).map(|n| n.map(Type::Integer)),
        (Type::Decimal(a), Type::Decimal(b)) => decimals(a, b).map(|n| n.map(Type::Decimal)),
        (Type::Float(a), Type::Float(b)) => Ok(floats(a, b)),
        (Type::Integer(n), Type::Float(f)) | (Type::Float(f), Type::Integer(n)) => {
            let (min, max) = within(f, 0, n.step, (n.min, n.max))?;
            Ok((min <= max)
                .then(|| Type::Integer(Integer { min, max, usual: clip(n.usual, min, max), ..n.clone() })))
        }
        (Type::Decimal(n), Type::Float(f)) | (Type::Float(f), Type::Decimal(n)) if n.quantum.is_none() => {
            let (min, max) = within(f, n.places, n.step, (n.min, n.max))?;
            Ok((min <= max)
                .then(|| Type::Decimal(Decimal { min, max, usual: clip(n.usual, min, max), ..n.clone() })))
        }
        (Type::Integer(n), Type::Decimal(d)) | (Type::Decimal(d), Type::Integer(n))
            if d.quantum.is_none() =>
        {
            whole(n, d).map(|n| n.map(Type::Integer))
        }
        _ => Err(()),
    }
}

fn integers(a: &Integer, b: &Integer) -> Result<Option<Integer>, ()> {
    let step = lcm(a.step, b.step).ok_or(())?;
    let (min, max) = inwards(a.min.max(b.min), a.max.min(b.max), step);
    let usual = clip(a.usual.or(b.usual), min, max).filter(|usual| inwards(usual.0, usual.1, step) == *usual);
    let every = a.every.or(b.every).filter(|every| every.is_multiple_of(step));
    let changes = a.changes.or(b.changes).filter(|_| every.is_none());
    Ok((min <= max).then_some(Integer { min, max, step, usual, every, changes }))
}

fn decimals(a: &Decimal, b: &Decimal) -> Result<Option<Decimal>, ()> {
    if a.quantum.is_some() || b.quantum.is_some() {
        return Err(());
    }
    let places = a.places.max(b.places);
    let unit = |n: &Decimal| 10u64.checked_pow(places - n.places).ok_or(());
    let (of_a, of_b) = (unit(a)?, unit(b)?);
    let step = |n: &Decimal, unit: u64| n.step.checked_mul(unit).ok_or(());
    let step = lcm(step(a, of_a)?, step(b, of_b)?).ok_or(())?;
    let scaled = |n: i128, unit: u64| n.checked_mul(i128::from(unit)).ok_or(());
    let min = scaled(a.min, of_a)?.max(scaled(b.min, of_b)?).max(i64::MIN.into());
    let max = scaled(a.max, of_a)?.min(scaled(b.max, of_b)?).min(i64::MAX.into());
    let (min, max) = inwards(min, max, step);
    let usual = |n: &Decimal, unit| {
        let (low, high) = n.usual?;
        Some((scaled(low, unit).ok()?, scaled(high, unit).ok()?))
    };
    let usual = usual(a, of_a).or_else(|| usual(b, of_b));
    let usual = clip(usual, min, max).filter(|usual| inwards(usual.0, usual.1, step) == *usual);
    let changes = |n: &Decimal, unit: u64| n.changes?.checked_mul(u32::try_from(unit).ok()?);
    let changes = changes(a, of_a).or_else(|| changes(b, of_b));
    let round = a.round && b.round;
    Ok((min <= max)
        .then(|| shortened(Decimal { places, step, min, max, usual, quantum: None, round, changes })))
}

/// Returns the same numbers with the fewest decimals.
fn shortened(mut n: Decimal) -> Decimal {
    while n.places > 0 && n.step.is_multiple_of(10) {
        n.places -= 1;
        n.step /= 10;
        (n.min, n.max) = (n.min / 10, n.max / 10);
        n.usual = n.usual.map(|(low, high)| (low / 10, high / 10));
        n.changes = n.changes.map(|changes| changes / 10);
    }
    n
}

/// Returns the whole numbers of `n` that are also in `d`.
fn whole(n: &Integer, d: &Decimal) -> Result<Option<Integer>, ()> {
    let unit = 10u64.checked_pow(d.places).ok_or(())?;
    // The whole multiples of a/b, in lowest terms, are the multiples of a.
    let step = lcm(n.step, d.step / gcd(d.step, unit)).ok_or(())?;
    let unit = i128::from(unit);
    let (low, high) = (-(-d.min).div_euclid(unit), d.max.div_euclid(unit));
    let (min, max) = inwards(n.min.max(low), n.max.min(high), step);
    let usual = clip(n.usual, min, max).filter(|usual| inwards(usual.0, usual.1, step) == *usual);
    let every = n.every.filter(|every| every.is_multiple_of(step));
    Ok((min <= max).then_some(Integer { min, max, step, usual, every, changes: n.changes }))
}

fn floats(a: &Float, b: &Float) -> Option<Type> {
    let tighter = |a: Option<f64>, b: Option<f64>, pick: fn(f64, f64) -> f64| match (a, b) {
        (Some(a), Some(b)) => Some(pick(a, b)),
        (a, b) => a.or(b),
    };
    let (min, max) = (tighter(a.min, b.min, f64::max), tighter(a.max, b.max, f64::min));
    let is_empty = min.zip(max).is_some_and(|(min, max)| min > max);
    (!is_empty).then_some(Type::Float(Float { min, max }))
}

/// Returns the part of a range, in units of 10^-`places`, that lies within the float's bounds.
fn within(f: &Float, places: u32, step: u64, range: (i128, i128)) -> Result<(i128, i128), ()> {
    let bound = |bound: Option<f64>, round, beyond: i128| match bound {
        None => Ok(None),
        Some(f) => {
            let exact = Exact::shortest(f).ok_or(())?;
            // A bound that does not fit lies beyond every range.
            let far = if f < 0.0 { -beyond } else { beyond };
            Ok(Some(exact.scaled_towards(places, round).unwrap_or(far)))
        }
    };
    let far = i128::from(u64::MAX) * 2;
    let min = bound(f.min, Round::Up, far)?.map_or(range.0, |min| min.max(range.0));
    let max = bound(f.max, Round::Down, far)?.map_or(range.1, |max| max.min(range.1));
    Ok(inwards(min, max, step))
}

/// Returns the first and last multiple of `step` in the range.
fn inwards(min: i128, max: i128, step: u64) -> (i128, i128) {
    let step = i128::from(step);
    (-(-min).div_euclid(step) * step, max.div_euclid(step) * step)
}

/// Returns the part of the usual range that is left; `None` if it is empty or equals the whole range.
fn clip(usual: Option<(i128, i128)>, min: i128, max: i128) -> Option<(i128, i128)> {
    let (low, high) = usual?;
    let clipped = (low.max(min), high.min(max));
    (clipped.0 <= clipped.1 && clipped != (min, max)).then_some(clipped)
}

fn lcm(a: u64, b: u64) -> Option<u64> {
    (a / gcd(a, b)).checked_mul(b)
}
