//! The compiled schema: what a message may be, as typed data that codecs can drive on.
//!
//! Numbers that carry a step or a number of decimals are *scaled integers* here: 24.56 with two
//! decimals is 2456. All arithmetic on them is on integers and decimal text, never on binary floats
//! (multiples of 0.01 are not binary floats, and two stock validators reject 13-16 % of them).

use crate::Format;
use dunnage_pson::Value;
use regex::Regex;

/// A compiled schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The name for generated code and definitions: an identifier (`[A-Za-z][A-Za-z0-9]*`) made from the schema's `title`.
    pub name: String,
    /// What the message is.
    pub root: Type,
    /// The schemas that refer to themselves, which [`Type::Definition`] stands for.
    pub definitions: Vec<Type>,
    /// `x-dunnage-slot`: the number of its packed layout on the wire, 1 to 63; 1 without it.
    pub slot: u8,
    /// `x-dunnage-check`: the bytes of check behind its packed messages, 0 to 2; 0 without it.
    pub check: u8,
}

/// What one value may be.
#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    /// Anything: a schema without constraints (`true`, `{}`).
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
    /// Text that holds several numbers, such as `"-993.9269 -27.1004 -52.0035"`.
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
    /// A value of at least one of these types, which are at least two. It is carried by the first that allows it.
    Union(Vec<Type>),
    /// An array whose first elements have types of their own.
    Tuple(Tuple),
    /// What [`Model::definitions`] has at this index: a schema that leads back to itself.
    Definition(usize),
    /// A value of a type that obeys further keywords, which say nothing about how it is carried.
    Checked(Box<Checked>),
    /// Text that the receiver knows already: the id of the device that sends. It is not carried by packed.
    Known(Box<Type>),
}

/// A whole number: `min <= n <= max`, and a multiple of `step`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Integer {
    /// A multiple of `step`, at least -2^63.
    pub min: i128,
    /// A multiple of `step`, at most 2^64-1.
    pub max: i128,
    /// `multipleOf`; 1 without it.
    pub step: u64,
    /// `x-dunnage-usual`: the first and last of the values that are expected, multiples of `step` between `min` and `max`.
    pub usual: Option<(i128, i128)>,
}

/// A number that is a multiple of `step` * 10^-`places`. All bounds are in units of 10^-`places`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decimal {
    /// Decimal places, 0 to 18: 2 for `multipleOf: 0.01` and for `multipleOf: 0.05`.
    pub places: u32,
    /// The multiple in units of 10^-`places`: 1 for 0.01, 5 for 0.05.
    pub step: u64,
    /// Smallest scaled value, a multiple of `step`; without `minimum`, the first from -2^63.
    pub min: i128,
    /// Largest scaled value, a multiple of `step`; without `maximum`, the last up to 2^63-1.
    pub max: i128,
    /// The first and last of the values that are expected, multiples of `step` between `min` and `max`.
    pub usual: Option<(i128, i128)>,
    /// The sensor's unit, when the values are its multiples, rounded to the step.
    pub quantum: Option<Quantum>,
}

/// A sensor's unit: `mantissa` * 10^-`places`, larger than the step of its [`Decimal`]. 0.7324443 is 7324443 with 7 places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantum {
    /// Above 0.
    pub mantissa: u64,
    /// At least the places of the decimal, at most 18.
    pub places: u32,
}

/// A binary float with optional bounds, both inclusive.
#[derive(Debug, Clone, PartialEq)]
pub struct Float {
    /// `minimum`
    pub min: Option<f64>,
    /// `maximum`
    pub max: Option<f64>,
}

/// Text. Lengths count Unicode code points, as in JSON Schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Text {
    /// `minLength`; 0 without it.
    pub min_length: u32,
    /// `maxLength`, or the longest text that the pattern allows, whichever is less.
    pub max_length: Option<u32>,
    /// `pattern`
    pub pattern: Option<Pattern>,
    /// `format`, where it is a known one.
    pub format: Option<Format>,
    /// Whether text of another format is refused; else it is an annotation.
    pub asserts_format: bool,
}

