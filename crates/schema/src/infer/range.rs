//! Guesses ranges with headroom, in units of 10^-`places`.

use super::{MANY, quantity, series};
use crate::{
    number_text::{decimal_text, plain},
    parse::Node,
};

/// The bits that a usual range must save at least, because a value outside of it costs extra bits.
const SAVED: u32 = 3;
/// The number of values from which on 0 and 1 are taken to be the only values.
const ONLY_FLAGS: usize = 200;
/// The headroom. The largest of few values is multiplied by these for the usual range and for the range; the largest of many is multiplied
/// by `MANY_REACH` for the range.
const FEW: (i128, i128) = (10, 100);
const MANY_REACH: i128 = 20;
/// The same for numbers that only rise, whose end is unknown.
const RISING: (i128, i128) = (100, 1000);
/// The least upper bound for whole numbers that only rise: the range of 32 bits.
const COUNTER: i128 = u32::MAX as i128;
/// The largest integer up to which JavaScript is exact.
const MAX_SAFE: i128 = (1 << 53) - 1;
/// The seconds from 1970 to 2000, and the number of seconds that 32 bits count, which ends in 2106.
pub(super) const UNIX_FROM: i128 = 946_684_800;
const UNIX_SECONDS: i128 = 1 << 32;
/// The last of these seconds, the maximum of a Unix time.
pub(super) const UNIX_LAST: &str = "4294967295";
/// Values are far from zero if the smallest is at least this many times the width of their range. They do not reach zero even if they fall
/// for ten times as long as they were seen, twice as fast.
const FAR: i128 = 20;
/// Values are outliers if they make the range more than this many times wider.
const WIDER: i128 = 4;
/// The upper bound in whole numbers if only zeros were seen, which say nothing about later values.
const UNKNOWN: i128 = 100_000;
/// At most one in this many values may be an outlier of the usual range.
pub(super) const PER_OUTLIER: usize = 50;

/// A range guessed from numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) min: i128,
    pub(super) max: i128,
    /// The range of most numbers, if it is much narrower.
    pub(super) usual: Option<(i128, i128)>,
    /// The reason for the range, for people.
    pub(super) why: &'static str,
    /// Whether a common divisor of all numbers may be the sensor's step. For a clock or a counter it is chance.
    pub(super) has_step: bool,
    /// Numbers far outside of the range of the others.
    outliers: Vec<i128>,
}

/// Guesses the range for the numbers `seen` in the field `name`. `limits` are the limits of the type.
///
/// - Unix times: 32 bits of seconds, or the same span in milliseconds, microseconds or nanoseconds.
/// - The range that the name implies, if all numbers are in it.
/// - 0 to 1 if only these two were seen in very many values.
/// - Otherwise a multiple of the largest magnitude, rounded up to 1, 2 or 5 with zeros; for zeros alone, a wide range. It begins at 0 if
///   none of the numbers is negative and the name implies that, or many values are far from 0, or they exceed half of the type's limit.
///   Else it extends as far below 0 as above.
///
/// With a usual range, a wide range does not make messages larger. It should be wide, because a message with a value outside of it is lost.
pub(super) fn guess(name: &str, seen: &[i128], places: u32, limits: (i128, i128)) -> Range {
    let unit = 10i128.saturating_pow(places);
    let is_clock = unix(name, seen, unit);
    let trend = series::trend(seen);
    let (min, max, why) = match is_clock {
        Some(max) => (0, max, "for Unix times until 2106"),
        None => bounds(name, seen, unit, trend, limits),
    };
    let counts = places == 0 && quantity::range(name).is_none();
    let (usual, outliers) =
        if is_clock.is_some() { (None, Vec::new()) } else { usual(seen, trend, counts, (min, max)) };
    let has_step = is_clock.is_none() && trend == series::Trend::None;
    Range { min, max, usual, why, has_step, outliers }
}

/// Returns the largest Unix time in the unit of the numbers, if all of them are Unix times.
fn unix(name: &str, seen: &[i128], unit: i128) -> Option<i128> {
    if quantity::is_counted(name) || !quantity::is_time(name) && seen.len() < MANY {
        return None;
    }
    let (low, high) = extent(seen);
    [1, 1_000, 1_000_000, 1_000_000_000].into_iter().find_map(|per_second: i128| {
        let ticks = per_second.saturating_mul(unit);
        let max = UNIX_SECONDS.saturating_mul(ticks) - 1;
        (UNIX_FROM.saturating_mul(ticks) <= low && high <= max && max <= i64::MAX as i128).then_some(max)
    })
}

