//! The receiver of one device's messages.

use dunnage_packed::{Error, Known, Layout, Reference, Value};
use std::collections::{BTreeMap, VecDeque};

/// How many messages behind the one that was used last stay as references, for deltas that arrive late.
const LATE: usize = 64;
/// The mode of a delta, in the two highest bits of the first byte.
const DELTA: u8 = 2;

/// Decodes messages, and keeps them as references of later ones.
#[derive(Debug, Clone)]
pub struct Receiver<'a> {
    layout: &'a Layout,
    /// What it knows of the device, for `x-dunnage-known`.
    known: BTreeMap<String, String>,
    /// The messages that may be referred to, the latest first.
    references: VecDeque<Reference>,
    /// How many of them are at least as late as the one that was referred to last.
    likely: usize,
}

impl<'a> Receiver<'a> {
    /// Creates the receiver of the messages of one device, of which it knows these texts.
    pub fn new(layout: &'a Layout, known: BTreeMap<String, String>) -> Receiver<'a> {
        Receiver { layout, known, references: VecDeque::new(), likely: 0 }
    }

    /// Decodes a message, and keeps it if others may refer to it. Returns the message and its name.
    pub fn decode(&mut self, bytes: &[u8]) -> Result<(Value, Option<u16>), Error> {
        let known = Known { device: self.known.get("device").map(String::as_str), texts: Some(&self.known) };
        let (value, reference) = if bytes.first().is_some_and(|first| first >> 6 == DELTA) {
            let (likely, late) =
                (self.references.iter().take(self.likely), self.references.iter().skip(self.likely));
            let decoded = self.layout.decode_delta(bytes, likely, late, known)?;
            let used = self.references.iter().position(|one| one.name() == decoded.used);
            // The sender has this acknowledgement, so that it no longer refers to older messages.
            self.likely = used.map_or(self.likely, |used| self.likely.min(used + 1));
            self.references.truncate(self.likely + LATE);
            (decoded.value, decoded.reference)
        } else {
            let value = self.layout.decode(bytes, known)?;
            if !self.layout.has_statistics() {
                return Ok((value, None));
            }
            let reference = self.layout.reference(&value)?;
            (value, reference)
        };
        let name = reference.name();
        self.references.push_front(reference);
        self.likely += 1;
        self.references.truncate(2 * LATE);
        Ok((value, Some(name)))
    }
}
