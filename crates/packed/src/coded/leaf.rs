//! The leaves of a layout: the parts of its messages that have statistics.

use crate::float;
use crate::node::{Form, Node, Number, Shape};
use crate::wire::{NULLABLE, Part};
use dunnage_schema::Segment;

/// What identifies a leaf.
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
}

impl Leaves {
    /// Returns the leaves of a plain layout.
    pub fn of(root: &Node) -> Leaves {
        let mut leaves = Leaves::default();
        leaves.node(root);
        let first = leaves.list.iter().enumerate().filter(|(_, leaf)| leaf.every != Some(Every::Rest));
        leaves.sorted = first.map(|(at, leaf)| (leaf.key, at)).collect();
        leaves.sorted.sort_unstable();
        leaves
    }

    pub fn list(&self) -> &[Leaf] {
        &self.list
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

    fn push(&mut self, node: u32, part: Part, nth: usize, count: u64) {
        if count > 1 {
            let key = Key { node, part, nth: nth as u32, opaque: false };
            self.list.push(Leaf { key, count, every: None });
        }
    }

    fn opaque(&mut self, node: u32, part: Part, nth: usize) {
        let key = Key { node, part, nth: nth as u32, opaque: true };
        self.list.push(Leaf { key, count: 2, every: None });
    }

    fn node(&mut self, node: &Node) {
        let id = node.id;
        match &node.shape {
            Shape::Constant(_) | Shape::Known(_) | Shape::Any | Shape::Definition(_) => {}
            Shape::Bool => self.push(id, Part::Value, 0, 2),
            Shape::Number(number) => self.number(id, 0, number),
            Shape::Numbers(numbers) => {
                for (nth, (_, part)) in numbers.parts.iter().enumerate() {
                    self.number(id, nth, part);
                }
            }
            Shape::Float => {
                self.push(id, Part::Form, 0, float::FORMS);
                self.push(id, Part::Sign, 0, 2);
                self.push(id, Part::Places, 0, float::PLACES);
                self.opaque(id, Part::Value, 0);
            }
            Shape::Choice(values) => self.push(id, Part::Value, 0, values.len() as u64),
            Shape::Pattern(segments) => self.pattern(id, segments),
            Shape::Text(_) => self.opaque(id, Part::Value, 0),
            Shape::Array(array) => {
                self.count(id, array.min, array.max);
                self.node(&array.item);
            }
            Shape::Tuple(tuple) => {
                self.count(id, tuple.min, tuple.max);
                tuple.items.iter().chain(tuple.rest.as_deref()).for_each(|item| self.node(item));
            }
            Shape::Object(object) => {
                for field in &object.fields {
                    if field.optional {
                        self.push(field.node.id, Part::Presence, 0, 2);
                    }
                    self.node(&field.node);
                }
            }
            Shape::Nullable(inner) => {
                self.push(id, Part::Presence, NULLABLE, 2);
                self.node(inner);
            }
            Shape::Union(nodes) => {
                self.push(id, Part::Form, 0, nodes.len() as u64);
                nodes.iter().for_each(|node| self.node(node));
            }
        }
    }

    fn count(&mut self, node: u32, min: u32, max: Option<u32>) {
        self.push(node, Part::Count, 0, u64::from(max.unwrap_or(min) - min) + 1);
    }

    fn number(&mut self, node: u32, nth: usize, number: &Number) {
        match (number.form(), number.every) {
            (Form::Index(count), Some(every)) => {
                let key = Key { node, part: Part::Value, nth: nth as u32, opaque: false };
                // Steps forwards and backwards, and none.
                let steps = 2 * (count / every + 1) + 1;
                self.list.push(Leaf { key, count: steps, every: Some(Every::Steps) });
                self.list.push(Leaf { key, count: every, every: Some(Every::Rest) });
            }
            (Form::Index(count), None) => self.push(node, Part::Value, nth, count),
            (Form::Offset | Form::Signed, _) => {
                self.push(node, Part::Value, nth, number.usual_count().map_or(1, |usual| usual + 1));
                if number.form() == Form::Signed {
                    self.push(node, Part::Sign, nth, 2);
                }
                self.opaque(node, Part::Value, nth);
            }
        }
    }

    fn pattern(&mut self, node: u32, segments: &[Segment]) {
        for (nth, segment) in segments.iter().enumerate() {
            self.push(node, Part::Count, nth, u64::from(segment.max - segment.min) + 1);
        }
        for (nth, piece) in pieces(segments).enumerate() {
            self.push(node, Part::Value, nth, piece.radix.pow(piece.most));
        }
    }
}

/// A part of a segment whose characters are one leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    pub segment: usize,
    /// The characters of the segment before this piece.
    pub after: u32,
    /// The most characters of the piece.
    pub most: u32,
    /// The number of characters in the class.
    pub radix: u64,
}

impl Piece {
    /// Returns the number of characters of the piece in a segment of `run` characters.
    pub fn length(&self, run: u32) -> u32 {
        run.saturating_sub(self.after).min(self.most)
    }
}

/// The number of values of a piece stays below this.
const PIECE: u64 = 1 << 32;

/// Returns the pieces of the segments: as many characters at a time as have fewer than 2^32 values.
pub(crate) fn pieces(segments: &[Segment]) -> impl Iterator<Item = Piece> + '_ {
    let varied = segments.iter().enumerate().filter(|(_, segment)| segment.chars.len() > 1);
    varied.flat_map(|(index, segment)| {
        let radix = segment.chars.len() as u64;
        // The most characters that have fewer than 2^32 values.
        let most = (PIECE - 1).ilog(radix);
        let starts = (0..segment.max).step_by(most as usize);
        starts.map(move |after| Piece { segment: index, after, most: most.min(segment.max - after), radix })
    })
}
