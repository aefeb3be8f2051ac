//! Decides which values a node carries: the values for which it has bits, whether or not the schema allows them.
//!
//! A union uses the first of its nodes that carries the value. Encoder and decoder must choose the same one, so the choice depends
//! only on the part of the tree that the fingerprint covers: `spec/packed.md`, "Unions".

use crate::node::{Array, Node, Object, Shape, Text, Tuple};
use crate::{Error, Layout, float, pattern};
use dunnage_pson::{Kind, Value};
use dunnage_schema::same;
use std::cell::Cell;

/// The maximum number of comparisons of a node with a value for one message. Without it, nested unions take exponential time.
const MAX_STEPS: u32 = 1 << 24;

/// The number of names or values whose comparison counts as one step.
const COMPARED: usize = 8;

/// Finds the nodes that carry the values of one message.
pub(crate) struct Carrier<'a> {
    definitions: &'a [Node],
    /// The number of steps that are left.
    steps: Cell<u32>,
}

impl Layout {
    /// Returns whether `node`, a node of this layout, has bits for `value`.
    pub fn carries(&self, node: &Node, value: &Value) -> bool {
        Carrier::new(self.definitions()).carries(node, value).unwrap_or(false)
    }
}

impl<'a> Carrier<'a> {
    pub(crate) fn new(definitions: &'a [Node]) -> Carrier<'a> {
        Carrier { definitions, steps: Cell::new(MAX_STEPS) }
    }

    /// Returns whether `node` carries `value`. The only error is of kind `limit`.
    pub(crate) fn carries(&self, node: &Node, value: &Value) -> Result<bool, Error> {
        self.charge(1)?;
        match (&node.shape, value) {
            (Shape::Any, _) => Ok(true),
            (Shape::Constant(only), _) => Ok(same(only, value)),
            (Shape::Choice(values), _) => {
                self.charge(values.len() / COMPARED)?;
                Ok(values.iter().any(|one| same(one, value)))
            }
            (Shape::Bool, _) => Ok(matches!(value, Value::Bool(_))),
            (Shape::Number(number), _) => Ok(number.carries(value)),
            (Shape::Numbers(numbers), _) => Ok(numbers.carries(value)),
            (Shape::Float, _) => Ok(float::exact(value).is_ok()),
            (Shape::Pattern(segments), Value::Text(text)) => Ok(pattern::matches(segments, text)),
            (Shape::Text(kind), Value::Text(text)) => Ok(kind.holds(text)),
            (Shape::Known(_), _) => Ok(matches!(value, Value::Text(_))),
            (Shape::Array(array), Value::Array(items)) => self.array(array, items),
            (Shape::Tuple(tuple), Value::Array(items)) => self.tuple(tuple, items),
            (Shape::Object(object), Value::Map(entries)) => self.object(object, entries),
            (Shape::Nullable(_), Value::Null) => Ok(true),
            (Shape::Nullable(inner), _) => self.carries(inner, value),
            (Shape::Union(nodes), _) => Ok(self.first(nodes, value)?.is_some()),
            (Shape::Definition(at), _) => self.carries(&self.definitions[*at], value),
            _ => Ok(false),
        }
    }

    /// Returns the index of the first of `nodes` that carries `value`.
    pub(crate) fn first(&self, nodes: &[Node], value: &Value) -> Result<Option<usize>, Error> {
        for (at, node) in nodes.iter().enumerate() {
            if self.carries(node, value)? {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    fn charge(&self, steps: usize) -> Result<(), Error> {
        let left = u32::try_from(steps).ok().and_then(|steps| self.steps.get().checked_sub(steps));
        let message = || format!("finding the types of the values takes more than {MAX_STEPS} steps");
        self.steps.set(left.ok_or_else(|| Error::new(Kind::Limit, 0, message()))?);
        Ok(())
    }

    fn array(&self, array: &Array, items: &[Value]) -> Result<bool, Error> {
        if !is_within(items.len(), array.min, array.max) {
            return Ok(false);
        }
        for item in items {
            if !self.carries(&array.item, item)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn tuple(&self, tuple: &Tuple, items: &[Value]) -> Result<bool, Error> {
        if !is_within(items.len(), tuple.min, tuple.max) {
            return Ok(false);
        }
        for (i, item) in items.iter().enumerate() {
            match tuple.items.get(i).or(tuple.rest.as_deref()) {
                Some(node) if self.carries(node, item)? => {}
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    fn object(&self, object: &Object, entries: &[(String, Value)]) -> Result<bool, Error> {
        let required = object.fields.iter().filter(|field| !field.optional);
        let mut found = 0;
        for (key, value) in entries {
            self.charge(object.fields.len() / COMPARED)?;
            let field = object.fields.iter().find(|field| field.name == *key);
            found += usize::from(field.is_some_and(|field| !field.optional));
            match field.map(|field| &field.node).or(object.additional.as_deref()) {
                Some(node) if self.carries(node, value)? => {}
                _ => return Ok(false),
            }
        }
        Ok(found == required.count())
    }
}

impl Text {
    /// Returns whether the length of `text` is within the bounds.
    pub(crate) fn holds(&self, text: &str) -> bool {
        let most = self.max.map_or(usize::MAX, |max| max as usize);
        // A character has one to four bytes, so the length in bytes usually decides without counting characters.
        let certain = text.len() <= most && text.len() / 4 >= self.min as usize;
        certain || is_within(text.chars().count(), self.min, self.max)
    }
}

fn is_within(count: usize, min: u32, max: Option<u32>) -> bool {
    (min as usize..=max.map_or(usize::MAX, |max| max as usize)).contains(&count)
}
