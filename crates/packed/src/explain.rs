//! Describes a layout for people: what each part costs, and why.

mod describe;

use crate::node::{Array, Node, Object, Shape, Tuple};
use crate::size::{SIZED, count};
use crate::{Bits, Layout};

/// A part of a message, as [`Layout::explain`] describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The path: `position.altitude`, `readings[].t`, `acc.x` for one of several numbers in a text, `tags.*` for additional
    /// properties. `(slot)` is the slot byte, `$` the whole message.
    pub path: String,
    /// The position of the first bit, counted from the start of the message, if it is the same in every message.
    pub offset: Option<u64>,
    /// The kind of part: `number`, `text` and so on.
    pub kind: &'static str,
    /// The minimum and maximum number of bits of all occurrences together in a plain message. The rows add up to the layout.
    pub bits: Bits,
    /// The values that the part can have.
    pub range: String,
    /// The distance between two neighbouring values, or the sensor's unit.
    pub step: String,
    /// The reason for the number of bits.
    pub why: String,
}

impl Layout {
    /// Returns the parts of a message in their order, the slot byte first.
    pub fn explain(&self) -> Vec<Row> {
        let (bits, why) = match self.has_slot_byte() {
            true => (8, "the slot byte"),
            false => (0, "the port of the link"),
        };
        let slot = Words { range: self.slot().to_string(), why: why.into(), ..Words::default() };
        let mut walk = Walk { rows: Vec::new(), offset: Some(0) };
        walk.push("(slot)", "slot", Bits::exactly(bits), slot, Times::ONCE);
        walk.node(self.root(), "", Times::ONCE, &Lead::default());
        walk.rows
    }
}

/// The texts of a row.
#[derive(Debug, Default)]
struct Words {
    range: String,
    step: String,
    why: String,
}

/// How often a part occurs in a message.
#[derive(Debug, Clone, Copy)]
struct Times {
    min: u64,
    max: Option<u64>,
}

impl Times {
    const ONCE: Times = Times { min: 1, max: Some(1) };

    fn by(self, min: u32, max: Option<u32>) -> Times {
        let max = self.max.zip(max).map(|(a, b)| a.saturating_mul(b.into()));
        Times { min: self.min.saturating_mul(min.into()), max }
    }

    /// Returns the same with a minimum of 0 if `lead` has presence bits.
    fn behind(self, lead: &Lead) -> Times {
        if lead.bits.max == Some(0) { self } else { Times { min: 0, ..self } }
    }
}

/// The bits before a value that say whether it is present.
#[derive(Debug)]
struct Lead {
    bits: Bits,
    why: String,
}

impl Default for Lead {
    fn default() -> Lead {
        Lead { bits: Bits::exactly(0), why: String::new() }
    }
}

impl Lead {
    /// Returns the same with one more bit.
    fn and(&self, why: &str) -> Lead {
        let min = self.bits.min.max(1);
        Lead { bits: Bits { min, max: self.bits.max.map(|max| max + 1) }, why: joined(&self.why, why) }
    }

    /// Returns the size of these bits followed by those of the value.
    fn before(&self, value: Bits) -> Bits {
        match self.bits.max {
            Some(0) => value,
            _ => Bits { min: self.bits.min, max: self.bits.and(value).max },
        }
    }
}

struct Walk {
    rows: Vec<Row>,
    /// The position of the next bit, or `None` once it differs between messages.
    offset: Option<u64>,
}

impl Walk {
    fn push(&mut self, path: &str, kind: &'static str, one: Bits, words: Words, times: Times) {
        let max = if one.max == Some(0) {
            Some(0)
        } else {
            one.max.zip(times.max).map(|(a, b)| a.saturating_mul(b))
        };
        let bits = Bits { min: one.min.saturating_mul(times.min), max };
        let once = times.max == Some(1);
        let why = if once || max == Some(0) {
            words.why
        } else {
            joined(&describe::each(one, times.max), &words.why)
        };
        self.rows.push(Row {
            path: if path.is_empty() { "$" } else { path }.to_owned(),
            offset: self.offset.filter(|_| once),
            kind,
            bits,
            range: words.range,
            step: words.step,
            why,
        });
        self.offset =
            self.offset.filter(|_| bits.max == Some(bits.min)).and_then(|at| at.checked_add(bits.min));
    }

