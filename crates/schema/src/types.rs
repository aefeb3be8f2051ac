//! The types of values: the valid messages as a tree, which codecs walk.
//!
//! Numbers with `multipleOf` or with a fixed number of decimals are *scaled integers*: 24.56 with two decimals is 2456. All arithmetic on
//! them uses integers and decimal text, never binary floats: binary floats cannot represent multiples of 0.01, and two widely used
//! validators reject 13-16 % of them.

use crate::{Quantum, TextFormat, TimeText};
use dunnage_pson::Value;
use regex::Regex;
use std::sync::Arc;

/// The type of a value.
///
/// ```
/// # use dunnage_schema::{Model, Type};
/// let root = |schema| Model::compile(schema).map(|model| model.into_root());
/// assert!(matches!(root(r#"{"type": "integer", "minimum": 0}"#)?, Type::Integer(_)));
/// assert!(matches!(root(r#"{"type": ["boolean", "null"]}"#)?, Type::Nullable(_)));
/// assert!(matches!(root(r#"{}"#)?, Type::Any));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    /// Any value: a schema without constraints (`true`, `{}`).
    Any,
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A whole number.
    Integer(Integer),
    /// A number with `multipleOf`: a scaled integer.
    Decimal(Decimal),
    /// A number without `multipleOf`: a binary float.
    Float(Float),
    /// Text.
    Text(Text),
    /// Text that holds one number, such as `"17.00"` or `"06"`.
    NumberText(NumberText),
    /// Text that holds one or more numbers, such as `"-993.9269 -27.1004 -52.0035"`.
    NumbersText(NumbersText),
    /// Text that holds a point in time in a fixed notation, such as `"200423 002940.0"`.
    TimeText(TimeText),
    /// One of at least two distinct values, in the schema's order.
    Enum(Vec<Value>),
    /// Exactly this value.
    Const(Value),
    /// An array.
    Array(Array),
    /// An object.
    Object(Object),
    /// `null`, or a value of the inner type.
    Nullable(Box<Type>),
    /// A value of at least one of these types, of which there are at least two. The first type that allows the value carries it.
    Union(Vec<Type>),
    /// An array whose first elements have types of their own.
    Tuple(Tuple),
    /// The entry of [`Model::definitions`] at this index: a schema that refers to itself, directly or through others.
    Definition(usize),
    /// A value of a type with further keywords that restrict it and do not change how it is carried.
    Checked(Box<Checked>),
    /// Text that the receiver already knows under this name, such as [`DEVICE`]. Packed messages do not carry it.
    Known(String, Box<Type>),
}

/// The name of the known text that is the ID of the sending device.
pub const DEVICE: &str = "device";

/// A whole number: `min <= n <= max`, and a multiple of `step`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Integer {
    /// A multiple of `step`, at least -2^63.
    pub min: i128,
    /// A multiple of `step`, at most 2^64-1.
    pub max: i128,
    /// `multipleOf`; 1 without it.
    pub step: u64,
    /// `x-dunnage-usual`: the first and last of the expected values, multiples of `step` between `min` and `max`.
    pub usual: Option<(i128, i128)>,
    /// `x-dunnage-every`: the amount by which the number grows from message to message, a multiple of `step`.
    pub every: Option<u64>,
    /// `x-dunnage-changes`: how far the number usually is from that of the message before.
    pub changes: Option<u32>,
}

/// A number that is a multiple of `step` * 10^-`places`. All bounds are in units of 10^-`places`.
///
/// ```
/// # use dunnage_pson::Value;
/// # use dunnage_schema::{Model, Type};
/// let model = Model::compile(r#"{"type": "number", "multipleOf": 0.05, "minimum": -1, "maximum": 1}"#)?;
/// let Type::Decimal(decimal) = model.root() else { panic!() };
/// assert_eq!((decimal.places, decimal.step, decimal.min), (2, 5, -100));
/// assert_eq!(decimal.scaled(&Value::F64(0.15)), Some(15));
/// assert_eq!(decimal.scaled(&Value::F64(0.16)), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decimal {
    /// Decimal places, 0 to 18: 2 for `multipleOf: 0.01` and for `multipleOf: 0.05`.
    pub places: u32,
    /// `multipleOf` in units of 10^-`places`: 1 for 0.01, 5 for 0.05.
    pub step: u64,
    /// The smallest scaled value, a multiple of `step`. Without `minimum`, the first multiple from -2^63.
    pub min: i128,
    /// The largest scaled value, a multiple of `step`. Without `maximum`, the last multiple up to 2^63-1.
    pub max: i128,
    /// `x-dunnage-usual`: the first and last of the expected values, multiples of `step` between `min` and `max`.
    pub usual: Option<(i128, i128)>,
    /// `x-dunnage-quantum`: the sensor's unit, if the values are multiples of it, rounded to the step.
    pub quantum: Option<Quantum>,
    /// `x-dunnage-round`: whether any other number is rounded to the nearest one of these.
    pub round: bool,
    /// `x-dunnage-changes`: how far the number usually is from that of the message before, in units of 10^-`places`.
    pub changes: Option<u32>,
}

