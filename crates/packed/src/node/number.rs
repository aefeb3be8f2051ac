//! A number, on the wire always a whole one: `spec/packed.md`, "Numbers".

mod describe;

use crate::coded::{Leaves, expected};
use crate::decode::{Decoder, reused};
use crate::encode::Encoder;
use crate::size::SIZED;
use crate::wire::{self, At, Part};
use crate::{Bits, Error};
use dunnage_pson::{Kind, Value};
use dunnage_schema::{Decimal, NumberText, TimeText};

/// The maximum number of values of an index. Numbers with more values are sized.
pub const MAX_INDEX: u64 = 1 << 62;

/// Below this number of units, every decimal is the shortest text of some float.
const DIGITS_15: u128 = 1_000_000_000_000_000;

/// The integers `min`, `min + step`, ..., `max`. With a quantum they count quanta, and the step is 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Number {
    /// The smallest integer.
    pub min: i128,
    /// The largest integer.
    pub max: i128,
    /// The distance between two neighbouring integers.
    pub step: u64,
    /// The smallest and the largest integer that are expected. Others are written after an escape.
    pub usual: Option<(i128, i128)>,
    /// The form of the integer in the message.
    pub source: Source,
    /// The steps by which the number grows from message to message, if it does.
    pub every: Option<u64>,
    /// The usual distance, in steps, to the number of the message before, if the schema has it.
    pub changes: Option<f64>,
    form: Form,
    usual_count: Option<u64>,
}

/// The form of a number in the message.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// The integer itself.
    Integer,
    /// A number with decimals.
    Decimal(Decimal),
    /// Text that contains a number.
    Text(NumberText),
    /// Text that contains a time.
    Time(TimeText),
}

/// How the integers of a [`Number`] are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `(n - min) / step`, as an index below this count.
    Index(u64),
    /// `(n - min) / step`, as a sized number.
    Offset,
    /// A sign, then `n / step` or `-1 - n / step` as a sized number.
    Signed,
}

impl Number {
    /// Creates the numbers from `min` to `max`, of which those in `usual` are expected.
    pub(crate) fn new(
        (min, max, step): (i128, i128, u64),
        usual: Option<(i128, i128)>,
        source: Source,
    ) -> Number {
        let count = |first: i128, last: i128| u64::try_from((last - first) / i128::from(step) + 1);
        let form = match count(min, max) {
            Ok(count) if count <= MAX_INDEX => Form::Index(count),
            _ if min >= 0 => Form::Offset,
            _ => Form::Signed,
        };
        let usual_count = usual.and_then(|(first, last)| count(first, last).ok()).filter(|n| *n < MAX_INDEX);
        let usual = usual.filter(|_| usual_count.is_some());
        Number { min, max, step, usual, source, every: None, changes: None, form, usual_count }
    }

    /// Returns the same numbers, which grow by about `every` from message to message.
    pub(crate) fn growing(mut self, every: Option<u64>) -> Number {
        self.every = every.map(|every| every / self.step).filter(|every| *every > 0);
        self
    }

    /// Returns the same numbers, which usually differ by `changes` from one message to the next.
    pub(crate) fn changing(self, changes: Option<f64>) -> Number {
        Number { changes, ..self }
    }

