//! A message against the model. On success nothing is allocated.

use crate::{
    Array, Decimal, Float, Integer, Model, NumberText, NumbersText, Object, Quantum, Text, TimeText, Type,
    Violation, decimal::Flaw,
};
use dunnage_pson::Value;
use std::fmt;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// Most characters of a value that a violation quotes.
const QUOTED: usize = 40;

impl Model {
    /// Whether `message` is one that the schema allows; if not, which value is the first to break it, and how.
    pub fn validate(&self, message: &Value) -> Result<(), Violation> {
        value(&self.root, message)
    }

    /// Whether `kind`, one of this model's types, allows `message`.
    pub fn allows(&self, kind: &Type, message: &Value) -> bool {
        value(kind, message).is_ok()
    }
}

pub(crate) fn accepts(kind: &Type, v: &Value) -> bool {
    value(kind, v).is_ok()
}

pub(crate) fn value(kind: &Type, v: &Value) -> Result<(), Violation> {
    match (kind, v) {
        (Type::Any, _) | (Type::Null, Value::Null) | (Type::Bool, Value::Bool(_)) => Ok(()),
        (Type::Nullable(_), Value::Null) => Ok(()),
        (Type::Nullable(inner) | Type::Known(inner), _) => value(inner, v),
        (Type::Integer(integer), Value::U64(_) | Value::I64(_) | Value::F64(_)) => whole(integer, v),
        (Type::Decimal(decimal), Value::U64(_) | Value::I64(_) | Value::F64(_)) => {
            decimal.check(v).map(|_| ()).map_err(|flaw| scaled_violation(decimal, flaw, &Brief(v)))
        }
        (Type::Float(float), Value::U64(_) | Value::I64(_) | Value::F64(_)) => binary(float, v),
        (Type::Text(text), Value::Text(t)) => plain(text, t),
        (Type::NumberText(number), Value::Text(t)) => number_text(number, t),
        (Type::NumbersText(numbers), Value::Text(t)) => numbers_text(numbers, t),
        (Type::TimeText(time), Value::Text(t)) => time_text(time, t),
        (Type::Enum(values), _) if values.contains(v) => Ok(()),
        (Type::Enum(values), _) => Err(not_in(values, v)),
        (Type::Const(only), _) if only == v => Ok(()),
        (Type::Const(only), _) => Err(Violation::new(format!("{} is not {}", Brief(v), Brief(only)))),
        (Type::Array(array), Value::Array(items)) => elements(array, items),
        (Type::Object(object), Value::Map(entries)) => fields(object, entries),
        _ => Err(Violation::new(format!("{} is not {}", Brief(v), noun(kind)))),
    }
}

fn whole(integer: &Integer, v: &Value) -> Result<(), Violation> {
    let Some(n) = v.as_integer() else {
        return Err(Violation::new(match v {
            Value::F64(f) if *f == 0.0 => "-0.0 is not an integer: its sign would be lost".to_owned(),
            Value::F64(f) if f.fract() == 0.0 => format!("{f:e} does not fit 64 bits"),
            _ => format!("{} is not a whole number", Brief(v)),
        }));
    };
    match integer.flaw(n) {
        None => Ok(()),
        Some(Flaw::Below) => Err(Violation::new(format!("{n} is below the minimum {}", integer.min))),
        Some(Flaw::Above) => Err(Violation::new(format!("{n} is above the maximum {}", integer.max))),
        Some(_) => Err(Violation::new(format!("{n} is not a multiple of {}", integer.step))),
    }
}

fn binary(float: &Float, v: &Value) -> Result<(), Violation> {
    let f = match *v {
        Value::U64(n) => n as f64,
        Value::I64(n) => n as f64,
        Value::F64(f) => f,
        _ => f64::NAN,
    };
    if !f.is_finite() {
        return Err(Violation::new(format!("{} is not a finite number", Brief(v))));
    }
    if Value::F64(f) != *v && f != 0.0 {
        return Err(Violation::new(format!("{} is not exact as a binary64", Brief(v))));
    }
    match (float.min, float.max) {
        (Some(min), _) if f < min => Err(Violation::new(format!("{f:?} is below the minimum {min:?}"))),
        (_, Some(max)) if f > max => Err(Violation::new(format!("{f:?} is above the maximum {max:?}"))),
        _ => Ok(()),
    }
}

