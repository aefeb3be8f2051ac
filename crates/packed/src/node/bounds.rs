//! The number of elements of an array or of characters of a text: `spec/packed.md`, "Plain bodies".

use crate::coded::{Leaves, expected};
use crate::explain::{self, Words};
use crate::size::SIZED;
use crate::wire::{At, Part, Sink, Source};
use crate::{Bits, Error, open};
use dunnage_pson::Kind;

/// The minimum of a number, and its maximum, if there is one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds(pub u32, pub Option<u32>);

impl Bounds {
    /// Returns whether `number` is within the bounds.
    pub fn hold(self, number: usize) -> bool {
        let Bounds(min, max) = self;
        (min as usize..=max.map_or(usize::MAX, |max| max as usize)).contains(&number)
    }

    /// Returns how many numbers there are from the minimum to the maximum.
    fn count(self) -> Option<u64> {
        let Bounds(min, max) = self;
        max.map(|max| u64::from(max - min) + 1)
    }

    /// Writes the number of elements.
    pub fn write<S: Sink>(self, node: u32, number: usize, sink: &mut S) -> Result<(), Error> {
        if !self.hold(number) {
            return Err(Error::new(Kind::Range, 0, format!("an array of {number}")));
        }
        let (at, above) = (At { node, part: Part::Count }, number as u64 - u64::from(self.0));
        match self.count() {
            Some(count) => sink.index(at, above, count),
            None => sink.sized(at, above),
        }
    }

    /// Reads the number of elements.
    pub fn read<S: Source>(self, node: u32, source: &mut S) -> Result<u64, Error> {
        let at = At { node, part: Part::Count };
        let above = match self.count() {
            Some(count) => source.index(at, count)?,
            None => source.sized(at)?,
        };
        Ok(above.saturating_add(self.0.into()))
    }

    /// Returns the bits of the number.
    pub fn bits(self) -> Bits {
        self.count().map_or(SIZED, Bits::index)
    }

    /// Appends the bounds as an array of JSON.
    pub fn canonical(self, out: &mut String) {
        let Bounds(min, max) = self;
        out.push_str(&match max {
            Some(max) => format!("[{min},{max}]"),
            None => format!("[{min},null]"),
        });
    }

    /// Adds an array without a maximum.
    pub fn open_parts(self, path: &str, walk: &mut open::Walk) {
        if self.1.is_none() {
            walk.open(path, "is an array of any length", "add maxItems");
        }
    }

    /// Adds the leaf of the number of elements.
    pub fn leaves(self, node: u32, leaves: &mut Leaves) {
        leaves.index(node, Part::Count, 0, self.count().unwrap_or(1));
    }

    /// Adds the number of elements. Returns its leaf, and its mean.
    pub fn expected(
        self,
        node: u32,
        times: expected::Times,
        walk: &mut expected::Walk<'_>,
    ) -> (Option<usize>, f64) {
        let count = self.count().unwrap_or(1);
        let leaf = walk.index(node, Part::Count, 0, count, times);
        (leaf, f64::from(self.0) + walk.mean_index(leaf, count))
    }

    /// Adds the row of the number of elements.
    pub fn explain(self, path: &str, times: explain::Times, lead: &explain::Lead, walk: &mut explain::Walk) {
        let words = Words::says(&self.explained("elements"), "how many");
        walk.push(path, "array", self.bits(), words, times, lead);
    }

    /// Returns what an index of the number says.
    pub fn meaning(self, index: u64) -> String {
        match index.saturating_add(self.0.into()) {
            1 => "1 element".to_owned(),
            count => format!("{count} elements"),
        }
    }

    /// Returns the bounds for people.
    pub fn explained(self, unit: &str) -> String {
        match self {
            Bounds(min, Some(max)) if min == max => format!("{max} {unit}"),
            Bounds(min, Some(max)) => format!("{min} to {max} {unit}"),
            Bounds(min, None) => format!("{min} and more {unit}"),
        }
    }
}
