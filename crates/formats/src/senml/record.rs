//! Resolves one record with the base fields that are in effect.

use super::decimal::Decimal;
use crate::{Error, Kind, Value};

/// The version of RFC 8428, and the highest one that can be read.
const VERSION: u64 = 10;
/// Times below this many seconds are relative to now (section 4.5.3).
const ABSOLUTE_FROM: f64 = 268_435_456.0;

/// The base fields of the records so far, and the time at which the pack arrived.
pub(super) struct Base {
    now: Decimal,
    version: Option<u64>,
    name: String,
    time: Option<Decimal>,
    unit: Option<String>,
    value: Option<Decimal>,
    sum: Option<Decimal>,
}

/// The other fields of a record.
#[derive(Default)]
struct Fields {
    name: Option<String>,
    unit: Option<String>,
    time: Option<Decimal>,
    number: Option<Value>,
    /// `vs`, `vb` or `vd`.
    other: Option<(String, Value)>,
    sum: Option<Decimal>,
    update_time: Option<Value>,
    /// Fields that RFC 8428 does not define.
    unknown: Vec<(String, Value)>,
    count: usize,
}

impl Base {
    pub(super) fn new(received_at: i64) -> Base {
        let now = Decimal::seconds(received_at);
        Base { now, version: None, name: String::new(), time: None, unit: None, value: None, sum: None }
    }

    /// Returns the resolved record and its time, or `None` if the record has only base fields.
    pub(super) fn resolve(&mut self, record: Value) -> Result<Option<(f64, Value)>, Error> {
        let Value::Map(entries) = record else { return Err(malformed("a SenML record is a map")) };
        let mut fields = Fields::default();
        for (label, value) in entries {
            self.take(&mut fields, &label, value).map_err(|e| e.under(&label))?;
        }
        match fields.count {
            0 => Ok(None),
            _ => self.apply(fields).map(Some),
        }
    }

    fn take(&mut self, fields: &mut Fields, label: &str, value: Value) -> Result<(), Error> {
        match label {
            "bver" => return self.check_version(&value),
            "bn" => self.name = text(value)?,
            "bt" => self.time = Some(decimal(&value)?),
            "bu" => self.unit = Some(text(value)?),
            "bv" => self.value = Some(decimal(&value)?),
            "bs" => self.sum = Some(decimal(&value)?),
            "n" => fields.name = Some(text(value)?),
            "u" => fields.unit = Some(text(value)?),
            "t" => fields.time = Some(decimal(&value)?),
            "ut" => fields.update_time = Some(number(value)?),
            "s" => fields.sum = Some(decimal(&value)?),
            "v" => fields.number = Some(number(value)?),
            "vs" | "vb" | "vd" => {
                let value = match (label, value) {
                    ("vb", value @ Value::Bool(_)) => value,
                    ("vb", _) => return Err(of_type("a boolean")),
                    ("vd", Value::Bytes(bytes)) => Value::Text(base64url(&bytes)),
                    (_, value) => Value::Text(text(value)?),
                };
                if fields.other.replace((label.into(), value)).is_some() {
                    return Err(several());
                }
            }
            _ if label.ends_with('_') => {
                let reason = "a field whose label ends with _ must be understood, and this one is unknown (RFC 8428, 4.4)";
                return Err(Error::of_value(Kind::Type, "", reason));
            }
            // Ignore unknown base fields: without their meaning they cannot be applied.
            _ if label.starts_with('b') => return Ok(()),
            _ => fields.unknown.push((label.into(), value)),
        }
        fields.count += usize::from(!label.starts_with('b'));
        Ok(())
    }

    fn check_version(&mut self, value: &Value) -> Result<(), Error> {
        let version = match value.as_integer().map(u64::try_from) {
            Some(Ok(version @ 1..=VERSION)) => version,
            _ => return Err(Error::of_value(Kind::Type, "", "only the SenML versions 1 to 10 can be read")),
        };
        match self.version.replace(version) {
            Some(other) if other != version => Err(malformed("the records of a pack have one version")),
            _ => Ok(()),
        }
    }

