//! The catalogue of links: `catalogue.toml`, which has their figures with the sources.

use crate::{
    Link,
    document::{self, Catalogue, Source},
};
use std::sync::LazyLock;

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| {
    document::read(include_str!("../catalogue.toml")).expect("a test reads the embedded catalogue")
});

/// Returns all links: those of the default first, then satellites, cellular networks, others.
pub fn catalogue() -> &'static [Link] {
    &CATALOGUE.links
}

/// Returns the link with this ID.
pub fn link(id: &str) -> Option<&'static Link> {
    catalogue().iter().find(|link| link.id == id)
}

/// Returns the source with this ID.
pub fn source(id: &str) -> Option<&'static Source> {
    CATALOGUE.sources.get(id)
}

/// Returns the IDs that contain a word of `id`, for a person who does not know the ID: `iridium` finds all of
/// Iridium's. Words of one or two letters are ignored.
pub fn near(id: &str) -> Vec<&'static str> {
    let lower = id.to_lowercase();
    let words: Vec<_> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2).collect();
    let hits = |link: &&Link| words.iter().filter(|word| link.id.contains(**word)).count();
    let most = catalogue().iter().map(|link| hits(&link)).max().unwrap_or(0);
    catalogue().iter().filter(|link| most > 0 && hits(link) == most).map(|link| link.id.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Price;
    use std::collections::BTreeSet;

    #[test]
    fn the_embedded_catalogue_can_be_read() {
        let read = document::read(include_str!("../catalogue.toml"));
        assert!(read.is_ok(), "{}", read.unwrap_err());
        let misspelt =
            include_str!("../catalogue.toml").replace("max_payload_bytes = 160", "max_payload_byte = 160");
        assert!(document::read(&misspelt).unwrap_err().to_string().contains("max_payload_byte"));
    }

    #[test]
    fn a_link_is_found_by_its_id_and_ids_are_unique() {
        for (i, entry) in catalogue().iter().enumerate() {
            assert_eq!(link(&entry.id), Some(entry));
            assert!(catalogue()[..i].iter().all(|earlier| earlier.id != entry.id), "{}", entry.id);
            assert!(entry.id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'));
        }
        assert_eq!(link("carrier-pigeon"), None);
    }

    #[test]
    fn the_links_of_the_paper_come_first_with_its_limits() {
        let default: Vec<_> = catalogue().iter().filter(|link| link.compare).collect();
        let limits: Vec<_> = default.iter().map(|link| (link.id.as_str(), link.max_payload_bytes)).collect();
        let paper = [
            ("astrocast", Some(160)),
            ("iridium-sbd-mo", Some(340)),
            ("iridium-sbd-mt", Some(270)),
            ("orbcomm", Some(250)),
            ("kineis", Some(30)),
            ("lte-m", None),
        ];
        assert_eq!(limits, paper);
        assert!(catalogue().iter().take(paper.len()).all(|link| link.compare));
        assert_eq!(link("kineis").unwrap().standard_payload_bytes, Some(19));
    }

    /// The figures of a row that need a source.
    fn figures(link: &Link) -> BTreeSet<&'static str> {
        let figures = [
            ("ended", link.ended.is_some()),
            ("min_payload_bytes", link.min_payload_bytes > 0),
            ("max_payload_bytes", link.max_payload_bytes.is_some()),
            ("standard_payload_bytes", link.standard_payload_bytes.is_some()),
            ("overhead", !link.overhead.is_empty()),
            ("minimum_billed_bytes", link.minimum_billed_bytes > 0),
            ("billing_step_bytes", link.billing_step_bytes > 1),
            ("price", link.price.is_some()),
            ("fees", link.fees != crate::Fees::default()),
            ("mesh", link.mesh.is_some()),
            ("airtime", link.airtime.is_some()),
            ("duty_cycle", link.duty_cycle.is_some()),
            ("dwell_time_s", link.dwell_time_s.is_some()),
            ("messages_per_day", link.messages_per_day.is_some()),
            ("min_interval_s", link.min_interval_s.is_some()),
            ("latency", link.latency.is_some()),
            ("delivery", link.delivery.is_some()),
            ("acknowledged", link.acknowledged.is_some()),
            ("downlink", link.downlink.is_some()),
            ("energy", link.energy.is_some()),
            ("note", link.note.is_some()),
        ];
        figures.into_iter().filter_map(|(figure, present)| present.then_some(figure)).collect()
    }

    #[test]
    fn every_figure_has_a_source_and_every_source_is_used() {
        let mut used = BTreeSet::new();
        for link in catalogue() {
            let sourced: BTreeSet<_> = link.sources.keys().map(String::as_str).collect();
            assert_eq!(figures(link), sourced, "{}", link.id);
            for (figure, ids) in &link.sources {
                assert!(!ids.is_empty(), "{} {figure}", link.id);
                for id in ids {
                    assert!(source(id).is_some(), "{} {figure}: {id}", link.id);
                    used.insert(id.as_str());
                }
            }
        }
        assert_eq!(used, CATALOGUE.sources.keys().map(String::as_str).collect());
    }

    #[test]
    fn every_source_has_an_address_and_a_date() {
        let date = |text: &str| {
            let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
            ["0000", "0000-00", "0000-00-00"].contains(&shape.as_str())
        };
        for (id, source) in &CATALOGUE.sources {
            assert!(source.url.starts_with("https://") || source.url.starts_with("http://"), "{id}");
            assert!(source.title.len() > 5, "{id}");
            assert!(date(&source.read) && source.read.len() == 10, "{id}");
            assert!(source.date.as_deref().is_none_or(date), "{id}");
        }
    }

    #[test]
    fn the_figures_of_a_row_are_plausible_and_consistent() {
        for link in catalogue() {
            let id = &link.id;
            let max = link.max_payload_bytes.unwrap_or(usize::MAX);
            assert!(link.min_payload_bytes <= max && max > 0, "{id}");
            assert!(!(link.unlimited && link.max_payload_bytes.is_some()), "{id}");
            assert!(link.standard_payload_bytes.is_none_or(|standard| standard < max), "{id}");
            let is_priced = link.price.is_some() || link.fees != crate::Fees::default();
            assert_eq!(link.currency.is_some(), is_priced, "{id}");
            assert!(link.billing_step_bytes > 0, "{id}");
            assert!(link.duty_cycle.is_none_or(|duty| duty > 0.0 && duty <= 1.0), "{id}");
            let positive = [link.dwell_time_s, link.messages_per_day, link.min_interval_s];
            assert!(positive.into_iter().flatten().all(|figure| figure > 0.0), "{id}");
            assert!(
                link.latency.is_none_or(|it| it.worst_s.is_none_or(|worst| worst >= it.typical_s)),
                "{id}"
            );
            match link.price {
                Some(Price::PerByte { amount, bytes } | Price::PerCredit { amount, bytes }) => {
                    assert!(amount > 0.0 && bytes > 0, "{id}");
                }
                Some(Price::Prepaid { included_bytes, months, .. }) => {
                    assert!(included_bytes > 0 && months > 0, "{id}");
                }
                _ => {}
            }
        }
    }

    #[test]
    fn near_ids_are_found_by_their_words() {
        assert_eq!(
            near("orbcomm-og2"),
            ["orbcomm", "orbcomm-message", "orbcomm-report", "orbcomm-globalgram"]
        );
        assert_eq!(near("EU868 DR3").len(), 1);
        assert_eq!(near("lorawan_us915").len(), 5);
        assert!(near("carrier-pigeon").is_empty());
    }
}
