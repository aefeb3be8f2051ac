//! The energy of a message, and the battery life.

use super::{Lorawan, Mcu, Radio, airtime};

const DAY: f64 = 86_400.0;

impl Mcu {
    /// Joules of `count` cycles, or of `count` instructions where those are counted.
    pub fn joules(&self, count: f64) -> f64 {
        let cycles = count * self.cycles_per_instruction.unwrap_or(1.0);
        // mA/MHz is nC per cycle.
        cycles * self.milliamps_per_mhz * 1e-9 * self.volts
    }

    /// The power during sleep, in watts.
    pub fn sleep_watts(&self) -> f64 {
        self.sleep_microamps * 1e-6 * self.volts
    }
}

/// The cost of sending a message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sending {
    /// Joules of all frames.
    pub joules: f64,
    /// Frames; more than one when the message is over the link's limit, and the sender has to split it.
    pub frames: usize,
    /// Watts of the sleeping radio.
    pub sleep_watts: f64,
}

impl Radio {
    /// The cost of sending `bytes` bytes. If the link's limit in the catalogue is lower, they are split into several messages.
    pub fn send(&self, bytes: usize) -> Sending {
        let limit =
            self.link.as_deref().and_then(dunnage_links::link).and_then(|link| link.max_payload_bytes);
        let frames = limit.map_or(1, |limit| bytes.div_ceil(limit).max(1));
        let joules = frames as f64 * self.joules_per_message + bytes as f64 * self.joules_per_byte;
        Sending { joules, frames, sleep_watts: self.sleep_watts }
    }
}

impl Lorawan {
    /// The spreading factors that it sends with.
    pub fn spreading_factors(&self) -> impl Iterator<Item = u32> {
        self.payload_bytes.keys().copied()
    }

    /// The cost of sending `bytes` bytes in unconfirmed uplinks. Each opens two receive windows, the second at SF12, in which nothing arrives.
    pub fn send(&self, spreading_factor: u32, bytes: usize) -> Sending {
        let limit = self.payload_bytes[&spreading_factor];
        let frames = bytes.div_ceil(limit).max(1);
        let transmit = |payload| airtime::frame(spreading_factor, payload + self.frame_overhead_bytes);
        let on_air = (frames - 1) as f64 * transmit(limit) + transmit(bytes - (frames - 1) * limit);
        let windows = airtime::symbol(spreading_factor) + airtime::symbol(12);
        let listening = frames as f64 * f64::from(self.window_symbols) * windows;
        let joules =
            (on_air * self.transmit_milliamps + listening * self.receive_milliamps) * 1e-3 * self.volts;
        Sending { joules, frames, sleep_watts: self.sleep_microamps * 1e-6 * self.volts }
    }
}

/// The energy of periodic messages.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Joules to encode it.
    pub encode: f64,
    /// Joules to send it.
    pub send: f64,
    /// Watts between the messages, of everything.
    pub sleep_watts: f64,
    /// Seconds from one message to the next.
    pub interval: f64,
}

impl Budget {
    /// The days that `joules` last. The time for encoding and sending is neglected.
    pub fn days(&self, joules: f64) -> f64 {
        let each = self.encode + self.send + self.sleep_watts * self.interval;
        joules / each * self.interval / DAY
    }

