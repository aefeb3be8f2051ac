//! The values of each leaf in the messages of a training.

use crate::coded::change::{Grown, View};
use crate::coded::leaf::Leaves;
use crate::coded::past::Past;
use crate::coded::predictor::{Predictor, Recent};
use crate::coded::record::{Datum, Record};
use crate::coded::table::{Table, Tables};
use crate::size::index_bits;

/// A value of a leaf.
#[derive(Debug, Clone)]
pub(super) struct Sample {
    /// The number of the message, and the place in it. Samples are in this order.
    at: (u32, u32),
    pub value: u64,
    /// The values in the reference or the elements before, if they help to predict this one.
    pub was: Option<Recent>,
    pub count: u64,
    /// The number that is coded, once the tables of the leaf are known.
    coded: u64,
    /// Whether tables of changes apply, because the part is in the reference or the elements before.
    is_change: bool,
}

impl Sample {
    /// Returns the number that a table with this weight codes.
    pub fn number(&self, weight: u8, leaf: &LeafShape) -> i64 {
        let view = self.was.map_or(View::Value, |was| {
            let table = Table { weight, start: 0, bins: Vec::new() };
            let predicted = leaf.predictor.predict(was, self.count);
            View::Change {
                predicted: table.predict(predicted, leaf.centre, self.count),
                half: leaf.count / 2,
            }
        });
        view.of(self.value, self.count)
    }
}

/// The data that training has of a leaf.
#[derive(Debug, Clone, Copy)]
pub(super) struct LeafShape {
    pub at: usize,
    pub count: u64,
    pub centre: u64,
    pub predictor: Predictor,
}

/// The values of all leaves.
#[derive(Debug, Clone)]
pub(super) struct Samples {
    leaves: Vec<Vec<Sample>>,
    messages: u32,
    /// The bits per message that a byte of tables must save.
    price: f64,
}

impl Samples {
    /// `price` is the bits per message that a byte of tables must save.
    pub fn new(leaves: usize, price: f64) -> Samples {
        Samples { leaves: vec![Vec::new(); leaves], messages: 0, price }
    }

    /// Returns the number of messages.
    pub fn messages(&self) -> u32 {
        self.messages
    }

    /// Multiplies the bits per message that a byte of tables must save.
    pub fn multiply_price(&mut self, factor: f64) {
        self.price *= factor;
    }

    /// Returns the bits that a byte of tables must save in all messages together.
    pub fn byte(&self) -> f64 {
        self.price * f64::from(self.messages)
    }

    /// Returns the samples of a leaf.
    pub fn of(&self, leaf: usize) -> &[Sample] {
        &self.leaves[leaf]
    }

    /// Returns the indices of the samples that tables of values, or else of changes, are made of.
    pub fn own(&self, leaf: usize, changes: bool) -> Vec<usize> {
        let all = self.leaves[leaf].iter().enumerate();
        all.filter(|(_, sample)| sample.is_change == changes).map(|(i, _)| i).collect()
    }

    /// Adds the parts of a message.
    pub fn add(&mut self, leaves: &Leaves, message: &Record, reference: Option<&Record>) {
        let mut past = Past::new(leaves, reference);
        for (place, (key, path, datum)) in message.parts().enumerate() {
            let Some(leaf) = leaves.find(key) else { continue };
            let at = (self.messages, 2 * place as u32);
            match datum {
                Datum::Index { value, count } => {
                    let was = past.index(leaf, path, count);
                    self.add_index(leaves, leaf, at, (value, count), was);
                }
                _ => {
                    if let Some(was) = past.datum(leaf, path).filter(|was| was.is_alike(&datum)) {
                        let value = u64::from(datum != was);
                        let sample = Sample { at, value, was: None, count: 2, coded: value, is_change: true };
                        self.leaves[leaf].push(sample);
                    }
                }
            }
            past.enter(leaf, &datum);
        }
        self.messages += 1;
    }

    fn add_index(
        &mut self,
        leaves: &Leaves,
        leaf: usize,
        at: (u32, u32),
        (value, count): (u64, u64),
        was: Option<Recent>,
    ) {
        let is_change = was.is_some();
        let sample = |at, value, was, count| Sample { at, value, was, count, coded: value, is_change };
        if leaves.list()[leaf].every.is_none() {
            self.leaves[leaf].push(sample(at, value, was, count));
            return;
        }
        let (steps, every) = (leaves.list()[leaf].count, leaves.list()[leaf + 1].count);
        let grown = Grown::of(value, was.map(|was| was.last), every, steps);
        self.leaves[leaf].push(sample(at, grown.steps, None, steps));
        self.leaves[leaf + 1].push(sample((at.0, at.1 + 1), grown.rest, None, every));
    }

