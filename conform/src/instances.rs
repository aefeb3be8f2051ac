//! Random messages that are valid against a schema.

use crate::{Random, schemas::LOOSE};
use dunnage_pson::Value;
use dunnage_schema::{DEVICE, Decimal, Model, NumberText, Object, Text, TextFormat, TimeText, Tuple, Type};
use std::collections::BTreeMap;

/// A message, and the texts that a receiver knows about its device.
#[derive(Debug, Clone)]
pub struct Instance {
    /// The message. Its properties are in the schema's order if the layout's size is bounded, otherwise in any order.
    pub message: Value,
    /// The texts of the fields with `x-dunnage-known`, by their names, and an ID of the device in any case.
    pub known: BTreeMap<String, String>,
}

/// How often to generate a value again if the schema has constraints beyond its type.
const TRIES: usize = 200;
/// Depth at which recursion through definitions stops as soon as possible.
const DEPTH: usize = 6;

/// Generates a message that is valid against `model`.
///
/// # Panics
///
/// If the schema's constraints leave so few valid messages that none is found.
pub fn instance(random: &mut Random, model: &Model) -> Instance {
    for _ in 0..TRIES {
        let known = BTreeMap::from([(DEVICE.to_owned(), "d".to_owned())]);
        let mut maker = Maker { random: &mut *random, model, known };
        let message = maker.value(model.root(), 0);
        let known = maker.known;
        if model.validate(&message).is_ok() {
            return Instance { message, known };
        }
    }
    panic!("found no message for {:?}", model.root());
}

struct Maker<'a> {
    random: &'a mut Random,
    model: &'a Model,
    known: BTreeMap<String, String>,
}