fn bounds(
    name: &str,
    seen: &[i128],
    unit: i128,
    trend: series::Trend,
    limits: (i128, i128),
) -> (i128, i128, &'static str) {
    let (low, high) = extent(seen);
    if let Some((min, max)) = quantity::range(name)
        && min * unit <= low
        && high <= max * unit
    {
        return (min * unit, max * unit, "by its name");
    }
    if (low, high, unit) == (0, 1, 1) && seen.len() >= ONLY_FLAGS {
        return (0, 1, "guessed without headroom");
    }
    let largest = low.unsigned_abs().max(high.unsigned_abs()).max(unit.unsigned_abs()) as i128;
    // A constant counts as one number, however often it was seen.
    let is_many = seen.len() >= MANY && low < high;
    let reach = match trend {
        series::Trend::Rises => round_up(largest.saturating_mul(RISING.1)).max(least_counter(unit)),
        _ if (low, high) == (0, 0) => unit.saturating_mul(UNKNOWN),
        _ => round_up(largest.saturating_mul(if is_many { MANY_REACH } else { FEW.1 })),
    };
    // Stay within JavaScript's exact integers, unless the numbers come close to their limit.
    let reach = if largest.saturating_mul(FEW.0) <= MAX_SAFE { reach.min(MAX_SAFE) } else { reach };
    let is_far = is_many && low / FAR >= high - low;
    let is_natural = low >= 0 && (is_far || quantity::is_never_negative(name) || high > limits.1 / 2);
    let min = if is_natural { 0 } else { (-reach).max(i64::MIN as i128) };
    let max = if is_natural { reach.min(limits.1) } else { reach.min(i64::MAX as i128) };
    (min, max, "guessed with headroom")
}

/// Returns the least upper bound of a counter: 32 bits for whole numbers, a million with decimals.
fn least_counter(unit: i128) -> i128 {
    if unit == 1 { COUNTER } else { unit.saturating_mul(1_000_000) }
}

/// Returns the usual range, and the outliers. The range is `None` if it would not save enough bits. That of numbers that may be `counts`
/// begins at 0 or above if they do.
fn usual(
    seen: &[i128],
    trend: series::Trend,
    counts: bool,
    (min, max): (i128, i128),
) -> (Option<(i128, i128)>, Vec<i128>) {
    let (low, high) = extent(seen);
    let largest = low.unsigned_abs().max(high.unsigned_abs()).max(1) as i128;
    let around_zero = |reach: i128| (if low < 0 { -reach } else { 0 }, reach);
    let ((first, last), outliers) = match trend {
        series::Trend::Rises => (around_zero(round_up(largest.saturating_mul(RISING.0))), Vec::new()),
        series::Trend::Falls => return (None, Vec::new()),
        series::Trend::None if seen.len() < MANY => {
            (around_zero(round_up(largest.saturating_mul(FEW.0))), Vec::new())
        }
        series::Trend::None => {
            let (low, high) = inner(seen);
            let width = high - low;
            let first = if counts && low >= 0 { (low - width).max(0) } else { low - width };
            let last = high + width;
            let outliers = seen.iter().copied().filter(|n| !(first..=last).contains(n)).collect();
            ((first, last), outliers)
        }
    };
    let (first, last) = (first.max(min), last.min(max));
    let saves = first <= last && (last - first + 1) << SAVED <= max - min + 1;
    if saves { (Some((first, last)), outliers) } else { (None, Vec::new()) }
}

/// Returns the smallest and largest number, without outliers if these make the range more than [`WIDER`] times wider.
fn inner(seen: &[i128]) -> (i128, i128) {
    let mut sorted = seen.to_vec();
    sorted.sort_unstable();
    let cut = seen.len() / PER_OUTLIER;
    let full = extent(seen);
    // Up to `cut` outliers in total, at either end.
    let spans = (0..=cut)
        .filter_map(|below| Some((*sorted.get(below)?, *sorted.get(sorted.len() - 1 - (cut - below))?)));
    match spans.min_by_key(|(low, high)| high - low) {
        Some((low, high)) if (high - low).max(1) * WIDER < full.1 - full.0 => (low, high),
        _ => full,
    }
}

