//! Describes a layout for people: what each part costs, and why.

use crate::path::shown;
use crate::{Bits, Layout};

/// A part of a message, as [`Layout::explain`] describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
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
    ///
    /// ```
    /// # use dunnage_packed::Layout;
    /// # use dunnage_schema::Model;
    /// let model = Model::compile(r#"{
    ///     "type": "object",
    ///     "properties": {
    ///         "open": {"type": "boolean"},
    ///         "level": {"type": "integer", "minimum": 0, "maximum": 100}
    ///     },
    ///     "required": ["open", "level"],
    ///     "additionalProperties": false
    /// }"#)?;
    /// let rows: Vec<_> = Layout::new(&model)?.explain().into_iter().map(|row| (row.path, row.offset, row.bits.min)).collect();
    /// assert_eq!(rows, [("(slot)".into(), Some(0), 8), ("open".into(), Some(8), 1), ("level".into(), Some(9), 7)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn explain(&self) -> Vec<Row> {
        let (bits, why) = match self.has_slot_byte() {
            true => (8, "the slot byte"),
            false => (0, "the port of the link"),
        };
        let slot = Words::says(&self.slot().to_string(), why);
        let mut walk = Walk { rows: Vec::new(), offset: Some(0) };
        walk.push("(slot)", "slot", Bits::exactly(bits), slot, Times::ONCE, &Lead::default());
        self.root().explain("", Times::ONCE, &Lead::default(), &mut walk);
        walk.rows
    }
}

/// The texts of a row.
#[derive(Debug, Default)]
pub(crate) struct Words {
    pub range: String,
    pub step: String,
    pub why: String,
}

/// How often a part occurs in a message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    min: u64,
    max: Option<u64>,
}

impl Times {
    const ONCE: Times = Times { min: 1, max: Some(1) };

    /// Returns how often a part occurs that this part has `min` to `max` times.
    pub fn by(self, min: u32, max: Option<u32>) -> Times {
        let max = self.max.zip(max).map(|(a, b)| a.saturating_mul(b.into()));
        Times { min: self.min.saturating_mul(min.into()), max }
    }

    /// Returns the same with a minimum of 0 if `lead` has presence bits.
    pub fn behind(self, lead: &Lead) -> Times {
        if lead.is_empty() { self } else { Times { min: 0, ..self } }
    }
}

/// The bits before a value that say whether it is present.
#[derive(Debug)]
pub(crate) struct Lead {
    bits: Bits,
    why: String,
}

impl Default for Lead {
    fn default() -> Lead {
        Lead { bits: Bits::exactly(0), why: String::new() }
    }
}

impl Lead {
    pub fn is_empty(&self) -> bool {
        self.bits.max == Some(0)
    }

    /// Returns the same with one more bit.
    pub fn and(&self, why: &str) -> Lead {
        let min = self.bits.min.max(1);
        Lead { bits: Bits { min, max: self.bits.max.map(|max| max + 1) }, why: joined(&self.why, why) }
    }

    /// Returns the size of these bits followed by those of the value.
    fn before(&self, value: Bits) -> Bits {
        if self.is_empty() { value } else { Bits { min: self.bits.min, max: self.bits.and(value).max } }
    }
}

/// Collects the rows.
pub(crate) struct Walk {
    rows: Vec<Row>,
    /// The position of the next bit, or `None` once it differs between messages.
    offset: Option<u64>,
}

impl Walk {
    /// Adds a part, which takes `bits` after `lead` in each of its occurrences.
    pub fn push(
        &mut self,
        path: &str,
        kind: &'static str,
        bits: Bits,
        words: Words,
        times: Times,
        lead: &Lead,
    ) {
        let (one, words) = (lead.before(bits), words.with(&lead.why));
        let max = if one.max == Some(0) {
            Some(0)
        } else {
            one.max.zip(times.max).map(|(a, b)| a.saturating_mul(b))
        };
        let bits = Bits { min: one.min.saturating_mul(times.min), max };
        let once = times.max == Some(1);
        let why = if once || max == Some(0) { words.why } else { joined(&each(one, times.max), &words.why) };
        self.rows.push(Row {
            path: shown(path).to_owned(),
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
}

impl Words {
    /// Returns the texts of a part without a step.
    pub fn says(range: &str, why: &str) -> Words {
        Words { range: range.into(), step: String::new(), why: why.into() }
    }

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

/// Describes the bits of each occurrence of a repeated part.
fn each(one: Bits, most: Option<u64>) -> String {
    let times = most.map_or("each".to_owned(), |most| format!("up to {most} times"));
    match one.max {
        Some(max) if max == one.min => format!("{times} {max} bits"),
        Some(max) => format!("{times} {} to {max} bits", one.min),
        None => format!("{times} {} bits and more", one.min),
    }
}
