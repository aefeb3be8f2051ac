//! Reads and writes text that is a time, in exactly one notation.

use time::{Date, Month, OffsetDateTime, Time, format_description::well_known::Rfc3339};

/// 0000-01-01, 2000-01-01, 2100-01-01 and 10000-01-01, in seconds since 1970-01-01T00:00:00Z.
const YEAR_0: i64 = -62_167_219_200;
const YEAR_2000: i64 = 946_684_800;
const YEAR_2100: i64 = 4_102_444_800;
const YEAR_10000: i64 = 253_402_300_800;
/// The initial capacity of a time's text, in bytes. The usual notations need less.
const ROOM: usize = 32;
/// Nanoseconds of a second.
const NANOS: i128 = 1_000_000_000;

/// Text that is a time in exactly one notation. It counts in the time of the notation: in UTC, unless the notation ends with an offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeText {
    /// The notation, in order.
    pub notation: Vec<TimePart>,
    /// The time whose scaled value is 0, in seconds since 1970-01-01T00:00:00Z. Earlier times are out of range.
    pub epoch: i64,
    /// The number of decimals of the seconds, 0 to 9. The scaled value counts 10^-`places` seconds since `epoch`.
    pub places: u32,
    /// `until`: the last second in seconds since 1970-01-01T00:00:00Z, with all its decimals. Without it, the range ends where the notation
    /// does.
    pub until: Option<i64>,
    /// `every`: the time between two messages, in units of the last decimal.
    pub every: Option<u64>,
}

/// A piece of a time's notation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimePart {
    /// `YYYY`
    Year4,
    /// `YY`: 2000 to 2099.
    Year2,
    /// `MM`, as two digits.
    Month,
    /// `DD`
    Day,
    /// `hh`, 00 to 23.
    Hour,
    /// `mm`
    Minute,
    /// `ss`, 00 to 59: leap seconds are out of range.
    Second,
    /// The decimals of the seconds, [`TimeText::places`] digits without the point.
    Fraction,
    /// Any other characters, verbatim.
    Literal(String),
}

impl TimePart {
    /// Writes the part as the schema does, for a time with `places` decimals of the seconds: `YYYY`, `fff`.
    pub fn write(&self, places: u32) -> String {
        match self {
            TimePart::Year4 => "YYYY".to_owned(),
            TimePart::Year2 => "YY".to_owned(),
            TimePart::Month => "MM".to_owned(),
            TimePart::Day => "DD".to_owned(),
            TimePart::Hour => "hh".to_owned(),
            TimePart::Minute => "mm".to_owned(),
            TimePart::Second => "ss".to_owned(),
            TimePart::Fraction => "f".repeat(places as usize),
            TimePart::Literal(literal) => literal.clone(),
        }
    }
}

impl TimeText {
    /// Writes the notation as the schema does: `DDMMYY hhmmss.f`.
    pub fn write_notation(&self) -> String {
        self.notation.iter().map(|part| part.write(self.places)).collect()
    }

    /// Returns the offset from UTC with which the notation ends, such as `+01:00`, in seconds; 0 if it ends with none. The time that the
    /// texts mean is earlier by that: the scaled value counts as if they were in UTC.
    pub fn offset(&self) -> i64 {
        let Some(TimePart::Literal(end)) = self.notation.last() else { return 0 };
        let (sign, digits) = match end.trim_start().split_at_checked(1) {
            Some(("+", digits)) => (1, digits),
            Some(("-", digits)) => (-1, digits),
            _ => return 0,
        };
        let digits = digits.replacen(':', "", 1);
        let is_offset = matches!(digits.len(), 2 | 4) && digits.bytes().all(|b| b.is_ascii_digit());
        let number = |range| digits.get(range).and_then(|part: &str| part.parse::<i64>().ok()).unwrap_or(0);
        if is_offset { sign * (3600 * number(0..2) + 60 * number(2..4)) } else { 0 }
    }