/// A binary float with optional bounds, both inclusive.
#[derive(Debug, Clone, PartialEq)]
pub struct Float {
    /// `minimum`
    pub min: Option<f64>,
    /// `maximum`
    pub max: Option<f64>,
}

impl Float {
    /// Returns the number that all values are below, if it is shorter to write than the maximum: 360 for `exclusiveMaximum: 360`, whose
    /// maximum is 359.99999999999994.
    pub fn below(&self) -> Option<f64> {
        self.max.and_then(|max| shorter(max.next_up(), max))
    }

    /// Returns the number that all values are above, if it is shorter to write than the minimum.
    pub fn above(&self) -> Option<f64> {
        self.min.and_then(|min| shorter(min.next_down(), min))
    }
}

fn shorter(bound: f64, than: f64) -> Option<f64> {
    (bound.is_finite() && format!("{bound:?}").len() < format!("{than:?}").len()).then_some(bound)
}

/// Text. Lengths count Unicode code points, as in JSON Schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Text {
    /// `minLength`, or the length of the shortest text of an asserted format, whichever is larger; 0 without both.
    pub min_length: u32,
    /// The smallest of `maxLength` and the longest texts that the pattern and an asserted format allow.
    pub max_length: Option<u32>,
    /// `pattern`
    pub pattern: Option<Pattern>,
    /// `format`, if it is a known one.
    pub format: Option<TextFormat>,
    /// Whether text that breaks `format` is invalid. Otherwise `format` is an annotation.
    pub asserts_format: bool,
}

/// A regular expression, made by [`Pattern::new`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Pattern {
    /// The expression as the schema writes it.
    pub source: String,
    /// The expression as a plain sequence of character classes, if it is one and is anchored at both ends.
    pub segments: Option<Vec<Segment>>,
    pub(crate) longest: Option<u32>,
    pub(crate) is_ascii: bool,
    /// Shared by all copies, because each copy of a [`Regex`] has caches of its own.
    pub(crate) regex: Arc<Regex>,
}

/// Between `min` and `max` characters out of `chars`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// The allowed characters, ascending and distinct.
    pub chars: Vec<char>,
    /// The fewest repetitions.
    pub min: u32,
    /// The most repetitions.
    pub max: u32,
}

/// Text that is a number in exactly one notation: an optional `-`, the digits before the point padded with zeros to `digits`, then exactly
/// `places` decimals. "-0.00" is not in that notation.
///
/// ```
/// # use dunnage_schema::{Model, Type};
/// let schema = r#"{"type": "string", "x-dunnage-number": {"multipleOf": 0.1, "maximum": 360, "digits": 3}}"#;
/// let Type::NumberText(text) = Model::compile(schema)?.into_root() else { panic!() };
/// assert_eq!(text.write(75), "007.5");
/// assert_eq!(text.parse("7.5"), None); // not in the schema's notation
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberText {
    /// The number, in scaled units.
    pub number: Decimal,
    /// The fewest digits before the point: 2 for `"06"`, else 1.
    pub digits: u32,
}

/// One or more numbers in one text, with a separator between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumbersText {
    /// The text between two numbers.
    pub separator: String,
    /// The parts in order. Each has a name for generated code and definitions (`x`), and a notation.
    pub parts: Vec<(String, NumberText)>,
}

impl Text {
    /// Returns the format that a valid text must have; `None` if `format` is only an annotation.
    pub fn asserted_format(&self) -> Option<TextFormat> {
        self.format.filter(|_| self.asserts_format)
    }

    /// Whether the pattern or an asserted format limits the text to ASCII. All known formats do.
    pub fn is_ascii(&self) -> bool {
        self.asserted_format().is_some() || self.pattern.as_ref().is_some_and(Pattern::is_ascii)
    }
}

impl Default for Text {
    /// Returns a type that allows any text.
    fn default() -> Text {
        Text { min_length: 0, max_length: None, pattern: None, format: None, asserts_format: false }
    }
}

/// An array whose elements have one type.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// The type of each element.
    pub items: Box<Type>,
    /// `minItems`; 0 without it.
    pub min: u32,
    /// `maxItems`
    pub max: Option<u32>,
    /// `x-dunnage-series`: whether the elements are readings one after the other, the oldest first.
    pub series: bool,
}

