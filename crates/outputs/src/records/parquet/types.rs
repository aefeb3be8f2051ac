//! The types of columns that the schema does not declare, from their values, and the conversion of values to a column's type.

use crate::{leaves::Leaf, records::declared::ColumnType};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// All integers up to this have an exact double.
const EXACT: u64 = 1 << 53;

/// Returns the type of a column with `leaf` alone, and whether an integer has an exact double; `None` for null.
pub(super) fn kind_of(leaf: &Leaf) -> Option<(ColumnType, bool)> {
    let kind = match leaf {
        Leaf::Null => return None,
        Leaf::Bool(_) => ColumnType::Bool,
        Leaf::Number(text) => match leaf.integer() {
            Some(number) => return Some((ColumnType::Integer, number.unsigned_abs() <= EXACT)),
            None if is_double(text) => ColumnType::Double,
            None => ColumnType::Text,
        },
        Leaf::Text(_) if leaf.exact_time() => ColumnType::Time,
        Leaf::Text(_) | Leaf::Empty(_) => ColumnType::Text,
    };
    Some((kind, true))
}

/// Returns the type of a column with values of both types. The flags tell whether all integers have exact doubles.
pub(super) fn widened(
    (one, one_exact): (ColumnType, bool),
    (other, other_exact): (ColumnType, bool),
) -> ColumnType {
    match (one, other) {
        (one, other) if one == other => one,
        (ColumnType::Integer, ColumnType::Double) | (ColumnType::Double, ColumnType::Integer)
            if one_exact && other_exact =>
        {
            ColumnType::Double
        }
        _ => ColumnType::Text,
    }
}

/// Returns whether a column of `kind` can hold `leaf`.
pub(super) fn fits(leaf: &Leaf, kind: ColumnType) -> bool {
    match kind {
        ColumnType::Bool => leaf.bool().is_some(),
        ColumnType::Integer => leaf.whole().is_some(),
        ColumnType::Double => leaf.double().is_some(),
        ColumnType::Time => leaf.time().is_some(),
        ColumnType::Text => true,
    }
}

/// Returns whether a number in JSON has a fraction or an exponent, or is an integer with an exact double.
fn is_double(text: &str) -> bool {
    text.contains(['.', 'e', 'E'])
        || text.trim_start_matches('-').parse::<u64>().is_ok_and(|number| number <= EXACT)
}

impl Leaf {
    pub(super) fn bool(&self) -> Option<bool> {
        if let Leaf::Bool(bool) = self { Some(*bool) } else { None }
    }

    /// Returns a number without fraction and exponent. `-0` is not an integer.
    fn integer(&self) -> Option<i64> {
        let Leaf::Number(text) = self else { return None };
        if text == "-0" { None } else { text.parse().ok() }
    }

    /// Like [`Leaf::integer`], but accepts `1.0`, which is an integer in JSON Schema.
    pub(super) fn whole(&self) -> Option<i64> {
        let double = || self.double().filter(|double| double.fract() == 0.0 && double.abs() <= EXACT as f64);
        self.integer().or_else(|| Some(double()? as i64))
    }

    /// Returns an RFC 3339 time, in microseconds since 1970, rounded down.
    pub(super) fn time(&self) -> Option<i64> {
        i64::try_from(self.nanoseconds()?.div_euclid(1000)).ok()
    }

    /// Returns whether it is a time without a fraction of a microsecond.
    fn exact_time(&self) -> bool {
        self.nanoseconds().is_some_and(|nanoseconds| nanoseconds % 1000 == 0) && self.time().is_some()
    }

    fn nanoseconds(&self) -> Option<i128> {
        let Leaf::Text(text) = self else { return None };
        Some(OffsetDateTime::parse(text, &Rfc3339).ok()?.unix_timestamp_nanos())
    }

    /// Returns a number as a double, except an integer that has no exact double.
    pub(super) fn double(&self) -> Option<f64> {
        let Leaf::Number(text) = self else { return None };
        if is_double(text) { text.parse().ok() } else { None }
    }

    pub(super) fn text(&self) -> Option<std::borrow::Cow<'_, str>> {
        match self {
            Leaf::Null => None,
            Leaf::Bool(bool) => Some(bool.to_string().into()),
            Leaf::Number(text) | Leaf::Text(text) | Leaf::Empty(text) => Some(text.into()),
        }
    }
}
