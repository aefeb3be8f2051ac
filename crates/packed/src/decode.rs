//! Walks a layout and builds a message from the parts of a source.
//!
//! The input is not trusted: the walk limits nesting, values and memory, and rejects every form that the encoder does not write.

use crate::Error;
use crate::carries::Carrier;
use crate::limits::{Nesting, Values};
use crate::node::{Array, Node, Object, Shape, Text, Tuple};
use crate::order::Unnamed;
use crate::wire::{At, NULLABLE, Part, Source};
use crate::{Known, Layout, date_time, float, known, pattern};
use dunnage_pson::{Budget, Kind, Value};
use std::{collections::HashSet, mem};

/// The maximum number of fields or elements for which memory is reserved before they are read.
const ROOM: u64 = 64;

/// The entries of an object, in the order of the message.
type Entries = Vec<(String, Value)>;

/// Decodes one message.
pub(crate) struct Decoder<'a, S> {
    pub(crate) layout: &'a Layout,
    pub(crate) source: &'a mut S,
    pub(crate) values: Values,
    /// The memory that the decoded message may still take.
    pub(crate) memory: &'a Budget,
    pub(crate) carrier: Carrier<'a>,
    /// What the receiver knows about the device that sent the message.
    pub(crate) given: Known<'a>,
}