    /// Parses `text`; returns its time in units of 10^-`places` seconds since the epoch.
    ///
    /// Returns `None` unless the text is in the notation and the time in [`TimeText::range`]: `parse(t) == Some(n)` implies
    /// `write(n) == t`.
    pub fn parse(&self, text: &str) -> Option<i128> {
        self.scan(text).filter(|n| self.contains(*n))
    }

    /// Parses an RFC 3339 text, with any offset and any number of decimals. Returns its time in the units of [`TimeText::parse`]; `None` if the
    /// text is none, or the notation has no text for its time.
    pub fn parse_rfc_3339(&self, text: &str) -> Option<i128> {
        let time = OffsetDateTime::parse(text, &Rfc3339).ok()?.unix_timestamp_nanos();
        let time = time + i128::from(self.offset() - self.epoch) * NANOS;
        let unit = NANOS / self.unit();
        (time % unit == 0).then_some(time / unit).filter(|n| self.parse(&self.write(*n)) == Some(*n))
    }

    /// Writes the time `scaled` units after the epoch. Returns an empty text if it is outside of [`TimeText::range`].
    pub fn write(&self, scaled: i128) -> String {
        let mut text = String::with_capacity(ROOM);
        self.write_to(scaled, &mut text);
        text
    }

    /// Appends the text of [`TimeText::write`] to `out`.
    pub fn write_to(&self, scaled: i128, out: &mut String) {
        // A time out of range has no text.
        let _ = self.try_write(scaled, out);
    }

    /// Returns the first and last time, in scaled units, that the notation can express, `until` allows and 63 bits can count.
    pub fn range(&self) -> (i128, i128) {
        let two_digits = self.notation.contains(&TimePart::Year2);
        let (first, end) = if two_digits { (YEAR_2000, YEAR_2100) } else { (YEAR_0, YEAR_10000) };
        let end = self.until.map_or(end, |until| end.min(until.saturating_add(1)));
        let scaled = |second: i64| (i128::from(second) - i128::from(self.epoch)) * self.unit();
        (scaled(first).max(0), (scaled(end) - 1).min(i64::MAX.into()))
    }

    /// Whether `scaled` is in [`TimeText::range`].
    pub fn contains(&self, scaled: i128) -> bool {
        let (first, last) = self.range();
        (first..=last).contains(&scaled)
    }

    /// Parses `text` without checking the range; `None` if it is not in the notation or no such time exists.
    pub(crate) fn scan(&self, text: &str) -> Option<i128> {
        let mut rest = text;
        let (mut year, mut month, mut day) = (0, 1, 1);
        let (mut hour, mut minute, mut second, mut fraction) = (0, 0, 0, 0);
        for part in &self.notation {
            let (slot, width) = match part {
                TimePart::Literal(literal) => {
                    rest = rest.strip_prefix(literal.as_str())?;
                    continue;
                }
                TimePart::Year4 | TimePart::Year2 => (&mut year, width(part)),
                TimePart::Month => (&mut month, 2),
                TimePart::Day => (&mut day, 2),
                TimePart::Hour => (&mut hour, 2),
                TimePart::Minute => (&mut minute, 2),
                TimePart::Second => (&mut second, 2),
                TimePart::Fraction => (&mut fraction, self.places as usize),
            };
            *slot = digits(&mut rest, width)?;
            if *part == TimePart::Year2 {
                year += 2000;
            }
        }
        if !rest.is_empty() {
            return None;
        }
        let small = |n: u32| u8::try_from(n).ok();
        let date =
            Date::from_calendar_date(year as i32, Month::try_from(small(month)?).ok()?, small(day)?).ok()?;
        let time = Time::from_hms(small(hour)?, small(minute)?, small(second)?).ok()?;
        let seconds = date.with_time(time).assume_utc().unix_timestamp();
        Some((i128::from(seconds) - i128::from(self.epoch)) * self.unit() + i128::from(fraction))
    }

