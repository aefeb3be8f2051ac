//! The mean size of the messages of a layout with statistics, computed from the tables alone.
//!
//! A table says how likely each of its bins is. How likely a context's classes are follows from the tables of the earlier
//! leaf, recursively. Three assumptions: the values within a bin are equally likely, contexts do not depend on each other,
//! and the messages are like those of the training. Of parts without tables nothing is known: texts count as ASCII of half
//! the lengths that they may have, floats and unbounded numbers with half of their bits.

use super::delta::Trained;
use super::leaf::Key;
use super::table::{Bin, TOTAL_FREQUENCY, Table, Tables};
use crate::path::{Place, shown};
use crate::size::index_bits;
use crate::wire::Part;
use crate::{Bits, Layout};
use std::cell::RefCell;
use std::collections::HashMap;
use std::mem;

/// The bytes before the body of a message in the prior form, and of a delta.
const HEADERS: [f64; 2] = [1.0, 3.0];
/// The bytes that the end of the coder's interval takes on average, beside the bits of the parts.
const END: f64 = 0.5;

/// The bits that a field takes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct ExpectedBits {
    /// The mean over all messages.
    pub mean: f64,
    /// The most.
    pub max: f64,
}

/// The bits of a field in the two modes that use statistics.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ExpectedPart {
    /// The path, as in [`crate::Row`]. The numbers of a text are one part.
    pub path: String,
    /// The bits in the prior form.
    pub prior: ExpectedBits,
    /// The bits in a delta whose reference has the part.
    pub delta: ExpectedBits,
}

/// The sizes of the messages of a layout in the two modes that use statistics.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Expected {
    /// The fields in the order of the layout.
    pub parts: Vec<ExpectedPart>,
    /// The mean bytes of a message in the prior form.
    pub prior_bytes: f64,
    /// The mean bytes of a delta.
    pub delta_bytes: f64,
}

impl Layout {
    /// Returns what messages take on average according to the statistics, if the schema has any.
    ///
    /// ```
    /// # use dunnage_packed::{Layout, Training, Value};
    /// # use dunnage_schema::Model;
    /// # let model = Model::compile(r#"{"type": "integer", "minimum": 0, "maximum": 999999, "x-dunnage-changes": 2}"#)?;
    /// # let model = model.clone().with_statistics(Training::assumed(&Layout::untrained(&model))?.as_deref());
    /// let layout = Layout::new(&model)?; // a schema with statistics
    /// let expected = layout.expected().unwrap();
    /// assert!(expected.parts[0].delta.mean < expected.parts[0].prior.mean); // bits
    /// assert_eq!(Layout::untrained(layout.model()).expected(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn expected(&self) -> Option<Expected> {
        let trained = self.trained()?;
        let walk = |changes| {
            let mut walk =
                Walk { trained, changes, path: String::new(), rows: Vec::new(), known: RefCell::default() };
            self.root().expected(Times::ONCE, &mut walk);
            walk.rows
        };
        let [prior, delta] = [walk(0.0), walk(1.0)];
        let bytes = |rows: &[(String, ExpectedBits)], mode: usize| {
            HEADERS[mode] + END + rows.iter().map(|(_, bits)| bits.mean).sum::<f64>() / 8.0
        };
        let (prior_bytes, delta_bytes) = (bytes(&prior, 0), bytes(&delta, 1));
        let part =
            |((path, prior), (_, delta)): (_, (String, ExpectedBits))| ExpectedPart { path, prior, delta };
        // Both walks visit the same leaves.
        let parts = prior.into_iter().zip(delta).map(part).collect();
        Some(Expected { parts, prior_bytes, delta_bytes })
    }
}

/// How often a part is in a message: on average and at most.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    mean: f64,
    max: f64,
}

impl Times {
    const ONCE: Times = Times { mean: 1.0, max: 1.0 };

    /// Returns how often a part occurs that this part has `mean` times on average and `max` times at most.
    pub fn by(self, mean: f64, max: f64) -> Times {
        Times { mean: self.mean * mean, max: self.max * max }
    }
}

/// Adds up the bits of the fields.
pub(crate) struct Walk<'a> {
    trained: &'a Trained,
    /// The share of parts that are coded as changes, 0 to 1: all in deltas, and those of most elements in a series.
    changes: f64,
    path: String,
    rows: Vec<(String, ExpectedBits)>,
    /// What `between` has found, so that leaves which select each other's tables take no time exponential in their number.
    known: RefCell<HashMap<(usize, bool, u64, u64), f64>>,
}