    fn node(&mut self, node: &Node, path: &str, times: Times, lead: &Lead) {
        match &node.shape {
            Shape::Object(object) => self.object(object, path, times, lead),
            Shape::Array(array) => self.array(array, path, times, lead),
            Shape::Tuple(tuple) => self.tuple(tuple, path, times, lead),
            Shape::Nullable(inner) => self.node(inner, path, times, &lead.and("1 bit for null or not")),
            Shape::Numbers(numbers) => {
                let none = Lead::default();
                for (i, (name, part)) in numbers.parts.iter().enumerate() {
                    // The presence bits come before the first number.
                    let (lead, times) = if i == 0 { (lead, times) } else { (&none, times.behind(lead)) };
                    let words = describe::number(part).with(&lead.why);
                    self.push(&below(path, name), "number", lead.before(part.bits()), words, times);
                }
            }
            shape => {
                let (kind, words) = describe::leaf(shape);
                self.push(path, kind, lead.before(node.bits()), words.with(&lead.why), times);
            }
        }
    }

    fn object(&mut self, object: &Object, path: &str, times: Times, lead: &Lead) {
        if lead.bits.max != Some(0) {
            self.push(path, "object", lead.bits, Words::default().with(&lead.why), times);
        }
        let times = times.behind(lead);
        let none = Lead::default();
        for field in &object.fields {
            let lead = if field.optional { &none.and("1 bit for there or not") } else { &none };
            self.node(&field.node, &below(path, &field.name), times, lead);
        }
        if let Some(additional) = &object.additional {
            let path = below(path, "*");
            let why = "how many, and the key of each";
            let words = Words { range: "any other keys".into(), why: why.into(), ..Words::default() };
            self.push(&path, "additional", Bits { min: SIZED.min, max: None }, words, times);
            self.node(additional, &path, times.by(0, None), &none);
        }
    }

    fn array(&mut self, array: &Array, path: &str, times: Times, lead: &Lead) {
        self.count(array.min, array.max, path, times, lead);
        let times = times.behind(lead).by(array.min, array.max);
        self.node(&array.item, &format!("{path}[]"), times, &Lead::default());
    }

    fn tuple(&mut self, tuple: &Tuple, path: &str, times: Times, lead: &Lead) {
        self.count(tuple.min, tuple.max, path, times, lead);
        let (times, none) = (times.behind(lead), Lead::default());
        let most = tuple.max.unwrap_or(u32::MAX);
        for (i, item) in (0..most).zip(&tuple.items) {
            self.node(item, &format!("{path}[{i}]"), times.by(u32::from(i < tuple.min), Some(1)), &none);
        }
        if let Some(rest) = &tuple.rest {
            let first = tuple.items.len() as u32;
            let max = tuple.max.map(|max| max.saturating_sub(first));
            self.node(rest, &format!("{path}[]"), times.by(tuple.min.saturating_sub(first), max), &none);
        }
    }

    fn count(&mut self, min: u32, max: Option<u32>, path: &str, times: Times, lead: &Lead) {
        let bits = lead.before(max.map_or(SIZED, |max| count(min, max)));
        let words = Words {
            range: describe::bounds(min, max, "elements"),
            why: "how many".into(),
            ..Words::default()
        };
        self.push(path, "array", bits, words.with(&lead.why), times);
    }
}

impl Words {
    /// Puts `why` before the existing reason.
    fn with(mut self, why: &str) -> Words {
        self.why = joined(why, &self.why);
        self
    }
}

fn joined(first: &str, second: &str) -> String {
    let separator = if first.is_empty() || second.is_empty() { "" } else { "; " };
    format!("{first}{separator}{second}")
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
