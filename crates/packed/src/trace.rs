//! Reports which bits of a plain message belong to which part, for people.

use crate::bits::Reader;
use crate::coded::PRIOR;
use crate::wire::{At, Source};
use crate::{Error, Known, Layout};
use dunnage_pson::{Budget, Value};
use std::ops::Range;

/// A step of reading a plain message. Positions of bits are counted from the start of the message.
#[derive(Debug, Clone, PartialEq)]
pub enum Step<'v> {
    /// The reader has read the slot byte.
    Slot(u8),
    /// The reader begins with the value of the node with this number.
    Begin(u32),
    /// The reader has read a part.
    Bits {
        /// The number of the node. The presence bit of an optional field belongs to the node of the field.
        node: u32,
        /// The number, or the number of code points of a text.
        value: u64,
        /// The positions of the bits.
        bits: Range<usize>,
    },
    /// The value of the innermost node that has begun and not ended.
    End(&'v Value),
}

/// A source that reports what is read from it.
struct Traced<'t, 'b> {
    reader: Reader<'b>,
    tell: &'t mut dyn FnMut(Step<'_>),
}

impl Layout {
    /// Returns whether the parts of this message have bits of their own: modelled and coded bodies are one stream.
    pub fn has_steps(&self, bytes: &[u8]) -> bool {
        let coded = self.has_slot_byte() && bytes.first().is_some_and(|first| first >> 6 == PRIOR);
        self.is_plain() && !coded
    }

    /// Decodes as [`Layout::decode`] does, and calls `tell` with every step up to the first error. Only plain messages have
    /// steps, because a modelled body is one stream.
    pub fn trace<'a>(
        &self,
        bytes: &[u8],
        known: impl Into<Known<'a>>,
        tell: &mut dyn FnMut(Step<'_>),
    ) -> Result<Value, Error> {
        if !self.has_steps(bytes) {
            return self.decode(bytes, known);
        }
        self.check_start(bytes)?;
        if self.has_slot_byte() {
            tell(Step::Slot(self.slot()));
        }
        self.sealed(bytes, |bytes| {
            let mut source = Traced { reader: Reader::new(bytes, self.before_body()), tell };
            let message = self.read(&mut source, known.into(), &Budget::default())?;
            source.reader.finish()?;
            self.validate(&message)?;
            Ok(message)
        })
    }
}

impl Traced<'_, '_> {
    fn part<T>(
        &mut self,
        at: At,
        read: impl FnOnce(&mut Reader<'_>) -> Result<T, Error>,
        value: impl FnOnce(&T) -> u64,
    ) -> Result<T, Error> {
        let start = self.reader.bit();
        let part = read(&mut self.reader)?;
        let bits = start..self.reader.bit();
        (self.tell)(Step::Bits { node: at.node, value: value(&part), bits });
        Ok(part)
    }
}

impl Source for Traced<'_, '_> {
    const MODELLED: bool = false;

    fn index(&mut self, at: At, count: u64) -> Result<u64, Error> {
        self.part(at, |reader| reader.index(at, count), |value| *value)
    }

    fn sized(&mut self, at: At) -> Result<u64, Error> {
        self.part(at, |reader| reader.sized(at), |value| *value)
    }

    fn raw(&mut self, at: At, bits: u32) -> Result<u64, Error> {
        self.part(at, |reader| reader.raw(at, bits), |value| *value)
    }

    fn text(&mut self, at: At, min: u32, max: Option<u32>) -> Result<String, Error> {
        self.part(at, |reader| reader.text(at, min, max), |text| text.chars().count() as u64)
    }

    fn offset(&self) -> usize {
        self.reader.offset()
    }

    fn begin(&mut self, node: u32) {
        (self.tell)(Step::Begin(node));
    }

    fn end(&mut self, value: &Value) {
        (self.tell)(Step::End(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dunnage_schema::Model;

    #[test]
    fn every_bit_belongs_to_one_step() {
        for (name, text) in dunnage_schema::bundled() {
            let layout = Layout::new(&Model::compile(text).unwrap()).expect("a layout");
            let schema: serde_json::Value = serde_json::from_str(text).unwrap();
            for example in schema["examples"].as_array().unwrap() {
                let message: Value = serde_json::from_value(example.clone()).unwrap();
                let mut bytes = Vec::new();
                layout.encode(&message, &mut bytes).unwrap();
                let (mut end, mut open, mut last) = (8, 0, None);
                let decoded = layout.trace(&bytes, None, &mut |step| match step {
                    Step::Slot(slot) => assert_eq!(slot, layout.slot()),
                    Step::Begin(_) => open += 1,
                    Step::Bits { bits, .. } => {
                        assert_eq!(bits.start, end);
                        end = bits.end;
                    }
                    Step::End(value) => {
                        open -= 1;
                        last = Some(value.clone());
                    }
                });
                assert_eq!(decoded, layout.decode(&bytes, None), "{name}");
                assert_eq!((open, last), (0, decoded.ok()), "{name}");
                assert!(8 * bytes.len() - end < 8, "{name}");
            }
        }
    }

    #[test]
    fn steps_end_where_decoding_does() {
        let text = dunnage_schema::bundled_named("weather").unwrap();
        let layout = Layout::new(&Model::compile(text).unwrap()).expect("a layout");
        let schema: serde_json::Value = serde_json::from_str(text).unwrap();
        let message: Value = serde_json::from_value(schema["examples"][0].clone()).unwrap();
        let mut bytes = Vec::new();
        layout.encode(&message, &mut bytes).unwrap();
        for length in 0..bytes.len() {
            let mut end = 0;
            let decoded = layout.trace(&bytes[..length], None, &mut |step| {
                if let Step::Bits { bits, .. } = step {
                    end = bits.end;
                }
            });
            assert_eq!(decoded, layout.decode(&bytes[..length], None));
            assert!(decoded.is_err() && end <= 8 * length);
        }
    }
}
