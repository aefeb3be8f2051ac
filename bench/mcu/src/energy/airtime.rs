//! How long a LoRa frame is on the air: SX1276 data sheet (Rev. 4), section 4.1.1.7.

/// Hz; the bandwidth of LoRaWAN's data rates 0 to 5 in Europe.
const BANDWIDTH: f64 = 125_000.0;
/// Symbols of the preamble that are programmed; the modem adds 4.25.
const PREAMBLE: f64 = 8.0;
/// Coding rate 4/5.
const CODING_RATE: f64 = 1.0;

/// Seconds of one symbol.
pub fn symbol(spreading_factor: u32) -> f64 {
    f64::from(1u32 << spreading_factor) / BANDWIDTH
}

/// Seconds of a frame of `bytes` bytes with explicit header and CRC, sent with a spreading factor of 7 to 12.
pub fn frame(spreading_factor: u32, bytes: usize) -> f64 {
    // Low data rate optimization is mandatory for symbols longer than 16 ms. It takes two bits of each.
    let low_data_rate = if symbol(spreading_factor) > 0.016 { 2.0 } else { 0.0 };
    let factor = f64::from(spreading_factor);
    let bits = 8.0 * bytes as f64 - 4.0 * factor + 28.0 + 16.0;
    let blocks = (bits / (4.0 * (factor - low_data_rate))).ceil().max(0.0);
    let payload = 8.0 + blocks * (CODING_RATE + 4.0);
    (PREAMBLE + 4.25 + payload) * symbol(spreading_factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The calculation of Semtech's AN1200.13 for 13 bytes at SF9: 4.096 ms a symbol, 28 of them, 164.864 ms.
    #[test]
    fn the_designer_guides_example_is_reproduced() {
        assert!((symbol(9) - 0.004_096).abs() < 1e-9);
        assert!((frame(9, 13) - 0.164_864).abs() < 1e-9);
    }

    /// Published times of LoRaWAN frames in Europe: a payload of 10 bytes at SF7 61.7 ms, of 51 bytes at SF12 2793.5 ms; 13 bytes of overhead.
    #[test]
    fn published_times_are_reproduced() {
        assert!((frame(7, 23) - 0.061_696).abs() < 1e-9);
        assert!((frame(12, 64) - 2.793_472).abs() < 1e-9);
    }

    #[test]
    fn more_bytes_never_take_less_time() {
        for spreading_factor in 7..=12 {
            for bytes in 0..255 {
                assert!(frame(spreading_factor, bytes + 1) >= frame(spreading_factor, bytes));
            }
        }
        assert!((7..12).all(|factor| frame(factor + 1, 30) > frame(factor, 30)));
    }
}
