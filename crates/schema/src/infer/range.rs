//! Ranges with headroom, in units of 10^-`places`.

use super::{MANY, words};
use crate::{number_text::plain, parse::Node};

/// What names say about the range of numbers: a word of the field's name, and the range in whole units.
///
/// Degrees for the first two groups; degrees Celsius, as sensors of the industrial range have it; per cent.
const NAMED: [(&[&str], i128, i128); 5] = [
    (&["lat", "latitude"], -90, 90),
    (&["lon", "lng", "longitude"], -180, 180),
    (&["heading", "course", "bearing", "azimuth"], 0, 360),
    (&["temperature", "temp"], -40, 85),
    (&["humidity", "percent", "soc"], 0, 100),
];

/// A usual range must spare so many bits: what is not in it costs its bits as well.
const SPARED: u32 = 4;

/// The range guessed from numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) min: i128,
    pub(super) max: i128,
    /// Where most numbers are, much narrower than the range.
    pub(super) usual: Option<(i128, i128)>,
    /// Why it is this one.
    pub(super) why: &'static str,
}

/// The range for the numbers `seen` in the field called `name`; `limits` are what the type can hold.
///
/// - A name that says the range, if all numbers are in it.
/// - 0 to 1 when only these two were seen, both of them, in many values.
/// - Else 0 to ten times the largest magnitude, or twice from many values, rounded up to 1, 2 or 5 with zeros; the same
///   below zero if there is a negative number. Between 0 and half of that range lies one bit: it is cheaper to keep it
///   than to refuse a message.
///
/// Many values have a usual range as well: the one seen, widened on both sides by its width, where that spares bits and
/// the numbers do not only grow, as counters do.
pub(super) fn guess(name: &str, seen: &[i128], places: u32, limits: (i128, i128)) -> Range {
    let (low, high) = extent(seen);
    let unit = 10i128.saturating_pow(places);
    let (min, max, why) = bounds(name, seen.len(), (low, high), unit, limits);
    let grows = low < high && seen.is_sorted();
    let usual = (seen.len() >= MANY && !grows).then(|| {
        let width = high - low;
        ((low - width).max(min), (high + width).min(max))
    });
    let usual = usual.filter(|(first, last)| (last - first + 1) << SPARED <= max - min + 1);
    Range { min, max, usual, why }
}

fn bounds(
    name: &str,
    count: usize,
    (low, high): (i128, i128),
    unit: i128,
    limits: (i128, i128),
) -> (i128, i128, &'static str) {
    let named =
        NAMED.iter().find(|(words, _, _)| words::of(name).iter().any(|w| words.contains(&w.as_str())));
    if let Some((_, min, max)) = named
        && min * unit <= low
        && high <= max * unit
    {
        return (min * unit, max * unit, "by its name");
    }
    if (low, high, unit) == (0, 1, 1) && count >= MANY {
        return (0, 1, "guessed without headroom");
    }
    let factor = if count < MANY { 10 } else { 2 };
    let largest = low.unsigned_abs().max(high.unsigned_abs()).max(unit.unsigned_abs());
    let reach = round_up((largest as i128).saturating_mul(factor));
    let min = if low < 0 { (-reach).max(limits.0) } else { 0 };
    (min, reach.min(limits.1), "guessed with headroom")
}

impl Range {
    /// `0 to 200 guessed with headroom, usually 12.5 to 30`, of numbers with so many decimal places.
    pub(super) fn describe(&self, places: u32) -> String {
        let usual = self.usual.map_or(String::new(), |(first, last)| {
            format!(", usually {} to {}", plain(first, places), plain(last, places))
        });
        format!("{} to {} {}{usual}", plain(self.min, places), plain(self.max, places), self.why)
    }

    /// The bounds as keywords, and the usual range under the name `usual`.
    pub(super) fn keywords(&self, places: u32, usual: &str) -> Vec<(String, Node)> {
        let bounds = |(min, max): (i128, i128)| {
            let number = |n| Node::Number(plain(n, places));
            vec![("minimum".to_owned(), number(min)), ("maximum".to_owned(), number(max))]
        };
        let mut keywords = bounds((self.min, self.max));
        keywords.extend(self.usual.map(|range| (usual.to_owned(), Node::Object(bounds(range)))));
        keywords
    }
}

/// The smallest and the largest.
pub(super) fn extent(scaled: &[i128]) -> (i128, i128) {
    (scaled.iter().copied().min().unwrap_or(0), scaled.iter().copied().max().unwrap_or(0))
}

/// The next number from `n`, which is above 0, that is 1, 2 or 5 with zeros.
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

    /// So many numbers from 0 up, and back to 0.
    fn hill(count: i128) -> Vec<i128> {
        (0..count).chain([0]).collect()
    }

    #[test]
    fn few_numbers_get_ten_times_their_size_and_many_get_twice() {
        assert_eq!(of("speed", &[282], 1), (0, 5000));
        assert_eq!(of("speed", &hill(605), 1), (0, 2000));
        assert_eq!(of("power", &[-577, 915], 0), (-10_000, 10_000));
        assert_eq!(of("count", &[0], 0), (0, 10));
    }

    #[test]
    fn a_name_says_the_range_unless_a_number_is_beyond_it() {
        assert_eq!(of("temperature", &[1700], 2), (-4000, 8500));
        assert_eq!(of("oilTemp", &[1100], 1), (0, 20_000));
        assert_eq!(of("GNSS-Latitude", &[1], 0), (-90, 90));
        assert_eq!(of("platform", &[1], 0), (0, 10));
    }

    #[test]
    fn only_zero_and_one_in_many_values_is_a_flag() {
        assert_eq!(of("on", &[&[1][..], &[0; 19]].concat(), 0), (0, 1));
        assert_eq!(of("on", &[&[1][..], &[0; 18]].concat(), 0), (0, 10));
    }

    #[test]
    fn many_numbers_far_from_zero_have_a_usual_range() {
        let pressures: Vec<i128> = hill(101).iter().map(|n| 10_050 + n).collect();
        let range = guess("pressure", &pressures, 1, LIMITS);
        assert_eq!((range.min, range.max, range.usual), (0, 50_000, Some((9_950, 10_250))));
        assert_eq!(guess("pressure", &pressures[..101], 1, LIMITS).usual, None, "it only grows");
        assert_eq!(guess("pressure", &pressures[80..98], 1, LIMITS).usual, None, "too few");
        assert_eq!(guess("speed", &hill(100), 1, LIMITS).usual, None, "spares nothing");
        assert_eq!(guess("mode", &[3; 20], 0, LIMITS).usual, None, "spares little");
        assert_eq!(guess("rssi", &[99; 20], 0, LIMITS).usual, Some((99, 99)));
    }

    #[test]
    fn ranges_stay_in_what_the_type_holds() {
        assert_eq!(of("n", &[LIMITS.0, LIMITS.1], 0), LIMITS);
        assert_eq!(of("n", &[LIMITS.0, LIMITS.1], 18), LIMITS);
    }

    #[test]
    fn rounding_goes_to_one_two_or_five_with_zeros() {
        for (n, round) in [(1, 1), (3, 5), (5, 5), (6, 10), (10, 10), (11, 20), (282, 500), (99_999, 100_000)]
        {
            assert_eq!(round_up(n), round, "{n}");
        }
    }
}
