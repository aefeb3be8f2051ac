//! The JSON types that the values of a type may have, and a noun for them.

use crate::Type;
use dunnage_pson::Value;

/// A set of JSON types and byte strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kinds(u8);

impl Kinds {
    const NULL: Kinds = Kinds(1);
    const BOOLEAN: Kinds = Kinds(2);
    const NUMBER: Kinds = Kinds(4);
    const STRING: Kinds = Kinds(8);
    const ARRAY: Kinds = Kinds(16);
    const OBJECT: Kinds = Kinds(32);
    const BYTES: Kinds = Kinds(64);
    const ALL: Kinds = Kinds(127);

    /// Returns the JSON types of a type's values. The set may be too large: an unknown definition counts as all types.
    pub(crate) fn of(kind: &Type, definitions: &[Type]) -> Kinds {
        Kinds::within(kind, definitions, 0)
    }

    fn within(kind: &Type, definitions: &[Type], followed: usize) -> Kinds {
        match kind {
            Type::Any => Kinds::ALL,
            Type::Null => Kinds::NULL,
            Type::Bool => Kinds::BOOLEAN,
            Type::Integer(_) | Type::Decimal(_) | Type::Float(_) => Kinds::NUMBER,
            Type::Text(_) | Type::NumberText(_) | Type::NumbersText(_) | Type::TimeText(_) => Kinds::STRING,
            Type::Enum(values) => values.iter().map(Kinds::of_value).fold(Kinds(0), Kinds::or),
            Type::Const(value) => Kinds::of_value(value),
            Type::Array(_) | Type::Tuple(_) => Kinds::ARRAY,
            Type::Object(_) => Kinds::OBJECT,
            Type::Nullable(inner) => Kinds::NULL.or(Kinds::within(inner, definitions, followed)),
            Type::Union(kinds) => {
                kinds.iter().map(|kind| Kinds::within(kind, definitions, followed)).fold(Kinds(0), Kinds::or)
            }
            // Following two definitions is enough to be useful.
            Type::Definition(at) => match definitions.get(*at) {
                Some(kind) if followed < 2 => Kinds::within(kind, definitions, followed + 1),
                _ => Kinds::ALL,
            },
            Type::Checked(checked) => Kinds::within(&checked.kind, definitions, followed),
            Type::Known(_, inner) => Kinds::within(inner, definitions, followed),
        }
    }

    pub(crate) fn of_value(value: &Value) -> Kinds {
        match value {
            Value::Null => Kinds::NULL,
            Value::Bool(_) => Kinds::BOOLEAN,
            Value::U64(_) | Value::I64(_) | Value::F64(_) => Kinds::NUMBER,
            Value::Text(_) => Kinds::STRING,
            Value::Bytes(_) => Kinds::BYTES,
            Value::Array(_) => Kinds::ARRAY,
            Value::Map(_) => Kinds::OBJECT,
        }
    }

    fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    /// Whether the sets overlap.
    pub(crate) fn meets(self, other: Kinds) -> bool {
        self.0 & other.0 != 0
    }
}

impl Type {
    /// Whether the type is one of the kinds of number. False for a constant, a choice or a union of numbers.
    pub fn is_number(&self) -> bool {
        matches!(self, Type::Integer(_) | Type::Decimal(_) | Type::Float(_))
    }

    /// Whether the type is one of the kinds of text. False for a constant, a choice or a union of texts, and for one that the receiver knows.
    pub fn is_text(&self) -> bool {
        matches!(self, Type::Text(_) | Type::NumberText(_) | Type::NumbersText(_) | Type::TimeText(_))
    }
}

/// Describes the values of a type in the text of a violation.
pub(crate) fn noun(kind: &Type) -> &'static str {
    match kind {
        Type::Any => "anything",
        Type::Null => "null",
        Type::Bool => "a boolean",
        Type::Integer(_) => "an integer",
        Type::Decimal(_) | Type::Float(_) => "a number",
        Type::Text(_) => "a string",
        Type::NumberText(_) => "a string that holds a number",
        Type::NumbersText(_) => "a string that holds numbers",
        Type::TimeText(_) => "a string that holds a time",
        Type::Enum(_) | Type::Const(_) | Type::Union(_) | Type::Definition(_) => "allowed",
        Type::Array(_) | Type::Tuple(_) => "an array",
        Type::Object(_) => "an object",
        Type::Nullable(inner) | Type::Known(_, inner) => noun(inner),
        Type::Checked(checked) => noun(&checked.kind),
    }
}
