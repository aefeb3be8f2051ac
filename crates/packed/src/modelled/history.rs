//! The text before, and where it may come again.

use std::collections::HashMap;

/// Stands behind each text: a byte that no character begins with.
pub(super) const END: u8 = 0x80;

/// Bytes that have to be the same for a match.
const MATCH: usize = 4;

/// Most bytes that a match is followed back.
const LONGEST: usize = 32;

/// All texts of the prior and the message, each with [`END`] behind it.
#[derive(Debug, Clone, Default)]
pub(super) struct History {
    bytes: Vec<u8>,
    /// What follows the last occurrence of four bytes.
    behind: HashMap<u32, usize>,
    /// Where the last text of a place begins, by a hash of the place.
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

    /// The last bytes, the last one lowest.
    pub fn last<const N: usize>(&self) -> [u32; N] {
        std::array::from_fn(|n| self.bytes.len().checked_sub(n + 1).map_or(END, |at| self.bytes[at]).into())
    }

    pub fn text_of(&self, place: u32) -> Option<usize> {
        self.texts.get(&place).copied()
    }

    pub fn remember(&mut self, place: u32, start: usize) {
        self.texts.insert(place, start);
    }

    /// Takes a byte. Gives what follows the last occurrence of the last four bytes, and how many before it are the same.
    pub fn push(&mut self, byte: u8) -> Option<(usize, u32)> {
        self.bytes.push(byte);
        let end = self.bytes.len();
        let last: [u8; MATCH] = self.bytes.get(end.checked_sub(MATCH)?..)?.try_into().ok()?;
        let at = self.behind.insert(u32::from_be_bytes(last), end)?;
        let pairs = self.bytes[..at].iter().rev().zip(self.bytes.iter().rev());
        Some((at, pairs.take(LONGEST).take_while(|(a, b)| a == b).count() as u32))
    }
}
