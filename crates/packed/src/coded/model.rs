//! Codes the parts of a message with the statistics of its layout, and with a reference if there is one.
//!
//! Writer and reader run the same code: `spec/packed.md`, "Coded bodies".

use super::change::{Grown, View};
use super::coder::Coder;
use super::leaf::{Key, Leaves};
use super::opaque;
use super::past::Past;
use super::predictor::Recent;
use super::record::{Datum, Place, Record};
use super::statistics::Statistics;
use super::table::{Before, Table, beyond, equally};
use crate::Error;
use crate::wire::At;
use dunnage_pson::Kind;

/// The state of one message.
pub(super) struct Model<'a> {
    leaves: &'a Leaves,
    statistics: &'a Statistics,
    past: Past<'a>,
    /// The leaf after the last part that has one.
    next_leaf: usize,
    pub place: Place,
    before: Before,
}

impl<'a> Model<'a> {
    pub fn new(leaves: &'a Leaves, statistics: &'a Statistics, reference: Option<&'a Record>) -> Self {
        let before = Before::new(leaves.list().len());
        let past = Past::new(leaves, reference);
        Model { leaves, statistics, past, next_leaf: 0, place: Place::default(), before }
    }

    /// Codes an index out of `count`, and returns it.
    pub fn index<C: Coder>(&mut self, coder: &mut C, at: At, value: u64, count: u64) -> Result<u64, Error> {
        if count < 2 {
            return Ok(0);
        }
        let key = self.place.key(at, false);
        let Some(leaf) = self.leaf(key) else { return equally(coder, value, count) };
        let was = self.past.index(leaf, &self.place.path, count);
        let read = match self.leaves.list()[leaf].every {
            Some(_) => self.every(coder, leaf, value, was.map(|was| was.last), count)?,
            None => self.known(coder, leaf, value, was, count)?,
        };
        self.past.enter(leaf, &Datum::Index { value: read, count });
        Ok(read)
    }

    /// Codes an index whose leaf and past are known.
    fn known<C: Coder>(
        &mut self,
        coder: &mut C,
        leaf: usize,
        value: u64,
        was: Option<Recent>,
        count: u64,
    ) -> Result<u64, Error> {
        let (table, changes) = self.table(leaf, was.is_some());
        let Some(table) = table else {
            let read = equally(coder, value, count)?;
            self.before.set(leaf, read, read);
            return Ok(read);
        };
        let view = match was.filter(|_| changes) {
            None => View::Value,
            Some(was) => {
                let statistics = &self.statistics.leaves[leaf];
                let predicted = statistics.predictor.predict(was, count);
                let predicted = table.predict(predicted, statistics.centre, count);
                View::Change { predicted, half: self.leaves.list()[leaf].count / 2 }
            }
        };
        let offset = coder.offset();
        let coded = table.code(coder, if C::READS { 0 } else { view.of(value, count) })?;
        let read = view.value(coded, count).ok_or_else(|| beyond(offset))?;
        self.before.set(leaf, read, coded as u64);
        Ok(read)
    }

    /// Returns the index of the leaf with this key.
    fn leaf(&mut self, key: Key) -> Option<usize> {
        let leaf = self.leaves.find_near(key, self.next_leaf)?;
        // A number with `x-dunnage-every` has two leaves.
        self.next_leaf = leaf + if self.leaves.list()[leaf].every.is_some() { 2 } else { 1 };
        Some(leaf)
    }

    /// Returns the table for a leaf, and whether it is about changes. A leaf without tables of changes uses the others.
    fn table(&self, leaf: usize, has_reference: bool) -> (Option<&'a Table>, bool) {
        let tables = &self.statistics.leaves[leaf];
        let changes = tables.change.as_ref().filter(|_| has_reference);
        let select = |leaf, change| self.before.of(leaf, change);
        (changes.or(tables.prior.as_ref()).map(|tables| tables.select(select)), changes.is_some())
    }

    /// Codes a number with `x-dunnage-every`: how many amounts it has grown, and the rest.
    fn every<C: Coder>(
        &mut self,
        coder: &mut C,
        leaf: usize,
        value: u64,
        was: Option<u64>,
        count: u64,
    ) -> Result<u64, Error> {
        let offset = coder.offset();
        let (steps, every) = (self.leaves.list()[leaf].count, self.leaves.list()[leaf + 1].count);
        let grown = Grown::of(value, was, every, steps);
        let most = if was.is_some() { steps } else { (count - 1) / every + 1 };
        let read = Grown {
            steps: self.part(coder, leaf, grown.steps, most, was.is_some())?,
            rest: self.part(coder, leaf + 1, grown.rest, every, was.is_some())?,
        };
        read.value(was, every, steps).filter(|value| *value < count).ok_or_else(|| beyond(offset))
    }

    /// Codes a number below `count` that is not predicted.
    fn part<C: Coder>(
        &mut self,
        coder: &mut C,
        leaf: usize,
        value: u64,
        count: u64,
        has_reference: bool,
    ) -> Result<u64, Error> {
        let offset = coder.offset();
        let read = match self.table(leaf, has_reference).0 {
            Some(table) => {
                let coded = table.code(coder, value as i64)?;
                View::Value.value(coded, count).ok_or_else(|| beyond(offset))?
            }
            None => equally(coder, value, count)?,
        };
        self.before.set(leaf, read, read);
        Ok(read)
    }

    /// Codes a part without statistics of its own: whether it is another than in the reference, and what it is then. `part` codes it.
    pub fn opaque<C: Coder>(
        &mut self,
        coder: &mut C,
        at: At,
        known: &Datum,
        part: impl FnOnce(&mut C, &Datum) -> Result<Datum, Error>,
    ) -> Result<Datum, Error> {
        let offset = coder.offset();
        let key = self.place.key(at, true);
        let Some(leaf) = self.leaf(key) else { return part(coder, known) };
        let was = self.past.datum(leaf, &self.place.path).filter(|was| was.is_alike(known));
        let read = match was {
            None => part(coder, known)?,
            Some(was) if self.part(coder, leaf, u64::from(*known != was), 2, true)? == 0 => was,
            Some(was) => match part(coder, known)? {
                same if same == was => {
                    return Err(Error::new(Kind::Malformed, offset, "an unchanged part as a changed one"));
                }
                other => other,
            },
        };
        self.past.enter(leaf, &read);
        Ok(read)
    }
}

/// Codes a part as it is.
pub(super) fn plain<C: Coder>(
    coder: &mut C,
    known: &Datum,
    min: u32,
    max: Option<u32>,
) -> Result<Datum, Error> {
    Ok(match known {
        Datum::Index { value, count } => {
            Datum::Index { value: equally(coder, *value, *count)?, count: *count }
        }
        Datum::Sized(value) => Datum::Sized(opaque::sized(coder, *value)?),
        Datum::Raw { value, bits } => Datum::Raw { value: coder.bits(*value, *bits)?, bits: *bits },
        Datum::Text(text) => Datum::Text(opaque::text(coder, text, min, max)?),
    })
}
