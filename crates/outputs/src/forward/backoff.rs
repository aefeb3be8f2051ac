//! Delays after failures: exponential backoff with full jitter, so that devices that failed together do not retry together (M. Brooker,
//! "Exponential Backoff And Jitter", AWS Architecture Blog, 2015).

use std::time::Duration;

/// Longest delay that is accepted from a receiver.
const LONGEST_ASKED: Duration = Duration::from_secs(3600);

/// Returns a random delay from zero to `first * 2^(failures - 1)`, or to `most` if that is less. `failures` is at least 1.
pub fn wait(first: Duration, most: Duration, failures: u32) -> Duration {
    let doubled = 2u32.checked_pow(failures.saturating_sub(1)).and_then(|by| first.checked_mul(by));
    doubled.map_or(most, |longest| longest.min(most)).mul_f64(fastrand::f64())
}

/// Returns the delay that the receiver has asked for, limited to [`LONGEST_ASKED`], but at least `otherwise`.
pub fn asked(asked: Option<Duration>, otherwise: Duration) -> Duration {
    asked.map_or(otherwise, |asked| asked.min(LONGEST_ASKED).max(otherwise))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_spread_and_grow_up_to_a_bound() {
        let (first, most) = (Duration::from_millis(200), Duration::from_secs(60));
        for failures in [1, 2, 5, 9, 10, 40, u32::MAX] {
            let bound = first.mul_f64(2f64.powi(failures.min(20) as i32 - 1)).min(most);
            let waits: Vec<_> = (0..200).map(|_| wait(first, most, failures)).collect();
            assert!(waits.iter().all(|wait| *wait <= bound), "{failures}");
            assert!(waits.iter().any(|wait| *wait < bound / 4) && waits.iter().any(|wait| *wait > bound / 2));
        }
        assert_eq!(asked(Some(Duration::MAX), first), LONGEST_ASKED);
        assert_eq!(asked(Some(Duration::ZERO), first), first);
        assert_eq!(asked(None, most), most);
    }
}