    fn try_write(&self, scaled: i128, text: &mut String) -> Option<()> {
        if !self.contains(scaled) {
            return None;
        }
        // The range ensures that the value is not negative and below 2^63. A division of 64 bits is faster.
        let (scaled, unit) = (u64::try_from(scaled).ok()?, self.unit() as u64);
        let seconds = i64::try_from(scaled / unit).ok()?.checked_add(self.epoch)?;
        let time = OffsetDateTime::from_unix_timestamp(seconds).ok()?;
        let (year, month, day) = time.to_calendar_date();
        let (hour, minute, second) = time.to_hms();
        for part in &self.notation {
            match part {
                TimePart::Literal(literal) => text.push_str(literal),
                TimePart::Year4 => push(year.unsigned_abs(), 4, text),
                TimePart::Year2 => push(year.abs_diff(2000), 2, text),
                TimePart::Month => push(u8::from(month).into(), 2, text),
                TimePart::Day => push(day.into(), 2, text),
                TimePart::Hour => push(hour.into(), 2, text),
                TimePart::Minute => push(minute.into(), 2, text),
                TimePart::Second => push(second.into(), 2, text),
                TimePart::Fraction => push((scaled % unit) as u32, self.places.min(9), text),
            }
        }
        Some(())
    }

    fn unit(&self) -> i128 {
        10i128.saturating_pow(self.places.min(9))
    }
}

/// Returns the number of digits of a part with a fixed width.
fn width(part: &TimePart) -> usize {
    if *part == TimePart::Year4 { 4 } else { 2 }
}

/// Appends the last `width` digits of `n`.
fn push(n: u32, width: u32, text: &mut String) {
    for place in (0..width).rev() {
        text.push(char::from(b'0' + (n / 10u32.pow(place) % 10) as u8));
    }
}

