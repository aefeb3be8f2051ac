//! Converts numbers of a message to whole numbers, and these to parts of the message.

use crate::Error;
use crate::decode::reused;
use crate::node::{Form, Number, Numbers, Source as Notation};
use crate::wire::{At, Part, Sink, Source};
use dunnage_pson::{Kind, Value};
use dunnage_schema::Decimal;

/// Below this number of units, every decimal is the shortest text of some float.
const DIGITS_15: u128 = 1_000_000_000_000_000;
/// The number of bytes that are reserved for a text of several numbers.
const ROOM: usize = 32;

impl Number {
    /// Returns the whole number that represents `value`, or the number to which the schema rounds it.
    fn of_value(&self, value: &Value) -> Result<i128, Error> {
        match (&self.source, value) {
            (Notation::Decimal(decimal), Value::U64(_) | Value::I64(_) | Value::F64(_)) if decimal.round => {
                self.checked(decimal.scaled(value).and_then(|scaled| counted(decimal, scaled)))
            }
            _ => self.of_exact(value),
        }
    }

    /// Returns the whole number that represents `value` without rounding.
    fn of_exact(&self, value: &Value) -> Result<i128, Error> {
        let number = match (&self.source, value) {
            (Notation::Integer, Value::U64(_) | Value::I64(_) | Value::F64(_)) => value.as_integer(),
            (Notation::Decimal(decimal), Value::U64(_) | Value::I64(_) | Value::F64(_)) => {
                decimal.scaled_exactly(value).and_then(|scaled| counted(decimal, scaled))
            }
            (Notation::Text(_) | Notation::Time(_), Value::Text(text)) => return self.of_text(text),
            _ => return Err(Error::new(Kind::Type, 0, format!("a number in {}", value.type_name()))),
        };
        self.checked(number)
    }

    fn of_text(&self, text: &str) -> Result<i128, Error> {
        self.checked(match &self.source {
            Notation::Text(notation) => {
                notation.parse(text).and_then(|scaled| counted(&notation.number, scaled))
            }
            Notation::Time(notation) => notation.parse(text),
            Notation::Integer | Notation::Decimal(_) => None,
        })
    }

    fn checked(&self, number: Option<i128>) -> Result<i128, Error> {
        match number.filter(|n| self.contains(*n)) {
            Some(n) => Ok(n),
            None => Err(Error::new(Kind::Range, 0, "not one of the schema's numbers")),
        }
    }

    fn contains(&self, n: i128) -> bool {
        self.min <= n && n <= self.max && (self.step == 1 || (n - self.min) % i128::from(self.step) == 0)
    }

    /// Returns whether `value` is one of the numbers.
    pub(crate) fn carries(&self, value: &Value) -> bool {
        self.of_exact(value).is_ok()
    }

    pub(crate) fn write<S: Sink>(&self, node: u32, value: &Value, sink: &mut S) -> Result<(), Error> {
        self.write_whole(node, self.of_value(value)?, sink)
    }

    /// Reads a number and stores the value that it represents in `out`.
    pub(crate) fn read<S: Source>(&self, node: u32, source: &mut S, out: &mut Value) -> Result<(), Error> {
        let offset = source.offset();
        let n = self.read_whole(node, source)?;
        match &self.source {
            Notation::Integer => *out = integer(n),
            Notation::Decimal(decimal) => {
                let scaled = scaled(decimal, n);
                *out = decimal.value(scaled);
                // A float distinguishes only 15 digits, sometimes more. Beyond that, several numbers would decode to the same float.
                if scaled.unsigned_abs() >= DIGITS_15 && self.of_exact(out).ok() != Some(n) {
                    let message = "a decimal that no binary64 has as its shortest text";
                    return Err(Error::new(Kind::Range, offset, message));
                }
            }
            Notation::Text(notation) => {
                let mut text = reused(out);
                notation.write_to(scaled(&notation.number, n), &mut text);
                *out = Value::Text(text);
            }
            Notation::Time(notation) => {
                let mut text = reused(out);
                notation.write_to(n, &mut text);
                *out = Value::Text(text);
            }
        }
        Ok(())
    }

    fn write_whole<S: Sink>(&self, node: u32, n: i128, sink: &mut S) -> Result<(), Error> {
        let at = At { node, part: Part::Value };
        if let Some(((first, last), usual)) = self.escape(S::CODED) {
            if first <= n && n <= last {
                return sink.index(at, self.steps(n - first), usual + 1);
            }
            sink.index(at, usual, usual + 1)?;
        }
        match self.form() {
            Form::Index(count) => sink.index(at, self.steps(n - self.min), count),
            Form::Offset => sink.sized(at, self.steps(n - self.min)),
            Form::Signed => {
                sink.index(At { node, part: Part::Sign }, u64::from(n < 0), 2)?;
                let steps = n / i128::from(self.step);
                sink.sized(at, (if n < 0 { -1 - steps } else { steps }) as u64)
            }
        }
    }