    fn apply(&mut self, fields: Fields) -> Result<(f64, Value), Error> {
        let mut record = Vec::new();
        let mut put = |label: &str, value| record.push((label.to_owned(), value));
        // A record before the first `bver` has the default version, so that no other one may follow.
        let version = *self.version.get_or_insert(VERSION);
        if version != VERSION {
            put("bver", Value::U64(version));
        }
        let name = format!("{}{}", self.name, fields.name.unwrap_or_default());
        if !is_name(&name) {
            let reason =
                format!("{name:?} is not a name: a letter, a digit or a slash, then A-Z a-z 0-9 - : . / _");
            return Err(malformed(&reason));
        }
        put("n", Value::Text(name));
        if let Some(unit) = fields.unit.or_else(|| self.unit.clone()) {
            put("u", Value::Text(unit));
        }
        let (time, seconds) = self.time(fields.time)?;
        put("t", time);
        match (fields.number, fields.other, self.value) {
            (Some(_), Some(_), _) => return Err(several()),
            (Some(number), None, None) => put("v", number),
            (Some(number), None, Some(base)) => put("v", sum(base, decimal(&number)?)?.to_value()),
            (None, Some((label, value)), _) => put(&label, value),
            (None, None, Some(base)) => put("v", base.to_value()),
            (None, None, None) if fields.sum.or(self.sum).is_none() => {
                return Err(malformed("a record needs one of v, vs, vb, vd and s"));
            }
            (None, None, None) => {}
        }
        match (self.sum, fields.sum) {
            (Some(base), Some(own)) => put("s", sum(base, own)?.to_value()),
            (Some(one), None) | (None, Some(one)) => put("s", one.to_value()),
            (None, None) => {}
        }
        if let Some(update_time) = fields.update_time {
            put("ut", update_time);
        }
        record.extend(fields.unknown);
        Ok((seconds, Value::Map(record)))
    }

    /// Returns the time of a record, in seconds since 1970.
    fn time(&self, own: Option<Decimal>) -> Result<(Value, f64), Error> {
        let mut time = match (self.time, own) {
            (Some(base), Some(own)) => sum(base, own)?,
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => return Ok((self.now.to_value(), self.now.to_f64())),
        };
        if time.to_f64() < ABSOLUTE_FROM {
            time = sum(self.now, time)?;
        }
        match time.to_f64() {
            seconds if seconds >= ABSOLUTE_FROM => Ok((time.to_value(), seconds)),
            seconds => {
                let reason =
                    format!("the time {seconds} is before 2^28 s (July 1978), where times are relative");
                Err(Error::of_value(Kind::Range, "", reason))
            }
        }
    }
}

fn sum(a: Decimal, b: Decimal) -> Result<Decimal, Error> {
    let reason = "a field and its base field have too many digits to be added";
    a.plus(b).ok_or_else(|| Error::of_value(Kind::Range, "", reason))
}

fn decimal(value: &Value) -> Result<Decimal, Error> {
    match (Decimal::of(value), value) {
        (Some(decimal), _) => Ok(decimal),
        (None, Value::F64(_)) => Err(Error::of_value(Kind::Range, "", "a number that is not finite")),
        _ => Err(of_type("a number")),
    }
}

fn number(value: Value) -> Result<Value, Error> {
    match value {
        Value::U64(_) | Value::I64(_) | Value::F64(_) => Ok(value),
        _ => Err(of_type("a number")),
    }
}

fn text(value: Value) -> Result<String, Error> {
    match value {
        Value::Text(text) => Ok(text),
        _ => Err(of_type("text")),
    }
}

fn base64url(bytes: &[u8]) -> String {
    use base64::Engine;
    base64::prelude::BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

/// Whether `name` is valid (section 4.5.1). It may also begin with a slash, as the paths of LwM2M do: `/3/0/0`.
fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphanumeric() || first == b'/')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"-:./_".contains(&byte))
}

fn of_type(expected: &str) -> Error {
    Error::of_value(Kind::Type, "", format!("this field of a SenML record is {expected}"))
}

fn several() -> Error {
    malformed("a record has one of v, vs, vb and vd")
}

fn malformed(reason: &str) -> Error {
    Error::of_value(Kind::Malformed, "", reason)
}
