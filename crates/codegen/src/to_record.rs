//! Converts a message to values of its record.

use crate::{
    Error,
    rule::{Absent, Plan, Presence, Property, Rule, Width},
};
use dunnage_pson::{Kind, Value};
use dunnage_schema::Decimal;

impl Rule {
    /// Returns the tree's value for `value`. Constants have no value in the tree, and parts have several: see [`Plan::to_record`].
    pub(crate) fn to_record(&self, value: &Value) -> Result<Value, Error> {
        match self {
            Rule::Same => Ok(value.clone()),
            Rule::Integer => value.as_integer().ok_or_else(|| Error::of_type("an integer")).and_then(integer),
            Rule::Float(width) => double(value).and_then(|f| float(f, *width)),
            Rule::Scaled(number) => scaled(number, value).and_then(integer),
            Rule::FloatDecimal(number, width) => {
                float(unscaled(scaled(number, value)?, number.places), *width)
            }
            Rule::NumberText(notation) => parsed(value, |t| notation.parse(t)).and_then(integer),
            Rule::FloatText(notation, width) => {
                let n = parsed(value, |t| notation.parse(t))?;
                float(unscaled(n, notation.number.places), *width)
            }
            Rule::NumbersText(notation) => {
                let numbers = parsed(value, |t| notation.parse(t))?;
                numbers.into_iter().map(integer).collect::<Result<_, _>>().map(Value::Array)
            }
            Rule::Time(notation, _) => parsed(value, |t| notation.parse(t)).and_then(integer),
            Rule::Choice(values) => {
                let index = values.iter().position(|v| v.as_ref() == Some(value));
                index
                    .map(|i| Value::U64(i as u64))
                    .ok_or_else(|| Error::new(Kind::Range, "not one of the values"))
            }
            Rule::Pson => pson(value).map(Value::Bytes),
            Rule::List(item) => {
                let Value::Array(items) = value else { return Err(Error::of_type("an array")) };
                let convert =
                    |(i, v): (usize, &Value)| item.to_record(v).map_err(|e| e.under(&i.to_string()));
                items.iter().enumerate().map(convert).collect::<Result<_, _>>().map(Value::Array)
            }
            Rule::Object(plan) => plan.to_record(value),
            Rule::Cell(inner) => Ok(Value::Array(vec![inner.to_record(value)?])),
            Rule::Nullable(inner) => match value {
                Value::Null => Ok(Value::Array(vec![Value::Null])),
                value => Ok(Value::Array(vec![inner.to_record(value)?])),
            },
            Rule::NullOr(_) => Ok(Value::Bool(*value != Value::Null)),
            Rule::Constant(_) | Rule::Parts(..) => Err(Error::of_type("carried by one field")),
        }
    }
}

impl Plan {
    fn to_record(&self, value: &Value) -> Result<Value, Error> {
        let Value::Map(entries) = value else { return Err(Error::of_type("an object")) };
        let mut fields = vec![Value::Null; self.fields];
        let mut next = 0;
        let mut known = 0;
        for property in &self.properties {
            // Messages usually have their keys in the order of the schema, so try the next one first.
            let is_it = |entry: &&(String, Value)| entry.0 == property.key;
            let found = match entries.get(next).filter(is_it) {
                Some(entry) => Some(entry),
                None => entries.iter().find(is_it),
            };
            if found.is_some() {
                next += 1;
                known += 1;
            }
            property
                .to_record(found.map(|entry| &entry.1), &mut fields)
                .map_err(|e| e.under(&property.key))?;
        }
        if let Some(at) = self.additional {
            put(&mut fields, at, Value::Bytes(self.additional(entries)?))?;
        } else if known < entries.len() {
            return Err(self.unknown(entries));
        }
        Ok(Value::Array(fields))
    }

    /// Returns the error for a message that has a property without a field.
    fn unknown(&self, entries: &[(String, Value)]) -> Error {
        let key = entries.iter().map(|(key, _)| key).find(|key| !self.names(key)).map_or("", String::as_str);
        Error::new(Kind::Range, "there is no field for it").under(key)
    }

    fn names(&self, key: &str) -> bool {
        self.properties.iter().any(|property| property.key == key)
    }

