//! Reports which bits of a message belong to which part, for people.

use crate::bits::Reader;
use crate::coded::{CodedSource, DELTA_HEADER, PRIOR, Reference};
use crate::wire::{At, Source};
use crate::{Error, Known, Layout};
use dunnage_pson::{Budget, Value};
use std::ops::Range;

/// A step of reading a message. Positions of bits are counted from the start of the message.
///
/// ```
/// # use dunnage_packed::{Layout, Step};
/// # use dunnage_schema::Model;
/// let layout = Layout::new(&Model::compile(r#"{"type": "array", "maxItems": 3, "items": {"type": "boolean"}}"#)?)?;
/// let mut places = Vec::new();
/// layout.trace(&[0x01, 0b1010_0000], None, &mut |step| {
///     if let Step::Bits { node, value, bits } = step {
///         places.push((node, value, bits));
///     }
/// })?;
/// assert_eq!(places, [(0, 2, 8..10), (1, 1, 10..11), (1, 0, 11..12)]); // the length, true, false
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    /// The reader has read a part of a coded body, where parts share bytes and bits.
    Share {
        /// The number of the node, as for `Bits`.
        node: u32,
        /// The number, or the number of code points of a text.
        value: u64,
        /// The bits of information that the part has, such as 0.2 for a very likely value.
        bits: f64,
    },
    /// The value of the innermost node that has begun and not ended.
    End(&'v Value),
}

/// A source whose parts have a place or a share.
trait Measured: Source {
    type Place: Copy;

    /// Returns how far the source has been read.
    fn place(&self) -> Self::Place;

    /// Returns the step of a part that was read from `start` on.
    fn step(&self, node: u32, value: u64, start: Self::Place) -> Step<'static>;
}

impl Measured for Reader<'_> {
    type Place = usize;

    fn place(&self) -> usize {
        self.bit()
    }

    fn step(&self, node: u32, value: u64, start: usize) -> Step<'static> {
        Step::Bits { node, value, bits: start..self.bit() }
    }
}

impl Measured for CodedSource<'_, '_> {
    type Place = f64;

    fn place(&self) -> f64 {
        self.read_bits()
    }

    fn step(&self, node: u32, value: u64, start: f64) -> Step<'static> {
        Step::Share { node, value, bits: self.read_bits() - start }
    }
}

/// A source that reports what is read from it.
struct Traced<'t, S> {
    source: S,
    tell: &'t mut dyn FnMut(Step<'_>),
}

impl Layout {
    /// Returns whether the parts of this message have bits of their own: modelled and coded bodies are one stream.
    pub fn has_steps(&self, bytes: &[u8]) -> bool {
        self.is_plain() && !self.is_prior(bytes)
    }

    fn is_prior(&self, bytes: &[u8]) -> bool {
        self.has_slot_byte() && bytes.first().is_some_and(|first| first >> 6 == PRIOR)
    }

    /// Decodes as [`Layout::decode`] does, and calls `tell` with every step up to the first error. Parts of plain messages have bits,
    /// those of the prior form a share of the bits. Messages with a modelled body have no steps, because they are one stream.
    ///
    /// # Errors
    /// As those of [`Layout::decode`].
    pub fn trace<'a>(
        &self,
        bytes: &[u8],
        known: impl Into<Known<'a>>,
        tell: &mut dyn FnMut(Step<'_>),
    ) -> Result<Value, Error> {
        if !self.is_plain() {
            return self.decode(bytes, known);
        }
        let trained = self.trained().filter(|_| self.is_prior(bytes));
        if trained.is_none() && self.is_prior(bytes) {
            return self.decode(bytes, known);
        }
        self.check_start(bytes)?;
        if self.has_slot_byte() {
            tell(Step::Slot(self.slot()));
        }
        let known = known.into();
        self.sealed(bytes, |bytes| {
            let message = if let Some(trained) = trained {
                let source = CodedSource::new(trained.knowledge(None), bytes, self.before_body());
                let (message, source) = self.read_traced(source, known, tell)?;
                source.finish()?;
                message
            } else {
                let source = Reader::new(bytes, self.before_body());
                let (message, source) = self.read_traced(source, known, tell)?;
                source.finish()?;
                message
            };
            self.validate(&message)?;
            Ok(message)
        })
    }

    /// Reports the steps of the delta `bytes` against `reference`, which has to be its reference: [`Layout::decode_delta`] tells. Parts have
    /// a share of the bits.
    ///
    /// # Errors
    /// The bytes are not a delta of the layout against `reference`.
    pub fn trace_delta<'a>(
        &self,
        bytes: &[u8],
        reference: &Reference,
        known: impl Into<Known<'a>>,
        tell: &mut dyn FnMut(Step<'_>),
    ) -> Result<Value, Error> {
        let source = CodedSource::new(self.knowledge_of(reference)?, bytes, DELTA_HEADER);
        let (message, source) = self.read_traced(source, known.into(), tell)?;
        source.finish()?;
        self.validate(&message)?;
        Ok(message)
    }

    fn read_traced<S: Measured>(
        &self,
        source: S,
        known: Known<'_>,
        tell: &mut dyn FnMut(Step<'_>),
    ) -> Result<(Value, S), Error> {
        let mut traced = Traced { source, tell };
        let mut message = Value::Null;
        self.read(&mut traced, known, &Budget::default(), &mut message)?;
        Ok((message, traced.source))
    }
}

impl<S: Measured> Traced<'_, S> {
    fn part<T>(
        &mut self,
        at: At,
        read: impl FnOnce(&mut S) -> Result<T, Error>,
        value: impl FnOnce(&T) -> u64,
    ) -> Result<T, Error> {
        let start = self.source.place();
        let part = read(&mut self.source)?;
        (self.tell)(self.source.step(at.node, value(&part), start));
        Ok(part)
    }
}

impl<S: Measured> Source for Traced<'_, S> {
    const MODELLED: bool = S::MODELLED;
    const CODED: bool = S::CODED;
    type Plain = S::Plain;

    fn index(&mut self, at: At, count: u64) -> Result<u64, Error> {
        self.part(at, |source| source.index(at, count), |value| *value)
    }

    fn sized(&mut self, at: At) -> Result<u64, Error> {
        self.part(at, |source| source.sized(at), |value| *value)
    }

    fn raw(&mut self, at: At, bits: u32) -> Result<u64, Error> {
        self.part(at, |source| source.raw(at, bits), |value| *value)
    }

    fn text(&mut self, at: At, min: u32, max: Option<u32>) -> Result<String, Error> {
        self.part(at, |source| source.text(at, min, max), |text| text.chars().count() as u64)
    }

    fn offset(&self) -> usize {
        self.source.offset()
    }

    fn nth(&mut self, node: u32, nth: usize) {
        self.source.nth(node, nth);
    }

    fn enter(&mut self, index: usize) {
        self.source.enter(index);
    }

    fn leave(&mut self) {
        self.source.leave();
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
                    Step::Share { .. } => panic!("a plain message has no shares"),
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
