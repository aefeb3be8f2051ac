//! The tables of the prior form, for generated code.

use super::leaf::{Every, Key};
use super::table::Tables;
use super::{Trained, pieces};
use crate::Layout;
use crate::wire::{NULLABLE, Part};
use dunnage_schema::Segment;

/// The statistics of a layout as a decoder of the prior form needs them. `spec/packed.md`, "Coded bodies".
#[derive(Debug, Clone, Copy)]
pub struct Prior<'a>(&'a Trained);

/// A part of the messages that may have tables.
#[derive(Debug, Clone, PartialEq)]
pub struct PriorLeaf {
    /// What is likely. Without tables, all values are equally likely.
    pub tables: Option<PriorTables>,
    /// The amount by which a number with `x-dunnage-every` grows. Its rest is the next leaf.
    pub every: Option<u64>,
}

/// The tables of a leaf.
#[derive(Debug, Clone, PartialEq)]
pub enum PriorTables {
    /// The same table for all messages.
    One(PriorTable),
    /// The tables for each class of the last value of a leaf before this one.
    Classes {
        /// The index of the leaf that selects.
        leaf: usize,
        /// The first value of each class but the first, ascending.
        from: Vec<u64>,
        /// The tables of each class.
        classes: Vec<PriorTables>,
    },
}

/// Bins that follow each other without a gap.
#[derive(Debug, Clone, PartialEq)]
pub struct PriorTable {
    /// The first value of the first bin.
    pub start: i64,
    /// The width of each bin, which has 2^width values, and its share out of 256.
    pub bins: Vec<(u8, u16)>,
}

impl PriorTables {
    fn of(tables: &Tables) -> PriorTables {
        match tables {
            Tables::One(table) => PriorTables::One(PriorTable {
                start: table.start,
                bins: table.bins.iter().map(|bin| (bin.width, bin.share)).collect(),
            }),
            // Without a reference, the change of a leaf is its value.
            Tables::Classes(context, classes) => PriorTables::Classes {
                leaf: context.leaf,
                from: context.from.clone(),
                classes: classes.iter().map(PriorTables::of).collect(),
            },
        }
    }
}

impl Prior<'_> {
    /// Returns the leaves in the order of the layout.
    pub fn leaves(&self) -> Vec<PriorLeaf> {
        let leaves = self.0.leaves.list();
        let leaf = |(at, statistics): (usize, &super::statistics::LeafStatistics)| PriorLeaf {
            tables: statistics.prior.as_ref().map(PriorTables::of),
            every: (leaves[at].every == Some(Every::Steps)).then(|| leaves[at + 1].count),
        };
        self.0.statistics.leaves.iter().enumerate().map(leaf).collect()
    }

    /// Returns the index of the leaf of the value of `node`, or of the n-th number or piece of its text.
    pub fn value(&self, node: u32, nth: usize) -> Option<usize> {
        self.find(node, Part::Value, nth)
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

    /// Returns the index of the leaf of the sign of a float.
    pub fn sign(&self, node: u32) -> Option<usize> {
        self.find(node, Part::Sign, 0)
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
    /// Returns the tables of the prior form, if the schema has statistics.
    pub fn prior(&self) -> Option<Prior<'_>> {
        self.trained().map(Prior)
    }
}

/// Returns the number of pieces in which a coded body has the characters of a pattern.
pub fn piece_count(segments: &[Segment]) -> usize {
    pieces(segments).len()
}
