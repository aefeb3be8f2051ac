//! Coded bodies: the parts of a plain layout, written by a range coder with the statistics of earlier messages.
//! `spec/packed.md`, "Coded bodies".
//!
//! The prior form needs the schema alone. The delta form also needs a message that the receiver has acknowledged.

mod change;
mod coder;
mod delta;
pub(crate) mod expected;
mod leaf;
mod model;
mod opaque;
mod past;
mod predictor;
mod receiver;
mod record;
mod sender;
mod statistics;
mod table;
mod train;
mod trained;
mod window;

pub use delta::{Decoded, Reference, is_delta, may_refer};
pub use expected::{Expected, ExpectedBits, ExpectedPart};
pub use predictor::Predictor;
pub use receiver::Receiver;
pub use sender::Sender;
pub use table::{Bin, Context, Table, Tables};
pub use train::{Example, Learnt, LearntPart, Training};
pub use trained::{TrainedLeaf, TrainedLeaves};
pub use window::Window;

pub(crate) use delta::{DELTA, DELTA_HEADER, PRIOR, Trained};
pub(crate) use leaf::Leaves;
pub(crate) use record::{Record, Recorded, Recorder};
pub(crate) use statistics::Statistics;

use crate::Error;
use crate::wire::{At, Sink, Source};
use coder::{Coder, Reader, Writer};
use model::{Model, plain};
use record::Datum;

/// The knowledge that both sides have before a message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Knowledge<'a> {
    pub leaves: &'a Leaves,
    pub statistics: &'a Statistics,
    /// The message that the receiver has, for a delta.
    pub reference: Option<&'a Record>,
}

/// Codes the parts of one message.
pub(crate) struct Coded<'a, C> {
    model: Model<'a>,
    coder: C,
}

/// Writes the body of a message from its parts.
pub(crate) type CodedSink<'a, 'b> = Coded<'a, Writer<'b>>;
/// Reads the parts of a message from its body.
pub(crate) type CodedSource<'a, 'b> = Coded<'a, Reader<'b>>;

impl<'a, 'b> CodedSink<'a, 'b> {
    /// Creates a sink that appends to `bytes`.
    pub fn new(knowledge: Knowledge<'a>, bytes: &'b mut Vec<u8>) -> Self {
        let Knowledge { leaves, statistics, reference } = knowledge;
        Coded { model: Model::new(leaves, statistics, reference), coder: Writer::new(bytes) }
    }

    /// Writes the last bytes.
    pub fn finish(self) {
        self.coder.finish();
    }
}

impl<'a, 'b> CodedSource<'a, 'b> {
    /// Creates a source that begins at byte `offset` of `message`.
    pub fn new(knowledge: Knowledge<'a>, message: &'b [u8], offset: usize) -> Self {
        let Knowledge { leaves, statistics, reference } = knowledge;
        Coded { model: Model::new(leaves, statistics, reference), coder: Reader::new(message, offset) }
    }

    /// Returns the bits of information that were read, counted from the first byte of the message.
    pub fn read_bits(&self) -> f64 {
        self.coder.read_bits()
    }

    /// Checks that the message ends here.
    pub fn finish(self) -> Result<(), Error> {
        self.coder.finish()
    }
}

impl<C: Coder> Coded<'_, C> {
    fn opaque(&mut self, at: At, known: &Datum, min: u32, max: Option<u32>) -> Result<Datum, Error> {
        self.model.opaque(&mut self.coder, at, known, |coder, known| plain(coder, known, min, max))
    }
}

impl Sink for CodedSink<'_, '_> {
    const MODELLED: bool = false;
    const CODED: bool = true;

    fn index(&mut self, at: At, value: u64, count: u64) -> Result<(), Error> {
        self.model.index(&mut self.coder, at, value, count).map(drop)
    }

    fn sized(&mut self, at: At, value: u64) -> Result<(), Error> {
        self.opaque(at, &Datum::Sized(value), 0, None).map(drop)
    }

    fn raw(&mut self, at: At, value: u64, bits: u32) -> Result<(), Error> {
        self.opaque(at, &Datum::Raw { value, bits }, 0, None).map(drop)
    }

    fn text(&mut self, at: At, text: &str, min: u32, max: Option<u32>) -> Result<(), Error> {
        self.opaque(at, &Datum::Text(text.to_owned()), min, max).map(drop)
    }

    fn nth(&mut self, node: u32, nth: usize) {
        self.model.place.nth(node, nth);
    }

    fn enter(&mut self, index: usize) {
        self.model.place.path.push(index as u32);
    }

    fn leave(&mut self) {
        self.model.place.path.pop();
    }
}

impl<'a, 'b> Source for CodedSource<'a, 'b> {
    const MODELLED: bool = false;
    const CODED: bool = true;
    type Plain = CodedSink<'a, 'b>;

    fn index(&mut self, at: At, count: u64) -> Result<u64, Error> {
        self.model.index(&mut self.coder, at, 0, count)
    }

    fn sized(&mut self, at: At) -> Result<u64, Error> {
        match self.opaque(at, &Datum::Sized(0), 0, None)? {
            Datum::Sized(value) => Ok(value),
            _ => Ok(0),
        }
    }

    fn raw(&mut self, at: At, bits: u32) -> Result<u64, Error> {
        match self.opaque(at, &Datum::Raw { value: 0, bits }, 0, None)? {
            Datum::Raw { value, .. } => Ok(value),
            _ => Ok(0),
        }
    }

    fn text(&mut self, at: At, min: u32, max: Option<u32>) -> Result<String, Error> {
        match self.opaque(at, &Datum::Text(String::new()), min, max)? {
            Datum::Text(text) => Ok(text),
            _ => Ok(String::new()),
        }
    }

    fn offset(&self) -> usize {
        self.coder.offset()
    }

    fn nth(&mut self, node: u32, nth: usize) {
        self.model.place.nth(node, nth);
    }

    fn enter(&mut self, index: usize) {
        self.model.place.path.push(index as u32);
    }

    fn leave(&mut self) {
        self.model.place.path.pop();
    }
}