/// An array whose first elements have types of their own (`prefixItems`).
#[derive(Debug, Clone, PartialEq)]
pub struct Tuple {
    /// The types of the first elements, at least one.
    pub items: Vec<Type>,
    /// The type of each further element; `None` if the array may have no further elements.
    pub rest: Option<Box<Type>>,
    /// `minItems`; 0 without it.
    pub min: u32,
    /// `maxItems`, or the number of `items` without `rest`.
    pub max: Option<u32>,
}

/// A type with further keywords.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// The type that carries the value. It allows every value that the keywords allow.
    pub kind: Type,
    /// The conditions that a message must meet in addition to `kind`.
    pub assertions: Vec<Assertion>,
}

/// A keyword that restricts the valid values and not how they are carried. An assertion about arrays, objects or text allows all values of
/// other types.
#[derive(Debug, Clone, PartialEq)]
pub enum Assertion {
    /// All of these types allow the value (`allOf`, and keywords that could not be merged into the kind).
    AllOf(Vec<Type>),
    /// At least one of these types allows the value (`anyOf`).
    AnyOf(Vec<Type>),
    /// Exactly one of these types allows the value (`oneOf`).
    OneOf(Vec<Type>),
    /// Exactly one member of the kind, a [`Type::Union`], allows the value (`oneOf`).
    OneMember,
    /// This type does not allow the value (`not`).
    Not(Type),
    /// `if`, `then` and `else`.
    If(Box<Condition>),
    /// No two elements of an array are equal (`uniqueItems`).
    UniqueItems,
    /// Between `min` and `max` elements of an array are of this type (`contains`, `minContains`, `maxContains`).
    Contains {
        /// The type of the elements that count.
        kind: Type,
        /// The fewest such elements.
        min: u32,
        /// The most such elements.
        max: Option<u32>,
    },
    /// An object has between `min` and `max` fields (`minProperties`, `maxProperties`).
    Properties {
        /// The fewest fields.
        min: u32,
        /// The most fields.
        max: Option<u32>,
    },
    /// Each name of an object's fields, as text, is of this type (`propertyNames`).
    PropertyNames(Type),
    /// An object that has a listed field also has the fields listed with it (`dependentRequired`).
    DependentRequired(Vec<(String, Vec<String>)>),
    /// An object that has a listed field is also of the type listed with it (`dependentSchemas`).
    DependentSchemas(Vec<(String, Type)>),
    /// An object has none of these fields (`"name": false` among `properties`).
    Absent(Vec<String>),
    /// Restricts the fields of an object that `properties` does not name (`patternProperties`).
    Others {
        /// The fields that `properties` names.
        named: Vec<String>,
        /// Patterns for names and a type for each. A field has the types of all patterns that match its name.
        patterns: Vec<(Pattern, Type)>,
        /// The type of fields that match no pattern; `None` if there may be none.
        rest: Option<Type>,
    },
}

/// `if`, `then` and `else`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Condition {
    /// The type that selects `then` or `otherwise`.
    pub test: Type,
    /// Applies to values that `test` allows.
    pub then: Option<Type>,
    /// Applies to values that `test` does not allow.
    pub otherwise: Option<Type>,
}

/// A part of the schema that does not affect validity, for generated code. Types that differ only in annotations are equal.
#[derive(Debug, Clone)]
pub struct Annotation<T>(pub Option<T>);

impl<T> Default for Annotation<T> {
    fn default() -> Annotation<T> {
        Annotation(None)
    }
}

impl<T> PartialEq for Annotation<T> {
    /// Always true: the layout depends only on the valid messages, not on titles and defaults.
    fn eq(&self, _: &Annotation<T>) -> bool {
        true
    }
}

/// An object, with its fields in the order of `properties`.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// The schema's `title`, or the name of its definition.
    pub title: Annotation<String>,
    /// The named fields.
    pub fields: Vec<Field>,
    /// The type of fields that are not named; `None` if there may be none (`additionalProperties: false`).
    pub additional: Option<Box<Type>>,
}

/// A named field of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The key in the message.
    pub name: String,
    /// Whether the message must have it.
    pub required: bool,
    /// The type of its value.
    pub kind: Type,
    /// The schema's `description`, for comments in generated definitions.
    pub description: Option<String>,
    /// The schema's `default`, for initialisers in generated code.
    pub default: Annotation<Value>,
    /// `x-dunnage-drop`: writers leave the field out if the message is too large, fields of higher ranks first.
    pub drop: Annotation<u8>,
}
