//! What a message costs a battery: to encode it, to send it, and to sleep until the next one.
//!
//! The figures are in `energy/mcu.toml` and `energy/radio.toml`, each with its source. Joules, seconds, watts.

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
    /// The target in results that it stands for.
    pub target: String,
    /// The part that the figures are of, and how it runs.
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
    /// As in tables: `nb-iot`.
    pub id: String,
    /// The name for people.
    pub name: String,
    joules_per_message: f64,
    joules_per_byte: f64,
    sleep_watts: f64,
    /// Its id in the link catalogue, for its limit and price.
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
    /// What it holds.
    pub joules: f64,
    /// Where the figure is from.
    pub source: String,
}

/// All figures.
#[derive(Debug, Clone)]
pub struct Figures {
    /// One a target.
    pub mcus: Vec<Mcu>,
    /// What the messages are sent with.
    pub radios: Vec<Radio>,
    /// And over LoRaWAN.
    pub lorawan: Lorawan,
    /// What both draw from.
    pub battery: Battery,
}

impl Figures {
    /// The figures of the two files.
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

    /// The microcontroller that stands for `target`.
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
    fn every_target_that_runs_has_its_microcontroller() {
        let figures = Figures::load().expect("the files can be read");
        for target in ["atmega328p", "cortex-m0plus", "cortex-m3", "cortex-m4", "rv32imc"] {
            assert!(figures.mcu(target).is_some(), "{target}");
        }
    }
}
