//! The tree of a layout: one kind of node, one file. `spec/packed.md` defines each kind, under the name of its file.
//!
//! A file has the rules of its kind under the same names as the others, as far as it has them: `carries`, `write`, `read`, `bits`,
//! `canonical`, `open_parts`, `leaves`, `expected` and `explain`. The methods of [`Node`] choose the kind, and the compiler finds
//! the arms that a new kind lacks. Its node is made from a type of the schema in `derive.rs`.

mod any;
mod array;
mod boolean;
mod bounds;
mod choice;
mod constant;
mod definition;
mod float;
mod known;
mod nullable;
mod number;
mod numbers;
mod object;
mod pattern;
mod text;
mod tuple;
mod union;

pub use array::ArrayNode;
pub use known::Known;
pub use number::{Form, MAX_INDEX, Number, Source};
pub use numbers::NumbersNode;
pub use object::{FieldNode, ObjectNode};
pub use pattern::{PatternPiece, is_exact, pattern_pieces};
pub use text::TextNode;
pub use tuple::TupleNode;

use crate::carries::Carrier;
use crate::coded::{Leaves, expected};
use crate::decode::Decoder;
use crate::encode::Encoder;
use crate::limits::Nesting;
use crate::path::Place;
use crate::wire;
use crate::{Bits, Error, explain, open};
use dunnage_pson::Value;
use dunnage_schema::Segment;
use explain::Words;

/// A part of the message.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The number of the node in preorder. That of the message is 0.
    pub id: u32,
    /// The kind of value.
    pub shape: Shape,
}

/// The kind of a node, which determines its bits; `spec/packed.md`, "Plain bodies".
///
/// ```
/// # use dunnage_packed::{Layout, Shape};
/// # use dunnage_schema::Model;
/// let model = Model::compile(r#"{"type": ["number", "null"], "multipleOf": 0.5, "minimum": 0, "maximum": 50}"#)?;
/// let layout = Layout::new(&model)?;
/// let Shape::Nullable(inner) = &layout.root().shape else { panic!() };
/// let Shape::Number(number) = &inner.shape else { panic!() };
/// assert_eq!((number.min, number.max, number.step), (0, 500, 5)); // in tenths
/// assert_eq!((layout.root().bits().max, inner.bits().max), (Some(8), Some(7)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// A constant, which takes no bits.
    Constant(Value),
    /// A boolean, which takes one bit.
    Bool,
    /// A number, written as a whole number.
    Number(Box<Number>),
    /// Several numbers in one text.
    Numbers(NumbersNode),
    /// A binary float.
    Float,
    /// One of these values, written as its index.
    Choice(Vec<Value>),
    /// Text of an exact pattern, given by its segments.
    Pattern(Vec<Segment>),
    /// Any other text.
    Text(TextNode),
    /// An array whose elements have one type.
    Array(ArrayNode),
    /// An array whose first elements have types of their own.
    Tuple(TupleNode),
    /// An object.
    Object(ObjectNode),
    /// `null`, or a value of the node.
    Nullable(Box<Node>),
    /// A value of one of these nodes: the first one that carries it.
    Union(Vec<Node>),
    /// Any value.
    Any,
    /// A value of the tree with this index in [`crate::Layout::definitions`].
    Definition(usize),
    /// Text that the receiver knows under this name, such as the ID of the device. It takes no bits.
    Known(String),
}

