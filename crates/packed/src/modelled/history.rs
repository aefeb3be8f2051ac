//! Keeps the previous text and finds where it may repeat.

use std::collections::HashMap;

/// The byte that follows each text. No character begins with it.
pub(super) const END: u8 = 0x80;

/// The number of equal bytes that make a match.
const MATCH: usize = 4;

/// The maximum number of bytes that are compared backwards from a match.
const LONGEST: usize = 32;

/// All texts of the prior and the message, each followed by [`END`].
#[derive(Debug, Clone, Default)]
pub(super) struct History {
    bytes: Vec<u8>,
    /// The index after the last occurrence of each four bytes.
    behind: HashMap<u32, usize>,
    /// The start of the last text of each place, by a hash of the place.
    texts: HashMap<u32, usize>,
}

impl History {
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    pub fn byte(&self, at: usize) -> u8 {
        self.bytes[at]
    }

    pub fn from(&self, start: usize) -> &[u8] {
        &self.bytes[start..]
    }

    /// Returns the last `N` bytes, the most recent one first.
    pub fn last<const N: usize>(&self) -> [u32; N] {
        std::array::from_fn(|n| self.bytes.len().checked_sub(n + 1).map_or(END, |at| self.bytes[at]).into())
    }

    pub fn text_of(&self, place: u32) -> Option<usize> {
        self.texts.get(&place).copied()
    }

    pub fn remember(&mut self, place: u32, start: usize) {
        self.texts.insert(place, start);
    }

    /// Appends a byte. Returns the index after the previous occurrence of the last four bytes, and the length of the match.
    pub fn push(&mut self, byte: u8) -> Option<(usize, u32)> {
        self.bytes.push(byte);
        let end = self.bytes.len();
        let last: [u8; MATCH] = self.bytes.get(end.checked_sub(MATCH)?..)?.try_into().ok()?;
        let at = self.behind.insert(u32::from_be_bytes(last), end)?;
        let pairs = self.bytes[..at].iter().rev().zip(self.bytes.iter().rev());
        Some((at, pairs.take(LONGEST).take_while(|(a, b)| a == b).count() as u32))
    }
}
