//! The tree of records that every schema-driven format can carry.

/// A record: named, numbered fields in a fixed order.
///
/// In the tree of values, a record is an array with one element per field. An absent optional field is `null`.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The name in definitions: an identifier, distinct among the records and enumerations of one message.
    pub name: String,
    /// The fields, in the order of the schema's properties.
    pub fields: Vec<Field>,
}

/// A field of a record.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The name in definitions: an identifier, distinct within the record.
    pub name: String,
    /// The key in the message if this field alone carries its value, else empty.
    pub key: String,
    /// The number, from 1; see [spec/formats.md](https://github.com/dunnage/dunnage/blob/main/spec/formats.md), "Names and numbers".
    pub number: u32,
    /// Whether the field may be absent.
    pub optional: bool,
    /// The kind of value.
    pub kind: FieldType,
    /// Notes for readers of the definition, one per line: description, unit, conversion to the physical value.
    pub notes: Vec<String>,
}

/// The kind of a field or of a list's elements. The type of its values in the tree is in brackets.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldType {
    /// true or false (`Bool`)
    Bool,
    /// A whole number (`U64`, or `I64` when negative).
    Integer(Integer),
    /// binary32 (`F64` whose value is one)
    Float32,
    /// binary64 (`F64`)
    Float64,
    /// Unicode text (`Text`)
    Text,
    /// Bytes (`Bytes`)
    Bytes,
    /// One of several names, as its index (`U64`).
    Enum(Enumeration),
    /// Elements of one kind (`Array`). None of them is absent, and none of them is a list.
    List(List),
    /// A record (`Array` of one value per field).
    Record(Record),
}

/// A whole number from `min` to `max`, within the range of `i64` or of `u64`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Integer {
    /// At least -2^63.
    pub min: i128,
    /// At most 2^63-1 when `min` is negative, and 2^64-1 when not.
    pub max: i128,
}

/// Names for the indices 0, 1, 2, ...
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enumeration {
    /// The name in definitions.
    pub name: String,
    /// The names of the values: identifiers in upper case.
    pub symbols: Vec<String>,
    /// For each symbol, the first one that is another name of the same value. Empty if all are values of their own.
    pub aliases: Vec<usize>,
}

/// A list.
#[derive(Debug, Clone, PartialEq)]
pub struct List {
    /// The kind of each element.
    pub item: Box<FieldType>,
    /// Minimum number of elements.
    pub min: u32,
    /// Maximum number of elements, if there is one.
    pub max: Option<u32>,
}

impl Record {
    /// Returns this record and all records inside it, each before those that it contains.
    pub fn with_nested(&self) -> Vec<&Record> {
        let mut records = vec![self];
        for field in &self.fields {
            if let FieldType::Record(record) = field.kind.element() {
                records.extend(record.with_nested());
            }
        }
        records
    }
}

impl FieldType {
    /// Returns the kind of a list's elements, or the kind itself if it is not a list.
    pub fn element(&self) -> &FieldType {
        match self {
            FieldType::List(list) => &list.item,
            kind => kind,
        }
    }
}

impl Integer {
    /// Returns the widest range within `min ..= max` that 64 bits hold: unsigned unless `min` is negative.
    pub(crate) fn within(min: i128, max: i128) -> Self {
        if min < 0 {
            Integer { min: min.max(i128::from(i64::MIN)), max: max.min(i128::from(i64::MAX)) }
        } else {
            Integer { min, max: max.min(i128::from(u64::MAX)) }
        }
    }

    /// Whether the range includes negative numbers.
    pub fn signed(self) -> bool {
        self.min < 0
    }

    /// Returns the number of bytes that hold every number of the range: 1, 2, 4 or 8. Signed ranges use two's complement.
    pub fn bytes(self) -> usize {
        if self.signed() {
            return self.signed_bytes();
        }
        [1, 2, 4].into_iter().find(|bytes| self.max < 1 << (8 * bytes)).unwrap_or(8)
    }

    /// Returns the number of bytes for formats without unsigned integers. It is 8 even if 64 signed bits do not hold the range.
    pub fn signed_bytes(self) -> usize {
        let fits =
            |bytes: &usize| self.min >= -(1i128 << (8 * bytes - 1)) && self.max < 1i128 << (8 * bytes - 1);
        [1, 2, 4].into_iter().find(fits).unwrap_or(8)
    }

    /// Whether `n` is in the range.
    pub fn contains(self, n: i128) -> bool {
        (self.min..=self.max).contains(&n)
    }
}
