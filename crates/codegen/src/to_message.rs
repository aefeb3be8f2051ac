//! Converts values of a record to a message.

use crate::{
    Error,
    rule::{Absent, Plan, Presence, Property, Rule},
};
use dunnage_pson::{Budget, Kind, Reader, Value};
use dunnage_schema::{Decimal, NumberText, NumbersText};

impl Rule {
    /// Returns the part of the message that a value of the tree represents. It checks only the ranges of scaled numbers; the model's
    /// validation of the whole message checks everything else.
    pub(crate) fn to_message(&self, value: Value, budget: &Budget) -> Result<Value, Error> {
        match self {
            Rule::Constant(value) => copy(value, budget),
            Rule::Same | Rule::Integer | Rule::Float(_) => Ok(value),
            Rule::Scaled(number) => Ok(number.value(in_range(number, integer(&value)?)?)),
            Rule::FloatDecimal(number, _) => Ok(number.value(rounded(number, &value)?)),
            Rule::NumberText(text) => made(text.write(in_range(&text.number, integer(&value)?)?), budget),
            Rule::FloatText(text, _) => made(text.write(rounded(&text.number, &value)?), budget),
            Rule::NumbersText(text) => numbers(text, value, budget),
            Rule::Parts(..) => Err(Error::of_type("carried by one field")),
            Rule::Time(text, range) => match integer(&value)? {
                n if range.contains(n) => made(text.write(n), budget),
                n => Err(Error::new(
                    Kind::Range,
                    format!("{n} is not between {} and {}", range.min, range.max),
                )),
            },
            Rule::Choice(values) => {
                let index = usize::try_from(integer(&value)?).ok();
                let chosen = index.and_then(|i| values.get(i)?.as_ref());
                copy(chosen.ok_or_else(|| Error::new(Kind::Range, "an index of no value"))?, budget)
            }
            Rule::Pson => pson(&value, budget),
            Rule::List(item) => {
                let convert = |(i, v): (usize, Value)| {
                    budget.value(0)?;
                    item.to_message(v, budget).map_err(|e| e.under(&i.to_string()))
                };
                elements(value)?
                    .into_iter()
                    .enumerate()
                    .map(convert)
                    .collect::<Result<_, _>>()
                    .map(Value::Array)
            }
            Rule::Object(plan) => plan.to_message(value, budget),
            Rule::Cell(inner) => inner.to_message(only(value)?, budget),
            Rule::Nullable(inner) => match only(value)? {
                Value::Null => Ok(Value::Null),
                value => inner.to_message(value, budget),
            },
            Rule::NullOr(constant) => match flag(&value)? {
                true => copy(constant, budget),
                false => Ok(Value::Null),
            },
        }
    }
}

impl Plan {
    fn to_message(&self, value: Value, budget: &Budget) -> Result<Value, Error> {
        budget.container(0)?;
        let mut fields = elements(value)?;
        let mut entries = Vec::with_capacity(self.properties.len());
        for property in &self.properties {
            let value = property.to_message(&mut fields, budget).map_err(|e| e.under(&property.key))?;
            if let Some(value) = value {
                budget.value(0)?;
                budget.content(property.key.len(), 0)?;
                entries.push((property.key.clone(), value));
            }
        }
        if let Some(at) = self.additional {
            self.additional_to_message(&take(&mut fields, at)?, &mut entries, budget)?;
        }
        Ok(Value::Map(entries))
    }

    fn additional_to_message(
        &self,
        value: &Value,
        entries: &mut Vec<(String, Value)>,
        budget: &Budget,
    ) -> Result<(), Error> {
        if matches!(value, Value::Bytes(bytes) if bytes.is_empty()) {
            return Ok(());
        }
        let Value::Map(others) = pson(value, budget)? else { return Err(Error::of_type("a PSON map")) };
        if let Some((key, _)) = others.iter().find(|(key, _)| self.properties.iter().any(|p| p.key == *key)) {
            return Err(
                Error::new(Kind::Malformed, "an additional property that the schema names").under(key)
            );
        }
        entries.extend(others);
        Ok(())
    }
}

impl Property {
    /// Returns the value of the property, if the message has it.
    fn to_message(&self, fields: &mut [Value], budget: &Budget) -> Result<Option<Value>, Error> {
        let absent = |absent| match absent {
            Absent::Missing => None,
            Absent::Null => Some(Value::Null),
        };
        let first = self.fields.first().copied().unwrap_or(usize::MAX);
        match self.presence {
            Presence::Flag(meaning) if !flag(&take(fields, first)?)? => return Ok(absent(meaning)),
            Presence::Optional(meaning) => {
                let missing =
                    self.fields.iter().filter(|&&at| matches!(fields.get(at), Some(Value::Null))).count();
                if missing == self.fields.len() {
                    return Ok(absent(meaning));
                }
                if missing > 0 {
                    return Err(Error::new(Kind::Malformed, "only some of its fields are there"));
                }
            }
            Presence::Always | Presence::Flag(_) => {}
        }
        match &self.rule {
            Rule::Constant(value) => copy(value, budget).map(Some),
            Rule::Parts(text, rules) => self.parts(text, rules, fields, budget).map(Some),
            rule => rule.to_message(take(fields, first)?, budget).map(Some),
        }
    }