fn plain(text: &Text, t: &str) -> Result<(), Violation> {
    let refuse = |reason: String| Err(Violation::new(format!("{} {reason}", Quoted(t))));
    if text.min_length > 0 || text.max_length.is_some() {
        let length = t.chars().count();
        if length < text.min_length as usize {
            return refuse(format!("has {length} characters; the least is {}", text.min_length));
        }
        if let Some(max) = text.max_length.filter(|max| length > *max as usize) {
            return refuse(format!("has {length} characters; the most is {max}"));
        }
    }
    if let Some(pattern) = text.pattern.as_ref().filter(|pattern| !pattern.is_match(t)) {
        return refuse(format!("does not match {}", pattern.source));
    }
    if text.date_time && !is_date_time(t) {
        return refuse("is not a time such as 2026-03-29T12:00:00Z (RFC 3339)".to_owned());
    }
    Ok(())
}

/// Whether `t` is a time as RFC 3339 writes it, which is `format: date-time`.
pub(crate) fn is_date_time(t: &str) -> bool {
    OffsetDateTime::parse(t, &Rfc3339).is_ok()
}

fn number_text(number: &NumberText, t: &str) -> Result<(), Violation> {
    let Some(n) = number.scan(t) else {
        let (places, digits) = (number.number.places, number.digits);
        let reason = format!("is not a number with {digits} or more digits and {places} decimals");
        return Err(Violation::new(format!("{} {reason}", Quoted(t))));
    };
    number.number.flaw(n).map_or(Ok(()), |flaw| Err(scaled_violation(&number.number, flaw, &Quoted(t))))
}

fn numbers_text(numbers: &NumbersText, t: &str) -> Result<(), Violation> {
    let pieces = || t.split(numbers.separator.as_str());
    let count = pieces().count();
    if count != numbers.parts.len() {
        let message = format!("{} holds {count} numbers, not {}", Quoted(t), numbers.parts.len());
        return Err(Violation::new(message));
    }
    for ((name, part), piece) in numbers.parts.iter().zip(pieces()) {
        number_text(part, piece).map_err(|reason| Violation::new(format!("{name}: {}", reason.message())))?;
    }
    Ok(())
}

fn time_text(time: &TimeText, t: &str) -> Result<(), Violation> {
    let (first, last) = time.range();
    let reason = match time.scan(t) {
        None => format!("is not a time like {:?}", time.write(first)),
        Some(n) if n < first => format!("is before the first time {:?}", time.write(first)),
        Some(n) if n > last => format!("is after the last time {:?}", time.write(last)),
        Some(_) => return Ok(()),
    };
    Err(Violation::new(format!("{} {reason}", Quoted(t))))
}

fn elements(array: &Array, items: &[Value]) -> Result<(), Violation> {
    let count = items.len();
    if count < array.min as usize {
        return Err(Violation::new(format!("an array of {count}; the least is {}", array.min)));
    }
    if let Some(max) = array.max.filter(|max| count > *max as usize) {
        return Err(Violation::new(format!("an array of {count}; the most is {max}")));
    }
    for (i, item) in items.iter().enumerate() {
        value(&array.items, item).map_err(|violation| violation.under(&i.to_string()))?;
    }
    Ok(())
}

