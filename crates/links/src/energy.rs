//! The energy of a message, and how long a battery lasts.

use crate::{Airtime, DAY_S, Link, lora};
use serde::Deserialize;

const DAYS_PER_YEAR: f64 = 365.25;

/// The energy of sending.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Energy {
    /// A fixed part and a part per byte, measured for the module.
    PerMessage {
        /// The joules of a link message, independent of its size.
        joules_per_message: f64,
        /// The joules of each byte.
        joules_per_byte: f64,
        /// The watts between messages; 0 if the joules of a message count them, `None` if not published.
        idle_watts: Option<f64>,
        /// Whether a part is an estimate.
        #[serde(default)]
        estimate: bool,
        /// The subject of the measurement.
        note: String,
    },
    /// The power of a radio while it sends, listens and sleeps.
    Radio(Radio),
    /// The power of the two radios of a hop during its frames. A radio that listens all the time, as one does
    /// that passes messages on, takes the power of receiving between them, too, which is not counted.
    Hop {
        /// The watts of the radio that sends.
        transmit_watts: f64,
        /// The watts of the radio that receives.
        receive_watts: f64,
        /// Whether a figure is an estimate.
        #[serde(default)]
        estimate: bool,
        /// The device and conditions that the figures describe.
        note: String,
    },
}

/// The power of a radio.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Radio {
    /// The watts while it sends.
    pub transmit_watts: f64,
    /// The watts while it listens.
    pub receive_watts: f64,
    /// The watts between messages.
    pub idle_watts: f64,
    /// The symbols that it listens in each of the two windows after a frame.
    pub window_symbols: u32,
    /// The data rate of the first window.
    pub first_window: Window,
    /// The data rate of the second window.
    pub second_window: Window,
    /// Whether a figure is an estimate.
    pub estimate: bool,
    /// The device and conditions that the figures describe.
    pub note: String,
}

/// The data rate of a receive window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// The bits of a symbol.
    pub spreading_factor: u32,
    /// The bandwidth in Hz.
    pub bandwidth_hz: u32,
}

impl Energy {
    /// The watts between messages, if they are known.
    pub fn idle_watts(&self) -> Option<f64> {
        match self {
            Energy::PerMessage { idle_watts, .. } => *idle_watts,
            Energy::Radio(radio) => Some(radio.idle_watts),
            Energy::Hop { .. } => None,
        }
    }

    /// Whether a figure is an estimate.
    pub fn is_estimate(&self) -> bool {
        match self {
            Energy::PerMessage { estimate, .. } | Energy::Hop { estimate, .. } => *estimate,
            Energy::Radio(radio) => radio.estimate,
        }
    }

    /// Returns the device and conditions that the figures describe.
    pub fn note(&self) -> &str {
        match self {
            Energy::PerMessage { note, .. } | Energy::Hop { note, .. } => note,
            Energy::Radio(radio) => &radio.note,
        }
    }
}

impl Radio {
    /// The seconds of the two receive windows after a frame, in which nothing comes.
    fn listening_s(&self) -> f64 {
        f64::from(self.window_symbols) * (self.first_window.symbol_s() + self.second_window.symbol_s())
    }
}

impl Window {
    /// The seconds of a symbol.
    fn symbol_s(self) -> f64 {
        lora::symbol(self.spreading_factor, self.bandwidth_hz)
    }
}

impl Link {
    /// Returns the energy in joules for sending all fragments of a message of `bytes` bytes, and on a link with hops for receiving them, over
    /// one hop; `None` if it is not published. The energy of measuring, encoding and waiting is not included.
    pub fn joules(&self, bytes: usize) -> Option<f64> {
        match self.energy.as_ref()? {
            Energy::PerMessage { joules_per_message, joules_per_byte, .. } => {
                let fragment = |payload: usize, _| {
                    joules_per_message + joules_per_byte * payload.max(self.min_payload_bytes) as f64
                };
                Some(self.over_fragments(bytes, fragment))
            }
            Energy::Radio(radio) => {
                let sending = self.airtime_s(bytes)? * radio.transmit_watts;
                let listening = self.over_fragments(bytes, |_, _| radio.listening_s()) * radio.receive_watts;
                Some(sending + listening)
            }
            Energy::Hop { transmit_watts, receive_watts, .. } => {
                let sent = self.airtime_s(bytes)?;
                // A receiver listens on one of the channels.
                let channels = match self.airtime {
                    Some(Airtime::Frames { channels, .. }) => f64::from(channels.max(1)),
                    _ => 1.0,
                };
                Some(sent * transmit_watts + sent / channels * receive_watts)
            }
        }
    }

