//! Table 7 of "Evaluating Binary Serialization Protocols for IoT/M2M Applications over Hybrid Terrestrial and
//! Non-Terrestrial Networks (Telecom 2026, 7, 43)", with the paper's own rounding.

use crate::{Price, Traffic, link};

/// A row of the table, as it is printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table7 {
    /// The fleet's megabytes (1024 * 1024 bytes) in a month.
    pub megabytes: String,
    /// The euros of a month over the terrestrial network.
    pub terrestrial_eur: String,
    /// The fleet's kilobytes (1024 bytes) in a month.
    pub kilobytes: String,
    /// The euros of a month over the satellite network.
    pub satellite_eur: String,
}

/// Computes the table's row for messages of `message_bytes` bytes.
///
/// The paper rounds the megabytes to one decimal and computes everything else from that; it counts neither
/// the headers of IP nor fragments. Its prices are those of `astrocast` and `lte-m`. [`crate::Load::month`]
/// computes without both.
pub fn table_7(message_bytes: usize, messages_per_day: f64, devices: u64) -> Table7 {
    let exact = Traffic { message_bytes, messages_per_day, devices }.monthly().mb();
    let megabytes = libm::round(exact * 10.0) / 10.0;
    let kilobytes = megabytes * 1024.0;
    Table7 {
        megabytes: format!("{megabytes:.1}"),
        terrestrial_eur: format!("{:.2}", megabytes * price("lte-m", 1024 * 1024)),
        kilobytes: thousands(kilobytes),
        satellite_eur: thousands(kilobytes * price("astrocast", 1024)),
    }
}

/// The price of `bytes` bytes over the link `id`.
fn price(id: &str, bytes: u64) -> f64 {
    match link(id).and_then(|link| link.price) {
        Some(Price::PerByte { amount, bytes: per }) => amount * bytes as f64 / per as f64,
        // A test reads both prices.
        _ => f64::NAN,
    }
}

/// A whole number with a comma between thousands.
fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The printed table: 10,000 devices, 4 messages a day; JSON 418, Protocol Buffers 138 and Struct+Zlib
    /// 127 bytes (Table 2).
    #[test]
    fn the_printed_table_is_reproduced_to_the_digit() {
        for (bytes, printed) in [
            (418, ["478.4", "9.57", "489,882", "89,648"]),
            (138, ["157.9", "3.16", "161,690", "29,589"]),
            (127, ["145.3", "2.91", "148,787", "27,228"]),
        ] {
            let row = table_7(bytes, 4.0, 10_000);
            let computed = [row.megabytes, row.terrestrial_eur, row.kilobytes, row.satellite_eur];
            assert_eq!(computed, printed, "{bytes} bytes");
        }
    }

    #[test]
    fn an_empty_fleet_sends_nothing() {
        let row = table_7(418, 4.0, 0);
        assert_eq!(
            [&*row.megabytes, &*row.terrestrial_eur, &*row.kilobytes, &*row.satellite_eur],
            ["0.0", "0.00", "0", "0"]
        );
    }

    #[test]
    fn thousands_are_separated() {
        assert_eq!(
            [thousands(999.0), thousands(1000.0), thousands(1_234_567.0)],
            ["999", "1,000", "1,234,567"]
        );
    }
}
