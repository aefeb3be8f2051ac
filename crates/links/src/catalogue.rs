//! The catalogue of links: their limits and prices, with the sources of the figures.

/// Bytes in a kilobyte, as prices count them.
pub(crate) const KB: f64 = 1024.0;
/// Bytes in a megabyte, as prices count them.
pub(crate) const MB: f64 = 1024.0 * 1024.0;

/// A link: what carries the bytes of a message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// The ID in commands and messages, such as `astrocast`.
    pub id: &'static str,
    /// The name for people.
    pub name: &'static str,
    /// The size of the smallest message in bytes.
    pub min_payload_bytes: usize,
    /// The size of the largest message in bytes; `None` if the limit is far above the messages of this project.
    pub max_payload_bytes: Option<usize>,
    /// The size of an ordinary message in bytes, for links on which the largest size is an exception.
    pub standard_payload_bytes: Option<usize>,
    /// The price of the bytes, if it is published.
    pub price: Option<Price>,
    /// The source of these figures.
    pub source: &'static str,
}

/// The price of bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Price {
    /// Euros per kilobyte of 1024 bytes.
    EurPerKb(f64),
    /// Euros per megabyte of 1024 * 1024 bytes.
    EurPerMb(f64),
}

impl Price {
    /// Returns the price of one byte in euros.
    pub fn eur_per_byte(self) -> f64 {
        match self {
            Price::EurPerKb(eur) => eur / KB,
            Price::EurPerMb(eur) => eur / MB,
        }
    }
}

impl Link {
    /// Returns whether the link can carry a message of `bytes` bytes.
    pub fn fits(&self, bytes: usize) -> bool {
        bytes >= self.min_payload_bytes && self.max_payload_bytes.is_none_or(|max| bytes <= max)
    }
}

/// Returns all links, satellites first.
pub fn catalogue() -> &'static [Link] {
    &LINKS
}

/// Returns the link with this ID.
pub fn link(id: &str) -> Option<&'static Link> {
    LINKS.iter().find(|link| link.id == id)
}

/// The source of most figures: a comparison of satellite links. Its Table 7 has the prices.
const HYBRID: &str = "Evaluating Binary Serialization Protocols for IoT/M2M Applications over Hybrid Terrestrial and \
                      Non-Terrestrial Networks (Telecom 2026, 7, 43)";

const LINKS: [Link; 6] = [
    Link {
        id: "astrocast",
        name: "Astrocast LEO",
        min_payload_bytes: 0,
        max_payload_bytes: Some(160),
        standard_payload_bytes: None,
        price: Some(Price::EurPerKb(0.183)),
        source: HYBRID,
    },
    Link {
        id: "iridium-sbd-mo",
        name: "Iridium SBD 9601/9602, mobile-originated",
        min_payload_bytes: 0,
        max_payload_bytes: Some(340),
        standard_payload_bytes: None,
        price: None,
        source: HYBRID,
    },
    Link {
        id: "iridium-sbd-mt",
        name: "Iridium SBD 9601/9602, mobile-terminated",
        min_payload_bytes: 0,
        max_payload_bytes: Some(270),
        standard_payload_bytes: None,
        price: None,
        source: HYBRID,
    },
    Link {
        id: "orbcomm",
        name: "ORBCOMM OG1/OG2",
        min_payload_bytes: 6,
        max_payload_bytes: Some(250),
        standard_payload_bytes: None,
        price: None,
        source: HYBRID,
    },
    Link {
        id: "kineis",
        name: "Kinéis",
        min_payload_bytes: 0,
        max_payload_bytes: Some(30),
        standard_payload_bytes: Some(19),
        price: None,
        source: HYBRID,
    },
    Link {
        id: "lte-m",
        name: "LTE-M / NB-IoT, terrestrial",
        min_payload_bytes: 0,
        max_payload_bytes: None,
        standard_payload_bytes: None,
        price: Some(Price::EurPerMb(0.02)),
        source: HYBRID,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_found_by_its_id_and_ids_are_unique() {
        for (i, entry) in catalogue().iter().enumerate() {
            assert_eq!(link(entry.id), Some(entry));
            assert!(catalogue()[..i].iter().all(|earlier| earlier.id != entry.id));
            assert!(entry.id.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'));
        }
        assert_eq!(link("carrier-pigeon"), None);
    }

    #[test]
    fn the_limits_are_inclusive() {
        let fits = |id, bytes| link(id).unwrap().fits(bytes);
        assert!(fits("astrocast", 160) && !fits("astrocast", 161));
        assert!(fits("iridium-sbd-mo", 340) && !fits("iridium-sbd-mo", 341));
        assert!(fits("iridium-sbd-mt", 270) && !fits("iridium-sbd-mt", 271));
        assert!(!fits("orbcomm", 5) && fits("orbcomm", 6) && fits("orbcomm", 250) && !fits("orbcomm", 251));
        assert!(fits("kineis", 30) && !fits("kineis", 31));
        assert!(fits("lte-m", 1 << 20));
    }

    #[test]
    fn a_standard_message_is_smaller_than_the_largest() {
        for entry in catalogue() {
            if let Some(standard) = entry.standard_payload_bytes {
                assert!(entry.max_payload_bytes.is_some_and(|max| standard < max));
            }
        }
        assert_eq!(link("kineis").unwrap().standard_payload_bytes, Some(19));
    }
}
