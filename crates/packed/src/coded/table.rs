//! Tables: which values of a leaf are likely.

use super::coder::{Coder, Symbol};
use crate::Error;
use dunnage_pson::Kind;

/// The frequencies of a table add up to 2 to the power of this.
pub(crate) const FREQUENCY_BITS: u32 = 8;
/// The sum of the frequencies of a table.
pub(crate) const TOTAL_FREQUENCY: u32 = 1 << FREQUENCY_BITS;
/// The weight of a reference that is taken as it is.
pub(crate) const FULL_WEIGHT: u8 = 16;

/// A range of values that are equally likely.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bin {
    /// The bin has 2^`width` values.
    pub width: u8,
    /// How likely the bin is, out of 256, at least 1.
    pub frequency: u16,
}

/// The distribution of the values of a leaf: bins that follow each other without a gap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// How much of the reference is in the prediction, in sixteenths. The rest is the leaf's centre.
    pub weight: u8,
    /// The first value of the first bin.
    pub start: i64,
    /// The bins, in their order.
    pub bins: Vec<Bin>,
}

/// Where a bin is in its table.
#[derive(Debug, Clone, Copy)]
struct Place {
    bin: usize,
    /// The bin as a symbol of the coder.
    symbol: Symbol,
    /// The number of values before the bin.
    after: u64,
}

impl Place {
    const START: Place = Place { bin: 0, symbol: Symbol { start: 0, frequency: 0 }, after: 0 };

    /// Returns the place after `bin`, which begins here.
    fn behind(self, bin: &Bin) -> Place {
        let symbol = Symbol { start: self.symbol.start + u32::from(bin.frequency), frequency: 0 };
        Place { bin: self.bin + 1, symbol, after: self.after + (1 << bin.width) }
    }

    /// Returns the place of `bin`, which begins here.
    fn of(self, bin: Bin) -> Place {
        Place { symbol: Symbol { frequency: bin.frequency.into(), ..self.symbol }, ..self }
    }
}

impl Table {
    /// Returns the value that is predicted from a reference, out of `count` values.
    pub(crate) fn predict(&self, was: u64, centre: u64, count: u64) -> u64 {
        if self.weight == FULL_WEIGHT {
            return was;
        }
        let centre = i128::from(centre.min(count - 1));
        let predicted = centre + (((i128::from(was) - centre) * i128::from(self.weight)) >> 4);
        u64::try_from(predicted).unwrap_or(0).min(count - 1)
    }

    /// Codes `value`, and returns it.
    pub(crate) fn code<C: Coder>(&self, coder: &mut C, value: i64) -> Result<i64, Error> {
        let mut place = if C::READS { Place::START } else { self.place(self.bin_of(value)) };
        coder.symbol(FREQUENCY_BITS, place.symbol, |cumulative| {
            place = self.place_with(cumulative);
            place.symbol
        })?;
        let first = self.start.saturating_add_unsigned(place.after);
        let width = self.bins[place.bin].width;
        let above = coder.bits(value.wrapping_sub(first) as u64, width.into())?;
        // The bins end below 2^63, so that the sum does not overflow.
        Ok(first + above as i64)
    }

    /// Returns the bin that contains `value`. A reader passes any value.
    pub(crate) fn bin_of(&self, value: i64) -> usize {
        let mut end = self.start;
        let bin = self.bins.iter().position(|bin| {
            end = end.saturating_add(1 << bin.width);
            value < end
        });
        bin.unwrap_or(self.bins.len() - 1)
    }

    fn place(&self, bin: usize) -> Place {
        self.bins[..bin].iter().fold(Place::START, Place::behind).of(self.bins[bin])
    }

    /// Returns the place of the bin that has this cumulative frequency.
    fn place_with(&self, cumulative: u32) -> Place {
        let (mut start, mut after) = (0, 0);
        for (at, bin) in self.bins.iter().enumerate() {
            let frequency = u32::from(bin.frequency);
            if cumulative < start + frequency {
                return Place { bin: at, symbol: Symbol { start, frequency }, after };
            }
            start += frequency;
            after += 1 << bin.width;
        }
        // The frequencies add up to 2^8, so that one was found.
        self.place(self.bins.len() - 1)
    }

    /// Returns the value after the last bin, or `None` if it is 2^63 or more.
    pub(crate) fn end(&self) -> Option<i64> {
        self.bins.iter().try_fold(self.start, |end, bin| end.checked_add(1i64.checked_shl(bin.width.into())?))
    }

    /// Returns the bits that `value` takes.
    pub(crate) fn cost(&self, value: i64) -> f64 {
        let bin = self.bins[self.bin_of(value)];
        f64::from(FREQUENCY_BITS) - f64::from(bin.frequency).log2() + f64::from(bin.width)
    }
}

/// Selects among tables by a leaf before this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// The index of the leaf.
    pub leaf: usize,
    /// Whether the change of that leaf counts, as it was coded. Otherwise its value counts.
    pub change: bool,
    /// The first value of each class but the first, ascending.
    pub from: Vec<u64>,
}

impl Context {
    /// Returns the index of the class of this value of the leaf.
    pub(crate) fn class(&self, value: u64) -> usize {
        self.from.partition_point(|from| *from <= value)
    }
}

/// The tables of a leaf for one of the modes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tables {
    /// The same table for all messages.
    One(Table),
    /// Tables for each class of a leaf before this one.
    Classes(Context, Vec<Tables>),
}

impl Tables {
    /// Returns the table for the values and changes of the leaves before this one.
    pub(crate) fn select(&self, before: impl Fn(usize, bool) -> u64 + Copy) -> &Table {
        match self {
            Tables::One(table) => table,
            Tables::Classes(context, classes) => {
                classes[context.class(before(context.leaf, context.change))].select(before)
            }
        }
    }

    /// Calls `visit` with each table.
    pub(crate) fn each(&self, visit: &mut impl FnMut(&Table)) {
        match self {
            Tables::One(table) => visit(table),
            Tables::Classes(_, classes) => classes.iter().for_each(|tables| tables.each(visit)),
        }
    }
}

/// The last values of the leaves, which select tables.
#[derive(Debug, Clone, Default)]
pub(crate) struct Before {
    last: Vec<(u64, u64)>,
}

impl Before {
    pub fn new(leaves: usize) -> Before {
        Before { last: vec![(0, 0); leaves] }
    }

    pub fn of(&self, leaf: usize, change: bool) -> u64 {
        let (value, changed) = self.last[leaf];
        if change { changed } else { value }
    }

    pub fn set(&mut self, leaf: usize, value: u64, changed: u64) {
        self.last[leaf] = (value, changed);
    }
}

/// Codes an index out of `count` without statistics.
pub(crate) fn equally<C: Coder>(coder: &mut C, value: u64, count: u64) -> Result<u64, Error> {
    let offset = coder.offset();
    let read = coder.bits(value, crate::size::index_bits(count))?;
    if read < count { Ok(read) } else { Err(beyond(offset)) }
}

pub(crate) fn beyond(offset: usize) -> Error {
    Error::new(Kind::Range, offset, "an index beyond the values of the schema")
}
