//! The interface between the walk over a layout and the bytes, which are plain bits or modelled.
//!
//! The walk names each part. A sink or a source decides how the part becomes bits.

use crate::Error;
use dunnage_pson::Value;

/// The part of the message to which a number belongs, so that the modelled coder learns each part separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct At {
    /// The number of the node.
    pub node: u32,
    /// The part of the node.
    pub part: Part,
}

/// The parts of a node, numbered as in `spec/packed.md`, "Contexts".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Part {
    /// The value: a boolean, an index, a number, or the characters of a pattern.
    Value = 0,
    /// Whether the value is present: an optional field, a nullable value, or the plain form of a date-time.
    Presence = 1,
    /// A count of elements, characters, entries, or characters of a segment.
    Count = 2,
    /// The choice between several forms: of a float, a value without a schema, a union, or the characters of a text.
    Form = 3,
    /// The sign of a number.
    Sign = 4,
    /// The number of decimal places of a float.
    Places = 5,
    /// The order of the properties.
    Order = 6,
    /// The key of an additional property.
    Key = 7,
}

/// The number of the presence bit of a nullable value in a coded body. The bit of an optional field, which has the same node, is 0.
pub(crate) const NULLABLE: usize = 1;

/// Writes the parts of a message.
pub(crate) trait Sink {
    /// Whether the body is modelled. A few parts differ.
    const MODELLED: bool;
    /// Whether the body is coded. A few parts differ.
    const CODED: bool = false;

    /// Writes `value`, which is at most `count` - 1.
    fn index(&mut self, at: At, value: u64, count: u64) -> Result<(), Error>;
    /// Writes a sized number.
    fn sized(&mut self, at: At, value: u64) -> Result<(), Error>;
    /// Writes the lowest `bits` bits of `value`, at most 64, without any assumption about them.
    fn raw(&mut self, at: At, value: u64, bits: u32) -> Result<(), Error>;
    /// Writes the number of characters of `text`, which is between `min` and `max` code points, and then the characters.
    fn text(&mut self, at: At, text: &str, min: u32, max: Option<u32>) -> Result<(), Error>;
    /// Announces the parts of the n-th number or piece of the text of a node.
    fn nth(&mut self, _node: u32, _nth: usize) {}
    /// Announces the parts of an element.
    fn enter(&mut self, _index: usize) {}
    /// Announces the end of the element.
    fn leave(&mut self) {}
}

/// Reads the parts of a message, in the same order.
pub(crate) trait Source {
    /// Whether the body is modelled.
    const MODELLED: bool;
    /// Whether the body is coded.
    const CODED: bool = false;
    /// The sink to which a source passes the plain bits of what it reads, if it does.
    type Plain: Sink;

    /// Reads a number from 0 to `count` - 1.
    fn index(&mut self, at: At, count: u64) -> Result<u64, Error>;
    /// Reads a sized number.
    fn sized(&mut self, at: At) -> Result<u64, Error>;
    /// Reads `bits` bits, at most 64.
    fn raw(&mut self, at: At, bits: u32) -> Result<u64, Error>;
    /// Reads text of `min` to `max` code points.
    fn text(&mut self, at: At, min: u32, max: Option<u32>) -> Result<String, Error>;
    /// Returns the byte that holds the next bit, for errors.
    fn offset(&self) -> usize;
    /// Announces the parts of the n-th number or piece of the text of a node.
    fn nth(&mut self, _node: u32, _nth: usize) {}
    /// Announces the parts of an element.
    fn enter(&mut self, _index: usize) {}
    /// Announces the end of the element.
    fn leave(&mut self) {}
    /// Announces that the parts of the node with this number follow.
    fn begin(&mut self, _node: u32) {}
    /// Announces the value of the innermost node that has begun and not ended.
    fn end(&mut self, _value: &Value) {}
    /// Reads with `read` what consists of other parts in a plain body, which `write` passes to a sink. Only a source that makes plain bits
    /// calls `write`.
    fn read_other<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Error>,
        _write: impl FnOnce(&T, &mut Self::Plain) -> Result<(), Error>,
    ) -> Result<T, Error> {
        read(self)
    }
}
