//! Walks a message and its layout, and passes the parts to a sink in their order.
//!
//! The order of the parts must be exactly that in which `decode.rs` reads them.

use crate::Error;
use crate::carries::Carrier;
use crate::limits::{Nesting, Values};
use crate::node::{Array, Field, Node, Object, Shape, Text, Tuple};
use crate::order::Unnamed;
use crate::wire::{At, NULLABLE, Part, Sink};
use crate::{Layout, date_time, float, pattern};
use dunnage_pson::{Kind, Value};
use dunnage_schema::same;
use std::collections::{HashMap, HashSet};

/// An object with more entries than this is searched by a hash table.
const MANY: usize = 32;

/// Encodes one message.
pub(crate) struct Encoder<'a, S> {
    pub(crate) layout: &'a Layout,
    pub(crate) sink: &'a mut S,
    pub(crate) values: Values,
    pub(crate) carrier: Carrier<'a>,
}

impl<S: Sink> Encoder<'_, S> {
    /// Writes `value` as a value of `node`.
    pub(crate) fn value(&mut self, node: &Node, value: &Value, nesting: Nesting) -> Result<(), Error> {
        self.values.take(1, 0)?;
        self.counted(node, value, nesting)
    }

    /// Writes a value that is already counted.
    fn counted(&mut self, node: &Node, value: &Value, nesting: Nesting) -> Result<(), Error> {
        let id = node.id;
        match &node.shape {
            Shape::Constant(only) if same(only, value) => self.values.take_known(value, 0),
            Shape::Constant(_) => Err(Error::new(Kind::Range, 0, "not the constant")),
            Shape::Bool => match value {
                Value::Bool(b) => self.index(id, Part::Value, u64::from(*b), 2),
                _ => Err(wrong("a boolean", value)),
            },
            Shape::Number(number) => {
                number.write(id, value, self.sink)?;
                if let Value::Text(text) = value { self.values.take_text(text, 0) } else { Ok(()) }
            }
            Shape::Numbers(numbers) => match value {
                Value::Text(text) => {
                    numbers.write(id, text, self.sink)?;
                    self.values.take_text(text, 0)
                }
                _ => Err(wrong("numbers in text", value)),
            },
            Shape::Float => float::write(id, value, self.sink),
            Shape::Choice(values) => self.choice(id, values, value),
            Shape::Pattern(segments) => match value {
                Value::Text(text) => {
                    pattern::write(segments, id, text, self.sink)?;
                    self.values.take_text(text, 0)
                }
                _ => Err(wrong("text", value)),
            },
            Shape::Text(text) => self.text(id, text, value),
            Shape::Array(array) => self.array(id, array, value, nesting.inside(0)?),
            Shape::Tuple(tuple) => self.tuple(id, tuple, value, nesting.inside(0)?),
            Shape::Object(object) => self.object(id, object, value, nesting.inside(0)?),
            Shape::Nullable(inner) => {
                let there = *value != Value::Null;
                self.sink.nth(id, NULLABLE);
                self.index(id, Part::Presence, there.into(), 2)?;
                if there { self.counted(inner, value, nesting) } else { Ok(()) }
            }
            Shape::Union(nodes) => {
                let Some(at) = self.carrier.first(nodes, value)? else {
                    return Err(Error::new(Kind::Range, 0, "none of the types carries it"));
                };
                self.index(id, Part::Form, at as u64, nodes.len() as u64)?;
                self.counted(&nodes[at], value, nesting)
            }
            Shape::Any => self.any(id, value, nesting),
            Shape::Definition(at) => self.counted(&self.layout.definitions()[*at], value, nesting),
            Shape::Known(_) => match value {
                Value::Text(_) => self.values.take_known(value, 0),
                _ => Err(wrong("text", value)),
            },
        }
    }

    pub(crate) fn index(&mut self, node: u32, part: Part, value: u64, count: u64) -> Result<(), Error> {
        self.sink.index(At { node, part }, value, count)
    }

    fn choice(&mut self, node: u32, values: &[Value], value: &Value) -> Result<(), Error> {
        let Some(at) = values.iter().position(|one| same(one, value)) else {
            return Err(Error::new(Kind::Range, 0, "none of the values"));
        };
        self.values.take_known(value, 0)?;
        self.index(node, Part::Value, at as u64, values.len() as u64)
    }

    fn text(&mut self, node: u32, text: &Text, value: &Value) -> Result<(), Error> {
        let Value::Text(t) = value else { return Err(wrong("text", value)) };
        if !text.holds(t) {
            return Err(Error::new(Kind::Range, 0, "text that is too short or too long"));
        }
        self.values.take_text(t, 0)?;
        if S::MODELLED && text.date_time {
            let seconds = date_time::parse(t);
            self.index(node, Part::Presence, seconds.is_some().into(), 2)?;
            if let Some(seconds) = seconds {
                return date_time::write(node, seconds, self.sink);
            }
        }
        self.sink.text(At { node, part: Part::Value }, t, text.min, text.max)
    }

    /// Writes the number of elements.
    fn count(&mut self, node: u32, count: usize, min: u32, max: Option<u32>) -> Result<(), Error> {
        let most = max.map_or(usize::MAX, |max| max as usize);
        if !(min as usize..=most).contains(&count) {
            return Err(Error::new(Kind::Range, 0, format!("an array of {count}")));
        }
        let above = count as u64 - u64::from(min);
        match max {
            Some(max) => self.index(node, Part::Count, above, u64::from(max - min) + 1),
            None => self.sink.sized(At { node, part: Part::Count }, above),
        }
    }

    fn array(&mut self, node: u32, array: &Array, value: &Value, nesting: Nesting) -> Result<(), Error> {
        let Value::Array(items) = value else { return Err(wrong("an array", value)) };
        self.count(node, items.len(), array.min, array.max)?;
        for (i, item) in items.iter().enumerate() {
            self.element(&array.item, i, item, nesting)?;
        }
        Ok(())
    }

    fn tuple(&mut self, node: u32, tuple: &Tuple, value: &Value, nesting: Nesting) -> Result<(), Error> {
        let Value::Array(items) = value else { return Err(wrong("an array", value)) };
        self.count(node, items.len(), tuple.min, tuple.max)?;
        for (i, item) in items.iter().enumerate() {
            let Some(kind) = tuple.items.get(i).or(tuple.rest.as_deref()) else {
                return Err(Error::new(Kind::Range, 0, "no such element").at_index(i));
            };
            self.element(kind, i, item, nesting)?;
        }
        Ok(())
    }

    fn element(&mut self, node: &Node, index: usize, value: &Value, nesting: Nesting) -> Result<(), Error> {
        self.sink.enter(index);
        self.value(node, value, nesting).map_err(|error| error.at_index(index))?;
        self.sink.leave();
        Ok(())
    }

    fn object(&mut self, node: u32, object: &Object, value: &Value, nesting: Nesting) -> Result<(), Error> {
        let Value::Map(entries) = value else { return Err(wrong("an object", value)) };
        // The index of each property in the message, in the order in which properties are written.
        let mut written = Vec::new();
        let mut entries_by_name = Entries::new(entries);
        for field in &object.fields {
            let found = entries_by_name.find(&field.name);
            self.field(field, found.map(|at| &entries[at].1), nesting)?;
            written.extend(found);
        }
        if let Some(additional) = &object.additional {
            self.additional(node, object, additional, entries, &mut written, nesting)?;
        }
        if written.len() < entries.len() {
            return Err(Error::new(Kind::Type, 0, "a key that the schema does not have"));
        }
        if S::MODELLED { self.order(node, &written) } else { Ok(()) }
    }

    fn field(&mut self, field: &Field, value: Option<&Value>, nesting: Nesting) -> Result<(), Error> {
        if field.optional {
            self.sink.nth(field.node.id, 0);
            // The bit belongs to the node of the field, so that the modelled coder learns the presence of each field separately.
            self.index(field.node.id, Part::Presence, value.is_some().into(), 2)?;
        }
        match value {
            Some(value) => {
                self.values.take_text(&field.name, 0)?;
                self.value(&field.node, value, nesting).map_err(|error| error.under(&field.name))
            }
            None if field.optional => Ok(()),
            None => Err(Error::new(Kind::Range, 0, format!("the field {:?} is missing", field.name))),
        }
    }

    fn additional(
        &mut self,
        node: u32,
        object: &Object,
        kind: &Node,
        entries: &[(String, Value)],
        written: &mut Vec<usize>,
        nesting: Nesting,
    ) -> Result<(), Error> {
        self.sink.sized(At { node, part: Part::Count }, (entries.len() - written.len()) as u64)?;
        let mut names: HashSet<&str> = object.fields.iter().map(|field| field.name.as_str()).collect();
        let found: HashSet<usize> = written.iter().copied().collect();
        for (i, (key, value)) in entries.iter().enumerate().filter(|(i, _)| !found.contains(i)) {
            if !names.insert(key) {
                return Err(Error::new(Kind::Range, 0, "a key that stands twice").under(key));
            }
            self.values.take_text(key, 0)?;
            self.sink.text(At { node, part: Part::Key }, key, 0, None)?;
            self.value(kind, value, nesting).map_err(|error| error.under(key))?;
            written.push(i);
        }
        Ok(())
    }

    /// Writes the order of the properties. `written` has the index in the message of each one.
    fn order(&mut self, node: u32, written: &[usize]) -> Result<(), Error> {
        let count = written.len();
        if count < 2 {
            return Ok(());
        }
        let other = !written.is_sorted();
        self.index(node, Part::Order, other.into(), 2)?;
        if !other {
            return Ok(());
        }
        let mut place_of = vec![0; count];
        for (place, at) in written.iter().enumerate() {
            place_of[*at] = place;
        }
        let mut unnamed = Unnamed::new(count);
        for (i, place) in place_of[..count - 1].iter().enumerate() {
            let before = unnamed.name(*place);
            self.index(node, Part::Order, before as u64, (count - i) as u64)?;
        }
        Ok(())
    }
}

/// Finds the entries of an object by key. They are usually in the order of the schema, so the next entry is tried first.
struct Entries<'a> {
    entries: &'a [(String, Value)],
    /// The index behind the entry that was found last.
    next: usize,
    table: Option<HashMap<&'a str, usize>>,
}

impl<'a> Entries<'a> {
    fn new(entries: &'a [(String, Value)]) -> Self {
        Entries { entries, next: 0, table: None }
    }

    fn find(&mut self, name: &str) -> Option<usize> {
        let found = match self.entries.get(self.next) {
            Some((key, _)) if key == name => Some(self.next),
            _ if self.entries.len() > MANY => {
                let keys = || self.entries.iter().enumerate().map(|(i, (key, _))| (key.as_str(), i));
                self.table.get_or_insert_with(|| keys().collect()).get(name).copied()
            }
            _ => self.entries.iter().position(|(key, _)| key == name),
        };
        self.next = found.map_or(self.next, |at| at + 1);
        found
    }
}

fn wrong(expected: &str, value: &Value) -> Error {
    Error::new(Kind::Type, 0, format!("{} is not {expected}", value.type_name()))
}
