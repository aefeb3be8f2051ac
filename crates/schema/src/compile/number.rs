//! Compiles `integer` and `number`, with bounds and steps as scaled integers.

use super::{
    Schema,
    bound::{bound, says_excluded},
    sensor,
};
use crate::{Decimal, Float, Integer, SchemaError, Type, exact::Round, parse::Node};

/// The most decimal places.
const MAX_PLACES: u32 = 18;
const UNSIGNED_MAX: i128 = u64::MAX as i128;
const SIGNED: (i128, i128) = (i64::MIN as i128, i64::MAX as i128);

/// Compiles the type `integer`.
pub(super) fn integer(schema: &Schema<'_>) -> Result<Type, SchemaError> {
    let step = match multiple_of(schema)? {
        None => 1,
        // The whole multiples of a/b, in lowest terms, are the multiples of a.
        Some((step, places)) => step / gcd(step, 10u64.saturating_pow(places)),
    };
    let (min, max) = bounds(schema, 0, step, (SIGNED.0, UNSIGNED_MAX))?;
    if let Some(keyword) =
        ["x-dunnage-quantum", "x-dunnage-round"].into_iter().find(|k| schema.get(k).is_some())
    {
        return Err(schema.error(keyword, format!("{keyword} belongs to the type number")));
    }
    let every = sensor::every(schema, "x-dunnage-every", 0, step)?;
    let changes = sensor::changes(schema, "x-dunnage-changes", 0)?;
    if every.and(changes).is_some() {
        let message =
            "x-dunnage-changes and x-dunnage-every are two ways to say how the number changes: use one";
        return Err(schema.error("x-dunnage-changes", message));
    }
    let mut number = Integer { min, max, step, usual: None, every, changes };
    sensor::usual_integer(schema, "x-dunnage-usual", &mut number)?;
    Ok(Type::Integer(number))
}

/// Compiles the type `number`: a scaled integer with `multipleOf`, a binary float without.
pub(super) fn number(schema: &Schema<'_>) -> Result<Type, SchemaError> {
    if schema.get("x-dunnage-every").is_some() {
        return Err(schema.error("x-dunnage-every", "x-dunnage-every belongs to the type integer"));
    }
    if schema.get("multipleOf").is_some() {
        let mut number = decimal(schema, ["x-dunnage-quantum", "x-dunnage-usual", "x-dunnage-changes"])?;
        number.round = round(schema)?;
        return Ok(Type::Decimal(number));
    }
    if let Some(keyword) = ["x-dunnage-quantum", "x-dunnage-usual", "x-dunnage-round", "x-dunnage-changes"]
        .into_iter()
        .find(|k| schema.get(k).is_some())
    {
        return Err(schema.error(keyword, format!("{keyword} needs multipleOf")));
    }
    float(schema).map(Type::Float)
}

/// Returns whether other numbers are rounded to the nearest one.
fn round(schema: &Schema<'_>) -> Result<bool, SchemaError> {
    match schema.get("x-dunnage-round") {
        None => Ok(false),
        Some(Node::Bool(round)) => Ok(*round),
        Some(_) => Err(schema.error("x-dunnage-round", "x-dunnage-round must be true or false")),
    }
}

/// Compiles a number with `multipleOf`. The names are those of the keywords for the quantum, the usual range and the usual change.
pub(super) fn decimal(
    schema: &Schema<'_>,
    [quantum, usual, changes]: [&str; 3],
) -> Result<Decimal, SchemaError> {
    let Some((step, places)) = multiple_of(schema)? else {
        return Err(schema.error("multipleOf", "multipleOf is missing"));
    };
    let (min, max) = bounds(schema, places, step, SIGNED)?;
    let changes = sensor::changes(schema, changes, places)?;
    let mut number = Decimal { places, step, min, max, usual: None, quantum: None, round: false, changes };
    sensor::quantum(schema, quantum, &mut number)?;
    sensor::usual_decimal(schema, usual, &mut number)?;
    Ok(number)
}

/// The keywords for bounds: the name, whether it is the lower bound, and whether the bound itself is excluded.
const BOUNDS: [(&str, bool, bool); 4] = [
    ("minimum", true, false),
    ("exclusiveMinimum", true, true),
    ("maximum", false, false),
    ("exclusiveMaximum", false, true),
];