    fn additional(&self, entries: &[(String, Value)]) -> Result<Vec<u8>, Error> {
        let others: Vec<_> = entries.iter().filter(|(key, _)| !self.names(key)).cloned().collect();
        if others.is_empty() { Ok(Vec::new()) } else { pson(&Value::Map(others)) }
    }
}

impl Property {
    fn to_record(&self, value: Option<&Value>, fields: &mut [Value]) -> Result<(), Error> {
        let null = matches!(value, Some(Value::Null));
        let present = match self.presence {
            Presence::Always => true,
            Presence::Optional(Absent::Missing) | Presence::Flag(Absent::Missing) => value.is_some(),
            Presence::Optional(Absent::Null) | Presence::Flag(Absent::Null) => !null,
        };
        let first = self.fields.first().copied().unwrap_or(usize::MAX);
        if matches!(self.presence, Presence::Flag(_)) {
            return put(fields, first, Value::Bool(present));
        }
        if !present {
            return Ok(()); // its fields stay absent
        }
        let value = value.ok_or_else(|| Error::new(Kind::Range, "missing"))?;
        match &self.rule {
            Rule::Constant(_) => Ok(()),
            Rule::Parts(notation, rules) => {
                let numbers = parsed(value, |t| notation.parse(t))?;
                let parts = numbers.into_iter().zip(&notation.parts).zip(rules).zip(&self.fields);
                for (((n, (_, part)), rule), at) in parts {
                    let number = match rule {
                        Rule::FloatText(_, width) => float(unscaled(n, part.number.places), *width)?,
                        _ => integer(n)?,
                    };
                    put(fields, *at, number)?;
                }
                Ok(())
            }
            rule => put(fields, first, rule.to_record(value)?),
        }
    }
}

fn put(fields: &mut [Value], at: usize, value: Value) -> Result<(), Error> {
    let field = fields.get_mut(at).ok_or_else(|| Error::of_type("a record of this many fields"))?;
    *field = value;
    Ok(())
}

fn as_text(value: &Value) -> Result<&str, Error> {
    match value {
        Value::Text(text) => Ok(text),
        _ => Err(Error::of_type("text")),
    }
}

fn parsed<T>(value: &Value, parse: impl Fn(&str) -> Option<T>) -> Result<T, Error> {
    let text = as_text(value)?;
    parse(text).ok_or_else(|| not_in_notation(text))
}

fn not_in_notation(text: &str) -> Error {
    let shown: String = text.chars().take(40).collect();
    Error::new(Kind::Range, format!("{shown:?} is not in the notation"))
}

fn integer(n: i128) -> Result<Value, Error> {
    let value = u64::try_from(n).map(Value::U64).or_else(|_| i64::try_from(n).map(Value::I64));
    value.map_err(|_| Error::new(Kind::Range, format!("{n} needs more than 64 bits")))
}

fn scaled(number: &Decimal, value: &Value) -> Result<i128, Error> {
    number.scaled(value).ok_or_else(|| Error::new(Kind::Range, "has too many decimals"))
}

/// Returns the binary64 nearest to `n` * 10^-`places`.
fn unscaled(n: i128, places: u32) -> f64 {
    n as f64 / 10f64.powi(places as i32)
}

/// Returns the value as binary64 if the conversion is lossless.
fn double(value: &Value) -> Result<f64, Error> {
    match *value {
        Value::F64(f) => Ok(f),
        Value::U64(n) if (n as f64) as u128 == u128::from(n) => Ok(n as f64),
        Value::I64(n) if (n as f64) as i128 == i128::from(n) => Ok(n as f64),
        Value::U64(_) | Value::I64(_) => {
            Err(Error::new(Kind::Range, "an integer that binary64 does not hold exactly"))
        }
        _ => Err(Error::of_type("a number")),
    }
}

/// Returns the nearest float of that width.
fn float(f: f64, width: Width) -> Result<Value, Error> {
    if width == Width::Binary64 {
        return Ok(Value::F64(f));
    }
    let narrow = f as f32;
    if narrow.is_finite() || !f.is_finite() {
        Ok(Value::F64(f64::from(narrow)))
    } else {
        Err(Error::new(Kind::Range, "too large for binary32"))
    }
}

fn pson(value: &Value) -> Result<Vec<u8>, Error> {
    dunnage_pson::to_vec(value).map_err(|e| Error::new(e.kind(), e.reason()))
}
