//! The supported values of `format`, and the text that each allows.

use std::net::{Ipv4Addr, Ipv6Addr};

/// A known `format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFormat {
    /// RFC 3339, `date-time`.
    DateTime,
    /// RFC 3339, `full-date`.
    Date,
    /// RFC 3339, `full-time`.
    Time,
    /// RFC 3339, appendix A, `duration`.
    Duration,
    /// RFC 9562: hexadecimal digits in groups of 8, 4, 4, 4 and 12.
    Uuid,
    /// RFC 2673, `dotted-quad`.
    Ipv4,
    /// RFC 4291, section 2.2, without a zone.
    Ipv6,
}

impl TextFormat {
    /// All formats, with their names in schemas.
    pub const ALL: &[(&'static str, TextFormat)] = &[
        ("date-time", TextFormat::DateTime),
        ("date", TextFormat::Date),
        ("time", TextFormat::Time),
        ("duration", TextFormat::Duration),
        ("uuid", TextFormat::Uuid),
        ("ipv4", TextFormat::Ipv4),
        ("ipv6", TextFormat::Ipv6),
    ];

    /// Returns the format called `name`.
    pub(crate) fn named(name: &str) -> Option<TextFormat> {
        TextFormat::ALL.iter().find(|(known, _)| *known == name).map(|(_, format)| *format)
    }

    /// Returns the name in schemas.
    pub fn name(self) -> &'static str {
        TextFormat::ALL.iter().find(|(_, format)| *format == self).map_or("", |(name, _)| *name)
    }

    /// Returns an example for errors.
    pub(crate) fn example(self) -> &'static str {
        match self {
            TextFormat::DateTime => "2026-03-29T12:00:00Z",
            TextFormat::Date => "2026-03-29",
            TextFormat::Time => "12:00:00Z",
            TextFormat::Duration => "PT15M",
            TextFormat::Uuid => "9f4d8a70-3c1b-4e8e-9d0a-5f2b6c7d8e9f",
            TextFormat::Ipv4 => "192.0.2.1",
            TextFormat::Ipv6 => "2001:db8::1",
        }
    }

    /// Returns the fewest and the most characters of valid text.
    pub(crate) fn lengths(self) -> (u32, Option<u32>) {
        match self {
            TextFormat::DateTime => (20, None),
            TextFormat::Date => (10, Some(10)),
            TextFormat::Time => (9, None),
            TextFormat::Duration => (3, None),
            TextFormat::Uuid => (36, Some(36)),
            TextFormat::Ipv4 => (7, Some(15)),
            TextFormat::Ipv6 => (2, Some(45)),
        }
    }

    /// Whether `text` has this format.
    pub(crate) fn is(self, text: &str) -> bool {
        match self {
            TextFormat::DateTime => match text.split_at_checked(10) {
                Some((date, rest)) => is_date(date) && rest.strip_prefix(['T', 't']).is_some_and(is_time),
                None => false,
            },
            TextFormat::Date => is_date(text),
            TextFormat::Time => is_time(text),
            TextFormat::Duration => is_duration(text),
            TextFormat::Uuid => is_uuid(text),
            TextFormat::Ipv4 => text.parse::<Ipv4Addr>().is_ok(),
            TextFormat::Ipv6 => text.parse::<Ipv6Addr>().is_ok(),
        }
    }
}

/// Parses exactly `count` ASCII digits as a number.
fn digits(text: &str, count: usize) -> Option<u32> {
    let all = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    if all { text.parse().ok() } else { None }
}

/// Whether the text is `YYYY-MM-DD`, a day that exists.
fn is_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let (year, month, day) = (parts.next(), parts.next(), parts.next());
    let number = |part: Option<&str>, count| part.and_then(|part| digits(part, count));
    let (Some(year), Some(month), Some(day)) = (number(year, 4), number(month, 2), number(day, 2)) else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&day)
}

/// Whether the text is `hh:mm:ss` with optional decimals and `Z` or an offset. A leap second must be the last second of a day in UTC.
fn is_time(text: &str) -> bool {
    let Some((clock, rest)) = text.split_at_checked(8) else { return false };
    let Some((hour, minute, second)) = clock_of(clock) else { return false };
    let zone = match rest.strip_prefix('.') {
        None => rest,
        Some(decimals) => {
            let zone = decimals.trim_start_matches(|c: char| c.is_ascii_digit());
            if zone.len() == decimals.len() {
                return false;
            }
            zone
        }
    };
    let Some(east) = minutes_east(zone) else { return false };
    let minute_of_day = (60 * hour + minute - east).rem_euclid(24 * 60);
    second < 60 || second == 60 && minute_of_day == 24 * 60 - 1
}

/// Parses hour, minute and second of `hh:mm:ss`.
fn clock_of(text: &str) -> Option<(i32, i32, i32)> {
    let mut parts = text.splitn(3, ':').map(|part| digits(part, 2).and_then(|n| i32::try_from(n).ok()));
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    (hour < 24 && minute < 60 && second <= 60).then_some((hour, minute, second))
}

/// Returns the offset from UTC of `Z`, `+hh:mm` or `-hh:mm`, in minutes east.
fn minutes_east(zone: &str) -> Option<i32> {
    if matches!(zone, "Z" | "z") {
        return Some(0);
    }
    let (sign, offset) = match (zone.strip_prefix('+'), zone.strip_prefix('-')) {
        (Some(offset), _) => (1, offset),
        (_, Some(offset)) => (-1, offset),
        _ => return None,
    };
    let (hour, minute, _) = clock_of(&format!("{offset}:00"))?;
    Some(sign * (60 * hour + minute))
}

/// Whether the text is `P` with weeks alone, or with a date, a time after `T`, or both. Units go from large to small without a gap.
fn is_duration(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('P') else { return false };
    if let Some(weeks) = rest.strip_suffix('W') {
        return is_number(weeks);
    }
    let (date, time) = match rest.split_once('T') {
        Some((date, time)) => (date, Some(time)),
        None => (rest, None),
    };
    let has_date = are_units(date, "YMD");
    match time {
        None => has_date,
        Some(time) => (date.is_empty() || has_date) && are_units(time, "HMS"),
    }
}

/// Whether the text consists of numbers, each followed by its unit, and the units are consecutive ones of `units`.
fn are_units(text: &str, units: &str) -> bool {
    let mut rest = text;
    let mut left = units;
    while !rest.is_empty() {
        let unit = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        if unit.len() == rest.len() {
            return false;
        }
        let Some(next) = unit.chars().next().and_then(|c| left.find(c)) else { return false };
        if left.len() < units.len() && next > 0 {
            return false;
        }
        left = &left[next + 1..];
        rest = &unit[1..];
    }
    !text.is_empty()
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_uuid(text: &str) -> bool {
    let is_hexadecimal = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    text.split('-').map(str::len).eq([8, 4, 4, 4, 12]) && text.split('-').all(is_hexadecimal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_of_their_format_and_of_their_lengths() {
        for &(name, format) in TextFormat::ALL {
            let (min, max) = format.lengths();
            assert!(format.is(format.example()), "{name}");
            assert!(
                (min as usize..=max.map_or(99, |max| max as usize)).contains(&format.example().len()),
                "{name}"
            );
            assert_eq!((TextFormat::named(name), format.name()), (Some(format), name));
            assert!(!format.is("") && !format.is("\u{e9}"), "{name}");
        }
    }
}
