//! Detects trends in the numbers of successive messages.

use super::MANY;
use std::collections::BTreeSet;

/// The direction of a series of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trend {
    /// No number is smaller than the one before, as for a counter; or the numbers are those of a few counters, such as one for each device,
    /// or one restarted several times.
    Rises,
    /// No number is larger than the one before.
    Falls,
    /// Neither, or all numbers are the same.
    None,
}

/// Fewer numbers may have a direction by chance.
const FEWEST: usize = 5;

/// Returns the direction of the numbers `seen`, in the order of the messages.
pub(super) fn trend(seen: &[i128]) -> Trend {
    let differ = seen.first().is_some_and(|first| seen.iter().any(|n| n != first));
    match () {
        () if !differ || seen.len() < FEWEST => Trend::None,
        () if seen.is_sorted() || is_interleaved(seen) => Trend::Rises,
        () if seen.is_sorted_by(|a, b| a >= b) => Trend::Falls,
        () => Trend::None,
    }
}

/// Whether many numbers, at least a quarter of them distinct, consist of a few rising series. Random numbers need about 2 √n series.
fn is_interleaved(seen: &[i128]) -> bool {
    let different = seen.iter().collect::<BTreeSet<_>>().len();
    seen.len() >= MANY && 4 * different >= seen.len() && chains(seen) <= seen.len().isqrt() / 2
}

/// Returns the number of rising series that hold all numbers. Each number extends the series that ends closest below or at it.
fn chains(seen: &[i128]) -> usize {
    // The last number of each series, in descending order.
    let mut ends: Vec<i128> = Vec::new();
    for n in seen {
        let at = ends.partition_point(|end| end > n);
        match ends.get_mut(at) {
            Some(end) => *end = *n,
            None => ends.push(*n),
        }
    }
    ends.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_are_told_from_noise() {
        let noise: Vec<i128> = (0..400).map(|n: i128| n * 7919 % 1009).collect();
        assert_eq!(trend(&noise), Trend::None);
        let wave: Vec<i128> = (0..400).map(|n| (1000.0 * (f64::from(n) / 40.0).sin()) as i128).collect();
        assert_eq!(trend(&wave), Trend::None);
        let restarts: Vec<i128> = (0..400).map(|n| 60 * (n % 150)).collect();
        assert_eq!(trend(&restarts), Trend::Rises);
        assert_eq!(trend(&[3, 3, 2, 2, 1]), Trend::Falls);
        assert_eq!(trend(&[1, 2, 3]), Trend::None);
        assert_eq!(trend(&[1, 2, 1]), Trend::None);
        assert_eq!(trend(&[5; 40]), Trend::None);
        assert_eq!(trend(&[]), Trend::None);
    }
}
