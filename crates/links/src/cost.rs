//! Computes the monthly cost of a fleet's messages.

use crate::catalogue::{KB, Link, MB};

/// Days in a month, as prices count them.
const DAYS: f64 = 30.0;

/// The messages that a fleet sends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Traffic {
    /// The size of one message on the link, in bytes.
    pub message_bytes: usize,
    /// The number of messages that each device sends in a day.
    pub messages_per_day: f64,
    /// The number of devices.
    pub devices: u64,
}

/// The traffic of a fleet in a month of 30 days.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Monthly {
    /// The number of bytes.
    pub bytes: f64,
}

impl Traffic {
    /// Returns the traffic of a month of 30 days.
    pub fn monthly(&self) -> Monthly {
        let messages = self.messages_per_day * DAYS * self.devices as f64;
        Monthly { bytes: messages * self.message_bytes as f64 }
    }
}

impl Monthly {
    /// Returns the traffic in kilobytes of 1024 bytes.
    pub fn kb(&self) -> f64 {
        self.bytes / KB
    }

    /// Returns the traffic in megabytes of 1024 * 1024 bytes.
    pub fn mb(&self) -> f64 {
        self.bytes / MB
    }

    /// Returns the cost over `link` in euros; `None` if its price is not known.
    /// [`Link::fits`] tells whether a message fits the link.
    pub fn eur(&self, link: &Link) -> Option<f64> {
        link.price.map(|price| self.bytes * price.eur_per_byte())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link;

    /// Table 7 of "Evaluating Binary Serialization Protocols for IoT/M2M Applications over Hybrid Terrestrial and
    /// Non-Terrestrial Networks": 10,000 devices, 4 messages a day. It computes kilobytes from megabytes that are
    /// rounded to one decimal, so its kilobytes are accurate to 0.05 MB = 51.2 KB, and its satellite costs to that times 0.183 euros.
    #[test]
    fn table_7_is_reproduced_within_its_rounding() {
        let rows = [
            // bytes, MB, terrestrial euros, KB, satellite euros
            (418, 478.4, 9.57, 489_882.0, 89_648.0),
            (138, 157.9, 3.16, 161_690.0, 29_589.0),
            (127, 145.3, 2.91, 148_787.0, 27_228.0),
        ];
        let (terrestrial, satellite) = (link("lte-m").unwrap(), link("astrocast").unwrap());
        for (message_bytes, mb, tn_eur, kb, ntn_eur) in rows {
            let month = Traffic { message_bytes, messages_per_day: 4.0, devices: 10_000 }.monthly();
            assert!((month.mb() - mb).abs() <= 0.051, "{} MB, not {mb}", month.mb());
            assert!((month.kb() - kb).abs() <= 52.0, "{} KB, not {kb}", month.kb());
            assert!((month.eur(terrestrial).unwrap() - tn_eur).abs() <= 0.005);
            assert!((month.eur(satellite).unwrap() - ntn_eur).abs() <= 52.0 * 0.183);
        }
    }

    #[test]
    fn a_link_without_a_price_has_no_cost() {
        let month = Traffic { message_bytes: 30, messages_per_day: 1.0, devices: 1 }.monthly();
        assert_eq!(month.bytes, 900.0);
        assert_eq!(month.eur(link("kineis").unwrap()), None);
    }
}
