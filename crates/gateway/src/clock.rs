//! Points in time: microseconds since 1970-01-01T00:00:00Z inside, RFC 3339 outside.

use std::time::{SystemTime, UNIX_EPOCH};
use time::{OffsetDateTime, format_description::StaticFormatDescription, macros::format_description};

const RFC3339_MILLIS: StaticFormatDescription =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");

/// Now, in microseconds.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// `micros` as RFC 3339 in UTC with milliseconds, `2026-01-31T08:00:00.123Z`.
pub fn rfc3339(micros: i64) -> String {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(micros) * 1000)
        .ok()
        .and_then(|time| time.format(RFC3339_MILLIS).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_with_milliseconds_in_utc() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(1_587_602_980_049_999), "2020-04-23T00:49:40.049Z");
    }
}
