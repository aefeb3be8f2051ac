//! The types of items, as a reader sees them.

/// The type of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ItemType {
    /// An integer that is not negative.
    Unsigned,
    /// A negative integer.
    Negative,
    /// A floating-point number.
    Float,
    /// `true` or `false`.
    Bool,
    /// `null`.
    Null,
    /// A string.
    Text,
    /// Bytes.
    Bytes,
    /// A map.
    Map,
    /// An array.
    Array,
}
