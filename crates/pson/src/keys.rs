//! Collects the keys of a map to detect duplicates.

use crate::{DUPLICATE_KEY, Error, decode::malformed};
#[cfg(not(feature = "alloc"))]
use crate::{decode::Decoder, skip::skip};
#[cfg(feature = "alloc")]
use alloc::collections::BTreeSet;

/// Up to this number, keys are compared one by one. Without an allocator, it determines the use of the stack.
const FEW: usize = if cfg!(feature = "alloc") { 32 } else { 16 };

/// The keys seen so far in one map.
pub(crate) struct Keys<'de> {
    few: [&'de str; FEW],
    len: usize,
    /// A filter of the keys in `few`, with the bit of each key by [`bit`]. A key whose bit is not set is new.
    bits: u64,
    /// All keys, once there are more than `FEW`. It is a tree, whose worst case is O(n log n) for any input.
    #[cfg(feature = "alloc")]
    many: BTreeSet<&'de str>,
    /// A decoder at the first entry of the map.
    #[cfg(not(feature = "alloc"))]
    entries: Decoder<'de>,
}

impl<'de> Keys<'de> {
    /// Creates an empty set.
    #[cfg(feature = "alloc")]
    pub fn new() -> Self {
        Keys { few: [""; FEW], len: 0, bits: 0, many: BTreeSet::new() }
    }

    /// Creates an empty set for the map whose first entry is at `entries`.
    #[cfg(not(feature = "alloc"))]
    pub fn new(entries: Decoder<'de>) -> Self {
        Keys { few: [""; FEW], len: 0, bits: 0, entries }
    }

    /// Adds the key whose header is at `at`. A duplicate is `malformed`.
    #[inline]
    pub fn add(&mut self, key: &'de str, at: usize) -> Result<(), Error> {
        let new = if self.len < FEW { self.add_to_few(key) } else { self.add_to_many(key)? };
        self.len += 1;
        if new { Ok(()) } else { Err(malformed(at, DUPLICATE_KEY)) }
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

    /// Reads the map from its start again for each key, because there is no allocator.
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

/// Returns one of 64 bits, chosen by the length and the ends of the key.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, Options, Writer, decode::Decoder, wire};

    /// Reads the map `{"00":[0],"01":[0],...}` of `n` keys, followed by the key `again`.
    fn read(n: usize, again: usize) -> Result<(), Error> {
        let mut buffer = [0; 1024];
        let mut writer = Writer::with_slice(&mut buffer);
        writer.map(n + 1);
        for key in (0..n).chain([again]) {
            let digits = [b'0' + (key / 10) as u8, b'0' + (key % 10) as u8];
            writer.key(core::str::from_utf8(&digits).unwrap()).array(1).u64(0);
        }
        let len = writer.finish()?;
        let mut decoder = Decoder::new(&buffer[..len], Options::new())?;
        decoder.container(wire::MAP)?;
        #[cfg(feature = "alloc")]
        let mut keys = Keys::new();
        #[cfg(not(feature = "alloc"))]
        let mut keys = Keys::new(decoder);
        for _ in 0..=n {
            let at = decoder.at;
            keys.add(decoder.key()?, at)?;
            crate::skip::skip(&mut decoder)?;
        }
        Ok(())
    }

    #[test]
    fn a_key_that_stands_twice_is_found_among_few_and_many() {
        for n in [1, 2, FEW - 1, FEW, FEW + 1, FEW + 2, 60] {
            for again in [0, n / 2, n - 1] {
                let error = read(n, again).unwrap_err();
                let entries = n * 5; // a key of 3 bytes and a value of 2
                let header = if n + 1 > 30 { 2 } else { 1 };
                assert_eq!(
                    (error.kind(), error.offset()),
                    (Kind::Malformed, header + entries),
                    "{again} of {n}"
                );
            }
            assert_eq!(read(n, n), Ok(()));
        }
    }
}