impl Node {
    /// Returns the node with this number, if it is this one or below it.
    ///
    /// ```
    /// # use dunnage_packed::{Layout, Shape};
    /// # use dunnage_schema::Model;
    /// let layout = Layout::new(&Model::compile(r#"{"type": "array", "maxItems": 3, "items": {"type": "boolean"}}"#)?)?;
    /// assert_eq!(layout.root().find(1).map(|node| &node.shape), Some(&Shape::Bool));
    /// assert_eq!(layout.root().find(2), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn find(&self, id: u32) -> Option<&Node> {
        if self.id == id {
            return Some(self);
        }
        self.children().into_iter().find_map(|(_, node)| node.find(id))
    }

    /// Returns the path of the node with this number, if it is this one, which is at `path`, or below it.
    pub(crate) fn path_of(&self, id: u32, path: &str) -> Option<String> {
        if self.id == id {
            return Some(path.to_owned());
        }
        self.children().into_iter().find_map(|(place, node)| node.path_of(id, &place.below(path)))
    }

    /// Returns the nodes directly below this one, in their order, with their places.
    pub fn children(&self) -> Vec<(Place<'_>, &Node)> {
        match &self.shape {
            Shape::Array(array) => vec![(Place::Elements, &array.item)],
            Shape::Tuple(tuple) => tuple.children().collect(),
            Shape::Object(object) => object.children().collect(),
            Shape::Nullable(inner) => vec![(Place::Same, inner)],
            Shape::Union(nodes) => nodes.iter().map(|node| (Place::Same, node)).collect(),
            Shape::Constant(_) | Shape::Bool | Shape::Number(_) | Shape::Numbers(_) | Shape::Float => vec![],
            Shape::Choice(_) | Shape::Pattern(_) | Shape::Text(_) => vec![],
            Shape::Any | Shape::Definition(_) | Shape::Known(_) => vec![],
        }
    }

    /// Returns whether the node is a series, or one is below it.
    pub(crate) fn has_series(&self) -> bool {
        matches!(&self.shape, Shape::Array(array) if array.series)
            || self.children().into_iter().any(|(_, node)| node.has_series())
    }

    /// Returns what the part of an array, a nullable node or a union says that comes before its values, if its index is `index`; `None`
    /// for other nodes.
    pub fn meaning(&self, index: u64) -> Option<String> {
        match &self.shape {
            Shape::Array(array) => Some(array.meaning(index)),
            Shape::Tuple(tuple) => Some(tuple.meaning(index)),
            Shape::Nullable(_) => Some(nullable::meaning(index)),
            Shape::Union(nodes) => Some(union::meaning(nodes, index)),
            _ => None,
        }
    }

    /// Returns the number at `nth` of the node: of several in one text the one at that position, of a number itself at any.
    pub(crate) fn number(&self, nth: u32) -> Option<&Number> {
        match &self.shape {
            Shape::Number(number) => Some(number),
            Shape::Numbers(numbers) => numbers.parts.get(nth as usize).map(|(_, number)| number),
            _ => None,
        }
    }

    /// Returns whether a writer rounds the numbers of this node.
    pub(crate) fn is_rounded(&self) -> bool {
        matches!(&self.shape, Shape::Number(number) if number.is_rounded())
    }

    /// Returns whether the node has bits for `value`, for [`Carrier::carries`].
    pub(crate) fn carries(&self, value: &Value, carrier: &Carrier<'_>) -> Result<bool, Error> {
        match &self.shape {
            Shape::Constant(only) => Ok(constant::carries(only, value)),
            Shape::Bool => Ok(boolean::carries(value)),
            Shape::Number(number) => Ok(number.carries(value)),
            Shape::Numbers(numbers) => Ok(numbers.carries(value)),
            Shape::Float => Ok(float::carries(value)),
            Shape::Choice(values) => choice::carries(values, value, carrier),
            Shape::Pattern(segments) => Ok(pattern::carries(segments, value)),
            Shape::Text(text) => Ok(text.carries(value)),
            Shape::Array(array) => array.carries(value, carrier),
            Shape::Tuple(tuple) => tuple.carries(value, carrier),
            Shape::Object(object) => object.carries(value, carrier),
            Shape::Nullable(inner) => nullable::carries(inner, value, carrier),
            Shape::Union(nodes) => union::carries(nodes, value, carrier),
            Shape::Any => Ok(true),
            Shape::Definition(at) => definition::carries(*at, value, carrier),
            Shape::Known(_) => Ok(known::carries(value)),
        }
    }

    /// Writes `value`, which is already counted.
    pub(crate) fn write<S: wire::Sink>(
        &self,
        value: &Value,
        nesting: Nesting,
        encoder: &mut Encoder<'_, S>,
    ) -> Result<(), Error> {
        let id = self.id;
        match &self.shape {
            Shape::Constant(only) => constant::write(only, value, encoder),
            Shape::Bool => boolean::write(id, value, encoder),
            Shape::Number(number) => number.write(id, value, encoder),
            Shape::Numbers(numbers) => numbers.write(id, value, encoder),
            Shape::Float => float::write(id, value, encoder.sink),
            Shape::Choice(values) => choice::write(values, id, value, encoder),
            Shape::Pattern(segments) => pattern::write(segments, id, value, encoder),
            Shape::Text(text) => text.write(id, value, encoder),
            Shape::Array(array) => array.write(id, value, nesting, encoder),
            Shape::Tuple(tuple) => tuple.write(id, value, nesting, encoder),
            Shape::Object(object) => object.write(id, value, nesting, encoder),
            Shape::Nullable(inner) => nullable::write(inner, id, value, nesting, encoder),
            Shape::Union(nodes) => union::write(nodes, id, value, nesting, encoder),
            Shape::Any => any::write(id, value, nesting, encoder),
            Shape::Definition(at) => definition::write(*at, value, nesting, encoder),
            Shape::Known(_) => known::write(value, encoder),
        }
    }

    /// Reads a value that is already counted, in the memory of `out`.
    #[inline]
    pub(crate) fn read<S: wire::Source>(
        &self,
        nesting: Nesting,
        decoder: &mut Decoder<'_, S>,
        out: &mut Value,
    ) -> Result<(), Error> {
        let id = self.id;
        match &self.shape {
            Shape::Constant(only) => decoder.fixed(only, out),
            Shape::Bool => boolean::read(id, decoder, out),
            Shape::Number(number) => number.read(id, decoder, out),
            Shape::Numbers(numbers) => numbers.read(id, decoder, out),
            Shape::Float => float::read(id, decoder.source).map(|f| *out = Value::from(f)),
            Shape::Choice(values) => choice::read(values, id, decoder, out),
            Shape::Pattern(segments) => pattern::read(segments, id, decoder, out),
            Shape::Text(text) => text.read(id, decoder, out),
            Shape::Array(array) => array.read(id, nesting, decoder, out),
            Shape::Tuple(tuple) => tuple.read(id, nesting, decoder, out),
            Shape::Object(object) => object.read(id, nesting, decoder, out),
            Shape::Nullable(inner) => nullable::read(inner, id, nesting, decoder, out),
            Shape::Union(nodes) => union::read(nodes, id, nesting, decoder, out),
            Shape::Any => any::read(id, nesting, decoder).map(|value| *out = value),
            Shape::Definition(at) => definition::read(*at, nesting, decoder, out),
            Shape::Known(name) => known::read(name, decoder, out),
        }
    }

    /// Returns the bits of this node in a plain body.
    pub fn bits(&self) -> Bits {
        match &self.shape {
            Shape::Constant(_) | Shape::Known(_) => Bits::exactly(0),
            Shape::Bool => Bits::exactly(1),
            Shape::Number(number) => number.bits(),
            Shape::Numbers(numbers) => numbers.bits(),
            Shape::Float => float::BITS,
            Shape::Choice(values) => Bits::index(values.len() as u64),
            Shape::Pattern(segments) => pattern::bits(segments),
            Shape::Text(text) => text.bits(),
            Shape::Array(array) => array.bits(),
            Shape::Tuple(tuple) => tuple.bits(),
            Shape::Object(object) => object.bits(),
            Shape::Nullable(inner) => inner.bits().optional(),
            Shape::Union(nodes) => union::bits(nodes),
            Shape::Any => any::BITS,
            Shape::Definition(_) => Bits::open(0),
        }
    }

    /// Appends the canonical text; `spec/packed.md`, "Fingerprints".
    pub(crate) fn canonical(&self, modelled: bool, out: &mut String) {
        match &self.shape {
            Shape::Constant(only) => constant::canonical(only, out),
            Shape::Bool => out.push_str("\"boolean\""),
            Shape::Number(number) => number.canonical(out),
            Shape::Numbers(numbers) => numbers.canonical(out),
            Shape::Float => out.push_str("\"float\""),
            Shape::Choice(values) => choice::canonical(values, out),
            Shape::Pattern(segments) => pattern::canonical(segments, out),
            Shape::Text(text) => text.canonical(modelled, out),
            Shape::Array(array) => array.canonical(modelled, out),
            Shape::Tuple(tuple) => tuple.canonical(modelled, out),
            Shape::Object(object) => object.canonical(modelled, out),
            Shape::Nullable(inner) => nullable::canonical(inner, modelled, out),
            Shape::Union(nodes) => union::canonical(nodes, modelled, out),
            Shape::Any => out.push_str("\"any\""),
            Shape::Definition(at) => definition::canonical(*at, out),
            Shape::Known(name) => known::canonical(name, out),
        }
    }

    /// Adds the parts without a bound. The node is at `path`, up to `times` times.
    pub(crate) fn open_parts(&self, path: &str, times: u64, walk: &mut open::Walk) {
        match &self.shape {
            Shape::Text(text) if text.max.is_none() => text::open_parts(path, walk),
            Shape::Any => any::open_parts(path, walk),
            Shape::Definition(_) => definition::open_parts(path, walk),
            Shape::Array(array) => array.open_parts(path, times, walk),
            Shape::Tuple(tuple) => tuple.open_parts(path, times, walk),
            Shape::Object(object) => object.open_parts(path, times, walk),
            Shape::Nullable(inner) => inner.open_parts(path, times, walk),
            Shape::Union(nodes) => nodes.iter().for_each(|node| node.open_parts(path, times, walk)),
            Shape::Constant(_) | Shape::Bool | Shape::Number(_) | Shape::Numbers(_) | Shape::Float => {
                walk.leaf(path, self.bits(), times);
            }
            Shape::Choice(_) | Shape::Pattern(_) | Shape::Text(_) | Shape::Known(_) => {
                walk.leaf(path, self.bits(), times);
            }
        }
    }

    /// Adds the leaves of the node; `spec/packed.md`, "Coded bodies".
    pub(crate) fn leaves(&self, leaves: &mut Leaves) {
        let id = self.id;
        match &self.shape {
            Shape::Constant(_) | Shape::Known(_) | Shape::Any | Shape::Definition(_) => {}
            Shape::Bool => boolean::leaves(id, leaves),
            Shape::Number(number) => number.leaves(id, 0, leaves),
            Shape::Numbers(numbers) => numbers.leaves(id, leaves),
            Shape::Float => float::leaves(id, leaves),
            Shape::Choice(values) => choice::leaves(values, id, leaves),
            Shape::Pattern(segments) => pattern::leaves(segments, id, leaves),
            Shape::Text(_) => text::leaves(id, leaves),
            Shape::Array(array) => array.leaves(id, leaves),
            Shape::Tuple(tuple) => tuple.leaves(id, leaves),
            Shape::Object(object) => object.leaves(leaves),
            Shape::Nullable(inner) => nullable::leaves(inner, id, leaves),
            Shape::Union(nodes) => union::leaves(nodes, id, leaves),
        }
    }

    /// Adds what the node takes according to statistics.
    pub(crate) fn expected(&self, times: expected::Times, walk: &mut expected::Walk<'_>) {
        let id = self.id;
        match &self.shape {
            Shape::Constant(_) | Shape::Known(_) | Shape::Any | Shape::Definition(_) => {}
            Shape::Bool => boolean::expected(id, times, walk),
            Shape::Number(number) => number.expected(id, 0, times, walk),
            Shape::Numbers(numbers) => numbers.expected(id, times, walk),
            Shape::Float => float::expected(id, times, walk),
            Shape::Choice(values) => choice::expected(values, id, times, walk),
            Shape::Pattern(segments) => pattern::expected(segments, id, times, walk),
            Shape::Text(text) => text.expected(id, times, walk),
            Shape::Array(array) => array.expected(id, times, walk),
            Shape::Tuple(tuple) => tuple.expected(id, times, walk),
            Shape::Object(object) => object.expected(times, walk),
            Shape::Nullable(inner) => nullable::expected(inner, id, times, walk),
            Shape::Union(nodes) => union::expected(nodes, id, times, walk),
        }
    }

    /// Adds the rows of the node, which is at `path` after the presence bits of `lead`.
    pub(crate) fn explain(
        &self,
        path: &str,
        times: explain::Times,
        lead: &explain::Lead,
        walk: &mut explain::Walk,
    ) {
        let (kind, words) = match &self.shape {
            Shape::Array(array) => return array.explain(path, times, lead, walk),
            Shape::Tuple(tuple) => return tuple.explain(path, times, lead, walk),
            Shape::Object(object) => return object.explain(path, times, lead, walk),
            Shape::Nullable(inner) => return nullable::explain(inner, path, times, lead, walk),
            Shape::Numbers(numbers) => return numbers.explain(path, times, lead, walk),
            Shape::Constant(only) => ("constant", constant::explain(only)),
            Shape::Bool => ("boolean", Words::says("false, true", "2 values")),
            Shape::Number(number) => ("number", number.explain()),
            Shape::Float => ("float", float::explain()),
            Shape::Choice(values) => ("choice", choice::explain(values)),
            Shape::Pattern(segments) => ("pattern", pattern::explain(segments)),
            Shape::Text(text) => ("text", text.explain()),
            Shape::Union(nodes) => ("union", union::explain(nodes)),
            Shape::Any => ("any", Words::says("anything", "its type, and what it holds")),
            Shape::Definition(_) => ("definition", Words::says("itself again", "as deep as the message is")),
            Shape::Known(name) => ("known", known::explain(name)),
        };
        walk.push(path, kind, self.bits(), words, times, lead);
    }
}