    /// The years that a battery of `battery_joules` lasts if a device sends `per_day` messages of `joules`
    /// each, with the idle power of the module where that is known. `None` if it draws nothing.
    ///
    /// Self-discharge, the converter's losses and everything but the radio module are left out.
    pub fn battery_years(&self, joules: f64, per_day: f64, battery_joules: f64) -> Option<f64> {
        let idle = self.energy.as_ref().and_then(Energy::idle_watts).unwrap_or(0.0);
        let daily = joules * per_day + idle * DAY_S;
        (daily > 0.0).then(|| battery_joules / daily / DAYS_PER_YEAR)
    }
}

#[cfg(test)]
mod tests {
    use crate::link;

    #[test]
    fn a_measured_module_has_a_fixed_part_and_a_part_per_byte() {
        let joules = |id, bytes| link(id).unwrap().joules(bytes).unwrap();
        // 300 bytes take 30 to 50 mJ.
        assert!((0.03..0.05).contains(&joules("astrocast", 300)));
        assert_eq!(joules("iridium-sbd-mo", 340), 8.6);
        assert_eq!(joules("iridium-sbd-mo", 341), 17.2);
        // 0.152 mWh for an exchange of 200 bytes.
        assert!((joules("lte-m", 200) / 3.6 - 0.152).abs() < 0.001);
        assert_eq!(link("kineis").unwrap().joules(19), None);
    }

    #[test]
    fn a_lorawan_message_costs_its_airtime_and_two_windows() {
        // 10 bytes at SF7: 61.696 ms at 29 mA; 6 symbols of 1.024 ms and 6 of 32.768 ms at 11.5 mA; 3.3 V.
        let expected = (0.061_696 * 0.029 + 6.0 * (0.001_024 + 0.032_768) * 0.0115) * 3.3;
        assert!((link("lorawan-eu868-dr5").unwrap().joules(10).unwrap() - expected).abs() < 1e-9);
    }

    #[test]
    fn both_windows_have_500_khz_in_us915() {
        // 10 bytes at SF10 and 125 kHz: 370.688 ms at 29 mA; 6 symbols of 2.048 ms and 6 of 8.192 ms at 11.5
        // mA; 3.3 V.
        let expected = (0.370_688 * 0.029 + 6.0 * (0.002_048 + 0.008_192) * 0.0115) * 3.3;
        assert!((link("lorawan-us915-dr0").unwrap().joules(10).unwrap() - expected).abs() < 1e-9);
    }

    #[test]
    fn a_hop_costs_its_sender_and_its_receiver() {
        // 4.256 ms at 6.40 mA and at 6.53 mA; 3 V.
        let expected = 0.004_256 * (0.0064 + 0.00653) * 3.0;
        assert!((link("thread").unwrap().joules(63).unwrap() - expected).abs() < 1e-9);
        // The sender sends on three channels, and the receiver listens on one of them.
        let expected = 376e-6 * (3.0 * 0.0064 + 0.00626) * 3.0;
        assert!((link("bluetooth-mesh").unwrap().joules(8).unwrap() - expected).abs() < 1e-9);
    }

    #[test]
    fn the_published_lifetime_with_iridium_is_reproduced() {
        let link = link("iridium-sbd-mo").unwrap();
        // 2400 mAh at 5 V, 100 bytes every 100 minutes: 0.95 years.
        let years = link.battery_years(link.joules(100).unwrap(), 14.4, 2.4 * 5.0 * 3600.0).unwrap();
        assert!((years - 0.95).abs() < 0.01, "{years}");
    }

    #[test]
    fn a_device_that_never_sends_lives_on_its_idle_power() {
        let lte_m = link("lte-m").unwrap();
        // 15 microwatts.
        let years = lte_m.battery_years(0.5, 0.0, 15e-6 * 86_400.0 * 365.25).unwrap();
        assert!((years - 1.0).abs() < 1e-9);
        assert_eq!(link("astrocast").unwrap().battery_years(0.5, 0.0, 1.0), None);
    }
}
