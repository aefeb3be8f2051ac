//! Times of formats that have a type for them, converted to the text that JSON would have.

use crate::{Budget, Error, Kind, Value};
use time::OffsetDateTime;

const BILLION: u32 = 1_000_000_000;

/// Formats an instant, in nanoseconds since 1970, as RFC 3339 text in UTC, with the fewest decimals that hold it: 0, 3, 6 or 9. An instant
/// before the year 0 or after 9999 is a `range` error at `offset`.
pub(crate) fn text(nanoseconds: i128, offset: usize, budget: &Budget) -> Result<Value, Error> {
    let time = OffsetDateTime::from_unix_timestamp_nanos(nanoseconds);
    let Some(t) = time.ok().filter(|time| (0..=9999).contains(&time.year())) else {
        return Err(Error::new(Kind::Range, offset, "a time outside the years 0 to 9999"));
    };
    let (year, month, day) = (t.year(), u8::from(t.month()), t.day());
    let (hour, minute, second) = (t.hour(), t.minute(), t.second());
    let decimals = match t.nanosecond() {
        0 => String::new(),
        n if n % 1_000_000 == 0 => format!(".{:03}", n / 1_000_000),
        n if n % 1_000 == 0 => format!(".{:06}", n / 1_000),
        n => format!(".{n:09}"),
    };
    let text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{decimals}Z");
    budget.content(text.len(), offset)?;
    Ok(Value::Text(text))
}

/// Formats an instant in seconds since 1970 and nanoseconds, which must not exceed 999,999,999.
pub(crate) fn of_seconds(
    seconds: i64,
    nanoseconds: u32,
    offset: usize,
    budget: &Budget,
) -> Result<Value, Error> {
    if nanoseconds >= BILLION {
        return Err(Error::new(Kind::Malformed, offset, "a time with a second or more of nanoseconds"));
    }
    text(i128::from(seconds) * i128::from(BILLION) + i128::from(nanoseconds), offset, budget)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_as_many_decimals_as_they_need_and_a_year_of_four_digits() {
        for (seconds, nanoseconds, expected) in [
            (0, 0, "1970-01-01T00:00:00Z"),
            (1_777_636_800, 500_000_000, "2026-05-01T12:00:00.500Z"),
            (1_777_636_800, 1_000, "2026-05-01T12:00:00.000001Z"),
            (-1, 999_999_999, "1969-12-31T23:59:59.999999999Z"),
            (-62_167_219_200, 0, "0000-01-01T00:00:00Z"),
            (253_402_300_799, 0, "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(
                of_seconds(seconds, nanoseconds, 0, &Budget::default()).unwrap(),
                Value::from(expected)
            );
        }
        for (seconds, nanoseconds, kind) in [
            (-62_167_219_201, 0, Kind::Range),
            (253_402_300_800, 0, Kind::Range),
            (i64::MAX, 0, Kind::Range),
            (i64::MIN, 0, Kind::Range),
            (0, BILLION, Kind::Malformed),
        ] {
            let e = of_seconds(seconds, nanoseconds, 3, &Budget::default()).unwrap_err();
            assert_eq!((e.kind(), e.offset().unwrap()), (kind, 3), "{seconds}");
        }
    }
}
