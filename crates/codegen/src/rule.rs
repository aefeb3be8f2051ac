//! Rules that convert each part of a message to a part of its record, and back.

use crate::Integer;
use dunnage_pson::Value;
use dunnage_schema::{Decimal, NumberText, NumbersText, TimeText};

/// How a value is carried.
#[derive(Debug, Clone)]
pub(crate) enum Rule {
    /// Not carried: the value is always the same.
    Constant(Value),
    /// Unchanged: a boolean or text.
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
    /// Text with several numbers as one field each, with these rules. Only for a property.
    Parts(NumbersText, Vec<Rule>),
    /// Text with a time as an integer since its epoch, in this range.
    Time(TimeText, Integer),
    /// One of several values as its index; `None` for an index without a value.
    Choice(Vec<Option<Value>>),
    /// Any value, as bytes that hold PSON.
    Pson,
    /// An array as a list.
    List(Box<Rule>),
    /// An object as a record.
    Object(Plan),
    /// A value in a record of one field, in a place that cannot hold a list.
    Cell(Box<Rule>),
    /// `null` or a value in a record of one optional field, in a place where an absent field has another meaning.
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

/// How the properties of an object map to the fields of a record.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub properties: Vec<Property>,
    /// The index of the field that holds all other properties as PSON.
    pub additional: Option<usize>,
    /// The number of fields of the record.
    pub fields: usize,
}

/// How one property is carried.
#[derive(Debug, Clone)]
pub(crate) struct Property {
    pub key: String,
    pub rule: Rule,
    /// The indices of its fields: none for a constant, otherwise usually one.
    pub fields: Vec<usize>,
    pub presence: Presence,
}

/// How the presence of a property is carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// The property is always present.
    Always,
    /// Absent fields mean an absent property.
    Optional(Absent),
    /// A boolean, its only field, says whether the constant is present.
    Flag(Absent),
}

/// The meaning of an absent field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Absent {
    /// The message does not have the property.
    Missing,
    /// The property is `null`.
    Null,
}