impl Walk<'_> {
    /// Adds bits to the current path.
    fn add(&mut self, bits: ExpectedBits, times: Times) {
        let path = shown(&self.path);
        if self.rows.last().is_none_or(|(last, _)| last != path) {
            self.rows.push((path.to_owned(), ExpectedBits::default()));
        }
        if let Some((_, row)) = self.rows.last_mut() {
            row.mean += bits.mean * times.mean;
            row.max += bits.max * times.max;
        }
    }

    /// Adds an index out of `count`, and returns its leaf.
    pub fn index(&mut self, node: u32, part: Part, nth: usize, count: u64, times: Times) -> Option<usize> {
        let leaf = self.find(node, part, nth);
        self.leaf(leaf, count, times);
        leaf
    }

    /// Adds the two leaves of a number that grows by about `every`. A message without a reference has one of `amounts` steps, a delta one
    /// of `changes`.
    pub fn growing(&mut self, node: u32, nth: usize, steps: (u64, u64), every: u64, times: Times) {
        let leaf = self.find(node, Part::Value, nth);
        self.counted_leaf(leaf, steps, times);
        self.leaf(leaf.map(|leaf| leaf + 1), every, times);
    }

    fn find(&self, node: u32, part: Part, nth: usize) -> Option<usize> {
        self.trained.leaves.find(Key { node, part, nth: nth as u32, opaque: false })
    }

    fn leaf(&mut self, leaf: Option<usize>, count: u64, times: Times) {
        self.counted_leaf(leaf, (count, count), times);
    }

    /// Adds a leaf that has one of `counts` values without tables: the first as a value, the second as a change.
    fn counted_leaf(&mut self, leaf: Option<usize>, counts: (u64, u64), times: Times) {
        let (values, changes) = self.tables(leaf);
        let bits = |tables: Option<&Tables>, count| {
            let equal = f64::from(index_bits(count));
            let mean = tables.map_or(equal, |tables| self.cost(tables));
            ExpectedBits { mean, max: tables.map_or(equal, most) }
        };
        let (value, change) = (bits(values, counts.0), bits(changes.or(values), counts.1));
        let mean = self.mixed(change.mean, value.mean);
        // A part that the reference does not have is coded with the tables of values.
        let max = if self.changes > 0.0 { change.max.max(value.max) } else { value.max };
        self.add(ExpectedBits { mean, max }, times);
    }

    /// Returns the tables of values and those of changes.
    fn tables(&self, leaf: Option<usize>) -> (Option<&Tables>, Option<&Tables>) {
        let tables = leaf.map(|leaf| &self.trained.statistics.leaves[leaf]);
        tables.map_or((None, None), |tables| (tables.prior.as_ref(), tables.change.as_ref()))
    }

    /// Returns the mean of what holds for changes and for values.
    fn mixed(&self, change: f64, value: f64) -> f64 {
        self.changes * change + (1.0 - self.changes) * value
    }

    /// Adds a part without tables. In a delta, a leaf says first whether it is the reference's.
    pub fn opaque(&mut self, node: u32, nth: usize, all: ExpectedBits, times: Times) {
        let key = Key { node, part: Part::Value, nth: nth as u32, opaque: true };
        let leaf = self.trained.leaves.find(key).filter(|_| self.changes > 0.0);
        let Some(leaf) = leaf else { return self.add(all, times) };
        self.leaf(Some(leaf), 2, times.by(self.changes, 1.0));
        let other = self.share(self.tables(Some(leaf)).1, 2, 1.0, 2.0);
        self.add(all, times.by(self.mixed(other, 1.0), 1.0));
    }

    /// Adds a part of which nothing but its bits is known: half of them are in use.
    pub fn unknown(&mut self, node: u32, nth: usize, bits: Bits, times: Times) {
        let max = bits.max.unwrap_or(0);
        let all = ExpectedBits { mean: (bits.min + max) as f64 / 2.0, max: max as f64 };
        self.opaque(node, nth, all, times);
    }

    /// Returns the mean bits of a leaf with these tables.
    fn cost(&self, tables: &Tables) -> f64 {
        self.mean(tables, &|table| {
            table
                .bins
                .iter()
                .map(|bin| f64::from(bin.frequency) / f64::from(TOTAL_FREQUENCY) * bits(bin))
                .sum()
        })
    }

    /// Returns the mean of `of` over the tables, each as likely as its class.
    fn mean(&self, tables: &Tables, of: &dyn Fn(&Table) -> f64) -> f64 {
        match tables {
            Tables::One(table) => of(table),
            Tables::Classes(context, classes) => {
                let bound = |at: Option<&u64>, none| at.copied().unwrap_or(none);
                let class = |(nth, tables): (usize, &Tables)| {
                    let low = nth.checked_sub(1).map_or(0, |at| bound(context.from.get(at), 0));
                    let high = bound(context.from.get(nth), u64::MAX);
                    let likely = self.between(context.leaf, context.change, low, high);
                    if likely > 0.0 { likely * self.mean(tables, of) } else { 0.0 }
                };
                classes.iter().enumerate().map(class).sum()
            }
        }
    }

    /// Returns how likely it is that a leaf, or its change, is from `low` to below `high`.
    fn between(&self, leaf: usize, change: bool, low: u64, high: u64) -> f64 {
        let key = (leaf, change, low, high);
        if let Some(known) = self.known.borrow().get(&key) {
            return *known;
        }
        let (values, changes) = self.tables(Some(leaf));
        let count = self.trained.leaves.list()[leaf].count;
        let (low, high) = (low as f64, high.min(count) as f64);
        let value = self.share(values, count, low, high);
        let likely = match changes.filter(|_| change && self.changes > 0.0) {
            Some(_) => self.mixed(self.share(changes, count, low, high), value),
            None => value,
        };
        self.known.borrow_mut().insert(key, likely);
        likely
    }

    /// Returns how likely it is that a number of these tables is from `low` to below `high`.
    fn share(&self, tables: Option<&Tables>, count: u64, low: f64, high: f64) -> f64 {
        match tables {
            Some(tables) => {
                self.over(tables, count, &|from, to| (to.min(high) - from.max(low)).max(0.0) / (to - from))
            }
            None => (high - low).max(0.0) / count as f64,
        }
    }

    /// Returns the mean of `of` over the bins, which has the first number and the one after the last. Numbers beyond `count`
    /// do not occur.
    fn over(&self, tables: &Tables, count: u64, of: &dyn Fn(f64, f64) -> f64) -> f64 {
        self.mean(tables, &|table| {
            let (mut start, mut all, mut sum) = (table.start as f64, 0.0, 0.0);
            for bin in &table.bins {
                let end = start + 2f64.powi(bin.width.into());
                let (from, to) = (start.max(0.0), end.min(count as f64));
                if to > from {
                    all += f64::from(bin.frequency);
                    sum += f64::from(bin.frequency) * of(from, to);
                }
                start = end;
            }
            if all > 0.0 { sum / all } else { 0.0 }
        })
    }

    /// Returns how likely it is that an index out of `count` is `low` or more.
    pub fn from(&self, leaf: Option<usize>, count: u64, low: u64) -> f64 {
        match leaf {
            _ if low == 0 => 1.0,
            Some(leaf) => self.between(leaf, false, low, count),
            None => 0.0,
        }
    }

    /// Returns the mean of an index out of `count`.
    pub fn mean_index(&self, leaf: Option<usize>, count: u64) -> f64 {
        let prior = leaf.and_then(|leaf| self.trained.statistics.leaves[leaf].prior.as_ref());
        match prior {
            Some(tables) => self.over(tables, count, &|from, to| (from + to - 1.0) / 2.0),
            None => (count - 1) as f64 / 2.0,
        }
    }

    /// Adds what `walk` adds as parts of a series, of which this share follows others in the same message.
    pub fn series(&mut self, share: f64, walk: impl FnOnce(&mut Self)) {
        let (changes, known) = (self.changes, self.known.take());
        self.changes = self.mixed(1.0, share);
        walk(self);
        self.changes = changes;
        *self.known.get_mut() = known;
    }

    /// Adds what `walk` adds as parts of the node at `place`.
    pub fn under(&mut self, place: Place<'_>, walk: impl FnOnce(&mut Self)) {
        let below = place.below(&self.path);
        let path = mem::replace(&mut self.path, below);
        walk(self);
        self.path = path;
    }
}

/// Returns the bits of a value in this bin.
fn bits(bin: &Bin) -> f64 {
    f64::from(TOTAL_FREQUENCY).log2() - f64::from(bin.frequency).log2() + f64::from(bin.width)
}

/// Returns the most bits of a value in any of the tables.
fn most(tables: &Tables) -> f64 {
    let mut most = 0.0f64;
    tables.each(&mut |table| most = table.bins.iter().map(bits).fold(most, f64::max));
    most
}
