//! The tree of a layout: what every reader, writer and generator walks.

use dunnage_pson::Value;
use dunnage_schema::{Decimal, NumberText, Segment, TimeText};

/// Most values that an index counts; numbers with more are sized.
pub const MAX_INDEX: u64 = 1 << 62;

/// A part of the message.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Its number in preorder, from 0 for the message.
    pub id: u32,
    /// What stands there.
    pub shape: Shape,
}

/// What a node is, and how it takes bits; `spec/packed.md`, "Plain bodies".
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// Always this value: no bits.
    Constant(Value),
    /// One bit.
    Bool,
    /// A whole number on the wire.
    Number(Box<Number>),
    /// Numbers in one text.
    Numbers(Numbers),
    /// A binary float.
    Float,
    /// The index of one of these values.
    Choice(Vec<Value>),
    /// Text of an exact pattern: its segments.
    Pattern(Vec<Segment>),
    /// Any other text.
    Text(Text),
    /// Elements of one kind.
    Array(Array),
    /// Elements of which the first have kinds of their own.
    Tuple(Tuple),
    /// Fields.
    Object(Object),
    /// `null` or something.
    Nullable(Box<Node>),
    /// The first of these that carries the value.
    Union(Vec<Node>),
    /// Anything.
    Any,
    /// The tree with this index in [`crate::Layout::definitions`].
    Definition(usize),
    /// The id of the device that sends: no bits.
    Known,
}

/// The integers `min`, `min + step`, ... `max`. With a quantum they are counts of it, and the step is 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Number {
    /// The first.
    pub min: i128,
    /// The last.
    pub max: i128,
    /// The distance of two neighbours.
    pub step: u64,
    /// The first and the last that are expected; the others are escaped.
    pub usual: Option<(i128, i128)>,
    /// What the integer is in the message.
    pub source: Source,
    form: Form,
    usual_count: Option<u64>,
}

/// What a number is in the message.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// Itself.
    Integer,
    /// A number with decimals.
    Decimal(Decimal),
    /// Text that holds a number.
    Text(NumberText),
    /// Text that holds a time.
    Time(TimeText),
}

/// How the integers of a [`Number`] are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `(n - min) / step` as an index out of so many.
    Index(u64),
    /// `(n - min) / step`, sized.
    Offset,
    /// A sign, then `n / step` or `-1 - n / step`, sized.
    Signed,
}

impl Number {
    /// The numbers from `min` to `max`, of which those of `usual` are expected.
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
        Number { min, max, step, usual, source, form, usual_count }
    }

    /// How an integer is written, where the escape of `usual` is not in the way.
    pub fn form(&self) -> Form {
        self.form
    }

    /// How many values of `usual` there are; the index out of one more than these has the escape last.
    pub fn usual_count(&self) -> Option<u64> {
        self.usual_count
    }
}

/// Numbers in one text, with names for generated code.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbers {
    /// What stands between two of them.
    pub separator: String,
    /// The numbers, each with its name. Their source is [`Source::Text`].
    pub parts: Vec<(String, Number)>,
}

/// Text without an exact pattern.
#[derive(Debug, Clone, PartialEq)]
pub struct Text {
    /// Fewest code points.
    pub min: u32,
    /// Most code points, if there is a bound.
    pub max: Option<u32>,
    /// `format: date-time`.
    pub date_time: bool,
}

/// Elements of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// What each is.
    pub item: Box<Node>,
    /// Fewest.
    pub min: u32,
    /// Most, if there is a bound.
    pub max: Option<u32>,
}

/// Elements of which the first have kinds of their own.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuple {
    /// The first ones.
    pub items: Vec<Node>,
    /// Those behind.
    pub rest: Option<Box<Node>>,
    /// Fewest elements.
    pub min: u32,
    /// Most, if there is a bound.
    pub max: Option<u32>,
}

/// Fields in the schema's order.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// The named fields.
    pub fields: Vec<Field>,
    /// What other fields are, when there may be any.
    pub additional: Option<Box<Node>>,
}

/// A named field.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The key in the message.
    pub name: String,
    /// Whether there is a bit that tells if it is there.
    pub optional: bool,
    /// Its value.
    pub node: Node,
    /// The schema's `description`.
    pub description: Option<String>,
}

/// Bits that an index out of `count` takes: ceil(log2 count).
pub fn index_bits(count: u64) -> u32 {
    u64::BITS - count.saturating_sub(1).leading_zeros()
}
