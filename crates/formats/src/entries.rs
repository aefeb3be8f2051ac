//! A map under construction that detects duplicate keys in constant time per key, however many there are.

use crate::Value;
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

/// Up to this number of keys, comparing with every key is faster than hashing.
const FEW: usize = 64;

/// The entries of a map, in the order of the message.
#[derive(Default)]
pub(crate) struct Entries {
    list: Vec<(String, Value)>,
    /// The hashes of all keys, once there are more than [`FEW`].
    hashes: Option<(RandomState, HashSet<u64>)>,
}

impl Entries {
    /// Reserves room for `announced` entries, up to the limit that a length in a message may claim.
    pub(crate) fn with_room(announced: usize) -> Self {
        Entries { list: Vec::with_capacity(announced.min(crate::limits::MAX_RESERVE)), hashes: None }
    }

    /// Returns whether `key` is new. Call it once for every key, before pushing its entry.
    pub(crate) fn is_new(&mut self, key: &str) -> bool {
        if self.list.len() < FEW {
            return self.list.iter().all(|(k, _)| k != key);
        }
        let (state, hashes) = self.hashes.get_or_insert_with(|| {
            let state = RandomState::new();
            let hashes = self.list.iter().map(|(k, _)| state.hash_one(k.as_str())).collect();
            (state, hashes)
        });
        // Two different keys hardly ever have the same hash; only then are all keys compared.
        hashes.insert(state.hash_one(key)) || self.list.iter().all(|(k, _)| k != key)
    }

    /// Appends an entry.
    pub(crate) fn push(&mut self, key: String, value: Value) {
        self.list.push((key, value));
    }

    /// Returns the entries.
    pub(crate) fn into_entries(self) -> Vec<(String, Value)> {
        self.list
    }

    /// Returns the finished map.
    pub(crate) fn into_value(self) -> Value {
        Value::Map(self.list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_new_once_in_small_and_large_maps() {
        let mut entries = Entries::default();
        for n in 0..100 {
            let key = format!("key{n}");
            assert!(entries.is_new(&key), "{key}");
            entries.push(key, Value::Null);
            for old in 0..=n {
                assert!(!entries.is_new(&format!("key{old}")), "key{old} after {n}");
            }
        }
    }
}
