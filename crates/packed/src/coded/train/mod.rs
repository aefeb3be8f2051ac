//! Training: makes the statistics of a layout from messages.

mod assumed;
mod bins;
mod contexts;
mod plain;
mod report;
mod samples;

use super::Leaves;
use super::leaf::Every;
use super::past::Past;
use super::predictor::Predictor;
use super::record::{Record, Recorder};
use super::statistics::{LeafStatistics, MAX_DEPTH, Statistics};
use super::table::{FULL_WEIGHT, Table, Tables};
use crate::{Error, Layout, Source};
use dunnage_pson::{Kind, Value};
use plain::{Measured, PartBits};
use samples::{LeafShape, Samples};
use std::collections::HashMap;

/// The weights of a reference that are tried, in sixteenths.
const WEIGHTS: [u8; 4] = [FULL_WEIGHT, 13, 9, 0];

/// The bits per message that a byte of tables must save: each device keeps the tables in flash. Those of values must save more, because a
/// device that receives acknowledgements sends few messages without a reference.
const VALUE_PRICE: f64 = 0.06;
const CHANGE_PRICE: f64 = 0.03;

/// The result of a training.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Learnt {
    /// The statistics, for `x-dunnage-statistics` in Base64.
    pub statistics: Vec<u8>,
    /// The mean bits of each part of a message, in the order of the layout.
    pub parts: Vec<LearntPart>,
}

/// The mean bits of a part of the messages of a training.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LearntPart {
    /// The path, as in [`crate::Row`].
    pub path: String,
    /// The bits in a plain body.
    pub plain: f64,
    /// The bits in the prior form.
    pub prior: f64,
    /// The bits in a delta, or `None` if no message had a reference.
    pub delta: Option<f64>,
}

/// A message as training sees it.
#[derive(Debug, Clone)]
pub struct Example {
    record: Record,
    plain: Vec<PartBits>,
    /// The parts of the record, in its order.
    coded: Vec<PartBits>,
}

/// The bits of each node that do not follow from statistics, in all messages together.
#[derive(Debug, Clone, Default)]
struct NodeBits {
    /// Of plain bodies.
    plain: HashMap<u32, u64>,
    /// Of texts and other parts that statistics leave as they are, in messages without a reference.
    opaque: HashMap<u32, u64>,
    /// The same in deltas, which leave out the parts that equal those of the reference.
    opaque_changes: HashMap<u32, u64>,
}

/// Collects messages, and makes statistics of them.
///
/// ```
/// use dunnage_packed::{Layout, Training, Value};
/// use dunnage_schema::Model;
///
/// let model = Model::compile(r#"{"type": "integer", "minimum": 0, "maximum": 65535}"#)?;
/// let layout = Layout::untrained(&model);
/// let mut training = Training::new(&layout)?;
/// for n in 0..1000 {
///     training.add(&training.example(&Value::U64(20_000 + n % 16))?);
/// }
/// let model = model.with_statistics(Some(&training.finish().statistics));
///
/// let mut bytes = Vec::new();
/// Layout::new(&model)?.encode(&Value::U64(20_007), &mut bytes)?;
/// assert_eq!(bytes.len(), 2); // instead of 3: a value like those that were seen
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Training<'a> {
    layout: &'a Layout,
    leaves: Leaves,
    prior: Samples,
    change: Samples,
    bits: NodeBits,
}

