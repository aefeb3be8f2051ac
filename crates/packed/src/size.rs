//! Computes the number of bits of a node.

use crate::float;
use crate::node::{Array, Form, Node, Number, Object, Shape, Text, Tuple, index_bits};
use dunnage_schema::Segment;

/// The minimum and maximum number of bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bits {
    /// The minimum.
    pub min: u64,
    /// The maximum, or `None` if there is no bound.
    pub max: Option<u64>,
}

/// The bits of a sized number.
pub(crate) const SIZED: Bits = Bits { min: 6, max: Some(70) };
/// The maximum number of bits of a character: four bytes of UTF-8.
const CHARACTER: u64 = 32;

impl Bits {
    /// Returns a fixed number of bits.
    pub(crate) fn exactly(bits: u64) -> Bits {
        Bits { min: bits, max: Some(bits) }
    }

    fn open(min: u64) -> Bits {
        Bits { min, max: None }
    }

    /// Returns the bits of both parts, one after the other.
    pub(crate) fn and(self, other: Bits) -> Bits {
        let max = self.max.zip(other.max).map(|(a, b)| a.saturating_add(b));
        Bits { min: self.min.saturating_add(other.min), max }
    }

    /// Returns the bits of either part.
    fn or(self, other: Bits) -> Bits {
        Bits { min: self.min.min(other.min), max: self.max.zip(other.max).map(|(a, b)| a.max(b)) }
    }

    /// Returns the bits of `min` to `max` such parts.
    fn times(self, min: u32, max: u32) -> Bits {
        let most = |bits: u64| bits.saturating_mul(u64::from(max));
        Bits { min: self.min.saturating_mul(u64::from(min)), max: self.max.map(most) }
    }
}

impl Node {
    /// Returns the bits of this node in a plain body.
    pub fn bits(&self) -> Bits {
        match &self.shape {
            Shape::Constant(_) | Shape::Known(_) => Bits::exactly(0),
            Shape::Bool => Bits::exactly(1),
            Shape::Number(number) => number.bits(),
            Shape::Numbers(numbers) => sum(numbers.parts.iter().map(|(_, part)| part.bits())),
            Shape::Float => float::BITS,
            Shape::Choice(values) => index(values.len() as u64),
            Shape::Pattern(segments) => pattern(segments),
            Shape::Text(text) => text.bits(),
            Shape::Array(array) => array.bits(),
            Shape::Tuple(tuple) => tuple.bits(),
            Shape::Object(object) => object.bits(),
            Shape::Nullable(inner) => Bits::exactly(1).and(inner.bits().or(Bits::exactly(0))),
            Shape::Union(kinds) => {
                let either = kinds.iter().map(Node::bits).reduce(Bits::or);
                index(kinds.len() as u64).and(either.unwrap_or(Bits::exactly(0)))
            }
            Shape::Any => Bits::open(4),
            Shape::Definition(_) => Bits::open(0),
        }
    }
}

impl Number {
    /// Returns the bits of one number.
    pub fn bits(&self) -> Bits {
        let plain = match self.form() {
            Form::Index(count) => index(count),
            Form::Offset => SIZED,
            Form::Signed => Bits::exactly(1).and(SIZED),
        };
        match self.usual_count() {
            Some(count) => index(count + 1).and(plain.or(Bits::exactly(0))),
            None => plain,
        }
    }
}

impl Text {
    fn bits(&self) -> Bits {
        let ascii = u64::from(self.min > 0) + 7 * u64::from(self.min);
        let Some(max) = self.max else { return Bits::open(SIZED.min + ascii) };
        let most = u64::from(max > 0) + CHARACTER * u64::from(max);
        count(self.min, max).and(Bits { min: ascii, max: Some(most) })
    }
}

impl Array {
    fn bits(&self) -> Bits {
        match self.max {
            Some(max) => count(self.min, max).and(self.item.bits().times(self.min, max)),
            None => SIZED.and(Bits::open(self.item.bits().min.saturating_mul(self.min.into()))),
        }
    }
}

impl Tuple {
    fn bits(&self) -> Bits {
        let first = sum(self.items.iter().take(self.min as usize).map(Node::bits));
        let more = self.min.saturating_sub(self.items.len() as u32);
        let least = self.rest.as_ref().map_or(0, |rest| rest.bits().min.saturating_mul(more.into()));
        let min = first.min.saturating_add(least);
        let Some(max) = self.max else { return SIZED.and(Bits::open(min)) };
        let first = sum(self.items.iter().take(max as usize).map(Node::bits));
        let more = max.saturating_sub(self.items.len() as u32);
        let rest = self.rest.as_ref().map_or(Bits::exactly(0), |rest| rest.bits().times(0, more));
        count(self.min, max).and(Bits { min, max: first.and(rest).max })
    }
}

impl Object {
    fn bits(&self) -> Bits {
        let fields = sum(self.fields.iter().map(|field| match field.optional {
            true => Bits::exactly(1).and(field.node.bits().or(Bits::exactly(0))),
            false => field.node.bits(),
        }));
        if self.additional.is_some() { fields.and(Bits::open(SIZED.min)) } else { fields }
    }
}

fn sum(parts: impl Iterator<Item = Bits>) -> Bits {
    parts.fold(Bits::exactly(0), Bits::and)
}

fn index(count: u64) -> Bits {
    Bits::exactly(index_bits(count).into())
}

/// Returns the bits of a count between `min` and `max`.
pub(crate) fn count(min: u32, max: u32) -> Bits {
    index(u64::from(max - min) + 1)
}

fn pattern(segments: &[Segment]) -> Bits {
    let counts = sum(segments.iter().map(|s| count(s.min, s.max)));
    let fewest = groups(segments.iter().map(|s| (s.chars.len() as u64, s.min)));
    let most = groups(segments.iter().map(|s| (s.chars.len() as u64, s.max)));
    counts.and(Bits { min: fewest, max: Some(most) })
}

/// Returns the bits of characters in groups below 2^32. Each run has the size of its class and the number of its characters.
fn groups(runs: impl Iterator<Item = (u64, u32)>) -> u64 {
    let (mut bits, mut product) = (0, 1u64);
    for (size, characters) in runs.filter(|(size, _)| *size > 1) {
        for _ in 0..characters {
            if product * size >= 1 << 32 {
                bits += u64::from(index_bits(product));
                product = 1;
            }
            product *= size;
        }
    }
    bits + u64::from(index_bits(product))
}
