//! The leaves of a layout: the parts of its messages that have statistics.

use crate::Node;
use crate::wire::Part;
use std::mem;

/// Identifies a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key {
    /// The number of the node.
    pub node: u32,
    /// The part of the node.
    pub part: Part,
    /// The number of the item in a text of numbers, or of the piece of a pattern; otherwise 0.
    pub nth: u32,
    /// Whether the part is coded as it is, unless it is the same as in the reference.
    pub opaque: bool,
}

/// A part of the messages that has statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Leaf {
    pub key: Key,
    /// The largest number of values: those of an index, or 2 for an opaque part, which is the same or not.
    pub count: u64,
    /// The role of the leaf for a number with `x-dunnage-every`, which has two of them.
    pub every: Option<Every>,
    /// Whether the leaf is a part of the elements of a series.
    pub is_in_series: bool,
}

impl Leaf {
    /// Returns whether statistics say how the leaf is predicted.
    pub fn has_predictor(&self) -> bool {
        self.is_in_series && !self.key.opaque && self.every.is_none()
    }
}

/// The two leaves of a number that grows by about the same amount from message to message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Every {
    /// How many amounts it has grown.
    Steps,
    /// The distance from that many amounts.
    Rest,
}

/// The leaves in the order of the layout.
#[derive(Debug, Clone, Default)]
pub(crate) struct Leaves {
    list: Vec<Leaf>,
    /// The leaves by their keys. The second leaf of a number with `x-dunnage-every` follows the first.
    sorted: Vec<(Key, usize)>,
    /// Whether the leaves that are added now are in a series.
    is_in_series: bool,
    have_series: bool,
}

impl Leaves {
    /// Returns the leaves of a plain layout.
    pub fn of(root: &Node) -> Leaves {
        let mut leaves = Leaves::default();
        root.leaves(&mut leaves);
        let first = leaves.list.iter().enumerate().filter(|(_, leaf)| leaf.every != Some(Every::Rest));
        leaves.sorted = first.map(|(at, leaf)| (leaf.key, at)).collect();
        leaves.sorted.sort_unstable();
        leaves
    }

    pub fn list(&self) -> &[Leaf] {
        &self.list
    }

    /// Returns whether a leaf is in a series.
    pub fn have_series(&self) -> bool {
        self.have_series
    }

    /// Returns the index of the leaf with this key. The leaf at `likely` is looked at first: messages have their parts in the order of the
    /// layout.
    pub fn find_near(&self, key: Key, likely: usize) -> Option<usize> {
        let is = |leaf: &Leaf| leaf.key == key && leaf.every != Some(Every::Rest);
        if self.list.get(likely).is_some_and(is) { Some(likely) } else { self.find(key) }
    }

    /// Returns the index of the leaf with this key.
    pub fn find(&self, key: Key) -> Option<usize> {
        let at = self.sorted.binary_search_by_key(&key, |(key, _)| *key).ok()?;
        Some(self.sorted[at].1)
    }

    /// Adds an index out of `count`, which has a leaf if there is more than one value.
    pub fn index(&mut self, node: u32, part: Part, nth: usize, count: u64) {
        if count > 1 {
            self.push(node, part, nth, count, None);
        }
    }

    /// Adds a part that is coded as it is, unless it is the same as in the reference.
    pub fn opaque(&mut self, node: u32, part: Part, nth: usize) {
        self.add(Key { node, part, nth: nth as u32, opaque: true }, 2, None);
    }

    /// Adds the leaves of the elements of a series, which `elements` adds.
    pub fn series(&mut self, elements: impl FnOnce(&mut Leaves)) {
        let around = mem::replace(&mut self.is_in_series, true);
        elements(self);
        self.is_in_series = around;
    }

    /// Adds the two leaves of a number that grows by about `every`, with the number of values of the steps.
    pub fn growing(&mut self, node: u32, nth: usize, steps: u64, every: u64) {
        self.push(node, Part::Value, nth, steps, Some(Every::Steps));
        self.push(node, Part::Value, nth, every, Some(Every::Rest));
    }

    fn push(&mut self, node: u32, part: Part, nth: usize, count: u64, every: Option<Every>) {
        self.add(Key { node, part, nth: nth as u32, opaque: false }, count, every);
    }

    fn add(&mut self, key: Key, count: u64, every: Option<Every>) {
        self.have_series |= self.is_in_series;
        self.list.push(Leaf { key, count, every, is_in_series: self.is_in_series });
    }
}
