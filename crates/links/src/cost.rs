//! Computes the monthly volume and cost of a fleet's messages.

use crate::{Currency, DAY_S, Link, Money, price::Use};
use std::fmt;

/// Bytes in a megabyte, as the prices of the catalogue count them.
const MB: f64 = 1024.0 * 1024.0;
/// Days in a month, as prices count them.
pub(crate) const DAYS: f64 = 30.0;

/// The messages that a fleet sends, if all have one size.
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
    /// The number of bytes, without the overhead of the link.
    pub bytes: f64,
    traffic: Traffic,
}

impl Traffic {
    /// Returns the traffic of a month of 30 days.
    pub fn monthly(&self) -> Monthly {
        let messages = self.messages_per_day * DAYS * self.devices as f64;
        Monthly { bytes: messages * self.message_bytes as f64, traffic: *self }
    }
}

impl Monthly {
    /// Returns the traffic in megabytes of 1024 * 1024 bytes.
    pub fn mb(&self) -> f64 {
        self.bytes / MB
    }

    /// Returns the cost over `link` in euros, with what the link adds to each message and its monthly fee;
    /// `None` if its price is not published, or not in euros. [`Link::fits`] tells whether a message fits the
    /// link.
    pub fn eur(&self, link: &Link) -> Option<f64> {
        let Traffic { message_bytes, messages_per_day, devices } = self.traffic;
        let load = Load { sizes: &[message_bytes], messages_per_day, devices };
        let cost = load.month(link).cost.filter(|cost| cost.currency == Currency::Eur)?;
        Some(cost.amount)
    }
}

/// The messages that a fleet sends: some sizes, each of which is equally frequent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load<'a> {
    sizes: &'a [usize],
    messages_per_day: f64,
    devices: u64,
}

/// Why the figures of a load are rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadError {
    /// The list of sizes is empty.
    NoSizes,
    /// The number of messages a day is negative, not a number, or above [`Load::MAX_PER_DAY`].
    MessagesPerDay,
    /// The number of devices is above [`Load::MAX_DEVICES`].
    Devices,
    /// The number of hops is 0 or above the link's limit.
    Hops {
        /// The ID of the link.
        link: &'static str,
        /// The most hops of a message on it.
        most: u32,
    },
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::NoSizes => f.write_str("no message sizes"),
            LoadError::MessagesPerDay => {
                write!(f, "messages per day must be from 0 to {}, one per second", Load::MAX_PER_DAY)
            }
            LoadError::Devices => write!(f, "devices must be from 0 to {}", Load::MAX_DEVICES),
            LoadError::Hops { link, most } => write!(f, "hops on {link} must be from 1 to {most}"),
        }
    }
}

impl std::error::Error for LoadError {}

/// The traffic and the cost of a fleet in a month of 30 days.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Month {
    /// The bytes of the messages.
    pub payload_bytes: f64,
    /// The bytes that the provider counts.
    pub billed_bytes: f64,
    /// The cost with the monthly fee; `None` if it is not published.
    pub cost: Option<Money>,
}

impl<'a> Load<'a> {
    /// The most messages that a device sends in a day: one per second.
    pub const MAX_PER_DAY: f64 = DAY_S;
    /// The most devices.
    pub const MAX_DEVICES: u64 = 1_000_000_000;