impl<S: Source> Decoder<'_, S> {
    /// Reads the value of `node`.
    pub(crate) fn value(&mut self, node: &Node, nesting: Nesting) -> Result<Value, Error> {
        let mut value = Value::Null;
        self.value_into(node, nesting, &mut value)?;
        Ok(value)
    }

    /// Reads the value of `node` in the memory of `out`.
    pub(crate) fn value_into(&mut self, node: &Node, nesting: Nesting, out: &mut Value) -> Result<(), Error> {
        self.memory.value(self.source.offset())?;
        self.fill(node, nesting, out)
    }

    /// Reads the value of `node` into its final place, with the memory of the value that is there. A `Value` is too large to be returned
    /// through every level.
    fn fill(&mut self, node: &Node, nesting: Nesting, out: &mut Value) -> Result<(), Error> {
        self.count_value()?;
        self.fill_counted(node, nesting, out)
    }

    /// Does the same for a value that is already counted.
    fn fill_counted(&mut self, node: &Node, nesting: Nesting, out: &mut Value) -> Result<(), Error> {
        self.source.begin(node.id);
        self.shape(node, nesting, out)?;
        self.source.end(out);
        Ok(())
    }

    /// Reads the value of `node` into the place `at` of `items`, or behind them.
    fn push(
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

    #[inline]
    fn shape(&mut self, node: &Node, nesting: Nesting, out: &mut Value) -> Result<(), Error> {
        let (id, offset) = (node.id, self.source.offset());
        match &node.shape {
            Shape::Constant(value) => self.known(value, out)?,
            Shape::Bool => *out = Value::Bool(self.index(id, Part::Value, 2)? == 1),
            Shape::Number(number) => {
                number.read(id, self.source, out)?;
                if let Value::Text(text) = out {
                    self.values.take_text(text, offset)?;
                    self.memory.content(text.len(), offset)?;
                }
            }
            Shape::Numbers(numbers) => {
                let mut text = reused(out);
                numbers.read(id, self.source, &mut text)?;
                self.values.take_text(&text, offset)?;
                *out = taken(self.memory, text, offset)?;
            }
            Shape::Float => *out = Value::from(float::read(id, self.source)?),
            Shape::Choice(values) => {
                let at = self.index(id, Part::Value, values.len() as u64)?;
                self.known(&values[at as usize], out)?;
            }
            Shape::Pattern(segments) => {
                let text = pattern::read(segments, id, self.source, reused(out))?;
                self.values.take_text(&text, offset)?;
                *out = taken(self.memory, text, offset)?;
            }
            Shape::Text(text) => {
                let text = self.text(id, text)?;
                self.values.take_text(&text, offset)?;
                *out = taken(self.memory, text, offset)?;
            }
            Shape::Array(array) => {
                let nesting = self.inside(nesting)?;
                *out = Value::Array(self.array(id, array, nesting, items(out))?);
            }
            Shape::Tuple(tuple) => {
                let nesting = self.inside(nesting)?;
                *out = Value::Array(self.tuple(id, tuple, nesting, items(out))?);
            }
            Shape::Object(object) => {
                let nesting = self.inside(nesting)?;
                *out = Value::Map(self.object(id, object, nesting, entries(out))?);
            }
            Shape::Nullable(inner) => self.nullable(id, inner, nesting, out)?,
            Shape::Union(nodes) => self.union(id, nodes, nesting, out)?,
            Shape::Any => *out = self.any(id, nesting)?,
            Shape::Definition(at) => self.fill_counted(&self.layout.definitions()[*at], nesting, out)?,
            Shape::Known(name) => match self.given.get(name) {
                Some(text) => {
                    self.values.take_text(text, offset)?;
                    *out = taken(self.memory, copied(text, out), offset)?;
                }
                None => return Err(Error::new(Kind::Type, offset, known::missing(name))),
            },
        }
        Ok(())
    }

    pub(crate) fn count_value(&mut self) -> Result<(), Error> {
        self.values.take(1, self.source.offset())
    }

    fn inside(&self, nesting: Nesting) -> Result<Nesting, Error> {
        let offset = self.source.offset();
        self.memory.container(offset)?;
        nesting.inside(offset)
    }

    fn index(&mut self, node: u32, part: Part, count: u64) -> Result<u64, Error> {
        self.source.index(At { node, part }, count)
    }

    /// Returns a value that the schema contains.
    fn known(&mut self, value: &Value, out: &mut Value) -> Result<(), Error> {
        let offset = self.source.offset();
        self.values.take_known(value, offset)?;
        self.memory.parts_of(value, offset)?;
        *out = match value {
            Value::Text(text) => Value::Text(copied(text, out)),
            other => other.clone(),
        };
        Ok(())
    }

    /// Reads the key of an additional property, and rejects one that is already in `keys`.
    pub(crate) fn key(&mut self, node: u32, keys: &mut HashSet<String>) -> Result<String, Error> {
        let offset = self.source.offset();
        let key = self.source.text(At { node, part: Part::Key }, 0, None)?;
        self.values.take_text(&key, offset)?;
        self.memory.content(key.len(), offset)?;
        if !keys.insert(key.clone()) {
            return Err(Error::new(Kind::Malformed, offset, "a key that stands twice").under(&key));
        }
        Ok(key)
    }

    fn text(&mut self, node: u32, text: &Text) -> Result<String, Error> {
        let timed = S::MODELLED && text.date_time;
        let offset = self.source.offset();
        if timed && self.index(node, Part::Presence, 2)? == 1 {
            return date_time::read(node, self.source);
        }
        let t = self.source.text(At { node, part: Part::Value }, text.min, text.max)?;
        if timed && date_time::parse(&t).is_some() {
            return Err(Error::new(Kind::Malformed, offset, "a plain time as text"));
        }
        Ok(t)
    }

    /// Reads the number of elements.
    fn count(&mut self, node: u32, min: u32, max: Option<u32>) -> Result<u64, Error> {
        let above = match max {
            Some(max) => self.index(node, Part::Count, u64::from(max - min) + 1)?,
            None => self.source.sized(At { node, part: Part::Count })?,
        };
        Ok(above.saturating_add(min.into()))
    }

    fn array(
        &mut self,
        node: u32,
        array: &Array,
        nesting: Nesting,
        mut items: Vec<Value>,
    ) -> Result<Vec<Value>, Error> {
        let count = self.count(node, array.min, array.max)?;
        items.reserve((count.min(ROOM) as usize).saturating_sub(items.len()));
        let mut at = 0;
        while (at as u64) < count {
            self.push(&array.item, nesting, &mut items, at)?;
            at += 1;
        }
        items.truncate(at);
        Ok(items)
    }

    fn tuple(
        &mut self,
        node: u32,
        tuple: &Tuple,
        nesting: Nesting,
        mut items: Vec<Value>,
    ) -> Result<Vec<Value>, Error> {
        let offset = self.source.offset();
        let count = self.count(node, tuple.min, tuple.max)?;
        let mut at = 0;
        while (at as u64) < count {
            let Some(kind) = tuple.items.get(at).or(tuple.rest.as_deref()) else {
                return Err(Error::new(Kind::Range, offset, format!("an array of {count}")));
            };
            self.push(kind, nesting, &mut items, at)?;
            at += 1;
        }
        items.truncate(at);
        Ok(items)
    }

    fn nullable(&mut self, node: u32, inner: &Node, nesting: Nesting, out: &mut Value) -> Result<(), Error> {
        let offset = self.source.offset();
        self.source.nth(node, NULLABLE);
        if self.index(node, Part::Presence, 2)? == 0 {
            *out = Value::Null;
            return Ok(());
        }
        self.fill_counted(inner, nesting, out)?;
        match out {
            Value::Null => Err(Error::new(Kind::Malformed, offset, "null as something else")),
            _ => Ok(()),
        }
    }

    fn union(&mut self, node: u32, nodes: &[Node], nesting: Nesting, out: &mut Value) -> Result<(), Error> {
        let offset = self.source.offset();
        let at = self.index(node, Part::Form, nodes.len() as u64)? as usize;
        self.fill_counted(&nodes[at], nesting, out)?;
        match self.carrier.first(&nodes[..at], out)? {
            Some(_) => Err(Error::new(Kind::Malformed, offset, "a value that an earlier type carries")),
            None => Ok(()),
        }
    }

    fn object(
        &mut self,
        node: u32,
        object: &Object,
        nesting: Nesting,
        mut entries: Entries,
    ) -> Result<Entries, Error> {
        entries.reserve(object.fields.len().min(ROOM as usize).saturating_sub(entries.len()));
        let mut named = 0;
        for field in &object.fields {
            self.source.nth(field.node.id, 0);
            if field.optional && self.index(field.node.id, Part::Presence, 2)? == 0 {
                continue;
            }
            let offset = self.source.offset();
            self.values.take_text(&field.name, offset)?;
            self.memory.value(offset)?;
            self.memory.content(field.name.len(), offset)?;
            // Fills the entry in place, which avoids a copy of the value. One that is there from before mostly has the key already.
            if named == entries.len() {
                entries.push((field.name.clone(), Value::Null));
            }
            let (key, value) = &mut entries[named];
            if *key != field.name {
                key.clone_from(&field.name);
            }
            self.fill(&field.node, nesting, value).map_err(|error| error.under(&field.name))?;
            named += 1;
        }
        entries.truncate(named);
        if let Some(additional) = &object.additional {
            let count = self.source.sized(At { node, part: Part::Count })?;
            let mut keys = HashSet::new();
            if count > 0 {
                keys.extend(object.fields.iter().map(|field| field.name.clone()));
            }
            for _ in 0..count {
                let key = self.key(node, &mut keys)?;
                let value = self.value(additional, nesting).map_err(|error| error.under(&key))?;
                entries.push((key, value));
            }
        }
        if S::MODELLED { self.order(node, entries, named) } else { Ok(entries) }
    }

    /// Brings `entries` into the order of the message. The first `named` of them are properties of the schema.
    fn order(&mut self, node: u32, entries: Entries, named: usize) -> Result<Entries, Error> {
        let offset = self.source.offset();
        let count = entries.len();
        if count < 2 || self.index(node, Part::Order, 2)? == 0 {
            return Ok(entries);
        }
        let mut unnamed = Unnamed::new(count);
        let mut places = Vec::new();
        for i in 0..count {
            let left = (count - i) as u64;
            let before = if left > 1 { self.index(node, Part::Order, left)? } else { 0 };
            places.push(unnamed.named(before as usize));
        }
        // Additional properties are written in the order of the message, so their places ascend.
        let mut additional = places.iter().filter(|place| **place >= named);
        if places.is_sorted() || !additional.by_ref().is_sorted() {
            return Err(Error::new(Kind::Malformed, offset, "an order that has another form"));
        }
        let mut entries: Vec<_> = entries.into_iter().map(Some).collect();
        Ok(places.iter().filter_map(|place| entries[*place].take()).collect())
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
fn copied(text: &str, out: &mut Value) -> String {
    let mut copy = reused(out);
    copy.push_str(text);
    copy
}

/// Takes the elements of `out` out of it.
fn items(out: &mut Value) -> Vec<Value> {
    if let Value::Array(items) = out { mem::take(items) } else { Vec::new() }
}

/// Takes the entries of `out` out of it.
fn entries(out: &mut Value) -> Entries {
    if let Value::Map(entries) = out { mem::take(entries) } else { Vec::new() }
}

/// Returns `text`, which begins at `offset`, as a value, and takes its content from `memory`.
pub(crate) fn taken(memory: &Budget, text: String, offset: usize) -> Result<Value, Error> {
    memory.content(text.len(), offset)?;
    Ok(Value::Text(text))
}
