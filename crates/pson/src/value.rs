//! A message in memory: one type for all formats.

use crate::number::whole;
use alloc::{string::String, vec::Vec};

/// A message, or a part of one.
///
/// Two values are equal if they are the same message. Numbers are compared by value, so
/// `U64(2) == F64(2.0)`, but `-0.0` differs from `0`, and NaN equals NaN. The order of the
/// entries of a map counts.
#[derive(Debug, Clone)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// An integer from 0 to 2^64-1.
    U64(u64),
    /// A negative integer from -2^63. [`Value::from`] makes `U64` of integers that are not negative.
    I64(i64),
    /// Any other number.
    F64(f64),
    /// Unicode text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// An array.
    Array(Vec<Value>),
    /// A map with text keys, in the order of their arrival. Keys are unique.
    Map(Vec<(String, Value)>),
}

impl Value {
    /// Returns the value of `key`, if this is a map that contains it.
    pub fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Value::Map(entries) => entries.iter().find(|(k, _)| k == key).map(|(_, v)| v),
            _ => None,
        }
    }

    /// Returns the integer that this value equals. A float counts if it is whole, not `-0.0` and in -2^63 ..= 2^64-1.
    pub fn as_integer(&self) -> Option<i128> {
        match *self {
            Value::U64(n) => Some(i128::from(n)),
            Value::I64(n) => Some(i128::from(n)),
            Value::F64(f) => whole(f),
            _ => None,
        }
    }

    /// Returns the JSON name of this value's type, for messages to people.
    pub const fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::U64(_) | Value::I64(_) => "integer",
            Value::F64(_) => "number",
            Value::Text(_) => "string",
            Value::Bytes(_) => "bytes",
            Value::Array(_) => "array",
            Value::Map(_) => "object",
        }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        use Value::*;
        match (self, other) {
            (Null, Null) => true,
            (Bool(a), Bool(b)) => a == b,
            (Text(a), Text(b)) => a == b,
            (Bytes(a), Bytes(b)) => a == b,
            (Array(a), Array(b)) => a == b,
            (Map(a), Map(b)) => a == b,
            (F64(a), F64(b)) => a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
            _ => matches!((self.as_integer(), other.as_integer()), (Some(a), Some(b)) if a == b),
        }
    }
}

impl From<u64> for Value {
    fn from(n: u64) -> Self {
        Value::U64(n)
    }
}

impl From<i64> for Value {
    fn from(n: i64) -> Self {
        u64::try_from(n).map_or(Value::I64(n), Value::U64)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.into())
    }
}

impl From<f64> for Value {
    /// Makes an integer of a whole number that PSON writes as one.
    fn from(f: f64) -> Self {
        match whole(f) {
            Some(n) => u64::try_from(n).map_or(Value::I64(n as i64), Value::U64),
            None => Value::F64(f),
        }
    }
}
