//! Prices: the tariffs of providers for the messages of a device.

use crate::Link;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A currency. Amounts in different currencies are never added or compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Currency {
    /// Euro.
    Eur,
    /// Pound sterling.
    Gbp,
    /// US dollar.
    Usd,
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Currency::Eur => "EUR",
            Currency::Gbp => "GBP",
            Currency::Usd => "USD",
        })
    }
}

/// An amount of money.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Money {
    /// The amount.
    pub amount: f64,
    /// Its currency.
    pub currency: Currency,
}

/// The tariff of a provider for a device. Amounts are in the link's currency.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Price {
    /// `amount` for `bytes` billed bytes, in proportion.
    PerByte {
        /// The price of `bytes`.
        amount: f64,
        /// The bytes that `amount` buys.
        bytes: u64,
    },
    /// `amount` for each link message, independent of its size.
    PerMessage {
        /// The price of a message.
        amount: f64,
    },
    /// `amount` for each credit that a link message begins; at least one.
    PerCredit {
        /// The price of a credit.
        amount: f64,
        /// The bytes of a credit.
        bytes: u64,
    },
    /// `amount` for a month, with a volume.
    PerMonth {
        /// The price of a month.
        amount: f64,
        /// The volume.
        included_bytes: u64,
        /// The price of what exceeds the volume; `None` if it is not published.
        overage: Option<Overage>,
    },
    /// `amount` for each day on which the device sends.
    PerDay {
        /// The price of a day.
        amount: f64,
        /// The days of a month that are charged at most.
        days_per_month: u32,
    },
    /// `amount` at once for a volume, which expires.
    Prepaid {
        /// The price of the volume.
        amount: f64,
        /// The volume.
        included_bytes: u64,
        /// The months after which it expires.
        months: u32,
    },
}

/// The price of the bytes beyond a volume, in proportion.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overage {
    /// The price of `bytes`.
    pub amount: f64,
    /// The bytes that `amount` buys.
    pub bytes: u64,
}

/// The traffic of a device in a month.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Use {
    /// The billed bytes.
    pub bytes: f64,
    /// The link messages, fragments counted.
    pub messages: f64,
    /// The credits, for a price per credit.
    pub credits: f64,
    /// The days on which the device sends.
    pub days: f64,
}

impl Price {
    /// The price of a device's month without fees; `None` if the volume is exceeded and the price of that is
    /// not published.
    pub(crate) fn month(&self, used: Use) -> Option<f64> {
        match *self {
            Price::PerByte { amount, bytes } => Some(used.bytes / bytes as f64 * amount),
            Price::PerMessage { amount } => Some(used.messages * amount),
            Price::PerCredit { amount, .. } => Some(used.credits * amount),
            Price::PerMonth { amount, included_bytes, overage } => {
                let beyond = (used.bytes - included_bytes as f64).max(0.0);
                let more = overage.map(|more| beyond / more.bytes as f64 * more.amount);
                if beyond > 0.0 { more.map(|more| amount + more) } else { Some(amount) }
            }
            Price::PerDay { amount, days_per_month } => {
                Some(used.days.min(f64::from(days_per_month)) * amount)
            }
            Price::Prepaid { amount, included_bytes, months } => {
                let volumes = used.bytes / included_bytes as f64;
                Some(amount * volumes.max(1.0 / f64::from(months)))
            }
        }
    }
}

impl Link {
    /// The credits that a message of `bytes` bytes takes, 0 unless they are the link's price.
    pub(crate) fn credits(&self, bytes: usize) -> f64 {
        let Some(Price::PerCredit { bytes: credit, .. }) = self.price else { return 0.0 };
        self.over_fragments(bytes, |payload, overhead| {
            self.billed(payload, overhead).div_ceil(credit.max(1)).max(1) as f64
        })
    }

