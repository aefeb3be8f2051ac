//! What messages of a layout with statistics take on average, computed from the tables alone.
//!
//! A table says how likely each of its bins is. How likely a context's classes are follows from the tables of the earlier
//! leaf, recursively. Three assumptions: the values within a bin are equally likely, contexts do not depend on each other,
//! and the messages are like those of the training. Of parts without tables nothing is known: texts count as ASCII of half
//! the lengths that they may have, floats and unbounded numbers with half of their bits.

use super::delta::Trained;
use super::leaf::{Key, pieces};
use super::table::{Bin, SHARES, Table, Tables};
use crate::node::{Form, Node, Number, Object, Shape, Tuple, index_bits};
use crate::size::SIZED;
use crate::wire::{NULLABLE, Part};
use crate::{Layout, float};
use dunnage_schema::Segment;
use std::cell::RefCell;
use std::collections::HashMap;

/// The bytes before the body of a message in the prior form, and of a delta.
const HEADERS: [f64; 2] = [1.0, 3.0];
/// The bytes that the end of the coder's interval takes on average, beside the bits of the parts.
const END: f64 = 0.5;

/// The bits that a field takes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ExpectedBits {
    /// The mean over all messages.
    pub mean: f64,
    /// The most.
    pub max: f64,
}

/// What a field takes in the two modes that use statistics.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedPart {
    /// The path, as in [`crate::Row`]. The numbers of a text are one part.
    pub path: String,
    /// The bits in the prior form.
    pub prior: ExpectedBits,
    /// The bits in a delta whose reference has the part.
    pub delta: ExpectedBits,
}

/// What the messages of a layout take in the two modes that use statistics.
#[derive(Debug, Clone, PartialEq)]
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
    pub fn expected(&self) -> Option<Expected> {
        let trained = self.trained()?;
        let walk = |deltas| {
            let mut walk =
                Walk { trained, deltas, path: String::new(), rows: Vec::new(), known: RefCell::default() };
            walk.node(self.root(), Times::ONCE);
            walk.rows
        };
        let [prior, delta] = [walk(false), walk(true)];
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
struct Times {
    mean: f64,
    max: f64,
}

impl Times {
    const ONCE: Times = Times { mean: 1.0, max: 1.0 };

    fn by(self, mean: f64, max: f64) -> Times {
        Times { mean: self.mean * mean, max: self.max * max }
    }
}

struct Walk<'a> {
    trained: &'a Trained,
    deltas: bool,
    path: String,
    rows: Vec<(String, ExpectedBits)>,
    /// What `between` has found, so that leaves which select each other's tables take no time exponential in their number.
    known: RefCell<HashMap<(usize, bool, u64, u64), f64>>,
}

