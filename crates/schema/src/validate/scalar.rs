//! Checks numbers, and text with the numbers or the time in it.

use super::{
    Check,
    describe::{Brief, Quoted},
};
use crate::{Decimal, Float, Integer, NumberText, NumbersText, Text, TimeText, Violation, decimal::Flaw};
use dunnage_pson::Value;
use std::fmt::Display;

type Outcome = Result<(), Violation>;

impl Check<'_> {
    pub(super) fn whole(&self, integer: &Integer, v: &Value) -> Outcome {
        let Some(n) = v.as_integer() else {
            return self.fail(|| match v {
                Value::F64(f) if *f == 0.0 => "-0.0 is not an integer: its sign would be lost".to_owned(),
                Value::F64(f) if f.fract() == 0.0 => format!("{f:e} does not fit 64 bits"),
                _ => format!("{} is not a whole number", Brief(v)),
            });
        };
        match integer.flaw(n) {
            None => Ok(()),
            Some(Flaw::Below) => self.fail(|| format!("{n} is below the minimum {}", integer.min)),
            Some(Flaw::Above) => self.fail(|| format!("{n} is above the maximum {}", integer.max)),
            Some(_) => self.fail(|| format!("{n} is not a multiple of {}", integer.step)),
        }
    }

    pub(super) fn decimal(&self, decimal: &Decimal, v: &Value) -> Outcome {
        decimal.check(v).map(|_| ()).map_err(|flaw| self.scaled_violation(decimal, flaw, &Brief(v)))
    }

    pub(super) fn binary(&self, float: &Float, v: &Value) -> Outcome {
        let f = match *v {
            Value::U64(n) => n as f64,
            Value::I64(n) => n as f64,
            Value::F64(f) => f,
            _ => f64::NAN,
        };
        if !f.is_finite() {
            return self.fail(|| format!("{} is not a finite number", Brief(v)));
        }
        if Value::F64(f) != *v && f != 0.0 {
            return self.fail(|| format!("{} is not exact as a binary64", Brief(v)));
        }
        match (float.min, float.max) {
            (Some(min), _) if f < min => self.fail(|| match float.above() {
                Some(bound) => format!("{f:?} is not above {bound}"),
                None => format!("{f:?} is below the minimum {min:?}"),
            }),
            (_, Some(max)) if f > max => self.fail(|| match float.below() {
                Some(bound) => format!("{f:?} is not below {bound}"),
                None => format!("{f:?} is above the maximum {max:?}"),
            }),
            _ => Ok(()),
        }
    }

    pub(super) fn plain(&self, text: &Text, t: &str) -> Outcome {
        let refuse = |reason: &dyn Fn() -> String| self.fail(|| format!("{} {}", Quoted(t), reason()));
        if text.min_length > 0 || text.max_length.is_some() {
            let length = t.chars().count();
            if length < text.min_length as usize {
                return refuse(&|| format!("has {length} characters; the minimum is {}", text.min_length));
            }
            if let Some(max) = text.max_length.filter(|max| length > *max as usize) {
                return refuse(&|| format!("has {length} characters; the maximum is {max}"));
            }
        }
        if let Some(pattern) = text.pattern.as_ref().filter(|pattern| !pattern.is_match(t)) {
            return refuse(&|| format!("does not match {}", pattern.source));
        }
        if let Some(format) = text.asserted_format().filter(|format| !format.is(t)) {
            return refuse(&|| {
                format!("is not of the format {}, such as {}", format.name(), format.example())
            });
        }
        Ok(())
    }

    pub(super) fn number_text(&self, number: &NumberText, t: &str) -> Outcome {
        let Some(n) = number.scan(t) else {
            let (places, digits) = (number.number.places, number.digits);
            return self.fail(|| {
                format!("{} is not a number with {digits} or more digits and {places} decimals", Quoted(t))
            });
        };
        match number.number.flaw(n) {
            None => Ok(()),
            Some(flaw) => Err(self.scaled_violation(&number.number, flaw, &Quoted(t))),
        }
    }

    pub(super) fn numbers_text(&self, numbers: &NumbersText, t: &str) -> Outcome {
        let count = numbers.pieces(t).count();
        if count != numbers.parts.len() {
            return self.fail(|| format!("{} holds {count} numbers, not {}", Quoted(t), numbers.parts.len()));
        }
        for ((name, part), piece) in numbers.parts.iter().zip(numbers.pieces(t)) {
            self.number_text(part, piece)
                .map_err(|reason| self.violation(|| format!("{name}: {}", reason.message())))?;
        }
        Ok(())
    }

    pub(super) fn time_text(&self, time: &TimeText, t: &str) -> Outcome {
        let (first, last) = time.range();
        let scanned = time.scan(t);
        if scanned.is_some_and(|n| (first..=last).contains(&n)) {
            return Ok(());
        }
        self.fail(|| {
            let reason = match scanned {
                None => format!("is not a time like {:?}", time.write(first)),
                Some(n) if n < first => format!("is before the first time {:?}", time.write(first)),
                Some(_) => format!("is after the last time {:?}", time.write(last)),
            };
            format!("{} {reason}", Quoted(t))
        })
    }

    fn scaled_violation(&self, decimal: &Decimal, flaw: Flaw, v: &dyn Display) -> Violation {
        let limit = |n: i128| NumberText { number: decimal.clone(), digits: 1 }.write(n);
        self.violation(|| match flaw {
            Flaw::NotNumber => format!("{v} is not a number"),
            Flaw::NotFinite => format!("{v} is not a finite number"),
            Flaw::NegativeZero => "-0.0 has no scaled integer: its sign would be lost".to_owned(),
            Flaw::Multiple => format!("{v} is not a multiple of {}", limit(decimal.step.into())),
            Flaw::Quantum => {
                let quantum = decimal.quantum.map(|quantum| quantum.to_string()).unwrap_or_default();
                format!("{v} is not a multiple of {quantum}, rounded to {}", limit(1))
            }
            Flaw::Below => format!("{v} is below the minimum {}", limit(decimal.min)),
            Flaw::Above => format!("{v} is above the maximum {}", limit(decimal.max)),
        })
    }
}
