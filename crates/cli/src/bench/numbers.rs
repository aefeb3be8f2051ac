//! Numbers for people.

use dunnage_measure::Times;

/// A median with three significant digits, such as `412 ns` or `1.42 µs`.
pub fn time(times: Times) -> String {
    let (value, unit) = match times.median_ns {
        ns if ns < 999.5 => (ns, "ns"),
        ns if ns < 999_500.0 => (ns / 1e3, "µs"),
        ns => (ns / 1e6, "ms"),
    };
    let decimals = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.decimals$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits() {
        let shown = |median_ns| time(Times { median_ns, low_ns: 0.0, high_ns: 0.0, rounds: 21 });
        assert_eq!(shown(4.216), "4.22 ns");
        assert_eq!(shown(41.26), "41.3 ns");
        assert_eq!(shown(412.6), "413 ns");
        assert_eq!(shown(999.6), "1.00 µs");
        assert_eq!(shown(123_456.0), "123 µs");
        assert_eq!(shown(2_500_000.0), "2.50 ms");
    }
}