fn fields(object: &Object, entries: &[(String, Value)]) -> Result<(), Violation> {
    // Messages mostly have their fields in the schema's order: look there first.
    let mut next = 0;
    let mut required = object.fields.iter().filter(|field| field.required).count();
    for (key, v) in entries {
        let at = match object.fields.get(next) {
            Some(field) if field.name == *key => Some(next),
            _ => object.fields.iter().position(|field| field.name == *key),
        };
        let kind = match at.map(|at| &object.fields[at]) {
            Some(field) => {
                required = required.saturating_sub(usize::from(field.required));
                &field.kind
            }
            None => object
                .additional
                .as_deref()
                .ok_or_else(|| Violation::new(format!("there is no field {}", Quoted(key))).under(key))?,
        };
        next = at.map_or(next, |at| at + 1);
        value(kind, v).map_err(|violation| violation.under(key))?;
    }
    if required == 0 {
        return Ok(());
    }
    let missing = |name: &str| entries.iter().all(|(key, _)| key != name);
    let field = object.fields.iter().find(|field| field.required && missing(&field.name));
    let name = field.map(|field| field.name.as_str()).unwrap_or_default();
    Err(Violation::new(format!("the field {name:?} is missing")))
}

fn scaled_violation(decimal: &Decimal, flaw: Flaw, v: &dyn fmt::Display) -> Violation {
    let limit = |n: i128| NumberText { number: decimal.clone(), digits: 1 }.write(n);
    Violation::new(match flaw {
        Flaw::NotNumber => format!("{v} is not a number"),
        Flaw::Quantum => {
            let quantum = decimal.quantum.map(quantum_text).unwrap_or_default();
            format!("{v} is not a multiple of {quantum}, rounded to {}", limit(1))
        }
        Flaw::NotFinite => format!("{v} is not a finite number"),
        Flaw::NegativeZero => "-0.0 has no scaled integer: its sign would be lost".to_owned(),
        Flaw::Multiple => format!("{v} is not a multiple of {}", limit(decimal.step.into())),
        Flaw::Below => format!("{v} is below the minimum {}", limit(decimal.min)),
        Flaw::Above => format!("{v} is above the maximum {}", limit(decimal.max)),
    })
}

/// The quantum as a decimal number.
fn quantum_text(quantum: Quantum) -> String {
    let number = Decimal { places: quantum.places, step: 1, min: 0, max: 0, usual: None, quantum: None };
    NumberText { number, digits: 1 }.write(quantum.mantissa.into())
}

fn not_in(values: &[Value], v: &Value) -> Violation {
    let names: Vec<String> = values.iter().take(8).map(|value| Brief(value).to_string()).collect();
    let more = if values.len() > names.len() { ", …" } else { "" };
    Violation::new(format!("{} is none of {}{more}", Brief(v), names.join(", ")))
}

fn noun(kind: &Type) -> &'static str {
    match kind {
        Type::Any => "anything",
        Type::Null => "null",
        Type::Bool => "a boolean",
        Type::Integer(_) => "an integer",
        Type::Decimal(_) | Type::Float(_) => "a number",
        Type::Text(_) => "a string",
        Type::NumberText(_) => "a string that holds a number",
        Type::NumbersText(_) => "a string that holds numbers",
        Type::TimeText(_) => "a string that holds a time",
        Type::Enum(_) | Type::Const(_) => "allowed",
        Type::Array(_) => "an array",
        Type::Object(_) => "an object",
        Type::Nullable(inner) | Type::Known(inner) => noun(inner),
        Type::Union(_) | Type::Definition(_) => "allowed",
        Type::Tuple(_) => "an array",
        Type::Checked(checked) => noun(&checked.kind),
    }
}

/// A value for people: scalars as JSON, cut where they are long.
struct Brief<'a>(&'a Value);

impl fmt::Display for Brief<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Null => f.write_str("null"),
            Value::Bool(b) => write!(f, "{b}"),
            Value::U64(n) => write!(f, "{n}"),
            Value::I64(n) => write!(f, "{n}"),
            Value::F64(n) => write!(f, "{n:?}"),
            Value::Text(text) => Quoted(text).fmt(f),
            Value::Bytes(bytes) => write!(f, "a byte string of {}", bytes.len()),
            Value::Array(items) => write!(f, "an array of {}", items.len()),
            Value::Map(entries) => write!(f, "an object of {}", entries.len()),
        }
    }
}

/// Text in quotes, cut where it is long.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.char_indices().nth(QUOTED) {
            None => write!(f, "{:?}", self.0),
            Some((end, _)) => write!(f, "{:?}…", &self.0[..end]),
        }
    }
}