/// A regular expression, made by [`Pattern::new`].
#[derive(Debug, Clone)]
pub struct Pattern {
    /// The expression as the schema has it.
    pub source: String,
    /// The expression as a plain sequence of character classes, when it is anchored on both sides and is one.
    pub segments: Option<Vec<Segment>>,
    pub(crate) longest: Option<u32>,
    pub(crate) is_ascii: bool,
    pub(crate) regex: Regex,
}

/// Between `min` and `max` characters out of `chars`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// The characters allowed, ascending and distinct.
    pub chars: Vec<char>,
    /// Fewest repetitions.
    pub min: u32,
    /// Most repetitions.
    pub max: u32,
}

/// Text that is a number in exactly one notation: `-?` digits, padded with zeros to `digits` before
/// the point, then exactly `places` decimals. "-0.00" is not in that notation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberText {
    /// The number, in scaled units.
    pub number: Decimal,
    /// Fewest digits before the point: 2 for `"06"`, else 1.
    pub digits: u32,
}

/// Numbers in one text, with a separator between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumbersText {
    /// What stands between two numbers.
    pub separator: String,
    /// The numbers in their order: a name for generated code and definitions (`x`), and the notation.
    pub parts: Vec<(String, NumberText)>,
}

/// Text that is a time in exactly one notation, in UTC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeText {
    /// The notation, in order.
    pub notation: Vec<TimePart>,
    /// Second 0 of the scaled value, in seconds since 1970-01-01T00:00:00Z. Earlier times are out of range.
    pub epoch: i64,
    /// Decimals of the seconds, 0 to 9: the scaled value counts 10^-`places` seconds since `epoch`.
    pub places: u32,
    /// `until`: the last second, since 1970-01-01T00:00:00Z, with all its decimals; the last that the notation has, without it.
    pub until: Option<i64>,
}

/// A piece of a time's notation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimePart {
    /// `YYYY`
    Year4,
    /// `YY`: 2000 to 2099.
    Year2,
    /// `MM`, as two digits.
    Month,
    /// `DD`
    Day,
    /// `hh`, 00 to 23.
    Hour,
    /// `mm`
    Minute,
    /// `ss`, 00 to 59: leap seconds are out of range.
    Second,
    /// The decimals of the seconds, as many as [`TimeText::places`] says, without the point.
    Fraction,
    /// Anything else, as it stands.
    Literal(String),
}

impl Text {
    /// The format that text must have.
    pub fn asserted_format(&self) -> Option<Format> {
        self.format.filter(|_| self.asserts_format)
    }

    /// Whether the pattern or the format allows ASCII alone; all known formats do.
    pub fn is_ascii(&self) -> bool {
        self.asserted_format().is_some() || self.pattern.as_ref().is_some_and(Pattern::is_ascii)
    }
}

impl Default for Text {
    /// Any text.
    fn default() -> Text {
        Text { min_length: 0, max_length: None, pattern: None, format: None, asserts_format: false }
    }
}

/// An array of one type.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// What each element is.
    pub items: Box<Type>,
    /// `minItems`; 0 without it.
    pub min: u32,
    /// `maxItems`
    pub max: Option<u32>,
}

/// An array whose first elements have types of their own (`prefixItems`).
#[derive(Debug, Clone, PartialEq)]
pub struct Tuple {
    /// The types of the first elements, at least one.
    pub items: Vec<Type>,
    /// What each element behind them is; `None` when there may be none.
    pub rest: Option<Box<Type>>,
    /// `minItems`; 0 without it.
    pub min: u32,
    /// `maxItems`, or the number of `items` without `rest`.
    pub max: Option<u32>,
}