    /// Returns the usual range and its count, if they come first. Statistics replace them where they are tables of all values.
    fn escape(&self, coded: bool) -> Option<((i128, i128), u64)> {
        let is_index = matches!(self.form(), Form::Index(_));
        self.usual.zip(self.usual_count()).filter(|_| !(coded && is_index))
    }

    #[inline(always)]
    fn read_whole<S: Source>(&self, node: u32, source: &mut S) -> Result<i128, Error> {
        if S::CODED && self.escape(false).is_some() {
            return source.read_other(
                |source| self.read_parts(node, source),
                |n, plain| self.write_whole(node, *n, plain),
            );
        }
        self.read_parts(node, source)
    }

    #[inline(always)]
    fn read_parts<S: Source>(&self, node: u32, source: &mut S) -> Result<i128, Error> {
        let at = At { node, part: Part::Value };
        let usual = self.escape(S::CODED);
        if let Some(((first, _), usual)) = usual {
            let steps = source.index(at, usual + 1)?;
            if steps < usual {
                return Ok(first + self.distance(steps));
            }
        }
        let offset = source.offset();
        let n = match self.form() {
            Form::Index(count) => self.min + self.distance(source.index(at, count)?),
            Form::Offset => self.min.saturating_add(self.distance(source.sized(at)?)),
            Form::Signed => {
                let negative = source.index(At { node, part: Part::Sign }, 2)? == 1;
                let steps = i128::from(source.sized(at)?);
                (if negative { -1 - steps } else { steps }).saturating_mul(self.step.into())
            }
        };
        if n < self.min || n > self.max {
            return Err(Error::new(Kind::Range, offset, "a number out of its range"));
        }
        match usual {
            Some(((first, last), _)) if first <= n && n <= last => {
                Err(Error::new(Kind::Malformed, offset, "a usual number behind the escape"))
            }
            _ => Ok(n),
        }
    }

    /// Divides `distance` by the step. `distance` must not be negative, and the result must be below 2^64.
    fn steps(&self, distance: i128) -> u64 {
        // A 64-bit division is faster than a 128-bit one.
        match u64::try_from(distance) {
            Ok(distance) if self.step == 1 => distance,
            Ok(distance) => distance / self.step,
            Err(_) => (distance / i128::from(self.step)) as u64,
        }
    }

    fn distance(&self, steps: u64) -> i128 {
        i128::try_from(u128::from(steps) * u128::from(self.step)).unwrap_or(i128::MAX)
    }
}

impl Numbers {
    /// Returns whether `value` is text with numbers in this form.
    pub(crate) fn carries(&self, value: &Value) -> bool {
        let Value::Text(text) = value else { return false };
        let mut pieces = text.split(self.separator.as_str());
        self.parts.iter().all(|(_, part)| pieces.next().is_some_and(|piece| part.of_text(piece).is_ok()))
            && pieces.next().is_none()
    }

    pub(crate) fn write<S: Sink>(&self, node: u32, text: &str, sink: &mut S) -> Result<(), Error> {
        let mut pieces = text.split(self.separator.as_str());
        for (nth, (_, part)) in self.parts.iter().enumerate() {
            sink.nth(node, nth);
            let piece = pieces.next().ok_or_else(|| Error::new(Kind::Range, 0, "too few numbers"))?;
            part.write_whole(node, part.of_text(piece)?, sink)?;
        }
        match pieces.next() {
            None => Ok(()),
            Some(_) => Err(Error::new(Kind::Range, 0, "too many numbers")),
        }
    }

    /// Appends the text to `text`.
    pub(crate) fn read<S: Source>(&self, node: u32, source: &mut S, text: &mut String) -> Result<(), Error> {
        text.reserve(ROOM);
        for (i, (_, part)) in self.parts.iter().enumerate() {
            if i > 0 {
                text.push_str(&self.separator);
            }
            source.nth(node, i);
            let n = part.read_whole(node, source)?;
            if let Notation::Text(notation) = &part.source {
                notation.write_to(scaled(&notation.number, n), text);
            }
        }
        Ok(())
    }
}

/// Converts a scaled number to the number on the wire, which is a count of quanta if there is a quantum.
fn counted(decimal: &Decimal, scaled: i128) -> Option<i128> {
    if decimal.quantum.is_some() { decimal.count_of(scaled) } else { Some(scaled) }
}

/// Converts the number on the wire to the scaled number.
fn scaled(decimal: &Decimal, n: i128) -> i128 {
    if decimal.quantum.is_some() { decimal.of_count(n) } else { n }
}

/// Returns the value of a 64-bit integer.
pub(crate) fn integer(n: i128) -> Value {
    u64::try_from(n).map_or(Value::I64(n as i64), Value::U64)
}
