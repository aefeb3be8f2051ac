//! How long a LoRa frame is on the air: Semtech SX1276/77/78/79 data sheet, section 4.1.1.7.

use serde::Deserialize;

/// Symbols of the preamble that LoRaWAN programs; the modem adds 4.25.
pub const LORAWAN_PREAMBLE: u32 = 8;
/// Symbols that a block takes with a coding rate of 4/5, which LoRaWAN and Meshtastic's LongFast have.
const BLOCK: f64 = 5.0;
/// Symbols longer than this, in seconds, need the low data rate optimization, which takes two bits of each.
const LONG_SYMBOL: f64 = 0.016;

/// A LoRa data rate.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoraRate {
    /// From 7 to 12: the bits of a symbol.
    pub spreading_factor: u32,
    /// The bandwidth in Hz.
    pub bandwidth_hz: u32,
    /// The symbols of the preamble that the sender programs.
    pub preamble_symbols: u32,
}

/// The seconds of one symbol.
pub fn symbol(spreading_factor: u32, bandwidth_hz: u32) -> f64 {
    f64::from(1u32 << spreading_factor.min(12)) / f64::from(bandwidth_hz.max(1))
}

impl LoraRate {
    /// The seconds of a frame of `bytes` bytes, with explicit header and CRC.
    pub fn frame(&self, bytes: f64) -> f64 {
        let symbol = symbol(self.spreading_factor, self.bandwidth_hz);
        let factor = f64::from(self.spreading_factor);
        let lost = if symbol > LONG_SYMBOL { 2.0 } else { 0.0 };
        let bits = 8.0 * bytes - 4.0 * factor + 28.0 + 16.0;
        let blocks = libm::ceil(bits / (4.0 * (factor - lost))).max(0.0);
        (f64::from(self.preamble_symbols) + 4.25 + 8.0 + blocks * BLOCK) * symbol
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(spreading_factor: u32, bandwidth_hz: u32) -> LoraRate {
        LoraRate { spreading_factor, bandwidth_hz, preamble_symbols: LORAWAN_PREAMBLE }
    }

    /// The calculation of Semtech's AN1200.13 for 13 bytes at SF9: 4.096 ms a symbol, 28 of them and the
    /// preamble, 164.864 ms.
    #[test]
    fn the_designer_guides_example_is_reproduced() {
        assert!((symbol(9, 125_000) - 0.004_096).abs() < 1e-9);
        assert!((rate(9, 125_000).frame(13.0) - 0.164_864).abs() < 1e-9);
    }

    /// Published times of LoRaWAN frames in Europe: a payload of 10 bytes at SF7 61.7 ms, of 51 bytes at SF12
    /// 2793.5 ms; 13 bytes of overhead.
    #[test]
    fn published_times_are_reproduced() {
        assert!((rate(7, 125_000).frame(23.0) - 0.061_696).abs() < 1e-9);
        assert!((rate(12, 125_000).frame(64.0) - 2.793_472).abs() < 1e-9);
    }

    #[test]
    fn four_times_the_bandwidth_is_four_times_as_fast() {
        let (narrow, wide) = (rate(8, 125_000).frame(50.0), rate(8, 500_000).frame(50.0));
        assert!((narrow / wide - 4.0).abs() < 1e-9);
    }
}
