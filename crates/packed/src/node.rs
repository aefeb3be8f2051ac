//! The tree of a layout. Encoder, decoder and generators walk it.

use dunnage_pson::Value;
use dunnage_schema::{Decimal, NumberText, Segment, TimeText};

/// The maximum number of values of an index. Numbers with more values are sized.
pub const MAX_INDEX: u64 = 1 << 62;

/// A part of the message.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The number of the node in preorder. That of the message is 0.
    pub id: u32,
    /// The kind of value.
    pub shape: Shape,
}

impl Node {
    /// Returns the node with this number, if it is this one or below it.
    pub fn find(&self, id: u32) -> Option<&Node> {
        if self.id == id {
            return Some(self);
        }
        self.children().into_iter().find_map(|node| node.find(id))
    }

    /// Returns the nodes directly below this one, in their order.
    pub(crate) fn children(&self) -> Vec<&Node> {
        match &self.shape {
            Shape::Array(array) => vec![&array.item],
            Shape::Tuple(tuple) => tuple.items.iter().chain(tuple.rest.as_deref()).collect(),
            Shape::Object(object) => {
                object.fields.iter().map(|field| &field.node).chain(object.additional.as_deref()).collect()
            }
            Shape::Nullable(inner) => vec![inner],
            Shape::Union(nodes) => nodes.iter().collect(),
            _ => Vec::new(),
        }
    }
}

/// The kind of a node, which determines its bits; `spec/packed.md`, "Plain bodies".
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// A constant, which takes no bits.
    Constant(Value),
    /// A boolean, which takes one bit.
    Bool,
    /// A number, written as a whole number.
    Number(Box<Number>),
    /// Several numbers in one text.
    Numbers(Numbers),
    /// A binary float.
    Float,
    /// One of these values, written as its index.
    Choice(Vec<Value>),
    /// Text of an exact pattern, given by its segments.
    Pattern(Vec<Segment>),
    /// Any other text.
    Text(Text),
    /// An array whose elements have one type.
    Array(Array),
    /// An array whose first elements have types of their own.
    Tuple(Tuple),
    /// An object.
    Object(Object),
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

/// The integers `min`, `min + step`, ..., `max`. With a quantum they count quanta, and the step is 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Number {
    /// The smallest integer.
    pub min: i128,
    /// The largest integer.
    pub max: i128,
    /// The distance between two neighbouring integers.
    pub step: u64,
    /// The smallest and the largest integer that are expected. Others are written after an escape.
    pub usual: Option<(i128, i128)>,
    /// What the integer represents in the message.
    pub source: Source,
    /// The steps by which the number grows from message to message, if it does.
    pub every: Option<u64>,
    /// How many steps the number usually is from that of the message before, if the schema says so.
    pub changes: Option<f64>,
    form: Form,
    usual_count: Option<u64>,
}

/// What a number represents in the message.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// The integer itself.
    Integer,
    /// A number with decimals.
    Decimal(Decimal),
    /// Text that contains a number.
    Text(NumberText),
    /// Text that contains a time.
    Time(TimeText),
}

/// How the integers of a [`Number`] are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `(n - min) / step`, as an index below this count.
    Index(u64),
    /// `(n - min) / step`, as a sized number.
    Offset,
    /// A sign, then `n / step` or `-1 - n / step` as a sized number.
    Signed,
}

impl Number {
    /// Creates the numbers from `min` to `max`, of which those in `usual` are expected.
    pub(crate) fn new(
        (min, max, step): (i128, i128, u64),
        usual: Option<(i128, i128)>,
        source: Source,
    ) -> Number {
        let count = |first: i128, last: i128| u64::try_from((last - first) / i128::from(step) + 1);
        let form = match count(min, max) {
            Ok(count) if count <= MAX_INDEX => Form::Index(count),
            _ if min >= 0 => Form::Offset,
            _ => Form::Signed,
        };
        let usual_count = usual.and_then(|(first, last)| count(first, last).ok()).filter(|n| *n < MAX_INDEX);
        let usual = usual.filter(|_| usual_count.is_some());
        Number { min, max, step, usual, source, every: None, changes: None, form, usual_count }
    }

    /// Returns the same numbers, which grow by about `every` from message to message.
    pub(crate) fn growing(mut self, every: Option<u64>) -> Number {
        self.every = every.map(|every| every / self.step).filter(|every| *every > 0);
        self
    }

    /// Returns the same numbers, which usually differ by `changes` from one message to the next.
    pub(crate) fn changing(self, changes: Option<f64>) -> Number {
        Number { changes, ..self }
    }

    /// Returns how an integer is written if `usual` is absent, or after its escape.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Returns the number of values in `usual`. The index has one more value than that: the last one is the escape.
    pub fn usual_count(&self) -> Option<u64> {
        self.usual_count
    }
}

/// Several numbers in one text, with names for generated code.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbers {
    /// The text between two numbers.
    pub separator: String,
    /// The name and number of each part. The source of each number is [`Source::Text`].
    pub parts: Vec<(String, Number)>,
}

/// Text without an exact pattern.
#[derive(Debug, Clone, PartialEq)]
pub struct Text {
    /// The minimum number of code points.
    pub min: u32,
    /// The maximum number of code points, if there is a bound.
    pub max: Option<u32>,
    /// Whether the format is `date-time`.
    pub date_time: bool,
}

/// An array whose elements have one type.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// The type of the elements.
    pub item: Box<Node>,
    /// The minimum number of elements.
    pub min: u32,
    /// The maximum number of elements, if there is a bound.
    pub max: Option<u32>,
}

/// An array whose first elements have types of their own.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuple {
    /// The types of the first elements.
    pub items: Vec<Node>,
    /// The type of the elements after those.
    pub rest: Option<Box<Node>>,
    /// The minimum number of elements.
    pub min: u32,
    /// The maximum number of elements, if there is a bound.
    pub max: Option<u32>,
}

/// An object with its fields in the order of the schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// The named fields.
    pub fields: Vec<Field>,
    /// The type of other fields, if the schema allows any.
    pub additional: Option<Box<Node>>,
}

/// A named field.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The key in the message.
    pub name: String,
    /// Whether a bit says that the field is present.
    pub optional: bool,
    /// The value of the field.
    pub node: Node,
    /// The `description` in the schema.
    pub description: Option<String>,
}

/// Returns the number of bits of an index below `count`: ceil(log2 count).
pub fn index_bits(count: u64) -> u32 {
    u64::BITS - count.saturating_sub(1).leading_zeros()
}
