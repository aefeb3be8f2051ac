//! Walks a message and its layout, and passes the parts to a sink in their order. Each kind of node writes its own parts
//! (`node/`), in exactly the order in which it reads them.

use crate::carries::Carrier;
use crate::limits::{Nesting, Values};
use crate::wire::{At, Part, Sink};
use crate::{Error, Node};
use dunnage_pson::{Kind, Value};

/// Encodes one message.
pub(crate) struct Encoder<'a, S> {
    pub sink: &'a mut S,
    pub values: Values,
    pub carrier: Carrier<'a>,
}

impl<S: Sink> Encoder<'_, S> {
    /// Writes `value` as a value of `node`.
    pub fn value(&mut self, node: &Node, value: &Value, nesting: Nesting) -> Result<(), Error> {
        self.values.take(1, 0)?;
        node.write(value, nesting, self)
    }

    /// Writes an element of an array.
    pub fn element(
        &mut self,
        node: &Node,
        index: usize,
        value: &Value,
        nesting: Nesting,
    ) -> Result<(), Error> {
        self.sink.enter(index);
        self.value(node, value, nesting).map_err(|error| error.at_index(index))?;
        self.sink.leave();
        Ok(())
    }

    /// Writes `value`, which is at most `count` - 1.
    pub fn index(&mut self, node: u32, part: Part, value: u64, count: u64) -> Result<(), Error> {
        self.sink.index(At { node, part }, value, count)
    }
}

/// Returns the text of `value`, or an error which says that it is not `expected`.
pub(crate) fn text_of<'v>(value: &'v Value, expected: &str) -> Result<&'v str, Error> {
    if let Value::Text(text) = value { Ok(text) } else { Err(wrong(expected, value)) }
}

/// Returns the elements of `value`.
pub(crate) fn elements_of(value: &Value) -> Result<&[Value], Error> {
    if let Value::Array(items) = value { Ok(items) } else { Err(wrong("an array", value)) }
}

/// Returns an error of kind `type`.
pub(crate) fn wrong(expected: &str, value: &Value) -> Error {
    Error::new(Kind::Type, 0, format!("{} is not {expected}", value.type_name()))
}
