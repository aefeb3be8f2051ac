//! Statistics without messages: from what the schema says about the changes of its numbers.

use super::{CHANGE_PRICE, Training, VALUE_PRICE, bins};
use crate::coded::leaf::{Every, Leaf};
use crate::coded::statistics::{LeafStatistics, Statistics};
use crate::coded::table::{FULL_WEIGHT, Tables};
use crate::wire::Part;
use crate::{Error, Form, Layout, Number};

/// The number of messages that are assumed. It sets how much a table must save.
const MESSAGES: u32 = 1000;
/// One in this many numbers is outside of its usual range.
const UNUSUAL: u32 = 16;
/// One in this many parts without a number changes from message to message.
const CHANGING: u32 = 4;
/// The share of the messages whose reference is not the message before, because that was lost.
const LOSS: f64 = 0.3;
/// How much further a number is from the reference in these messages.
const FARTHER: f64 = 3.0;
/// A device that is not exactly on time deviates by the time between two messages divided by this.
const PUNCTUAL: f64 = 64.0;

impl Training<'_> {
    /// Returns the statistics for messages that change as the schema says: `x-dunnage-changes`, `x-dunnage-every` and
    /// `x-dunnage-usual`. All parts that are not numbers are assumed to change in one of four messages. Returns `None` if the
    /// schema says nothing about changes.
    ///
    /// # Errors
    /// As those of [`Training::new`].
    ///
    /// ```
    /// # use dunnage_packed::{Layout, Training};
    /// # use dunnage_schema::Model;
    /// let assumed = |schema| -> Result<_, Box<dyn std::error::Error>> {
    ///     Ok(Training::assumed(&Layout::untrained(&Model::compile(schema)?))?)
    /// };
    /// assert!(assumed(r#"{"type": "integer", "minimum": 0, "maximum": 999, "x-dunnage-changes": 2}"#)?.is_some());
    /// assert!(assumed(r#"{"type": "integer", "minimum": 0, "maximum": 999}"#)?.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn assumed(layout: &Layout) -> Result<Option<Vec<u8>>, Error> {
        let training = Training::new(layout)?;
        let leaves = training.leaves.list();
        let says = |leaf: &Leaf| {
            leaf.every.is_some() || training.number(leaf).is_some_and(|number| number.changes.is_some())
        };
        if !leaves.iter().any(says) {
            return Ok(None);
        }
        let leaves = leaves.iter().map(|leaf| LeafStatistics {
            prior: table(training.usual_numbers(leaf), leaf.count, VALUE_PRICE),
            change: table(training.change_numbers(leaf), leaf.count, CHANGE_PRICE),
            ..LeafStatistics::default()
        });
        let statistics = Statistics { leaves: leaves.collect() };
        Ok(Some(statistics.to_bytes(training.leaves.list(), &layout.untrained_fingerprint())))
    }

    /// Returns the number whose index the leaf is.
    fn number(&self, leaf: &Leaf) -> Option<&Number> {
        if leaf.key.part != Part::Value || leaf.key.opaque {
            return None;
        }
        let number = self.layout.root().find(leaf.key.node)?.number(leaf.key.nth)?;
        matches!(number.form(), Form::Index(_)).then_some(number)
    }

    /// Returns what a table of values is made of: the usual range of a number.
    fn usual_numbers(&self, leaf: &Leaf) -> Vec<i64> {
        let Some((number, (first, last))) = self.number(leaf).and_then(|n| n.usual.map(|usual| (n, usual)))
        else {
            return Vec::new();
        };
        let index = |n: i128| ((n - number.min) / i128::from(number.step)) as u64;
        let usual = index(first)..index(last) + 1;
        (0..MESSAGES)
            .map(|i| if i.is_multiple_of(UNUSUAL) { nth(i, 0..leaf.count) } else { nth(i, usual.clone()) })
            .collect()
    }

    /// Returns what a table of changes is made of.
    fn change_numbers(&self, leaf: &Leaf) -> Vec<i64> {
        let (half, most) = ((leaf.count / 2) as i64, leaf.count as i64 - 1);
        match (leaf.every, self.number(leaf)) {
            (Some(Every::Steps), _) => quantiles()
                .map(|(_, u)| half + 1 + ((1.0 - u).ln() / LOSS.ln()) as i64)
                .map(|number| number.min(most))
                .collect(),
            (Some(Every::Rest), _) => {
                let deviation = leaf.count as f64 / PUNCTUAL;
                let change = |(i, u): (u32, f64)| {
                    if i.is_multiple_of(2) { 0 } else { change(i / 2, u, deviation) }
                };
                quantiles().map(change).map(|change| (half + change).clamp(0, most)).collect()
            }
            (None, Some(Number { changes: Some(usual), .. })) => {
                quantiles().map(|(i, u)| (half + change(i, u, *usual)).clamp(0, most)).collect()
            }
            (None, Some(_)) => Vec::new(),
            (None, None) => {
                let same = if leaf.key.opaque { 0 } else { half };
                let number = |i: u32| if i.is_multiple_of(CHANGING) { nth(i, 0..leaf.count) } else { same };
                (0..MESSAGES).map(number).collect()
            }
        }
    }
}

fn table(numbers: Vec<i64>, count: u64, price: f64) -> Option<Tables> {
    bins::table(numbers, count, FULL_WEIGHT, price * f64::from(MESSAGES)).map(|(table, _)| Tables::One(table))
}

/// Returns the place of the i-th message among all, from 0 to 1, for each i.
fn quantiles() -> impl Iterator<Item = (u32, f64)> {
    (0..MESSAGES).map(|i| (i, (f64::from(i) + 0.5) / f64::from(MESSAGES)))
}

/// Returns the i-th of the changes whose mean distance is `usual`: both ways, small ones more often, and further after losses.
fn change(i: u32, u: f64, usual: f64) -> i64 {
    let is_after_loss = f64::from(i % 20) < 20.0 * LOSS;
    let distance = -(1.0 - u).ln() * usual * if is_after_loss { FARTHER } else { 1.0 };
    let distance = distance.round() as i64;
    if i.is_multiple_of(2) { distance } else { -distance }
}

/// Returns the value for the i-th message of those that are spread over a range.
fn nth(i: u32, range: std::ops::Range<u64>) -> i64 {
    let width = u128::from(range.end - range.start);
    (range.start + (width * u128::from(i) / u128::from(MESSAGES)) as u64) as i64
}