/// A type with further keywords.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// How the value is carried; it allows all that the keywords allow.
    pub kind: Type,
    /// What a message has to obey as well.
    pub assertions: Vec<Assertion>,
}

/// A keyword that only says which values are valid. One that is about arrays, objects or text allows all other values.
#[derive(Debug, Clone, PartialEq)]
pub enum Assertion {
    /// All of these types allow the value (`allOf` and keywords that could not be made part of the kind).
    AllOf(Vec<Type>),
    /// At least one of these types does (`anyOf`).
    AnyOf(Vec<Type>),
    /// Exactly one of these types does (`oneOf`).
    OneOf(Vec<Type>),
    /// Exactly one member of the kind does, which is a [`Type::Union`] (`oneOf`).
    OneMember,
    /// This type does not (`not`).
    Not(Type),
    /// `if`, `then` and `else`.
    If(Box<Condition>),
    /// No two elements of an array are equal (`uniqueItems`).
    UniqueItems,
    /// So many elements of an array are of this type (`contains`, `minContains`, `maxContains`).
    Contains {
        /// What is counted.
        kind: Type,
        /// Fewest.
        min: u32,
        /// Most.
        max: Option<u32>,
    },
    /// An object has so many fields (`minProperties`, `maxProperties`).
    Properties {
        /// Fewest.
        min: u32,
        /// Most.
        max: Option<u32>,
    },
    /// The names of an object's fields, as text, are of this type (`propertyNames`).
    PropertyNames(Type),
    /// An object that has the first field has all the others too (`dependentRequired`).
    DependentRequired(Vec<(String, Vec<String>)>),
    /// An object that has the field is of the type too (`dependentSchemas`).
    DependentSchemas(Vec<(String, Type)>),
    /// An object does not have these fields (`"name": false` among `properties`).
    Absent(Vec<String>),
    /// The fields of an object that `properties` does not name (`patternProperties`).
    Others {
        /// What `properties` names.
        named: Vec<String>,
        /// A field is of the type of each pattern that its name matches.
        patterns: Vec<(Pattern, Type)>,
        /// What other fields are; `None` when there may be none.
        rest: Option<Type>,
    },
}

/// `if`, `then` and `else`.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// Decides which of the others holds.
    pub test: Type,
    /// For values that the test allows.
    pub then: Option<Type>,
    /// For values that it does not.
    pub otherwise: Option<Type>,
}

/// What a schema says beside what is valid, for generated code. Types that differ only in this are equal.
#[derive(Debug, Clone)]
pub struct Annotation<T>(pub Option<T>);

impl<T> Default for Annotation<T> {
    fn default() -> Annotation<T> {
        Annotation(None)
    }
}

impl<T> PartialEq for Annotation<T> {
    /// Always: two schemas of the same messages have the same layout, whatever their titles are.
    fn eq(&self, _: &Annotation<T>) -> bool {
        true
    }
}

impl Type {
    /// Names the object that this type is, if it is one.
    pub(crate) fn set_title(&mut self, title: &str) {
        match self {
            Type::Object(object) => object.title = Annotation(Some(title.to_owned())),
            Type::Nullable(inner) => inner.set_title(title),
            Type::Checked(checked) => checked.kind.set_title(title),
            _ => {}
        }
    }
}

/// An object: its fields in the order of `properties`.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// The schema's `title`, or the name of its definition.
    pub title: Annotation<String>,
    /// The named fields.
    pub fields: Vec<Field>,
    /// What other fields may be; `None` when there may be none (`additionalProperties: false`).
    pub additional: Option<Box<Type>>,
}

/// A named field of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The key in the message.
    pub name: String,
    /// Whether the message must have it.
    pub required: bool,
    /// What its value is.
    pub kind: Type,
    /// The schema's `description`, for comments in generated definitions.
    pub description: Option<String>,
    /// The schema's `default`, for initialisers in generated code.
    pub default: Annotation<Value>,
}
