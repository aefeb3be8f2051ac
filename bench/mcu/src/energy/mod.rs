//! The energy of a message: for encoding, for sending, and for sleeping until the next one.
//!
//! The figures are in `energy/mcu.toml` and `energy/radio.toml`, each with its source. Units are joules, seconds and watts.

mod airtime;
mod budget;
mod table;

pub use table::print;

use crate::Failure;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A microcontroller.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mcu {
    /// The target in results that it represents.
    pub target: String,
    /// The part that the figures describe, and its operating conditions.
    pub part: String,
    volts: f64,
    milliamps_per_mhz: f64,
    sleep_microamps: f64,
    /// Cycles of an average instruction, where instructions are counted; `None` where cycles are.
    cycles_per_instruction: Option<f64>,
    /// Whether a figure is not from the source.
    pub estimate: bool,
    /// Where the figures are from.
    pub source: String,
}

/// A radio that sends messages one by one.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Radio {
    /// The ID in tables, such as `nb-iot`.
    pub id: String,
    /// The display name.
    pub name: String,
    joules_per_message: f64,
    joules_per_byte: f64,
    sleep_watts: f64,
    /// The ID in the link catalogue, for limit and price.
    pub link: Option<String>,
    /// Whether a figure is not from the source.
    pub estimate: bool,
    /// Where the figures are from.
    pub source: String,
}

/// A LoRaWAN radio, whose cost follows from the time on air.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lorawan {
    volts: f64,
    transmit_milliamps: f64,
    receive_milliamps: f64,
    sleep_microamps: f64,
    frame_overhead_bytes: usize,
    window_symbols: u32,
    /// The largest payload in bytes, by spreading factor.
    payload_bytes: BTreeMap<u32, usize>,
    /// Whether a figure is not from the source.
    pub estimate: bool,
    /// Where the figures are from.
    pub source: String,
}

/// A battery.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Battery {
    /// The capacity.
    pub joules: f64,
    /// Where the figure is from.
    pub source: String,
}

/// All figures.
#[derive(Debug, Clone)]
pub struct Figures {
    /// One per target.
    pub mcus: Vec<Mcu>,
    /// The radios with a cost per message and per byte.
    pub radios: Vec<Radio>,
    /// The LoRaWAN radio.
    pub lorawan: Lorawan,
    /// The battery of microcontroller and radio.
    pub battery: Battery,
}

impl Figures {
    /// Reads the figures of the two files.
    pub fn load() -> Result<Self, Failure> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Mcus {
            mcu: Vec<Mcu>,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Radios {
            battery: Battery,
            lorawan: Lorawan,
            radio: Vec<Radio>,
        }
        let Mcus { mcu: mcus } = toml::from_str(include_str!("../../energy/mcu.toml"))?;
        let Radios { battery, lorawan, radio } = toml::from_str(include_str!("../../energy/radio.toml"))?;
        Ok(Figures { mcus, radios: radio, lorawan, battery })
    }

    /// The microcontroller that represents `target`.
    pub fn mcu(&self, target: &str) -> Option<&Mcu> {
        self.mcus.iter().find(|mcu| mcu.target == target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_hold_plausible_figures_with_their_sources() {
        let figures = Figures::load().expect("the files can be read");
        for mcu in &figures.mcus {
            assert!((1.0..=5.5).contains(&mcu.volts) && mcu.source.len() > 40, "{}", mcu.target);
            // From 10 µA to 1 mA per MHz, and less asleep than awake at 1 MHz.
            assert!((0.01..=1.0).contains(&mcu.milliamps_per_mhz), "{}", mcu.target);
            assert!(mcu.sleep_microamps < 1000.0 * mcu.milliamps_per_mhz, "{}", mcu.target);
            assert!(mcu.cycles_per_instruction.is_none_or(|cycles| (1.0..=3.0).contains(&cycles)));
            // Cycles per instruction are always an estimate.
            assert!(mcu.estimate || mcu.cycles_per_instruction.is_none(), "{}", mcu.target);
        }
        for radio in &figures.radios {
            assert!(
                radio.joules_per_message + radio.joules_per_byte > 0.0 && radio.source.len() > 40,
                "{}",
                radio.id
            );
            assert!(radio.link.as_deref().is_none_or(|id| dunnage_links::link(id).is_some()), "{}", radio.id);
        }
        assert_eq!(figures.lorawan.payload_bytes.keys().copied().collect::<Vec<_>>(), [7, 8, 9, 10, 11, 12]);
    }

    #[test]
    fn every_simulated_target_has_a_microcontroller() {
        let figures = Figures::load().expect("the files can be read");
        for target in ["atmega328p", "cortex-m0plus", "cortex-m3", "cortex-m4", "rv32imc"] {
            assert!(figures.mcu(target).is_some(), "{target}");
        }
    }
}
