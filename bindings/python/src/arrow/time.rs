//! Times that a schema writes in one notation (`x-dunnage-time`), as timestamps of Arrow in UTC.

use arrow_array::{
    ArrayRef, Int64Array,
    types::{TimestampMicrosecondType, TimestampNanosecondType},
};
use arrow_schema::{DataType, TimeUnit};
use dunnage_schema::TimeText;
use std::sync::Arc;

/// Decimals of microseconds and of nanoseconds.
const MICROS: u32 = 6;
const NANOS: u32 = 9;

const UTC: &str = "UTC";

/// The type of a column of times.
#[derive(Debug, Clone, PartialEq)]
pub struct Time {
    notation: TimeText,
    /// Decimals of the seconds in the column.
    places: u32,
}

impl Time {
    /// Returns the type for a notation: microseconds, or nanoseconds if the notation has more decimals.
    pub fn new(notation: &TimeText) -> Time {
        let places = if notation.places <= MICROS { MICROS } else { NANOS };
        Time { notation: notation.clone(), places }
    }

    /// Returns the type of Arrow.
    pub fn data_type(&self) -> DataType {
        let unit = if self.places == MICROS { TimeUnit::Microsecond } else { TimeUnit::Nanosecond };
        DataType::Timestamp(unit, Some(UTC.into()))
    }

    /// Returns what `text` is in the column; `None` if it is not in the notation or beyond the range of the type.
    pub fn parse(&self, text: &str) -> Option<i64> {
        let scaled = self.notation.parse(text)? * 10i128.pow(self.places - self.notation.places);
        let epoch = i128::from(self.notation.epoch - self.notation.offset()) * 10i128.pow(self.places);
        i64::try_from(epoch + scaled).ok()
    }

    /// Makes the column of the numbers that [`Time::parse`] has returned.
    pub fn finish(&self, numbers: &Int64Array) -> ArrayRef {
        if self.places == MICROS {
            Arc::new(numbers.reinterpret_cast::<TimestampMicrosecondType>().with_timezone(UTC))
        } else {
            Arc::new(numbers.reinterpret_cast::<TimestampNanosecondType>().with_timezone(UTC))
        }
    }
}
