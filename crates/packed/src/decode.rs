//! Walks a layout and builds a message from the parts of a source. Each kind of node reads its own parts (`node/`).
//!
//! The input is not trusted: the walk limits nesting, values and memory, and rejects every form that the encoder does not write.

use crate::carries::Carrier;
use crate::limits::{Nesting, Values};
use crate::wire::{At, Part, Source};
use crate::{Error, Known, Node};
use dunnage_pson::{Budget, DUPLICATE_KEY, Kind, Value};
use std::{collections::HashSet, mem};

/// Decodes one message.
pub(crate) struct Decoder<'a, S> {
    pub source: &'a mut S,
    pub values: Values,
    /// The memory that the decoded message may still take.
    pub memory: &'a Budget,
    pub carrier: Carrier<'a>,
    /// The receiver's knowledge about the device that sent the message.
    pub given: Known<'a>,
}

impl<S: Source> Decoder<'_, S> {
    /// Reads the value of `node`.
    pub fn value(&mut self, node: &Node, nesting: Nesting) -> Result<Value, Error> {
        let mut value = Value::Null;
        self.value_into(node, nesting, &mut value)?;
        Ok(value)
    }

    /// Reads the value of `node` in the memory of `out`.
    pub fn value_into(&mut self, node: &Node, nesting: Nesting, out: &mut Value) -> Result<(), Error> {
        self.memory.value(self.source.offset())?;
        self.fill(node, nesting, out)
    }

    /// Reads the value of `node` into its final place, with the memory of the value that is there. A `Value` is too large to be returned
    /// through every level.
    pub fn fill(&mut self, node: &Node, nesting: Nesting, out: &mut Value) -> Result<(), Error> {
        self.count_value()?;
        self.fill_counted(node, nesting, out)
    }

    /// Does the same for a value that is already counted.
    pub fn fill_counted(&mut self, node: &Node, nesting: Nesting, out: &mut Value) -> Result<(), Error> {
        self.source.begin(node.id);
        node.read(nesting, self, out)?;
        self.source.end(out);
        Ok(())
    }

    /// Reads the value of `node` into the place `at` of `items`, or appends it.
    pub fn element(
        &mut self,
        node: &Node,
        nesting: Nesting,
        items: &mut Vec<Value>,
        at: usize,
    ) -> Result<(), Error> {
        self.memory.value(self.source.offset())?;
        if at == items.len() {
            items.push(Value::Null);
        }
        self.source.enter(at);
        self.fill(node, nesting, &mut items[at]).map_err(|error| error.at_index(at))?;
        self.source.leave();
        Ok(())
    }

    /// Counts a value.
    pub fn count_value(&mut self) -> Result<(), Error> {
        self.values.take(1, self.source.offset())
    }

    /// Returns the nesting inside another array or object, which takes memory.
    pub fn inside(&self, nesting: Nesting) -> Result<Nesting, Error> {
        let offset = self.source.offset();
        self.memory.container(offset)?;
        nesting.inside(offset)
    }

    /// Reads a number from 0 to `count` - 1.
    #[inline(always)]
    pub fn index(&mut self, node: u32, part: Part, count: u64) -> Result<u64, Error> {
        self.source.index(At { node, part }, count)
    }

    /// Returns a value that the schema contains.
    pub fn fixed(&mut self, value: &Value, out: &mut Value) -> Result<(), Error> {
        let offset = self.source.offset();
        self.values.take_known(value, offset)?;
        self.memory.parts_of(value, offset)?;
        *out = match value {
            Value::Text(text) => Value::Text(copied(text, out)),
            other => other.clone(),
        };
        Ok(())
    }

    /// Returns `text`, which begins at `offset`, as a value. Its characters are counted and take memory.
    #[inline]
    pub fn text(&mut self, text: String, offset: usize) -> Result<Value, Error> {
        self.values.take_text(&text, offset)?;
        self.memory.content(text.len(), offset)?;
        Ok(Value::Text(text))
    }

    /// Reads the key of an additional property, and rejects one that is already in `keys`.
    pub fn key(&mut self, node: u32, keys: &mut HashSet<String>) -> Result<String, Error> {
        let offset = self.source.offset();
        let key = self.source.text(At { node, part: Part::Key }, 0, None)?;
        self.values.take_text(&key, offset)?;
        self.memory.content(key.len(), offset)?;
        if !keys.insert(key.clone()) {
            return Err(Error::new(Kind::Malformed, offset, DUPLICATE_KEY).under(&key));
        }
        Ok(key)
    }
}

/// Takes the text of `out` out of it, empty.
pub(crate) fn reused(out: &mut Value) -> String {
    match out {
        Value::Text(text) => {
            let mut text = mem::take(text);
            text.clear();
            text
        }
        _ => String::new(),
    }
}

/// Returns a copy of `text` in the memory of the text that `out` has.
pub(crate) fn copied(text: &str, out: &mut Value) -> String {
    let mut copy = reused(out);
    copy.push_str(text);
    copy
}

/// Takes the elements of `out` out of it.
pub(crate) fn items(out: &mut Value) -> Vec<Value> {
    if let Value::Array(items) = out { mem::take(items) } else { Vec::new() }
}
