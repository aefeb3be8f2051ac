//! What is known before a part of a message: the same part of the reference, or, in a series, of the elements before.
//! `spec/packed.md`, "The reference" and "Series".

use super::leaf::{Key, Leaves};
use super::predictor::Recent;
use super::record::{Datum, Record};

/// What writer and reader know before the next part.
pub(super) struct Past<'a> {
    leaves: &'a Leaves,
    reference: Option<&'a Record>,
    /// The place in the reference after the last part that was found there.
    next: usize,
    /// What the elements of series had last, for each leaf. Empty if no leaf is in a series.
    seen: Vec<Option<Seen>>,
}

/// What the elements of a series had last of a leaf.
struct Seen {
    last: Datum,
    /// The index before the last one, or the last one if there is none of the same number of values.
    before: u64,
}

impl<'a> Past<'a> {
    /// Returns what is known before the first part: the series of the reference go on.
    pub fn new(leaves: &'a Leaves, reference: Option<&'a Record>) -> Past<'a> {
        let mut past = Past { leaves, reference, next: 0, seen: Vec::new() };
        if leaves.have_series() {
            past.seen.resize_with(leaves.list().len(), || None);
            for (key, _, datum) in reference.iter().flat_map(|reference| reference.parts()) {
                if let Some(leaf) = leaves.find(key) {
                    past.enter(leaf, &datum);
                }
            }
        }
        past
    }

    /// Returns what predicts an index out of `count`, the part of `leaf` in the elements `path`.
    pub fn index(&mut self, leaf: usize, path: &[u32], count: u64) -> Option<Recent> {
        let found = &self.leaves.list()[leaf];
        if found.is_in_series {
            let seen = self.seen[leaf].as_ref()?;
            return seen.last.index_of(count).map(|last| Recent { last, before: seen.before });
        }
        let (reference, at) = self.find(found.key, path)?;
        reference.index_of(at, count).map(Recent::only)
    }

    /// Returns the part of `leaf` before this one, which is in the elements `path`.
    pub fn datum(&mut self, leaf: usize, path: &[u32]) -> Option<Datum> {
        let found = &self.leaves.list()[leaf];
        if found.is_in_series {
            return self.seen[leaf].as_ref().map(|seen| seen.last.clone());
        }
        let (reference, at) = self.find(found.key, path)?;
        Some(reference.datum(at))
    }

    fn find(&mut self, key: Key, path: &[u32]) -> Option<(&'a Record, usize)> {
        let reference = self.reference?;
        let at = reference.find(key, path, self.next)?;
        self.next = at + 1;
        Some((reference, at))
    }

    /// Takes note of a part of a message, if it is in a series.
    pub fn enter(&mut self, leaf: usize, datum: &Datum) {
        if !self.leaves.list()[leaf].is_in_series {
            return;
        }
        let before = match *datum {
            // Such an index takes no bits, and says nothing about the next one.
            Datum::Index { count: ..2, .. } => return,
            Datum::Index { value, count } => {
                let last = self.seen[leaf].as_ref().and_then(|seen| seen.last.index_of(count));
                last.unwrap_or(value)
            }
            _ => 0,
        };
        self.seen[leaf] = Some(Seen { last: datum.clone(), before });
    }
}