    /// Returns how an integer is written if `usual` is absent, or after its escape.
    ///
    /// ```
    /// # use dunnage_packed::{Form, Layout, Shape};
    /// # use dunnage_schema::Model;
    /// let form = |schema| {
    ///     let layout = Layout::new(&Model::compile(schema)?)?;
    ///     let Shape::Number(number) = &layout.root().shape else { panic!() };
    ///     Ok::<_, dunnage_schema::SchemaError>(number.form())
    /// };
    /// assert!(matches!(form(r#"{"type": "integer", "minimum": 0, "maximum": 99}"#)?, Form::Index(100)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn form(&self) -> Form {
        self.form
    }

    /// Returns the number of values in `usual`. The index has one more value than that: the last one is the escape.
    pub fn usual_count(&self) -> Option<u64> {
        self.usual_count
    }

    /// Returns the decimal that a number with decimals is, in the message or in its text.
    fn decimal(&self) -> Option<&Decimal> {
        match &self.source {
            Source::Decimal(decimal) => Some(decimal),
            Source::Text(text) => Some(&text.number),
            Source::Integer | Source::Time(_) => None,
        }
    }

    /// Returns whether a writer rounds (`x-dunnage-round`).
    pub(super) fn is_rounded(&self) -> bool {
        matches!(&self.source, Source::Decimal(decimal) if decimal.round)
    }

    /// Returns the whole number that represents `value`, or the number to which the schema rounds it.
    fn of_value(&self, value: &Value) -> Result<i128, Error> {
        match (&self.source, value) {
            (Source::Decimal(decimal), Value::U64(_) | Value::I64(_) | Value::F64(_)) if decimal.round => {
                self.checked(decimal.scaled(value).and_then(|scaled| counted(decimal, scaled)))
            }
            _ => self.of_exact(value),
        }
    }

    /// Returns the whole number that represents `value` without rounding.
    fn of_exact(&self, value: &Value) -> Result<i128, Error> {
        let number = match (&self.source, value) {
            (Source::Integer, Value::U64(_) | Value::I64(_) | Value::F64(_)) => value.as_integer(),
            (Source::Decimal(decimal), Value::U64(_) | Value::I64(_) | Value::F64(_)) => {
                decimal.scaled_exactly(value).and_then(|scaled| counted(decimal, scaled))
            }
            (Source::Text(_) | Source::Time(_), Value::Text(text)) => return self.of_text(text),
            _ => return Err(Error::new(Kind::Type, 0, format!("a number in {}", value.type_name()))),
        };
        self.checked(number)
    }

    pub(super) fn of_text(&self, text: &str) -> Result<i128, Error> {
        self.checked(match &self.source {
            Source::Text(notation) => {
                notation.parse(text).and_then(|scaled| counted(&notation.number, scaled))
            }
            Source::Time(notation) => notation.parse(text),
            Source::Integer | Source::Decimal(_) => None,
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

    pub(super) fn carries(&self, value: &Value) -> bool {
        self.of_exact(value).is_ok()
    }

    pub(super) fn write<S: wire::Sink>(
        &self,
        node: u32,
        value: &Value,
        encoder: &mut Encoder<'_, S>,
    ) -> Result<(), Error> {
        self.write_whole(node, self.of_value(value)?, encoder.sink)?;
        if let Value::Text(text) = value { encoder.values.take_text(text, 0) } else { Ok(()) }
    }

    #[inline]
    pub(super) fn read<S: wire::Source>(
        &self,
        node: u32,
        decoder: &mut Decoder<'_, S>,
        out: &mut Value,
    ) -> Result<(), Error> {
        let offset = decoder.source.offset();
        let n = self.read_whole(node, decoder.source)?;
        match &self.source {
            Source::Integer => *out = integer(n),
            Source::Decimal(decimal) => {
                let scaled = scaled(decimal, n);
                *out = decimal.value(scaled);
                // A float distinguishes only 15 digits, sometimes more. Beyond that, several numbers would decode to the same float.
                if scaled.unsigned_abs() >= DIGITS_15 && self.of_exact(out).ok() != Some(n) {
                    let message = "a decimal that no binary64 has as its shortest text";
                    return Err(Error::new(Kind::Range, offset, message));
                }
            }
            Source::Text(_) | Source::Time(_) => {
                let mut text = reused(out);
                self.append_text(n, &mut text);
                *out = decoder.text(text, offset)?;
            }
        }
        Ok(())
    }

    /// Appends the text of a number that is text in the message.
    pub(super) fn append_text(&self, n: i128, text: &mut String) {
        match &self.source {
            Source::Text(notation) => notation.write_to(scaled(&notation.number, n), text),
            Source::Time(notation) => notation.write_to(n, text),
            Source::Integer | Source::Decimal(_) => {}
        }
    }

    pub(super) fn write_whole<S: wire::Sink>(&self, node: u32, n: i128, sink: &mut S) -> Result<(), Error> {
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
    pub(super) fn read_whole<S: wire::Source>(&self, node: u32, source: &mut S) -> Result<i128, Error> {
        if S::CODED && self.escape(false).is_some() {
            return source.read_other(
                |source| self.read_parts(node, source),
                |n, plain| self.write_whole(node, *n, plain),
            );
        }
        self.read_parts(node, source)
    }

    #[inline(always)]
    fn read_parts<S: wire::Source>(&self, node: u32, source: &mut S) -> Result<i128, Error> {
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

    /// Returns the bits of one number.
    pub fn bits(&self) -> Bits {
        let plain = match self.form() {
            Form::Index(count) => Bits::index(count),
            Form::Offset => SIZED,
            Form::Signed => Bits::exactly(1).and(SIZED),
        };
        match self.usual_count() {
            Some(count) => Bits::index(count + 1).and(plain.or(Bits::exactly(0))),
            None => plain,
        }
    }

    /// Adds the leaves of the number, which is the `nth` of its node.
    pub(super) fn leaves(&self, node: u32, nth: usize, leaves: &mut Leaves) {
        match (self.form(), self.every) {
            (Form::Index(count), Some(every)) => leaves.growing(node, nth, changes(count, every), every),
            (Form::Index(count), None) => leaves.index(node, Part::Value, nth, count),
            (form, _) => {
                leaves.index(node, Part::Value, nth, self.usual_count().map_or(1, |usual| usual + 1));
                if form == Form::Signed {
                    leaves.index(node, Part::Sign, nth, 2);
                }
                leaves.opaque(node, Part::Value, nth);
            }
        }
    }

    pub(super) fn expected(
        &self,
        node: u32,
        nth: usize,
        times: expected::Times,
        walk: &mut expected::Walk<'_>,
    ) {
        match (self.form(), self.every) {
            (Form::Index(count), Some(every)) => {
                let steps = ((count - 1) / every + 1, changes(count, every));
                walk.growing(node, nth, steps, every, times);
            }
            (Form::Index(count), None) => {
                walk.index(node, Part::Value, nth, count, times);
            }
            (form, _) => {
                let mut times = times;
                if let Some(usual) = self.usual_count() {
                    let leaf = walk.index(node, Part::Value, nth, usual + 1, times);
                    times = times.by(walk.from(leaf, usual + 1, usual), 1.0);
                }
                if form == Form::Signed {
                    walk.index(node, Part::Sign, nth, 2, times);
                }
                walk.unknown(node, nth, SIZED, times);
            }
        }
    }
}

/// Returns the number of values of the steps by which a number may have changed: forwards, backwards, and none.
fn changes(count: u64, every: u64) -> u64 {
    2 * (count / every + 1) + 1
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
pub(super) fn integer(n: i128) -> Value {
    u64::try_from(n).map_or(Value::I64(n as i64), Value::U64)
}
