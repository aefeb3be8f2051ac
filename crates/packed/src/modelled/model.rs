//! All that predicts decisions. Whoever writes a message and whoever reads it go through the same states.

use super::coder::Coder;
use super::history::History;
use super::past::Past;
use super::predictor::{Mixer, Table};
use crate::Error;
use dunnage_pson::Kind;
use std::collections::HashMap;

/// Most decisions of a message.
const MAX_DECISIONS: u32 = 1 << 23;

/// Most decisions of a message of so many bytes: a few of them must not take seconds to read.
fn most_decisions(bytes: usize) -> u32 {
    let most = (1 << 18) + (bytes << 11).min(MAX_DECISIONS as usize);
    most.min(MAX_DECISIONS as usize) as u32
}

/// The decisions of a message after which the table gets twice the slots.
const MANY_DECISIONS: u32 = 1 << 14;

/// How many contexts a decision of a number has, and of a text.
pub(super) const NUMBER_CONTEXTS: usize = 10;
pub(super) const TEXT_CONTEXTS: usize = 16;

/// The first of a mixer's sets that is selected in the second way, and how many there are in both.
pub(super) const SECOND_SETS: usize = 64;
const SETS: usize = 128;

/// What the prior and the message so far have taught.
#[derive(Debug, Clone)]
pub(super) struct Model {
    pub decisions: Decisions,
    pub number_mixer: Mixer<NUMBER_CONTEXTS>,
    pub text_mixer: Mixer<TEXT_CONTEXTS>,
    /// The numbers so far, by a hash of their place.
    pub past: HashMap<u32, Past>,
    /// Hashes of the number before, with its place, of the text before, and of the key before.
    pub last_number: u32,
    pub last_text: u32,
    pub last_key: u32,
    pub history: History,
}

impl Model {
    /// A model that knows nothing.
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

    /// The prior ends: decisions count from here.
    pub fn begin(&mut self) {
        self.decisions.count = 0;
        self.decisions.primed = true;
    }

    /// No more decisions than a message of so many bytes has.
    pub fn expect(&mut self, bytes: usize) {
        self.decisions.most = most_decisions(bytes);
    }

    /// Whether a message of so many bytes may have the decisions so far.
    pub fn check(&self, bytes: usize) -> Result<(), Error> {
        if self.decisions.count > most_decisions(bytes) { Err(too_many(0)) } else { Ok(()) }
    }
}

#[cold]
fn too_many(offset: usize) -> Error {
    Error::new(Kind::Limit, offset, "more decisions than a message of this size may have")
}

/// Decisions one after another, and what is known in their contexts.
#[derive(Debug, Clone)]
pub(super) struct Decisions {
    table: Table,
    count: u32,
    most: u32,
    primed: bool,
}

impl Decisions {
    /// Codes one decision in these contexts, with the weights of these sets.
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
