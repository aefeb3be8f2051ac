//! How numbers follow one another in the messages.

use super::MANY;
use std::collections::BTreeSet;

/// Which way numbers go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trend {
    /// None is smaller than the one before, as of a counter; or all are those of a few counters, one for each device
    /// or from one restart to the next.
    Rises,
    /// None is larger than the one before.
    Falls,
    /// Neither, or all are the same.
    None,
}

/// Fewer numbers go one way by chance.
const FEWEST: usize = 5;

/// Which way the numbers `seen` go, in the order of the messages.
pub(super) fn trend(seen: &[i128]) -> Trend {
    let differ = seen.first().is_some_and(|first| seen.iter().any(|n| n != first));
    match () {
        () if !differ || seen.len() < FEWEST => Trend::None,
        () if seen.is_sorted() || is_interleaved(seen) => Trend::Rises,
        () if seen.is_sorted_by(|a, b| a >= b) => Trend::Falls,
        () => Trend::None,
    }
}

/// Whether many numbers, a quarter of them different or more, are a few rising series. Of n numbers in no order it takes about 2 √n.
fn is_interleaved(seen: &[i128]) -> bool {
    let different = seen.iter().collect::<BTreeSet<_>>().len();
    seen.len() >= MANY && 4 * different >= seen.len() && chains(seen) <= seen.len().isqrt() / 2
}

/// How many rising series hold all numbers. Each goes to the series that ends closest below it.
fn chains(seen: &[i128]) -> usize {
    // The last number of each series, the largest first.
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