    /// Returns the value in the middle.
    pub fn median(&self, leaf: usize) -> u64 {
        let mut values: Vec<u64> = self.leaves[leaf].iter().map(|sample| sample.value).collect();
        values.sort_unstable();
        values.get(values.len() / 2).copied().unwrap_or(0)
    }

    /// Returns, for each sample of `leaf`, the last value or change of the leaf `before`; 0 if the message has none.
    pub fn contexts(&self, leaf: usize, before: usize, change: bool) -> Vec<u64> {
        let others = &self.leaves[before];
        let mut next = 0;
        let mut context = |sample: &Sample| {
            while others.get(next).is_some_and(|other| other.at < sample.at) {
                next += 1;
            }
            let last = next.checked_sub(1).map(|last| &others[last]).filter(|last| last.at.0 == sample.at.0);
            last.map_or(0, |last| if change { last.coded } else { last.value })
        };
        self.leaves[leaf].iter().map(&mut context).collect()
    }

    /// Returns the table of each sample of a leaf.
    fn tables<'t>(&self, leaf: usize, own: &[usize], tables: &'t Tables, out: &mut [Option<&'t Table>]) {
        match tables {
            Tables::One(table) => own.iter().for_each(|i| out[*i] = Some(table)),
            Tables::Classes(context, classes) => {
                let values = self.contexts(leaf, context.leaf, context.change);
                for (class, tables) in classes.iter().enumerate() {
                    let own: Vec<usize> =
                        own.iter().copied().filter(|i| context.class(values[*i]) == class).collect();
                    self.tables(leaf, &own, tables, out);
                }
            }
        }
    }

    fn selected<'t>(&self, leaf: usize, tables: Option<&'t Tables>) -> Vec<Option<&'t Table>> {
        let mut out = vec![None; self.leaves[leaf].len()];
        if let Some(tables) = tables {
            let all: Vec<usize> = (0..out.len()).collect();
            self.tables(leaf, &all, tables, &mut out);
        }
        out
    }

    /// Notes which number each sample is coded as, for contexts.
    pub fn code(&mut self, leaf: &LeafShape, tables: Option<&Tables>) {
        let tables = self.selected(leaf.at, tables);
        let numbers: Vec<u64> = self.leaves[leaf.at]
            .iter()
            .zip(tables)
            .map(|(sample, table)| match (sample.was, table) {
                (Some(_), Some(table)) => sample.number(table.weight, leaf) as u64,
                _ => sample.value,
            })
            .collect();
        for (sample, number) in self.leaves[leaf.at].iter_mut().zip(numbers) {
            sample.coded = number;
        }
    }

    /// Returns the bits that the samples `own` of a leaf take with tables of values, or without any.
    pub fn cost(&self, leaf: &LeafShape, own: &[usize], tables: Option<&Tables>) -> f64 {
        let tables = self.selected(leaf.at, tables);
        let cost = |i: &usize| match (&self.leaves[leaf.at][*i], tables[*i]) {
            (sample, None) => index_bits(sample.count).into(),
            (sample, Some(table)) => table.cost(sample.value as i64),
        };
        own.iter().map(cost).sum()
    }

    /// Returns the bits that all samples of a leaf take, those without anything before them with tables of values.
    pub fn all_cost(&self, leaf: &LeafShape, values: Option<&Tables>, changes: Option<&Tables>) -> f64 {
        let (new, old) = (self.own(leaf.at, false), self.own(leaf.at, true));
        let old = match changes {
            Some(tables) => self.change_cost(leaf, &old, tables),
            None => self.cost(leaf, &old, values),
        };
        self.cost(leaf, &new, values) + old
    }

    /// Returns the bits that the samples `own` of a leaf take with tables of changes.
    fn change_cost(&self, leaf: &LeafShape, own: &[usize], tables: &Tables) -> f64 {
        let tables = self.selected(leaf.at, Some(tables));
        let cost = |i: &usize| {
            tables[*i].map_or(0.0, |table| table.cost(self.leaves[leaf.at][*i].number(table.weight, leaf)))
        };
        own.iter().map(cost).sum()
    }
}
