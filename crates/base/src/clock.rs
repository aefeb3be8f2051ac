//! Points in time: microseconds since 1970-01-01T00:00:00Z in memory, RFC 3339 in text.

use std::time::{SystemTime, UNIX_EPOCH};
use time::{
    OffsetDateTime, PrimitiveDateTime,
    format_description::{StaticFormatDescription, well_known::Rfc3339},
    macros::format_description,
};

const RFC3339_MILLIS: StaticFormatDescription =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");

const RFC3339_MICROS: StaticFormatDescription =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:6]Z");
const DAY: StaticFormatDescription = format_description!("[year]-[month]-[day]");

/// Returns the current time, in microseconds since 1970.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// The first and the last time that RFC 3339 can write: the years 0 to 9999. Other times are written as the nearest of these.
const FIRST: i64 = -62_167_219_200_000_000;
const LAST: i64 = 253_402_300_799_999_999;

/// Formats `micros` as RFC 3339 in UTC with milliseconds, `2026-01-31T08:00:00.123Z`.
pub fn rfc3339(micros: i64) -> String {
    format(micros, RFC3339_MILLIS)
}

/// Formats `micros` as RFC 3339 in UTC with microseconds, `2026-01-31T08:00:00.123456Z`.
pub fn rfc3339_micros(micros: i64) -> String {
    format(micros, RFC3339_MICROS)
}

/// Formats the day of `micros` in UTC, `2026-01-31`.
pub fn day(micros: i64) -> String {
    format(micros.max(0), DAY)
}

/// Parses the output of [`rfc3339_micros`].
pub fn micros(rfc3339: &str) -> Option<i64> {
    let time = PrimitiveDateTime::parse(rfc3339, RFC3339_MICROS).ok()?;
    i64::try_from(time.as_utc().unix_timestamp_nanos() / 1000).ok()
}

/// Parses a time of RFC 3339 with any offset. Digits after the microseconds are dropped.
pub fn parse(rfc3339: &str) -> Option<i64> {
    let time = OffsetDateTime::parse(rfc3339, &Rfc3339).ok()?;
    i64::try_from(time.unix_timestamp_nanos() / 1000).ok()
}

fn format(micros: i64, description: StaticFormatDescription) -> String {
    let time = OffsetDateTime::from_unix_timestamp_nanos(i128::from(micros.clamp(FIRST, LAST)) * 1000);
    // It is in the calendar, and has all that the descriptions name.
    time.ok().and_then(|time| time.format(description).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_with_milliseconds_in_utc() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(1_587_602_980_049_999), "2020-04-23T00:49:40.049Z");
    }

    #[test]
    fn times_are_parsed_with_any_offset() {
        assert_eq!(parse("2020-04-23T00:49:40.0499999Z"), Some(1_587_602_980_049_999));
        assert_eq!(parse("2020-04-23T02:49:40+02:00"), Some(1_587_602_980_000_000));
        for none in ["", "2020-04-23", "2020-04-23T00:49:40", "2020-02-30T00:00:00Z", "yesterday"] {
            assert_eq!(parse(none), None, "{none}");
        }
    }

    #[test]
    fn microseconds_come_back_and_days_end_at_midnight_in_utc() {
        for time in [0, 1_587_602_980_049_999, now()] {
            assert_eq!(micros(&rfc3339_micros(time)), Some(time));
        }
        let midnight = 1_587_600_000_000_000;
        assert_eq!(day(midnight - 1), "2020-04-22");
        assert_eq!(day(midnight), "2020-04-23");
    }

    #[test]
    fn every_time_has_a_text_that_can_be_parsed() {
        for time in [i64::MIN, FIRST - 1, -1, LAST + 1, 9_000_000_000_000_000_000, i64::MAX] {
            let nearest = time.clamp(FIRST, LAST);
            assert_eq!(micros(&rfc3339_micros(time)), Some(nearest));
            assert_eq!(parse(&rfc3339(time)), Some(nearest.div_euclid(1000) * 1000));
        }
        assert_eq!((day(i64::MAX), day(i64::MIN)), ("9999-12-31".into(), "1970-01-01".into()));
    }
}
