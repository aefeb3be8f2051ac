//! The bits of each part of a message, for what a training tells people.

use crate::Error;
use crate::bits::Writer;
use crate::wire::{At, Sink};

/// A part of a message.
#[derive(Debug, Clone, Copy)]
pub(super) struct PartBits {
    /// The number of the node that it is of.
    pub node: u32,
    /// Its bits in a body without statistics.
    pub bits: usize,
    /// Whether statistics leave these bits as they are.
    pub is_opaque: bool,
}

/// A sink that writes a body without statistics, and keeps the bits of each part. The body has the parts of the coded forms, or of the
/// plain one, which differ for floats.
pub(super) struct Measured<'o, const CODED: bool> {
    writer: Writer<'o>,
    parts: Vec<PartBits>,
}

impl<'o, const CODED: bool> Measured<'o, CODED> {
    pub fn new(out: &'o mut Vec<u8>) -> Self {
        out.clear();
        Measured { writer: Writer::new(out), parts: Vec::new() }
    }

    /// Returns the parts in the order in which they were written.
    pub fn finish(self) -> Vec<PartBits> {
        self.parts
    }

    fn part(
        &mut self,
        at: At,
        is_opaque: bool,
        write: impl FnOnce(&mut Writer<'o>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let before = self.writer.bit();
        write(&mut self.writer)?;
        self.parts.push(PartBits { node: at.node, bits: self.writer.bit() - before, is_opaque });
        Ok(())
    }
}

impl<const CODED: bool> Sink for Measured<'_, CODED> {
    const MODELLED: bool = false;
    const CODED: bool = CODED;

    fn index(&mut self, at: At, value: u64, count: u64) -> Result<(), Error> {
        self.part(at, false, |writer| writer.index(at, value, count))
    }

    fn sized(&mut self, at: At, value: u64) -> Result<(), Error> {
        self.part(at, true, |writer| writer.sized(at, value))
    }

    fn raw(&mut self, at: At, value: u64, bits: u32) -> Result<(), Error> {
        self.part(at, true, |writer| writer.raw(at, value, bits))
    }

    fn text(&mut self, at: At, text: &str, min: u32, max: Option<u32>) -> Result<(), Error> {
        self.part(at, true, |writer| writer.text(at, text, min, max))
    }
}