/// Parses exactly `width` ASCII digits, at most 9, at the start of `rest`, and removes them.
fn digits(rest: &mut &str, width: usize) -> Option<u32> {
    let (number, tail) = rest.split_at_checked(width)?;
    *rest = tail;
    number.bytes().all(|b| b.is_ascii_digit()).then(|| number.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use TimePart::*;
    use proptest::prelude::*;

    /// `DDMMYY hhmmss.f`
    fn compact(places: u32, epoch: i64) -> TimeText {
        let literal = |text: &str| Literal(text.to_owned());
        let notation = vec![Day, Month, Year2, literal(" "), Hour, Minute, Second, literal("."), Fraction];
        TimeText { notation, epoch, places, until: None, every: None }
    }

    /// `YYYY-MM-DDThh:mm:ssZ`
    fn iso(epoch: i64) -> TimeText {
        let literal = |text: &str| Literal(text.to_owned());
        let notation = vec![
            Year4,
            literal("-"),
            Month,
            literal("-"),
            Day,
            literal("T"),
            Hour,
            literal(":"),
            Minute,
            literal(":"),
            Second,
            literal("Z"),
        ];
        TimeText { notation, epoch, places: 0, until: None, every: None }
    }

    #[test]
    fn rfc_3339_texts_get_the_notation() {
        let time = |notation: &TimeText, text: &str| notation.parse_rfc_3339(text).map(|n| notation.write(n));
        let (compact, iso) = (compact(1, 0), iso(0));
        assert_eq!(time(&iso, "2026-03-29T14:00:00.000+02:00").as_deref(), Some("2026-03-29T12:00:00Z"));
        assert_eq!(time(&compact, "2026-03-29T12:00:00.5Z").as_deref(), Some("290326 120000.5"));
        for refused in
            ["2026-03-29T12:00:00.25Z", "2126-03-29T12:00:00Z", "2026-03-29T12:00:00", "2026-03-29", ""]
        {
            assert_eq!(time(&compact, refused), None, "{refused}");
        }
        let local = TimeText {
            notation: iso.notation.iter().take(11).cloned().chain([Literal("+01:00".into())]).collect(),
            ..iso.clone()
        };
        assert_eq!(time(&local, "2026-03-29T12:00:00Z").as_deref(), Some("2026-03-29T13:00:00+01:00"));
    }

    #[test]
    fn the_offset_is_that_at_the_end_of_the_notation() {
        for (end, offset) in [
            ("Z", 0),
            ("+01:00", 3600),
            ("-0530", -19_800),
            (" +02", 7200),
            ("-", 0),
            ("+1:00", 0),
            ("UTC", 0),
        ] {
            let mut time = iso(0);
            *time.notation.last_mut().unwrap() = Literal(end.to_owned());
            assert_eq!(time.offset(), offset, "{end}");
        }
        assert_eq!(compact(1, 0).offset(), 0);
    }

    #[test]
    fn the_container_time_counts_tenths_since_2000() {
        let time = compact(1, YEAR_2000);
        // 2023-04-20T00:29:40Z is 1681950580.
        assert_eq!(time.parse("200423 002940.0"), Some((1_681_950_580 - 946_684_800) * 10));
        assert_eq!(time.parse("010100 000000.3"), Some(3));
        assert_eq!(time.write(3), "010100 000000.3");
    }

    #[test]
    fn leap_days_exist_in_leap_years_only() {
        let time = iso(YEAR_0);
        for (text, exists) in [
            ("2000-02-29T00:00:00Z", true),
            ("1900-02-29T00:00:00Z", false),
            ("2100-02-29T00:00:00Z", false),
            ("2024-02-29T00:00:00Z", true),
            ("2023-02-29T00:00:00Z", false),
            ("2024-02-30T00:00:00Z", false),
            ("2023-04-31T00:00:00Z", false),
            ("2023-12-31T23:59:59Z", true),
        ] {
            assert_eq!(time.parse(text).is_some(), exists, "{text}");
        }
    }

    #[test]
    fn text_in_another_notation_or_no_time_is_none() {
        for text in [
            "",
            "200423 002940.",
            "200423 002940.00",
            "200423  02940.0",
            "200423T002940.0",
            "200423 002940,0",
            "000423 002940.0",
            "320423 002940.0",
            "201323 002940.0",
            "200023 002940.0",
            "200423 242940.0",
            "200423 006040.0",
            "200423 002960.0",
            "+10423 002940.0",
            "200423 002940.0 ",
            "２0423 002940.0",
        ] {
            assert_eq!(compact(1, YEAR_2000).parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn times_before_the_epoch_are_out_of_range() {
        let epoch = 1_577_836_800; // 2020-01-01T00:00:00Z
        assert_eq!(iso(epoch).parse("2019-12-31T23:59:59Z"), None);
        assert_eq!(iso(epoch).scan("2019-12-31T23:59:59Z"), Some(-1));
        assert_eq!(iso(epoch).parse("2020-01-01T00:00:00Z"), Some(0));
        assert_eq!(iso(epoch).write(-1), "");
    }

    #[test]
    fn the_range_is_what_the_notation_can_write() {
        let time = compact(1, 0);
        let (first, last) = time.range();
        assert_eq!(
            (time.write(first), time.write(last)),
            ("010100 000000.0".into(), "311299 235959.9".into())
        );
        assert_eq!((time.write(first - 1), time.write(last + 1)), (String::new(), String::new()));
        let (first, last) = iso(YEAR_0).range();
        assert_eq!(iso(YEAR_0).write(first), "0000-01-01T00:00:00Z");
        assert_eq!(iso(YEAR_0).write(last), "9999-12-31T23:59:59Z");
    }

    proptest! {
        #[test]
        fn writing_inverts_parsing(at in 0.0f64..=1.0, places in 0u32..=9, epoch in YEAR_0..YEAR_2100) {
            for time in [compact(places.max(1), epoch), iso(epoch)] {
                let (first, last) = time.range();
                let n = first + ((last - first) as f64 * at) as i128;
                prop_assume!(n <= last);
                prop_assert_eq!(time.parse(&time.write(n)), Some(n));
            }
        }

        #[test]
        fn parsing_accepts_only_what_writing_gives(text in "[0-3][0-9][01][0-9][0-9]{2} [0-2][0-9][0-6][0-9][0-6][0-9]\\.[0-9]") {
            let time = compact(1, YEAR_2000);
            if let Some(n) = time.parse(&text) {
                prop_assert_eq!(time.write(n), text);
            }
        }
    }
}
