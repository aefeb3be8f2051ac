//! What stands between the walk over a layout's tree and the bytes: plain bits, or the modelled coder.
//!
//! The walk says what each part is; a sink or a source says how it becomes bits.

use crate::Error;
use dunnage_pson::Value;

/// Which part of the message a number belongs to, so that the modelled coder learns each by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct At {
    /// The node's number.
    pub node: u32,
    /// The part of the node.
    pub part: Part,
}

/// The parts of a node. Their numbers are those of `spec/packed.md`, "Contexts".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(crate) enum Part {
    /// The value itself: a boolean, an index, a number, the characters of a pattern.
    Value = 0,
    /// Whether it is there: of an optional field, a nullable value, the plain form of a date-time.
    Presence = 1,
    /// How many: elements, characters, entries, digits of a segment.
    Count = 2,
    /// Which of several forms: of a float, of anything, of a union, of a text's characters.
    Form = 3,
    /// The sign of a number.
    Sign = 4,
    /// The places of a float.
    Places = 5,
    /// The order of properties.
    Order = 6,
    /// The key of an additional property.
    Key = 7,
}

/// Takes the parts of a message.
pub(crate) trait Sink {
    /// Whether the body is modelled: a few parts differ.
    const MODELLED: bool;

    /// `value`, one of 0 to `count` - 1.
    fn index(&mut self, at: At, value: u64, count: u64) -> Result<(), Error>;
    /// A sized number.
    fn sized(&mut self, at: At, value: u64) -> Result<(), Error>;
    /// The lowest `bits` bits of `value`, at most 64, about which nothing is known.
    fn raw(&mut self, at: At, value: u64, bits: u32) -> Result<(), Error>;
    /// The characters of text, and how many: between `min` and `max` code points.
    fn text(&mut self, at: At, text: &str, min: u32, max: Option<u32>) -> Result<(), Error>;
}

/// Gives the parts of a message, in the same order.
pub(crate) trait Source {
    /// Whether the body is modelled.
    const MODELLED: bool;

    /// One of 0 to `count` - 1.
    fn index(&mut self, at: At, count: u64) -> Result<u64, Error>;
    /// A sized number.
    fn sized(&mut self, at: At) -> Result<u64, Error>;
    /// `bits` bits, at most 64.
    fn raw(&mut self, at: At, bits: u32) -> Result<u64, Error>;
    /// Text of between `min` and `max` code points.
    fn text(&mut self, at: At, min: u32, max: Option<u32>) -> Result<String, Error>;
    /// The byte that holds the next bit, for errors.
    fn offset(&self) -> usize;
    /// The parts of the node with this number follow.
    fn begin(&mut self, _node: u32) {}
    /// The node that began last and has not ended is this value.
    fn end(&mut self, _value: &Value) {}
}
