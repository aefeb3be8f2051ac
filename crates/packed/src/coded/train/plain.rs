//! The bits of each node in a plain body, for what a training tells people.

use crate::Error;
use crate::bits::Writer;
use crate::wire::{At, Sink};

/// The bits of one message: the number of a node, and its bits. A node occurs once for each of its parts.
#[derive(Debug, Clone, Default)]
pub(super) struct PlainBits(pub Vec<(u32, usize)>);

/// A sink that writes a plain body, and keeps the bits of each part.
pub(super) struct Measured<'o> {
    writer: Writer<'o>,
    bits: PlainBits,
}

impl<'o> Measured<'o> {
    pub fn new(out: &'o mut Vec<u8>) -> Measured<'o> {
        Measured { writer: Writer::new(out), bits: PlainBits::default() }
    }

    pub fn finish(self) -> PlainBits {
        self.bits
    }

    fn part(
        &mut self,
        at: At,
        write: impl FnOnce(&mut Writer<'o>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let before = self.writer.bit();
        write(&mut self.writer)?;
        self.bits.0.push((at.node, self.writer.bit() - before));
        Ok(())
    }
}

impl Sink for Measured<'_> {
    const MODELLED: bool = false;

    fn index(&mut self, at: At, value: u64, count: u64) -> Result<(), Error> {
        self.part(at, |writer| writer.index(at, value, count))
    }

    fn sized(&mut self, at: At, value: u64) -> Result<(), Error> {
        self.part(at, |writer| writer.sized(at, value))
    }

    fn raw(&mut self, at: At, value: u64, bits: u32) -> Result<(), Error> {
        self.part(at, |writer| writer.raw(at, value, bits))
    }

    fn text(&mut self, at: At, text: &str, min: u32, max: Option<u32>) -> Result<(), Error> {
        self.part(at, |writer| writer.text(at, text, min, max))
    }
}
