//! Bodies of open and large layouts, coded by an adaptive arithmetic coder. `spec/packed.md`, "Modelled bodies".
//!
//! Encoder and decoder update the same model after each decision, so they always predict the same probabilities. The
//! model starts from the texts of `spec/packed-prior.txt`, which all messages share.

mod coder;
mod hash;
mod history;
mod logistic;
mod model;
mod numbers;
mod past;
mod predictor;
mod prior;
mod text;

use crate::Error;
use crate::wire::{At, Sink, Source};
use coder::{Coder, Reader, Writer};
use model::Model;

/// Writes the body of a message from its parts.
pub(crate) struct ModelledSink<'a> {
    model: Model,
    writer: Writer<'a>,
}

impl<'a> ModelledSink<'a> {
    /// Creates a sink that appends to `bytes`, whose last byte is the slot byte.
    pub fn new(bytes: &'a mut Vec<u8>) -> Self {
        ModelledSink { model: prior::model(), writer: Writer::new(bytes) }
    }

    /// Writes the last bytes.
    pub fn finish(self) -> Result<(), Error> {
        let bytes = self.writer.finish();
        self.model.check(1 + bytes)
    }
}

impl Sink for ModelledSink<'_> {
    const MODELLED: bool = true;

    fn index(&mut self, at: At, value: u64, count: u64) -> Result<(), Error> {
        self.model.index(&mut self.writer, at, value, count).map(drop)
    }

    fn sized(&mut self, at: At, value: u64) -> Result<(), Error> {
        self.model.sized(&mut self.writer, at, value).map(drop)
    }

    fn raw(&mut self, at: At, value: u64, bits: u32) -> Result<(), Error> {
        self.model.raw(&mut self.writer, at, value, bits).map(drop)
    }

    fn text(&mut self, at: At, text: &str, min: u32, max: Option<u32>) -> Result<(), Error> {
        self.model.text(&mut self.writer, at, Some(text), min, max).map(drop)
    }
}

/// Reads the parts of a message from its body.
pub(crate) struct ModelledSource<'a> {
    model: Model,
    reader: Reader<'a>,
}

impl<'a> ModelledSource<'a> {
    /// Creates a source that begins at byte `offset` of `message`.
    pub fn new(message: &'a [u8], offset: usize) -> Self {
        let mut model = prior::model();
        model.expect(message.len());
        ModelledSource { model, reader: Reader::new(message, offset) }
    }

    /// Checks that the message ends here.
    pub fn finish(self) -> Result<(), Error> {
        self.reader.finish()
    }
}

impl Source for ModelledSource<'_> {
    const MODELLED: bool = true;
    type Plain = ModelledSink<'static>;

    fn index(&mut self, at: At, count: u64) -> Result<u64, Error> {
        self.model.index(&mut self.reader, at, 0, count)
    }

    fn sized(&mut self, at: At) -> Result<u64, Error> {
        self.model.sized(&mut self.reader, at, 0)
    }

    fn raw(&mut self, at: At, bits: u32) -> Result<u64, Error> {
        self.model.raw(&mut self.reader, at, 0, bits)
    }

    fn text(&mut self, at: At, min: u32, max: Option<u32>) -> Result<String, Error> {
        self.model.text(&mut self.reader, at, None, min, max)
    }

    fn offset(&self) -> usize {
        self.reader.offset()
    }
}

#[cfg(test)]
mod tests;