impl Maker<'_> {
    fn value(&mut self, kind: &Type, depth: usize) -> Value {
        match kind {
            Type::Any => self.anything(depth),
            Type::Null => Value::Null,
            Type::Bool => Value::Bool(self.random.once_in(2)),
            Type::Integer(integer) => {
                let n = self.within(integer.min, integer.max, integer.usual);
                let step = i128::from(integer.step);
                whole((n / step * step).clamp(integer.min, integer.max))
            }
            Type::Decimal(decimal) => self.decimal(decimal),
            Type::Float(float) => self.float(float.min, float.max),
            Type::Text(text) => Value::Text(self.text(text)),
            Type::NumberText(number) => Value::Text(self.number_text(number)),
            Type::NumbersText(numbers) => {
                let texts: Vec<String> =
                    numbers.parts.iter().map(|(_, part)| self.number_text(part)).collect();
                Value::Text(texts.join(&numbers.separator))
            }
            Type::TimeText(time) => Value::Text(self.time_text(time)),
            Type::Enum(values) => self.random.pick(values).clone(),
            Type::Const(value) => value.clone(),
            Type::Array(array) => {
                let count = self.count(array.min, array.max, depth);
                Value::Array((0..count).map(|_| self.value(&array.items, depth + 1)).collect())
            }
            Type::Tuple(tuple) => self.tuple(tuple, depth),
            Type::Object(object) => self.object(object, depth),
            Type::Nullable(_) if depth > DEPTH || self.random.once_in(3) => Value::Null,
            Type::Nullable(inner) => self.value(inner, depth),
            Type::Union(kinds) => {
                let at = if depth > DEPTH { 0 } else { self.random.below(kinds.len()) };
                self.value(&kinds[at], depth)
            }
            Type::Definition(at) => self.value(&self.model.definitions()[*at], depth),
            Type::Checked(checked) => self.checked(kind, &checked.kind, depth),
            Type::Known(name, inner) => {
                let value = self.value(inner, depth);
                if let Value::Text(text) = &value {
                    self.known.insert(name.clone(), text.clone());
                }
                value
            }
        }
    }

    /// A value of `inner` that is also valid against `kind`, if one is found; otherwise any value of `inner`.
    fn checked(&mut self, kind: &Type, inner: &Type, depth: usize) -> Value {
        let mut value = self.value(inner, depth);
        for _ in 0..if depth > DEPTH { 4 } else { TRIES / 8 } {
            if self.model.allows(kind, &value) {
                break;
            }
            value = self.value(inner, depth);
        }
        value
    }

    /// A number from `min` to `max`, often near an end of a range.
    fn within(&mut self, min: i128, max: i128, usual: Option<(i128, i128)>) -> i128 {
        let near = |n: i128, random: &mut Random| n + random.below(5) as i128 - 2;
        let n = match (self.random.below(8), usual) {
            (0, _) => near(min, self.random),
            (1, _) => near(max, self.random),
            (2, Some((first, _))) => near(first, self.random),
            (3, Some((_, last))) => near(last, self.random),
            (4, Some((first, last))) => first + i128::from(self.random.bits()) % (last - first + 1),
            (5, _) => i128::from(self.random.magnitude()),
            (6, _) => -i128::from(self.random.magnitude()),
            _ => min + i128::from(self.random.bits()) % (max - min + 1),
        };
        n.clamp(min, max)
    }

    /// A scaled number that `decimal` allows.
    fn scaled(&mut self, decimal: &Decimal) -> i128 {
        let n = self.within(decimal.min, decimal.max, decimal.usual);
        let (first, last) = decimal.counts();
        decimal.of_count(decimal.count_near(n).clamp(first, last))
    }

    fn decimal(&mut self, decimal: &Decimal) -> Value {
        loop {
            // Beyond 2^53, not every scaled number has its own binary64.
            let value = decimal.value(self.scaled(decimal));
            if decimal.scaled(&value).is_some() {
                return value;
            }
        }
    }

    fn number_text(&mut self, number: &NumberText) -> String {
        let scaled = self.scaled(&number.number);
        number.write(scaled)
    }

    fn time_text(&mut self, time: &TimeText) -> String {
        let (first, last) = time.range();
        time.write(self.within(first, last, None))
    }

    fn float(&mut self, min: Option<f64>, max: Option<f64>) -> Value {
        let f = match self.random.below(6) {
            0 => self.random.below(100) as f64,
            1 => -0.0,
            2 => f64::from(f32::from_bits(self.random.bits() as u32)),
            3 => self.random.magnitude() as f64 / 10f64.powi(self.random.below(14) as i32),
            4 => f64::from_bits(self.random.bits()),
            _ => -(self.random.below(1000) as f64) / 3.0,
        };
        let f = if f.is_finite() { f } else { 0.5 };
        Value::from(f.clamp(min.unwrap_or(f64::MIN), max.unwrap_or(f64::MAX)))
    }

    fn text(&mut self, text: &Text) -> String {
        match &text.pattern {
            Some(pattern) => match &pattern.segments {
                Some(segments) => {
                    let mut out = String::new();
                    for segment in segments {
                        let run = segment.min as usize
                            + self.random.below((segment.max - segment.min) as usize + 1);
                        out.extend((0..run).map(|_| *self.random.pick(&segment.chars)));
                    }
                    out
                }
                None => {
                    let loose = LOOSE.iter().find(|(source, _)| *source == pattern.source);
                    loose.map_or(String::new(), |(_, texts)| (*self.random.pick(texts)).to_owned())
                }
            },
            None if text.format == Some(TextFormat::DateTime) => self.date_time(),
            None => {
                let (min, max) = (text.min_length as usize, text.max_length.map(|max| max as usize));
                let most = max.unwrap_or(min + 40).min(min + 40);
                let length = min + self.random.below(most - min + 1);
                let wide = self.random.once_in(4);
                (0..length).map(|_| self.character(wide)).collect()
            }
        }
    }

    fn character(&mut self, wide: bool) -> char {
        if wide && self.random.once_in(2) {
            *self.random.pick(&[
                '\u{80}',
                'é',
                '\u{7ff}',
                '\u{800}',
                '€',
                '\u{ffff}',
                '\u{10000}',
                '🚢',
                '\u{10ffff}',
            ])
        } else {
            char::from(self.random.byte() & 0x7f)
        }
    }

    fn date_time(&mut self) -> String {
        let year = [2026, 0, 9999, 1969, 1970][self.random.below(5)];
        let fraction = *self.random.pick(&["", "", "", ".5", ".000", ".123456"]);
        let zone = *self.random.pick(&["Z", "Z", "Z", "z", "+00:00", "-05:30"]);
        let (month, day) = (1 + self.random.below(12), 1 + self.random.below(28));
        let (hour, minute, second) = (self.random.below(24), self.random.below(60), self.random.below(60));
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}{zone}")
    }

    fn count(&mut self, min: u32, max: Option<u32>, depth: usize) -> usize {
        let min = min as usize;
        if depth > DEPTH {
            return min;
        }
        let most = max.map_or(min + 5, |max| (max as usize).min(min + 5));
        min + self.random.below(most - min + 1)
    }

    fn tuple(&mut self, tuple: &Tuple, depth: usize) -> Value {
        let count = self.count(tuple.min, tuple.max, depth);
        let kinds =
            tuple.items.iter().chain(std::iter::repeat_with(|| tuple.rest.as_deref()).map_while(|rest| rest));
        Value::Array(kinds.take(count).map(|kind| self.value(kind, depth + 1)).collect())
    }

    fn object(&mut self, object: &Object, depth: usize) -> Value {
        let mut entries = Vec::new();
        for field in &object.fields {
            if field.required || depth <= DEPTH && self.random.once_in(2) {
                entries.push((field.name.clone(), self.value(&field.kind, depth + 1)));
            }
        }
        let Some(additional) = &object.additional else { return Value::Map(entries) };
        for i in 0..self.count(0, None, depth) {
            let key = format!("more{}", self.random.below(20) + 20 * i);
            let value = self.value(additional, depth + 1);
            // Additional properties may come anywhere among the others.
            let at =
                if self.random.once_in(2) { entries.len() } else { self.random.below(entries.len() + 1) };
            entries.insert(at, (key, value));
        }
        Value::Map(entries)
    }

    fn anything(&mut self, depth: usize) -> Value {
        match self.random.below(if depth > DEPTH { 6 } else { 9 }) {
            0 => Value::Null,
            1 => Value::Bool(self.random.once_in(2)),
            2 => Value::U64(self.random.magnitude()),
            3 => Value::from(-((self.random.magnitude() >> 1) as i64)),
            4 => self.float(None, None),
            5 => Value::from("any text"),
            6 => Value::Bytes(vec![self.random.byte(); self.random.below(4)]),
            7 => Value::Array((0..self.random.below(4)).map(|_| self.anything(depth + 1)).collect()),
            _ => {
                let entry = |i: usize, maker: &mut Self| (format!("key{i}"), maker.anything(depth + 1));
                Value::Map((0..self.random.below(4)).map(|i| entry(i, self)).collect())
            }
        }
    }
}

/// Converts an integer to a value.
fn whole(n: i128) -> Value {
    u64::try_from(n).map_or(Value::I64(n as i64), Value::U64)
}
