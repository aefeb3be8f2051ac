//! A map that is being read: it notices a key that stands twice, however many keys there are.

use crate::Value;
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

/// Up to here, looking at every key is faster than hashing them.
const FEW: usize = 64;

/// The entries of a map, in the order of the message.
#[derive(Default)]
pub(crate) struct Entries {
    list: Vec<(String, Value)>,
    /// Hashes of all keys, once there are more than a few.
    hashes: Option<(RandomState, HashSet<u64>)>,
}

impl Entries {
    /// Room for `announced` entries, as far as an announcement can be trusted.
    pub(crate) fn with_room(announced: usize) -> Self {
        Entries { list: Vec::with_capacity(announced.min(crate::limits::MAX_RESERVE)), hashes: None }
    }

    /// Whether `key` is new. Every key is asked about once, before its entry is pushed.
    pub(crate) fn is_new(&mut self, key: &str) -> bool {
        if self.list.len() < FEW {
            return self.list.iter().all(|(k, _)| k != key);
        }
        let (state, hashes) = self.hashes.get_or_insert_with(|| {
            let state = RandomState::new();
            let hashes = self.list.iter().map(|(k, _)| state.hash_one(k.as_str())).collect();
            (state, hashes)
        });
        // Two different keys of one hash are next to impossible; only they pay for a look at all keys.
        hashes.insert(state.hash_one(key)) || self.list.iter().all(|(k, _)| k != key)
    }

    /// Appends an entry.
    pub(crate) fn push(&mut self, key: String, value: Value) {
        self.list.push((key, value));
    }

    /// The finished map.
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
