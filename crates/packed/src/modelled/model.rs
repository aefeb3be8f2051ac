//! What a message has taught so far, and the parts of a message in decisions.

use super::coder::Coder;
use super::predictor::{Mixer, Table, hash, hashes};
use crate::Error;
use crate::wire::{At, Part};
use dunnage_pson::Kind;
use std::collections::HashMap;

/// Most decisions of a message.
const MAX_DECISIONS: u32 = 1 << 23;

/// Most contexts that a number's decisions and a character's have.
pub(super) const NUMBER_CONTEXTS: usize = 10;
pub(super) const TEXT_CONTEXTS: usize = 16;

/// All that predicts decisions. The one that writes a message and the one that reads it go through the same states.
#[derive(Debug, Clone)]
pub(super) struct Model {
    pub table: Table,
    pub numbers: Mixer<NUMBER_CONTEXTS>,
    pub text: Mixer<TEXT_CONTEXTS>,
    decisions: u32,
    /// The numbers before, by place: the last first.
    pub past: HashMap<u32, Past>,
    /// A hash of the number before and its place.
    pub last_number: u32,
    /// A hash of the text before, and of the key before.
    pub last_text: u32,
    pub last_key: u32,
    pub history: super::text::History,
}

/// What was at a place.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Past {
    pub values: [u64; 2],
    pub count: u32,
    /// How often in succession the number was that before it, or as far from it as that from the one before.
    pub hits: [u32; 2],
}

impl Model {
    pub fn new(bits: u32) -> Self {
        Model {
            table: Table::new(bits),
            numbers: Mixer::new(64),
            text: Mixer::new(64),
            decisions: 0,
            past: HashMap::new(),
            last_number: 0,
            last_text: 0,
            last_key: 0,
            history: Default::default(),
        }
    }

    fn count_decision(&mut self, offset: usize) -> Result<(), Error> {
        self.decisions += 1;
        if self.decisions > MAX_DECISIONS {
            return Err(Error::new(Kind::Limit, offset, "more than 2^23 decisions"));
        }
        self.table.make_room(self.decisions);
        Ok(())
    }

    pub fn decide_number<C: Coder>(
        &mut self,
        coder: &mut C,
        contexts: &[u32; NUMBER_CONTEXTS],
        set: usize,
        bit: bool,
    ) -> Result<bool, Error> {
        self.count_decision(coder.offset())?;
        let p = self.numbers.predict(&mut self.table, contexts, set);
        let bit = coder.code(bit, p)?;
        self.numbers.update(&mut self.table, set, p, bit);
        Ok(bit)
    }

    pub fn decide_text<C: Coder>(
        &mut self,
        coder: &mut C,
        contexts: &[u32; TEXT_CONTEXTS],
        set: usize,
        bit: bool,
    ) -> Result<bool, Error> {
        self.count_decision(coder.offset())?;
        let p = self.text.predict(&mut self.table, contexts, set);
        let bit = coder.code(bit, p)?;
        self.text.update(&mut self.table, set, p, bit);
        Ok(bit)
    }
}

/// The hash of a place.
pub(super) fn place(at: At) -> u32 {
    hashes(&[at.node, at.part as u32])
}

/// The hash of a place under the key before it.
pub(super) fn keyed(at: At, key: u32) -> u32 {
    hash(place(at), key)
}

pub(super) fn is_key(at: At) -> bool {
    at.part == Part::Key
}