    /// Creates a load of messages of these sizes in bytes.
    pub fn new(sizes: &'a [usize], messages_per_day: f64, devices: u64) -> Result<Load<'a>, LoadError> {
        if sizes.is_empty() {
            return Err(LoadError::NoSizes);
        }
        if !(0.0..=Load::MAX_PER_DAY).contains(&messages_per_day) {
            return Err(LoadError::MessagesPerDay);
        }
        if devices > Load::MAX_DEVICES {
            return Err(LoadError::Devices);
        }
        Ok(Load { sizes, messages_per_day, devices })
    }

    /// The mean of `f` over the sizes.
    pub fn mean(&self, f: impl Fn(usize) -> f64) -> f64 {
        self.sizes.iter().map(|size| f(*size)).sum::<f64>() / self.sizes.len().max(1) as f64
    }

    /// The traffic and the cost of the fleet over `link` in a month. Messages above the link's limit count
    /// with all of their fragments.
    pub fn month(&self, link: &Link) -> Month {
        let messages = self.messages_per_day * DAYS;
        let devices = self.devices as f64;
        let used = Use {
            bytes: messages * self.mean(|size| link.billed_bytes(size)),
            messages: messages * self.mean(|size| link.fragments(size).unwrap_or(1) as f64),
            credits: messages * self.mean(|size| link.credits(size)),
            days: messages.min(DAYS),
        };
        let price = link.price.and_then(|price| price.month(used));
        let cost = price.zip(link.currency).map(|(price, currency)| Money {
            amount: devices * (price + link.fees.monthly.unwrap_or(0.0)),
            currency,
        });
        Month {
            payload_bytes: devices * messages * self.mean(|size| size as f64),
            billed_bytes: devices * used.bytes,
            cost,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link;

    fn month(id: &str, sizes: &[usize], per_day: f64, devices: u64) -> Month {
        Load::new(sizes, per_day, devices).unwrap().month(link(id).unwrap())
    }

    #[test]
    fn satellites_charge_the_payload_and_cellular_networks_the_packet() {
        let satellite = month("astrocast", &[160], 4.0, 10);
        assert_eq!((satellite.payload_bytes, satellite.billed_bytes), (192_000.0, 192_000.0));
        assert!((satellite.cost.unwrap().amount - 192_000.0 / 1024.0 * 0.183).abs() < 1e-9);
        let cellular = month("lte-m", &[160], 4.0, 10);
        assert_eq!((cellular.payload_bytes, cellular.billed_bytes), (192_000.0, 1200.0 * 217.0));
        assert!((cellular.cost.unwrap().amount - 1200.0 * 217.0 / 1_048_576.0 * 0.02).abs() < 1e-12);
    }

    #[test]
    fn a_line_rental_is_paid_by_each_device() {
        // 120 messages of 2 credits, and the line.
        let cost = month("iridium-sbd-mo", &[56], 4.0, 100).cost.unwrap();
        assert_eq!(cost.currency, Currency::Gbp);
        assert!((cost.amount - 100.0 * (120.0 * 2.0 * 0.145 + 17.0)).abs() < 1e-9, "{}", cost.amount);
    }

    #[test]
    fn sizes_are_equally_frequent_and_rounded_one_by_one() {
        // One credit and two: one and a half on average, though a message of the mean size, 55 bytes, takes
        // two.
        let mixed = month("iridium-sbd-mo", &[10, 100], 1.0, 1).cost.unwrap().amount;
        assert!((mixed - (30.0 * 1.5 * 0.145 + 17.0)).abs() < 1e-9);
    }

    #[test]
    fn a_link_without_a_price_has_no_cost() {
        let traffic = Traffic { message_bytes: 30, messages_per_day: 1.0, devices: 1 };
        assert_eq!(traffic.monthly().bytes, 900.0);
        assert_eq!(traffic.monthly().eur(link("kineis").unwrap()), None);
        // Pounds are not euros.
        assert_eq!(traffic.monthly().eur(link("iridium-sbd-mo").unwrap()), None);
    }

    #[test]
    fn an_impossible_load_is_an_error() {
        assert_eq!(Load::new(&[], 1.0, 1), Err(LoadError::NoSizes));
        for rate in [-1.0, f64::NAN, f64::INFINITY, 86_401.0] {
            assert_eq!(Load::new(&[1], rate, 1), Err(LoadError::MessagesPerDay));
        }
        assert_eq!(Load::new(&[1], 1.0, u64::MAX), Err(LoadError::Devices));
    }
}
