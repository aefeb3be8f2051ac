//! The state that predicts decisions. Encoder and decoder of a message go through the same states.

use super::coder::Coder;
use super::history::History;
use super::past::Past;
use super::predictor::{Mixer, Table};
use crate::Error;
use dunnage_pson::Kind;
use std::collections::HashMap;

/// The maximum number of decisions of a message.
const MAX_DECISIONS: u32 = 1 << 23;

/// Returns the maximum number of decisions of a message of `bytes` bytes. It keeps a small message from taking seconds to decode.
fn most_decisions(bytes: usize) -> u32 {
    let most = (1 << 18) + (bytes << 11).min(MAX_DECISIONS as usize);
    most.min(MAX_DECISIONS as usize) as u32
}

/// The number of decisions of a message after which the table doubles.
const MANY_DECISIONS: u32 = 1 << 14;

/// The numbers of contexts of a decision: of a number, and of a text.
pub(super) const NUMBER_CONTEXTS: usize = 10;
pub(super) const TEXT_CONTEXTS: usize = 16;

/// The first weight set of a mixer that the second selector chooses, and the number of sets of both selectors.
pub(super) const SECOND_SETS: usize = 64;
const SETS: usize = 128;

/// Everything learned from the prior and the message so far.
#[derive(Debug, Clone)]
pub(super) struct Model {
    pub decisions: Decisions,
    pub number_mixer: Mixer<NUMBER_CONTEXTS>,
    pub text_mixer: Mixer<TEXT_CONTEXTS>,
    /// The previous numbers, by a hash of their place.
    pub past: HashMap<u32, Past>,
    /// Hashes of the last number with its place, of the last text, and of the last key.
    pub last_number: u32,
    pub last_text: u32,
    pub last_key: u32,
    pub history: History,
}

impl Model {
    /// Creates a model that has learned nothing.
    pub fn new() -> Self {
        Model {
            decisions: Decisions { table: Table::new(), count: 0, most: MAX_DECISIONS, primed: false },
            number_mixer: Mixer::new(SETS),
            text_mixer: Mixer::new(SETS),
            past: HashMap::new(),
            last_number: 0,
            last_text: 0,
            last_key: 0,
            history: History::default(),
        }
    }

    /// Ends the prior. Decisions are counted from here on.
    pub fn begin(&mut self) {
        self.decisions.count = 0;
        self.decisions.primed = true;
    }

    /// Sets the maximum number of decisions to that of a message of `bytes` bytes.
    pub fn expect(&mut self, bytes: usize) {
        self.decisions.most = most_decisions(bytes);
    }

    /// Checks that a message of `bytes` bytes may have the number of decisions so far. The error is of kind `limit`.
    pub fn check(&self, bytes: usize) -> Result<(), Error> {
        if self.decisions.count > most_decisions(bytes) { Err(too_many(0)) } else { Ok(()) }
    }
}

#[cold]
fn too_many(offset: usize) -> Error {
    Error::new(Kind::Limit, offset, "more decisions than a message of this size may have")
}

/// Codes decisions one after another, with the statistics of their contexts.
#[derive(Debug, Clone)]
pub(super) struct Decisions {
    table: Table,
    count: u32,
    most: u32,
    primed: bool,
}

impl Decisions {
    /// Codes one decision in these contexts with the selected weight sets.
    pub fn code<C: Coder, const N: usize>(
        &mut self,
        mixer: &mut Mixer<N>,
        coder: &mut C,
        contexts: &[u32; N],
        sets: [usize; 2],
        bit: bool,
    ) -> Result<bool, Error> {
        self.count += 1;
        if self.primed && self.count == MANY_DECISIONS {
            self.table.double();
        }
        if self.count > self.most {
            return Err(too_many(coder.offset()));
        }
        let p = mixer.predict(&mut self.table, contexts, sets);
        let bit = coder.code(bit, p)?;
        mixer.update(&mut self.table, bit);
        Ok(bit)
    }
}
