//! The keys of a map, to find one that stands twice.

use crate::{Error, decode::malformed};
#[cfg(not(feature = "alloc"))]
use crate::{decode::Decoder, skip::skip};
#[cfg(feature = "alloc")]
use alloc::collections::BTreeSet;

/// Up to here keys are compared one by one.
const FEW: usize = 16;

/// The keys seen so far in one map.
pub(crate) struct Keys<'de> {
    few: [&'de str; FEW],
    len: usize,
    /// A bit for each of the few, by [`bit`]: a key whose bit is not here is new.
    bits: u64,
    /// All of them, once they are no longer few. A tree, since its worst case is no worse than n log n.
    #[cfg(feature = "alloc")]
    many: BTreeSet<&'de str>,
    /// Stands at the first entry.
    #[cfg(not(feature = "alloc"))]
    entries: Decoder<'de>,
}

impl<'de> Keys<'de> {
    /// No keys yet.
    #[cfg(feature = "alloc")]
    pub fn new() -> Self {
        Keys { few: [""; FEW], len: 0, bits: 0, many: BTreeSet::new() }
    }

    /// No keys yet of the map at whose first entry `entries` stands.
    #[cfg(not(feature = "alloc"))]
    pub fn new(entries: Decoder<'de>) -> Self {
        Keys { few: [""; FEW], len: 0, bits: 0, entries }
    }

    /// Adds the key whose header is at `at`, unless it is there already.
    #[inline]
    pub fn add(&mut self, key: &'de str, at: usize) -> Result<(), Error> {
        let new = if self.len < FEW { self.add_to_few(key) } else { self.add_to_many(key)? };
        self.len += 1;
        if new { Ok(()) } else { Err(malformed(at, "a key that stands twice")) }
    }

    #[inline]
    fn add_to_few(&mut self, key: &'de str) -> bool {
        let bit = bit(key);
        if self.bits & bit != 0 && self.few[..self.len].contains(&key) {
            return false;
        }
        self.bits |= bit;
        self.few[self.len] = key;
        true
    }

    #[cfg(feature = "alloc")]
    fn add_to_many(&mut self, key: &'de str) -> Result<bool, Error> {
        if self.len == FEW {
            self.many.extend(self.few);
        }
        Ok(self.many.insert(key))
    }

    /// Without an allocator the map is read again for each key.
    #[cfg(not(feature = "alloc"))]
    fn add_to_many(&mut self, key: &'de str) -> Result<bool, Error> {
        if self.few.contains(&key) {
            return Ok(false);
        }
        let mut entries = self.entries;
        for _ in 0..self.len {
            if entries.key()? == key {
                return Ok(false);
            }
            skip(&mut entries)?;
        }
        Ok(true)
    }
}

/// One of 64 bits, by the key's length and ends.
#[inline]
fn bit(key: &str) -> u64 {
    let bytes = key.as_bytes();
    let (first, last) = match bytes {
        [] => (0, 0),
        [first, .., last] => (*first, *last),
        [only] => (*only, *only),
    };
    let mixed = first.wrapping_mul(31).wrapping_add(last.wrapping_mul(7)).wrapping_add(bytes.len() as u8);
    1 << (mixed & 63)
}