    fn parts(
        &self,
        text: &NumbersText,
        rules: &[Rule],
        fields: &mut [Value],
        budget: &Budget,
    ) -> Result<Value, Error> {
        let mut numbers = Vec::with_capacity(rules.len());
        for (((_, part), rule), at) in text.parts.iter().zip(rules).zip(&self.fields) {
            let value = take(fields, *at)?;
            numbers.push(match rule {
                Rule::FloatText(..) => rounded(&part.number, &value)?,
                _ => in_range(&part.number, integer(&value)?)?,
            });
        }
        made(text.write(&numbers), budget)
    }
}

fn take(fields: &mut [Value], at: usize) -> Result<Value, Error> {
    let field = fields.get_mut(at).ok_or_else(|| Error::of_type("a record of this many fields"))?;
    Ok(std::mem::replace(field, Value::Null))
}

fn only(value: Value) -> Result<Value, Error> {
    take(&mut elements(value)?, 0)
}

fn elements(value: Value) -> Result<Vec<Value>, Error> {
    match value {
        Value::Array(items) => Ok(items),
        _ => Err(Error::of_type("a list or record")),
    }
}

fn flag(value: &Value) -> Result<bool, Error> {
    match value {
        Value::Bool(b) => Ok(*b),
        _ => Err(Error::of_type("a boolean")),
    }
}

fn integer(value: &Value) -> Result<i128, Error> {
    value.as_integer().ok_or_else(|| Error::of_type("an integer"))
}

fn in_range(number: &Decimal, n: i128) -> Result<i128, Error> {
    if (number.min..=number.max).contains(&n) {
        Ok(n)
    } else {
        Err(Error::new(Kind::Range, format!("{n} is not between {} and {}", number.min, number.max)))
    }
}

/// Returns the scaled number nearest to a float.
///
/// If the float exceeds a bound of the schema only because the bound itself was rounded to binary32, the result is the bound.
fn rounded(number: &Decimal, value: &Value) -> Result<i128, Error> {
    let Value::F64(f) = *value else { return Err(Error::of_type("a float")) };
    let unit = 10f64.powi(number.places as i32);
    let step = number.step as f64;
    let scaled = (f * unit / step).round_ties_even() * step;
    if !scaled.is_finite() {
        return Err(Error::new(Kind::Range, "not a finite number"));
    }
    let n = match number.quantum {
        Some(_) => number.of_count(number.count_near(scaled as i128)),
        None => scaled as i128,
    };
    let is_bound = |bound: i128| (bound as f64 / unit) as f32 == f as f32;
    match n {
        n if n > number.max && is_bound(number.max) => Ok(number.max),
        n if n < number.min && is_bound(number.min) => Ok(number.min),
        n => in_range(number, n),
    }
}

fn numbers(text: &NumbersText, value: Value, budget: &Budget) -> Result<Value, Error> {
    let items = elements(value)?;
    if items.len() != text.parts.len() {
        return Err(Error::new(
            Kind::Range,
            format!("{} numbers instead of {}", items.len(), text.parts.len()),
        ));
    }
    let check = |(item, (_, part)): (&Value, &(String, NumberText))| in_range(&part.number, integer(item)?);
    let numbers = items.iter().zip(&text.parts).map(check).collect::<Result<Vec<_>, _>>()?;
    made(text.write(&numbers), budget)
}

fn pson(value: &Value, budget: &Budget) -> Result<Value, Error> {
    let Value::Bytes(bytes) = value else { return Err(Error::of_type("bytes")) };
    let read = || {
        let mut reader = Reader::new(bytes)?;
        let value = Value::read_within(&mut reader, budget)?;
        reader.finish()?;
        Ok(value)
    };
    read().map_err(|e: dunnage_pson::Error| Error::new(e.kind(), format!("in PSON: {e}")))
}

/// Clones a value of the schema, and charges the budget for its parts: no bytes of the message represent them.
fn copy(value: &Value, budget: &Budget) -> Result<Value, Error> {
    budget.parts_of(value, 0)?;
    Ok(value.clone())
}

/// Charges the budget for text that was made from numbers.
fn made(text: String, budget: &Budget) -> Result<Value, Error> {
    budget.content(text.len(), 0)?;
    Ok(Value::Text(text))
}