impl<'a> Training<'a> {
    /// Begins a training.
    ///
    /// # Errors
    /// `type`: the largest message has no bound, or messages have no slot byte.
    pub fn new(layout: &'a Layout) -> Result<Training<'a>, Error> {
        let fault = match layout.is_plain() {
            false => Some("statistics need a schema whose largest message has a bound"),
            true if layout.has_slot_byte() => None,
            true => Some("messages with statistics need their first byte: leave out x-dunnage-slot-from"),
        };
        if let Some(fault) = fault {
            return Err(Error::new(Kind::Type, 0, fault).without_offset());
        }
        let leaves = Leaves::of(layout.root());
        let leaf_count = leaves.list().len();
        let (prior, change) = (Samples::new(leaf_count, VALUE_PRICE), Samples::new(leaf_count, CHANGE_PRICE));
        Ok(Training { layout, prior, change, leaves, bits: NodeBits::default() })
    }

    /// Returns a message as an example.
    ///
    /// # Errors
    /// As those of [`Layout::encode`].
    pub fn example(&self, message: &Value) -> Result<Example, Error> {
        let mut bytes = Vec::new();
        self.layout.encode_plain(message, &mut bytes)?;
        let mut plain = Measured::<false>::new(&mut bytes);
        self.layout.write(message, &mut plain)?;
        let plain = plain.finish();
        let mut coded = Measured::<true>::new(&mut bytes);
        self.layout.write(message, &mut coded)?;
        let mut recorder = Recorder::default();
        self.layout.write(message, &mut recorder)?;
        Ok(Example { record: recorder.finish(), plain, coded: coded.finish() })
    }

    /// Adds a message that is sent without a reference.
    pub fn add(&mut self, example: &Example) {
        self.prior.add(&self.leaves, &example.record, None);
        for part in &example.plain {
            *self.bits.plain.entry(part.node).or_default() += part.bits as u64;
        }
        add_opaque(&self.leaves, example, None, &mut self.bits.opaque);
    }

    /// Adds a message that is sent while the receiver has `reference`.
    pub fn add_change(&mut self, example: &Example, reference: &Example) {
        let reference = Some(&reference.record);
        self.change.add(&self.leaves, &example.record, reference);
        add_opaque(&self.leaves, example, reference, &mut self.bits.opaque_changes);
    }

    /// Returns the number of messages that were added without a reference, and with one.
    pub fn messages(&self) -> (u32, u32) {
        (self.prior.messages(), self.change.messages())
    }

    /// Multiplies the bits per message that a byte of tables must save: 0 makes the statistics with the smallest messages, a large factor those
    /// with the smallest tables. Without a call, a byte must save 0.06 bits in the prior form and 0.03 in deltas, which suits microcontrollers.
    #[must_use]
    pub fn priced(mut self, factor: f64) -> Training<'a> {
        self.prior.multiply_price(factor);
        self.change.multiply_price(factor);
        self
    }

    /// Makes the statistics.
    pub fn finish(mut self) -> Learnt {
        let mut all = Statistics { leaves: vec![LeafStatistics::default(); self.leaves.list().len()] };
        for (at, statistics) in all.leaves.iter_mut().enumerate() {
            statistics.prior = self.prior_tables(&self.shape(at));
        }
        for (at, statistics) in all.leaves.iter_mut().enumerate() {
            let leaf = self.predicted(self.shape(at));
            (statistics.centre, statistics.predictor) = (leaf.centre, leaf.predictor);
            statistics.change = self.change_tables(&leaf, statistics.prior.as_ref());
            self.change.code(&leaf, statistics.change.as_ref());
            if self.leaves.have_series() {
                self.prior.code(&leaf, statistics.change.as_ref());
            }
        }
        let statistics = all.to_bytes(self.leaves.list(), &self.layout.untrained_fingerprint());
        Learnt {
            statistics,
            parts: report::parts(self.layout, &self.leaves, &all, &self.bits, &self.prior, &self.change),
        }
    }

    fn shape(&self, at: usize) -> LeafShape {
        let count = self.leaves.list()[at].count;
        LeafShape { at, count, centre: self.prior.median(at), predictor: Predictor::Previous }
    }

    /// Returns the samples that tables of changes are made of: those with a reference, or, without any, the series of the others.
    fn changes(&self) -> &Samples {
        if self.change.messages() > 0 { &self.change } else { &self.prior }
    }

    /// Returns the leaf with the predictor of the smallest cost, if the leaf is in a series.
    fn predicted(&self, leaf: LeafShape) -> LeafShape {
        if !self.leaves.list()[leaf.at].has_predictor() {
            return leaf;
        }
        let samples = self.changes();
        let own = samples.own(leaf.at, true);
        let cost = |predictor: Predictor| {
            let shape = LeafShape { predictor, ..leaf };
            Some((table(samples, &shape, &own, &WEIGHTS)?.1, shape))
        };
        let predictors = [Predictor::Previous, Predictor::Linear].into_iter();
        let best = predictors.filter_map(cost).min_by(|(a, _), (b, _)| a.total_cmp(b));
        best.map_or(leaf, |(_, shape)| shape)
    }

