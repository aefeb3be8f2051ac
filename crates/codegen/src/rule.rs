//! How each part of a message becomes a part of its record, and back.

use crate::Integer;
use dunnage_pson::Value;
use dunnage_schema::{Decimal, NumberText, NumbersText, TimeText};

/// How one value is carried.
#[derive(Debug, Clone)]
pub(crate) enum Rule {
    /// By nothing: it is always this value.
    Constant(Value),
    /// As it stands: a boolean, text.
    Same,
    /// A whole number as an integer.
    Integer,
    /// A number as a float.
    Float(Width),
    /// A number with decimals as a scaled integer.
    Scaled(Decimal),
    /// A number with decimals as the nearest float.
    FloatDecimal(Decimal, Width),
    /// Text with a number as a scaled integer.
    NumberText(NumberText),
    /// Text with a number as the nearest float.
    FloatText(NumberText, Width),
    /// Text with several numbers as a list of scaled integers.
    NumbersText(NumbersText),
    /// Text with several numbers as a field each, carried by these rules. Only in a property.
    Parts(NumbersText, Vec<Rule>),
    /// Text with a time as an integer since its epoch, in this range.
    Time(TimeText, Integer),
    /// One of some values as its index; `None` for an index that stands for no value.
    Choice(Vec<Option<Value>>),
    /// Anything, as bytes that hold PSON.
    Pson,
    /// An array as a list.
    List(Box<Rule>),
    /// An object as a record.
    Object(Plan),
    /// A value in a record of one field, where a list cannot stand.
    Cell(Box<Rule>),
    /// `null` or a value in a record of one optional field, where an absence would mean something else.
    Nullable(Box<Rule>),
    /// `null` or a constant, as a boolean.
    NullOr(Value),
}

/// A binary float.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    Binary32,
    Binary64,
}

/// How the properties of an object become the fields of a record.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub properties: Vec<Property>,
    /// The index of the field that takes all other properties, as PSON.
    pub additional: Option<usize>,
    /// How many fields the record has.
    pub fields: usize,
}

/// How one property is carried.
#[derive(Debug, Clone)]
pub(crate) struct Property {
    pub key: String,
    pub rule: Rule,
    /// The indices of its fields: none for a constant, usually one.
    pub fields: Vec<usize>,
    pub presence: Presence,
}

/// Whether a property may be absent, and what shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// It is always there.
    Always,
    /// Its fields are absent.
    Optional(Absent),
    /// Its only field is a boolean: whether the constant is there.
    Flag(Absent),
}

/// What an absent field means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Absent {
    /// The message does not have the property.
    Missing,
    /// The property is `null`.
    Null,
}
