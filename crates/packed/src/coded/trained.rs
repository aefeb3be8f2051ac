//! The leaves of a layout with their statistics, for generators of code.

use super::Trained;
use super::leaf::{Every, Key};
use super::predictor::Predictor;
use super::table::Tables;
use crate::Layout;
use crate::wire::{NULLABLE, Part};

/// The statistics of a layout as generated code needs them. [spec/packed.md](https://github.com/dunnage/dunnage/blob/main/spec/packed.md), "Coded bodies".
#[derive(Debug, Clone, Copy)]
pub struct TrainedLeaves<'a>(&'a Trained);

/// A part of the messages that may have tables.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrainedLeaf<'a> {
    /// The largest number of values: those of an index, or 2 for an opaque part, which is the same or not.
    pub count: u64,
    /// The tables of values. Without tables, all values are equally likely.
    pub values: Option<&'a Tables>,
    /// The tables of changes from a reference. Without them, a message with a reference uses the tables of values.
    pub changes: Option<&'a Tables>,
    /// The value to which predictions tend, by the weights of the tables of changes.
    pub centre: u64,
    /// The amount by which a number with `x-dunnage-every` grows. Its rest is the next leaf.
    pub every: Option<u64>,
    /// Whether the leaf says if an opaque part is another than in the reference.
    pub is_opaque: bool,
    /// How the index of an element is predicted, if the leaf is in a series.
    pub predictor: Option<Predictor>,
}

impl<'a> TrainedLeaves<'a> {
    /// Returns the leaves in the order of the layout.
    pub fn list(&self) -> Vec<TrainedLeaf<'a>> {
        let leaves = self.0.leaves.list();
        let leaf = |(at, statistics): (usize, &'a super::statistics::LeafStatistics)| TrainedLeaf {
            count: leaves[at].count,
            values: statistics.prior.as_ref(),
            changes: statistics.change.as_ref(),
            centre: statistics.centre,
            every: (leaves[at].every == Some(Every::Steps)).then(|| leaves[at + 1].count),
            is_opaque: leaves[at].key.opaque,
            predictor: leaves[at].is_in_series.then_some(statistics.predictor),
        };
        self.0.statistics.leaves.iter().enumerate().map(leaf).collect()
    }

    /// Returns the register of the CRC that names a message, before the first byte of its plain form.
    pub fn name_seed(&self) -> u16 {
        self.0.name.seed()
    }

    /// Returns the index of the leaf of the value of `node`, or of the n-th number or piece of its text.
    pub fn value(&self, node: u32, nth: usize) -> Option<usize> {
        self.find(node, Part::Value, nth)
    }

    /// Returns the index of the leaf that tells whether the opaque value of `node`, or its n-th number, is another than in the reference.
    pub fn opaque(&self, node: u32, nth: usize) -> Option<usize> {
        self.0.leaves.find(Key { node, part: Part::Value, nth: nth as u32, opaque: true })
    }

    /// Returns the index of the leaf that tells whether the value of the nullable `node` is not null.
    pub fn nullable(&self, node: u32) -> Option<usize> {
        self.find(node, Part::Presence, NULLABLE)
    }

    /// Returns the index of the leaf that tells whether the optional field with this node is present.
    pub fn presence(&self, node: u32) -> Option<usize> {
        self.find(node, Part::Presence, 0)
    }

    /// Returns the index of the leaf of the number of elements of `node`, or of characters of the n-th segment of its pattern.
    pub fn count(&self, node: u32, nth: usize) -> Option<usize> {
        self.find(node, Part::Count, nth)
    }

    /// Returns the index of the leaf of the form of a union or float.
    pub fn form(&self, node: u32) -> Option<usize> {
        self.find(node, Part::Form, 0)
    }

    /// Returns the index of the leaf of the sign of a float, or of the n-th number of a text.
    pub fn sign(&self, node: u32, nth: usize) -> Option<usize> {
        self.find(node, Part::Sign, nth)
    }

    /// Returns the index of the leaf of the decimal places of a float.
    pub fn places(&self, node: u32) -> Option<usize> {
        self.find(node, Part::Places, 0)
    }

    fn find(&self, node: u32, part: Part, nth: usize) -> Option<usize> {
        self.0.leaves.find(Key { node, part, nth: nth as u32, opaque: false })
    }
}

impl Layout {
    /// Returns the leaves with their tables, if the schema has statistics.
    pub fn trained_leaves(&self) -> Option<TrainedLeaves<'_>> {
        self.trained().map(TrainedLeaves)
    }
}