    /// The price and the monthly fee in words, such as `EUR 0.183 per KB of 1024 B`; `None` if no price is
    /// published.
    pub fn price_text(&self) -> Option<String> {
        let currency = self.currency?;
        let price = match self.price? {
            Price::PerByte { amount, bytes } => format!("{currency} {amount} per {}", volume(bytes)),
            Price::PerMessage { amount } => format!("{currency} {amount} per message"),
            Price::PerCredit { amount, bytes } => format!("{currency} {amount} per {bytes} B begun"),
            Price::PerMonth { amount, included_bytes: 0, overage: Some(more) } => {
                format!("{currency} {amount} a month and {} per {}", more.amount, volume(more.bytes))
            }
            Price::PerMonth { amount, included_bytes, .. } => {
                format!("{currency} {amount} a month with {}", volume(included_bytes))
            }
            Price::PerDay { amount, days_per_month } => {
                format!("{currency} {amount} a day with messages, at most {days_per_month} days a month")
            }
            Price::Prepaid { amount, included_bytes, months } => {
                format!("{currency} {amount} for {} within {months} months", volume(included_bytes))
            }
        };
        Some(match self.fees.monthly {
            Some(fee) => format!("{price}, and {fee} a month"),
            None => price,
        })
    }
}

/// Bytes in the unit of the price, with the unit's size, as providers disagree on it.
fn volume(bytes: u64) -> String {
    for (unit, size) in [("MB", 1 << 20), ("MB", 1_000_000), ("KB", 1 << 10), ("KB", 1000)] {
        if bytes.is_multiple_of(size) {
            let count = if bytes == size { String::new() } else { format!("{} ", bytes / size) };
            return format!("{count}{unit} of {size} B");
        }
    }
    format!("{bytes} B")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link;

    const USED: Use = Use { bytes: 1000.0, messages: 10.0, credits: 20.0, days: 30.0 };

    #[test]
    fn each_price_charges_what_it_names() {
        let month = |price: Price| price.month(USED);
        assert_eq!(month(Price::PerByte { amount: 2.0, bytes: 500 }), Some(4.0));
        assert_eq!(month(Price::PerMessage { amount: 0.5 }), Some(5.0));
        assert_eq!(month(Price::PerCredit { amount: 0.1, bytes: 50 }), Some(2.0));
        assert_eq!(month(Price::PerDay { amount: 6.0, days_per_month: 12 }), Some(72.0));
        let overage = Some(Overage { amount: 1.0, bytes: 100 });
        assert_eq!(month(Price::PerMonth { amount: 5.0, included_bytes: 400, overage }), Some(11.0));
        assert_eq!(month(Price::PerMonth { amount: 5.0, included_bytes: 1000, overage: None }), Some(5.0));
        assert_eq!(month(Price::PerMonth { amount: 5.0, included_bytes: 999, overage: None }), None);
    }

    #[test]
    fn a_prepaid_volume_is_spread_over_its_months_or_bought_again() {
        let price = |included_bytes| Price::Prepaid { amount: 12.0, included_bytes, months: 120 };
        assert_eq!(price(1_000_000).month(USED), Some(0.1));
        assert_eq!(price(1000).month(USED), Some(12.0));
    }

    #[test]
    fn a_message_takes_at_least_one_credit_and_each_fragment_its_own() {
        let credits = |bytes| link("iridium-sbd-mo").unwrap().credits(bytes);
        assert_eq!(
            (credits(0), credits(50), credits(51), credits(340), credits(341)),
            (1.0, 1.0, 2.0, 7.0, 8.0)
        );
        assert_eq!(link("astrocast").unwrap().credits(160), 0.0);
    }

    #[test]
    fn prices_are_put_in_words() {
        let text = |id| link(id).unwrap().price_text();
        assert_eq!(text("astrocast").as_deref(), Some("EUR 0.183 per KB of 1024 B"));
        assert_eq!(text("iridium-sbd-mo").as_deref(), Some("GBP 0.145 per 50 B begun, and 17 a month"));
        assert_eq!(text("lte-m").as_deref(), Some("EUR 0.02 per MB of 1048576 B"));
        assert_eq!(text("nb-iot-1nce").as_deref(), Some("USD 14 for 500 MB of 1000000 B within 120 months"));
        assert_eq!(text("kineis"), None);
    }
}