impl Range {
    /// Describes the range: `0 to 200 guessed with headroom, usually 12.5 to 30`. The numbers have `places` decimals.
    pub(super) fn describe(&self, places: u32) -> String {
        let usual = self.usual.map_or(String::new(), |(first, last)| {
            format!(", usually {} to {}", plain(first, places), plain(last, places))
        });
        let outliers: Vec<String> = self.outliers.iter().take(3).map(|n| decimal_text(*n, places)).collect();
        let outliers = match outliers.as_slice() {
            [] => String::new(),
            some => format!(", {} far outside: {}", self.outliers.len(), some.join(", ")),
        };
        format!("{} to {} {}{usual}{outliers}", plain(self.min, places), plain(self.max, places), self.why)
    }

    /// Returns the bounds as keywords, and the usual range under the name `usual`.
    pub(super) fn keywords(&self, places: u32, usual: &str) -> Vec<(String, Node)> {
        let bounds = |(min, max): (i128, i128)| {
            let number = |n| Node::Number(plain(n, places));
            vec![("minimum".to_owned(), number(min)), ("maximum".to_owned(), number(max))]
        };
        let mut keywords = bounds((self.min, self.max));
        keywords.extend(self.usual.map(|range| (usual.to_owned(), Node::Object(bounds(range)))));
        keywords
    }

    /// Returns the range from 0, to at least ten times `usual`, up to which the numbers usually are.
    pub(super) fn above_zero(self, usual: i128) -> Range {
        let max = self.max.max(usual.saturating_mul(FEW.0)).min(i64::MAX as i128);
        Range { min: 0, max, usual: Some((0, usual)), outliers: Vec::new(), ..self }
    }
}

/// Returns the smallest and largest number.
pub(super) fn extent(scaled: &[i128]) -> (i128, i128) {
    (scaled.iter().copied().min().unwrap_or(0), scaled.iter().copied().max().unwrap_or(0))
}