    /// The share of encoding in the energy of a message, from 0 to 1.
    pub fn encoding_share(&self) -> f64 {
        self.encode / (self.encode + self.send)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::Figures;

    fn figures() -> Figures {
        Figures::load().expect("the files can be read")
    }

    fn radio(id: &str) -> Radio {
        figures().radios.into_iter().find(|radio| radio.id == id).expect("it is in the file")
    }

    const YEAR: f64 = 365.25;

    #[test]
    fn a_cycle_of_the_atmega_takes_voltage_times_charge() {
        let figures = figures();
        let mcu = figures.mcu("atmega328p").expect("it is in the file");
        // 1.7 mA at 3 V for the second that 4 million cycles take.
        assert!((mcu.joules(4e6) - 1.7e-3 * 3.0).abs() < 1e-12);
        assert!((mcu.sleep_watts() - 12.6e-6).abs() < 1e-12);
    }

    #[test]
    fn instructions_are_converted_to_cycles() {
        let figures = figures();
        let mcu = figures.mcu("cortex-m3").expect("it is in the file");
        let cycles = 1000.0 * mcu.cycles_per_instruction.expect("instructions are counted");
        assert!((mcu.joules(1000.0) - cycles * 0.214e-9 * 3.0).abs() < 1e-15);
    }

    /// The two lifetimes of 3GPP TR 45.820 from which the radio's two figures were derived, to the published precision.
    #[test]
    fn narrowband_lifetimes_in_deep_coverage_are_reproduced() {
        let radio = radio("nb-iot-164db");
        for (bytes, interval, years) in [(200, 7200.0, 1.7), (50, DAY, 18.1)] {
            let Sending { joules, sleep_watts, .. } = radio.send(bytes);
            let budget = Budget { encode: 0.0, send: joules, sleep_watts, interval };
            let days = budget.days(figures().battery.joules);
            assert!((days / YEAR - years).abs() < 0.05, "{bytes} bytes: {} years", days / YEAR);
        }
    }

    /// The published measurements of an exchange of 200 + 200 bytes, in mWh.
    #[test]
    fn cellular_measurements_are_reproduced() {
        for (id, milliwatt_hours) in [("lte-m", 0.152), ("nb-iot", 0.076)] {
            let joules = radio(id).send(200).joules;
            assert!((joules / 3.6 - milliwatt_hours).abs() < 0.001, "{id}: {}", joules / 3.6);
        }
    }

    #[test]
    fn satellite_measurements_are_reproduced() {
        // 30 to 50 mJ for 300 bytes.
        assert!((0.03..0.05).contains(&(300.0 * radio("astrocast").joules_per_byte)));
        // 2400 mAh at 5 V last 0.95 years with 100 bytes every 100 minutes.
        let Sending { joules, sleep_watts, .. } = radio("iridium-sbd").send(100);
        let days =
            Budget { encode: 0.0, send: joules, sleep_watts, interval: 6000.0 }.days(2.4 * 3600.0 * 5.0);
        assert!((days / YEAR - 0.95).abs() < 0.01, "{}", days / YEAR);
    }

    #[test]
    fn messages_over_the_limit_are_split() {
        assert_eq!(radio("astrocast").send(160).frames, 1);
        assert_eq!(radio("astrocast").send(161).frames, 2);
        assert_eq!(radio("iridium-sbd").send(341).joules, 2.0 * radio("iridium-sbd").send(1).joules);
        assert_eq!(radio("lte-m").send(100_000).frames, 1);
        let lorawan = figures().lorawan;
        assert_eq!(lorawan.send(12, 51).frames, 1);
        assert_eq!(lorawan.send(12, 52).frames, 2);
        assert_eq!(lorawan.send(7, 0).frames, 1);
        assert!(lorawan.send(12, 52).joules > lorawan.send(12, 51).joules + lorawan.send(12, 1).joules * 0.9);
    }

    #[test]
    fn a_frame_at_sf7_costs_its_time_on_air_and_its_windows() {
        // 10 bytes: 61.7 ms at 29 mA; 6 symbols of 1.024 ms and 6 of 32.768 ms at 11.5 mA; 3.3 V.
        let expected = (0.061_696 * 0.029 + 6.0 * (0.001_024 + 0.032_768) * 0.0115) * 3.3;
        assert!((figures().lorawan.send(7, 10).joules - expected).abs() < 1e-9);
    }

    #[test]
    fn battery_days_and_shares_are_computed_from_the_parts() {
        let budget = Budget { encode: 1.0, send: 3.0, sleep_watts: 0.001, interval: 1000.0 };
        // 5 joules each 1000 s.
        assert!((budget.days(432.0) - 1.0).abs() < 1e-12);
        assert_eq!(budget.encoding_share(), 0.25);
    }
}