impl Walk<'_> {
    /// Adds bits to the current path.
    fn add(&mut self, bits: ExpectedBits, times: Times) {
        let path = if self.path.is_empty() { "$" } else { &self.path };
        if self.rows.last().is_none_or(|(last, _)| last != path) {
            self.rows.push((path.to_owned(), ExpectedBits::default()));
        }
        if let Some((_, row)) = self.rows.last_mut() {
            row.mean += bits.mean * times.mean;
            row.max += bits.max * times.max;
        }
    }

    /// Adds an index out of `count`, and returns its leaf.
    fn index(&mut self, node: u32, part: Part, nth: usize, count: u64, times: Times) -> Option<usize> {
        let leaf = self.trained.leaves.find(Key { node, part, nth: nth as u32, opaque: false });
        self.leaf(leaf, count, times);
        leaf
    }

    fn leaf(&mut self, leaf: Option<usize>, count: u64, times: Times) {
        let equal = f64::from(index_bits(count));
        let tables = leaf.map(|leaf| &self.trained.statistics.leaves[leaf]);
        let (prior, change) =
            tables.map_or((None, None), |tables| (tables.prior.as_ref(), tables.change.as_ref()));
        let coded = change.filter(|_| self.deltas).or(prior);
        // A part that the reference does not have is coded with the tables of values.
        let max = |tables: Option<&Tables>| tables.map_or(equal, most);
        let max = if self.deltas { max(coded).max(max(prior)) } else { max(coded) };
        self.add(ExpectedBits { mean: coded.map_or(equal, |tables| self.cost(tables)), max }, times);
    }

    /// Adds a part without tables. In a delta, a leaf says first whether it is the reference's.
    fn opaque(&mut self, node: u32, nth: usize, all: ExpectedBits, times: Times) {
        let key = Key { node, part: Part::Value, nth: nth as u32, opaque: true };
        let leaf = self.trained.leaves.find(key).filter(|_| self.deltas);
        let Some(leaf) = leaf else { return self.add(all, times) };
        self.leaf(Some(leaf), 2, times);
        let tables = self.trained.statistics.leaves[leaf].change.as_ref();
        let other = tables.map_or(0.5, |_| self.between(leaf, true, 1, 2));
        self.add(all, times.by(other, 1.0));
    }

    /// Returns the mean bits of a leaf with these tables.
    fn cost(&self, tables: &Tables) -> f64 {
        self.mean(tables, &|table| {
            table.bins.iter().map(|bin| f64::from(bin.share) / f64::from(SHARES) * bits(bin)).sum()
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
        let tables = &self.trained.statistics.leaves[leaf];
        let count = self.trained.leaves.list()[leaf].count;
        let change = tables.change.as_ref().filter(|_| self.deltas && change);
        let (low, high) = (low as f64, high.min(count) as f64);
        let likely = match change.or(tables.prior.as_ref()) {
            Some(tables) => {
                self.over(tables, count, &|from, to| (to.min(high) - from.max(low)).max(0.0) / (to - from))
            }
            None => (high - low).max(0.0) / count as f64,
        };
        self.known.borrow_mut().insert(key, likely);
        likely
    }

    /// Returns the mean of `of` over the bins, which has the first number and the one behind the last. Numbers beyond `count`
    /// do not occur.
    fn over(&self, tables: &Tables, count: u64, of: &dyn Fn(f64, f64) -> f64) -> f64 {
        self.mean(tables, &|table| {
            let (mut start, mut all, mut sum) = (table.start as f64, 0.0, 0.0);
            for bin in &table.bins {
                let end = start + 2f64.powi(bin.width.into());
                let (from, to) = (start.max(0.0), end.min(count as f64));
                if to > from {
                    all += f64::from(bin.share);
                    sum += f64::from(bin.share) * of(from, to);
                }
                start = end;
            }
            if all > 0.0 { sum / all } else { 0.0 }
        })
    }

    /// Returns how likely it is that an index out of `count` is `low` or more.
    fn from(&self, leaf: Option<usize>, count: u64, low: u64) -> f64 {
        match leaf {
            _ if low == 0 => 1.0,
            Some(leaf) => self.between(leaf, false, low, count),
            None => 0.0,
        }
    }

    fn node(&mut self, node: &Node, times: Times) {
        let id = node.id;
        match &node.shape {
            Shape::Constant(_) | Shape::Known(_) | Shape::Any | Shape::Definition(_) => {}
            Shape::Bool => drop(self.index(id, Part::Value, 0, 2, times)),
            Shape::Number(number) => self.number(id, 0, number, times),
            Shape::Numbers(numbers) => {
                for (nth, (_, part)) in numbers.parts.iter().enumerate() {
                    self.number(id, nth, part, times);
                }
            }
            Shape::Float => {
                let form = self.index(id, Part::Form, 0, float::FORMS, times);
                let decimal = times.by(1.0 - self.from(form, float::FORMS, 1), 1.0);
                self.index(id, Part::Sign, 0, 2, decimal);
                self.index(id, Part::Places, 0, float::PLACES, decimal);
                self.opaque(id, 0, half(0, u64::BITS.into()), times);
            }
            Shape::Choice(values) => drop(self.index(id, Part::Value, 0, values.len() as u64, times)),
            Shape::Pattern(segments) => self.pattern(id, segments, times),
            Shape::Text(text) => {
                let (most, max) = (text.max.unwrap_or(text.min), node.bits().max.unwrap_or(0));
                let length = index_bits(u64::from(most - text.min) + 1) + u32::from(most > 0);
                let mean = f64::from(length) + 7.0 * f64::from(text.min + most) / 2.0;
                self.opaque(id, 0, ExpectedBits { mean, max: max as f64 }, times);
            }
            Shape::Array(array) => {
                let max = array.max.unwrap_or(array.min);
                let (_, mean) = self.count(id, array.min, max, times);
                self.under("[]", |walk| walk.node(&array.item, times.by(mean, max.into())));
            }
            Shape::Tuple(tuple) => self.tuple(id, tuple, times),
            Shape::Object(object) => self.object(object, times),
            Shape::Nullable(inner) => {
                let leaf = self.index(id, Part::Presence, NULLABLE, 2, times);
                let there = self.from(leaf, 2, 1);
                self.node(inner, times.by(there, 1.0));
            }
            Shape::Union(nodes) => {
                let count = nodes.len() as u64;
                let leaf = self.index(id, Part::Form, 0, count, times);
                for (nth, node) in nodes.iter().enumerate() {
                    let nth = nth as u64;
                    let likely = self.from(leaf, count, nth) - self.from(leaf, count, nth + 1);
                    self.node(node, times.by(likely, 1.0));
                }
            }
        }
    }

    fn object(&mut self, object: &Object, times: Times) {
        for field in &object.fields {
            let dot = if self.path.is_empty() { "" } else { "." };
            self.under(&format!("{dot}{}", field.name), |walk| {
                let mut there = 1.0;
                if field.optional {
                    let leaf = walk.index(field.node.id, Part::Presence, 0, 2, times);
                    there = walk.from(leaf, 2, 1);
                }
                walk.node(&field.node, times.by(there, 1.0));
            });
        }
    }

    fn tuple(&mut self, id: u32, tuple: &Tuple, times: Times) {
        let max = tuple.max.unwrap_or(tuple.min);
        let (leaf, mut rest) = self.count(id, tuple.min, max, times);
        for (at, item) in (0..max).zip(&tuple.items) {
            let least = (at + 1).saturating_sub(tuple.min);
            let there = self.from(leaf, u64::from(max - tuple.min) + 1, least.into());
            rest -= there;
            self.under(&format!("[{at}]"), |walk| walk.node(item, times.by(there, 1.0)));
        }
        if let Some(item) = &tuple.rest {
            let most = f64::from(max.saturating_sub(tuple.items.len() as u32));
            self.under("[]", |walk| walk.node(item, times.by(rest.max(0.0), most)));
        }
    }

    /// Adds the number of elements, and returns its leaf and its mean.
    fn count(&mut self, id: u32, min: u32, max: u32, times: Times) -> (Option<usize>, f64) {
        let count = u64::from(max - min) + 1;
        let leaf = self.index(id, Part::Count, 0, count, times);
        let prior = leaf.and_then(|leaf| self.trained.statistics.leaves[leaf].prior.as_ref());
        let above = match prior {
            Some(tables) => self.over(tables, count, &|from, to| (from + to - 1.0) / 2.0),
            None => (count - 1) as f64 / 2.0,
        };
        (leaf, f64::from(min) + above)
    }

    fn number(&mut self, id: u32, nth: usize, number: &Number, times: Times) {
        match (number.form(), number.every) {
            (Form::Index(count), Some(every)) => {
                let leaf = self.trained.leaves.find(Key {
                    node: id,
                    part: Part::Value,
                    nth: nth as u32,
                    opaque: false,
                });
                let amounts = (count - 1) / every + 1;
                self.leaf(leaf, if self.deltas { 2 * (count / every + 1) + 1 } else { amounts }, times);
                self.leaf(leaf.map(|leaf| leaf + 1), every, times);
            }
            (Form::Index(count), None) => drop(self.index(id, Part::Value, nth, count, times)),
            (form, _) => {
                let mut times = times;
                if let Some(usual) = number.usual_count() {
                    let leaf = self.index(id, Part::Value, nth, usual + 1, times);
                    times = times.by(self.from(leaf, usual + 1, usual), 1.0);
                }
                if form == Form::Signed {
                    self.index(id, Part::Sign, nth, 2, times);
                }
                self.opaque(id, nth, half(SIZED.min, SIZED.max.unwrap_or(0)), times);
            }
        }
    }

    fn pattern(&mut self, id: u32, segments: &[Segment], times: Times) {
        let mut runs = Vec::new();
        for (nth, segment) in segments.iter().enumerate() {
            let count = u64::from(segment.max - segment.min) + 1;
            runs.push((self.index(id, Part::Count, nth, count, times), count));
        }
        for (nth, piece) in pieces(segments).enumerate() {
            let (leaf, count) = runs[piece.segment];
            let least = (piece.after + 1).saturating_sub(segments[piece.segment].min);
            let times = times.by(self.from(leaf, count, least.into()), 1.0);
            self.index(id, Part::Value, nth, piece.radix.pow(piece.most), times);
        }
    }

    fn under(&mut self, name: &str, walk: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        self.path.push_str(name);
        walk(self);
        self.path.truncate(length);
    }
}

/// Returns the bits of a part of which nothing else is known.
fn half(min: u64, max: u64) -> ExpectedBits {
    ExpectedBits { mean: (min + max) as f64 / 2.0, max: max as f64 }
}

/// Returns the bits of a value in this bin.
fn bits(bin: &Bin) -> f64 {
    f64::from(SHARES).log2() - f64::from(bin.share).log2() + f64::from(bin.width)
}

/// Returns the most bits of a value in any of the tables.
fn most(tables: &Tables) -> f64 {
    let mut most = 0.0f64;
    tables.each(&mut |table| most = table.bins.iter().map(bits).fold(most, f64::max));
    most
}