    fn prior_tables(&self, leaf: &LeafShape) -> Option<Tables> {
        // Later messages do not repeat the times of earlier ones.
        let is_later = self.leaves.list()[leaf.at].every == Some(Every::Steps) || self.is_time(leaf.at);
        let own = self.prior.own(leaf.at, false);
        if is_later {
            None
        } else {
            best(&self.prior, leaf, &own, &[FULL_WEIGHT], 0).map(|(tables, _)| tables)
        }
    }

    fn is_time(&self, at: usize) -> bool {
        let leaf = &self.leaves.list()[at];
        let number = self.layout.root().find(leaf.key.node).and_then(|node| node.number(leaf.key.nth));
        leaf.every.is_none() && number.is_some_and(|number| matches!(number.source, Source::Time(_)))
    }

    /// Returns the tables of changes, if they are better than those of values.
    fn change_tables(&self, leaf: &LeafShape, prior: Option<&Tables>) -> Option<Tables> {
        let samples = self.changes();
        let own = samples.own(leaf.at, true);
        let (tables, cost) = best(samples, leaf, &own, &WEIGHTS, 0)?;
        (cost < samples.cost(leaf, &own, prior)).then_some(tables)
    }
}

/// Adds the bits of the parts that statistics leave as they are, but for those that equal the part before them.
fn add_opaque(leaves: &Leaves, example: &Example, reference: Option<&Record>, bits: &mut HashMap<u32, u64>) {
    let mut past = Past::new(leaves, reference);
    for (part, (key, path, datum)) in example.coded.iter().zip(example.record.parts()) {
        let Some(leaf) = leaves.find(key) else { continue };
        if part.is_opaque && past.datum(leaf, path).is_none_or(|was| was != datum) {
            *bits.entry(part.node).or_default() += part.bits as u64;
        }
        past.enter(leaf, &datum);
    }
}

/// Returns the best tables for the samples `own` of a leaf and the bits that they cost, or `None` without samples. Up to
/// [`MAX_DEPTH`] leaves select the table: those that save most.
fn best(
    samples: &Samples,
    leaf: &LeafShape,
    own: &[usize],
    weights: &[u8],
    depth: u32,
) -> Option<(Tables, f64)> {
    let (alone, mut cost) = table(samples, leaf, own, weights)?;
    let numbers: Vec<i64> = own.iter().map(|i| samples.of(leaf.at)[*i].number(alone.weight, leaf)).collect();
    let mut tables = Tables::One(alone);
    let candidates =
        if depth < MAX_DEPTH { contexts::candidates(samples, leaf, own, &numbers) } else { Vec::new() };
    for context in candidates {
        let values = samples.contexts(leaf.at, context.leaf, context.change);
        let mut classes = vec![Vec::new(); context.from.len() + 1];
        own.iter().for_each(|i| classes[context.class(values[*i])].push(*i));
        let all: Option<Vec<_>> =
            classes.iter().map(|class| best(samples, leaf, class, weights, depth + 1)).collect();
        let Some(all) = all else { continue };
        let sum = all.iter().map(|(_, cost)| cost).sum();
        if sum < cost {
            cost = sum;
            tables = Tables::Classes(context, all.into_iter().map(|(tables, _)| tables).collect());
        }
    }
    Some((tables, cost))
}

/// Returns the best table for some samples of a leaf and the bits that it costs, its own price included.
fn table(samples: &Samples, leaf: &LeafShape, own: &[usize], weights: &[u8]) -> Option<(Table, f64)> {
    let one = |weight: &u8| {
        let numbers = own.iter().map(|i| samples.of(leaf.at)[*i].number(*weight, leaf)).collect();
        bins::table(numbers, leaf.count, *weight, samples.byte())
    };
    // Without predictions, all weights are the same.
    let weights =
        if own.iter().any(|i| samples.of(leaf.at)[*i].was.is_some()) { weights } else { &[FULL_WEIGHT] };
    weights.iter().filter_map(one).min_by(|(_, a), (_, b)| a.total_cmp(b))
}