/// Returns the smallest number from `n` on that is 1, 2 or 5 with zeros. `n` must be above 0.
pub(super) fn round_up(n: i128) -> i128 {
    let mut unit = 1i128;
    while unit.saturating_mul(10) < n {
        unit = unit.saturating_mul(10);
    }
    [1, 2, 5, 10].into_iter().map(|digit| unit.saturating_mul(digit)).find(|round| *round >= n).unwrap_or(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: (i128, i128) = (i64::MIN as i128, i64::MAX as i128);

    fn of(name: &str, seen: &[i128], places: u32) -> (i128, i128) {
        let range = guess(name, seen, places, LIMITS);
        (range.min, range.max)
    }

    /// Counts from 0 up and back to 0.
    fn hill(count: i128) -> Vec<i128> {
        (0..count).chain((0..count).rev()).collect()
    }

    #[test]
    fn few_numbers_get_more_room_than_many_and_nothing_ends_at_zero_by_chance() {
        assert_eq!(of("v", &[282], 1), (-50_000, 50_000));
        assert_eq!(of("v", &hill(605), 1), (-20_000, 20_000));
        assert_eq!(of("speed", &hill(605), 1), (0, 20_000));
        assert_eq!(of("power", &[-577, 915], 0), (-100_000, 100_000));
        assert_eq!(of("v", &[0], 0), (-100_000, 100_000));
        assert_eq!(of("v", &[0; 300], 1), (-1_000_000, 1_000_000));
        assert_eq!(guess("v", &[0; 300], 1, LIMITS).usual, Some((0, 0)));
        assert_eq!(of("v", &[7; 300], 0), (-1_000, 1_000));
        assert_eq!(guess("v", &[282], 1, LIMITS).usual, Some((0, 5000)));
    }

    #[test]
    fn a_name_says_the_range_unless_a_number_is_beyond_it() {
        assert_eq!(of("temperature", &[1700], 2), (-10_000, 20_000));
        assert_eq!(of("oilTemp", &[210], 0), (-50_000, 50_000));
        assert_eq!(of("GNSS-Latitude", &[1], 0), (-90, 90));
        assert_eq!(of("platform", &[1], 0), (-100, 100));
        assert_eq!(of("batteryCount", &[1], 0), (0, 100));
    }

    #[test]
    fn only_zero_and_one_in_very_many_values_is_a_flag() {
        assert_eq!(of("on", &[&[1][..], &[0; 199]].concat(), 0), (0, 1));
        assert_eq!(of("on", &[&[1][..], &[0; 198]].concat(), 0), (-20, 20));
    }

    #[test]
    fn many_numbers_far_from_zero_have_a_usual_range() {
        let pressures: Vec<i128> = hill(101).iter().map(|n| 10_050 + n).collect();
        let range = guess("p", &pressures, 1, LIMITS);
        assert_eq!((range.min, range.max, range.usual), (0, 500_000, Some((9_950, 10_250))));
        assert_eq!(guess("p", &[99; 20], 0, LIMITS).usual, Some((99, 99)));
    }

    #[test]
    fn the_usual_range_of_what_may_be_counts_begins_at_0() {
        let seen: Vec<i128> = (0..200).map(|n: i128| n * 7919 % 40).collect();
        let usual = |name, seen: &[i128], places| guess(name, seen, places, LIMITS).usual;
        assert_eq!(usual("people", &seen, 0), Some((0, 78)));
        assert_eq!(usual("n", &seen, 1), Some((-39, 78)));
        let signed: Vec<i128> = seen.iter().map(|n| n - 1).collect();
        assert_eq!(usual("n", &signed, 0), Some((-40, 77)));
    }

    #[test]
    fn what_only_rises_has_no_near_maximum_and_no_step() {
        for (count, places, least) in [(5, 0, COUNTER), (300, 0, COUNTER), (300, 2, 100_000_000)] {
            let rising: Vec<i128> = (0..count).map(|n| 30 * n).collect();
            let range = guess("n", &rising, places, LIMITS);
            assert!(range.max >= least && !range.has_step, "{count}: {range:?}");
        }
        // Three devices with counters of their own, interleaved in the file.
        let devices: Vec<i128> = (0..300).map(|n| 5 * (n / 3) + 1_000 * (n % 3)).collect();
        let range = guess("n", &devices, 0, LIMITS);
        assert!(range.max >= COUNTER && !range.has_step, "{range:?}");
    }

    #[test]
    fn unix_times_take_the_bits_of_seconds_or_milliseconds() {
        let times =
            |per_second: i128| (0..40).map(|n| (1_780_000_000 + 30 * n) * per_second).collect::<Vec<_>>();
        for (per_second, places) in [(1, 0), (1000, 0), (1000, 3), (1_000_000, 0)] {
            let range = guess("x", &times(per_second), places, LIMITS);
            assert_eq!((range.min, range.max), (0, UNIX_SECONDS * per_second - 1), "{per_second}");
            assert!(range.usual.is_none() && !range.has_step);
        }
        assert_eq!(of("ts", &[1_780_000_000], 0), (0, UNIX_SECONDS - 1));
        for name in ["serial", "bytes_received", "start_count"] {
            assert_ne!(of(name, &[1_780_000_000], 0), (0, UNIX_SECONDS - 1), "{name}");
        }
    }

    #[test]
    fn one_value_far_outside_does_not_widen_the_usual_range() {
        let mut seen: Vec<i128> = hill(50).iter().map(|n| 200 + n).collect();
        seen[17] = -9_990;
        // The others that the cut leaves out are inside the usual range, and are not listed.
        seen.extend(hill(50).iter().map(|n| 200 + n));
        let range = guess("x", &seen, 1, LIMITS);
        assert_eq!(range.usual, Some((151, 298)));
        assert!(range.min <= -9_990 && range.describe(1).ends_with(", 1 far outside: -999.0"), "{range:?}");
    }

    #[test]
    fn ranges_stay_in_what_the_type_holds() {
        assert_eq!(of("n", &[LIMITS.0, LIMITS.1], 0), LIMITS);
        assert_eq!(of("n", &[LIMITS.0, LIMITS.1], 18), LIMITS);
        let range = guess("n", &[1 << 63, 1], 0, (0, u64::MAX as i128));
        assert_eq!((range.min, range.max), (0, u64::MAX as i128));
    }

    #[test]
    fn rounding_goes_to_one_two_or_five_with_zeros() {
        for (n, round) in [(1, 1), (3, 5), (5, 5), (6, 10), (10, 10), (11, 20), (282, 500), (99_999, 100_000)]
        {
            assert_eq!(round_up(n), round, "{n}");
        }
    }
}