/// Whether a boolean of draft-04 excludes the bound of this keyword.
fn is_excluded(schema: &Schema<'_>, keyword: &str) -> bool {
    let by = if keyword == "minimum" { "exclusiveMinimum" } else { "exclusiveMaximum" };
    says_excluded(schema, by) && schema.get(by) == Some(&Node::Bool(true))
}

/// Returns `multipleOf` as a step and decimal places: 5 and 2 for 0.05.
fn multiple_of(schema: &Schema<'_>) -> Result<Option<(u64, u32)>, SchemaError> {
    let Some(multiple) = bound(schema, "multipleOf")? else { return Ok(None) };
    if !multiple.is_positive() {
        return Err(schema.error("multipleOf", "multipleOf must be above 0"));
    }
    let places = multiple.places();
    let step = multiple.scaled(places.min(MAX_PLACES)).and_then(|step| u64::try_from(step).ok());
    let step = step.filter(|_| places <= MAX_PLACES);
    step.map(|step| Some((step, places))).ok_or_else(|| {
        let message = format!("multipleOf must have at most {MAX_PLACES} decimals and fit 64 bits");
        schema.error("multipleOf", message)
    })
}

/// Returns the first and last multiple of `step` within the schema's bounds, in units of 10^-`places`.
fn bounds(
    schema: &Schema<'_>,
    places: u32,
    step: u64,
    limits: (i128, i128),
) -> Result<(i128, i128), SchemaError> {
    let (mut min, mut max) = limits;
    let mut lowest = "multipleOf";
    for (keyword, is_low, excluded) in BOUNDS {
        let Some(exact) = bound(schema, keyword)? else { continue };
        let excluded = excluded || is_excluded(schema, keyword);
        // Round an inclusive bound into the range; round an excluded bound out of it and move one unit in.
        let round = if is_low == excluded { Round::Down } else { Round::Up };
        let off = i128::from(excluded) * if is_low { 1 } else { -1 };
        let n = exact.scaled_towards(places, round).map(|n| n + off);
        // A bound that does not fit 128 bits is beyond all numbers on its side.
        let n = n.unwrap_or(if exact.is_positive() { i128::MAX } else { i128::MIN });
        if is_low && n > limits.1 || !is_low && n < limits.0 {
            let message =
                format!("{keyword} leaves no number that fits 64 bits in units of multipleOf's last decimal");
            return Err(schema.error(keyword, message));
        }
        if is_low {
            min = min.max(n);
            lowest = keyword;
        } else {
            max = max.min(n);
        }
    }
    if min > max {
        return Err(schema.error(lowest, format!("{lowest} leaves no number below the maximum")));
    }
    let step = i128::from(step);
    let (first, last) = (-(-min).div_euclid(step) * step, max.div_euclid(step) * step);
    if first > last {
        return Err(schema.error("multipleOf", "no multiple of multipleOf lies between minimum and maximum"));
    }
    Ok((first, last))
}

/// Compiles a number without `multipleOf`.
fn float(schema: &Schema<'_>) -> Result<Float, SchemaError> {
    let at = |keyword: &str| -> Result<Option<f64>, SchemaError> {
        let Some(Node::Number(text)) = schema.get(keyword) else {
            return bound(schema, keyword).map(|_| None);
        };
        let f = text.parse::<f64>().ok().filter(|f| f.is_finite());
        f.map(Some).ok_or_else(|| schema.error(keyword, format!("{keyword} is beyond binary64")))
    };
    let tighter = |a: Option<f64>, b: Option<f64>, pick: fn(f64, f64) -> f64| match (a, b) {
        (Some(a), Some(b)) => Some(pick(a, b)),
        (a, b) => a.or(b),
    };
    let inside = |keyword: &str, f: f64| match is_excluded(schema, keyword) {
        false => f,
        true if keyword == "minimum" => f.next_up(),
        true => f.next_down(),
    };
    let least = at("minimum")?.map(|f| inside("minimum", f));
    let most = at("maximum")?.map(|f| inside("maximum", f));
    let min = tighter(least, at("exclusiveMinimum")?.map(f64::next_up), f64::max);
    let max = tighter(most, at("exclusiveMaximum")?.map(f64::next_down), f64::min);
    if let (Some(low), Some(high)) = (min, max)
        && low > high
    {
        let keyword = if schema.get("minimum").is_some() { "minimum" } else { "exclusiveMinimum" };
        return Err(schema.error(keyword, format!("{keyword} leaves no number below the maximum")));
    }
    Ok(Float { min, max })
}

/// Returns the greatest common divisor.
pub(super) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
