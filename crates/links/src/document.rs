//! The form of `catalogue.toml`.

use crate::{
    Airtime, Energy, Link, LoraRate, Overhead,
    energy::{Radio, Window},
    link::Direction,
    lora::LORAWAN_PREAMBLE,
};
use serde::Deserialize;
use std::collections::BTreeMap;

type Sources = BTreeMap<String, Vec<String>>;

/// Where a figure comes from.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Its title, and the place of the figure in it.
    pub title: String,
    /// Its address.
    pub url: String,
    /// The date that it bears; `None` if it bears none.
    pub date: Option<String>,
    /// The day on which it was read.
    pub read: String,
}

/// The file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    source: BTreeMap<String, Source>,
    link: Vec<Link>,
    lorawan_radio: LorawanRadio,
    lorawan: Vec<Region>,
}

/// Figures that all LoRaWAN links share.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct LorawanRadio {
    overhead: Vec<Overhead>,
    transmit_watts: f64,
    receive_watts: f64,
    idle_watts: f64,
    window_symbols: u32,
    energy_note: String,
    note: String,
    price_note: String,
    sources: Sources,
}

/// A region of LoRaWAN.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Region {
    prefix: String,
    name: String,
    duty_cycle: Option<f64>,
    dwell_time_s: Option<f64>,
    second_window: Window,
    data_rates: Vec<DataRate>,
    sources: Sources,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct DataRate {
    index: u8,
    spreading_factor: u32,
    bandwidth_hz: u32,
    max_payload_bytes: usize,
    /// The data rate of the first receive window; `None` if it is that of the uplink.
    first_window: Option<Window>,
}

/// The links and sources of the catalogue.
#[derive(Debug, Clone)]
pub struct Catalogue {
    /// The links of the file, then those of LoRaWAN.
    pub links: Vec<Link>,
    /// The sources by ID.
    pub sources: BTreeMap<String, Source>,
}

/// Reads the text of the file. Errors name the line and the key.
pub fn read(text: &str) -> Result<Catalogue, toml::de::Error> {
    let document: Document = toml::from_str(text)?;
    let radio = &document.lorawan_radio;
    let lorawan = document
        .lorawan
        .iter()
        .flat_map(|region| region.data_rates.iter().map(|rate| radio.link(region, rate)));
    let links = document.link.into_iter().chain(lorawan).collect();
    Ok(Catalogue { links, sources: document.source })
}

impl LorawanRadio {
    /// The link of one data rate.
    fn link(&self, region: &Region, rate: &DataRate) -> Link {
        let Region { prefix, name, .. } = region;
        let DataRate { index, spreading_factor, bandwidth_hz, .. } = *rate;
        let lora = LoraRate { spreading_factor, bandwidth_hz, preamble_symbols: LORAWAN_PREAMBLE };
        Link {
            id: format!("{prefix}{index}"),
            name: format!("{name} DR{index}, SF{spreading_factor} at {} kHz", bandwidth_hz / 1000),
            compare: false,
            direction: Direction::Up,
            ended: None,
            min_payload_bytes: 0,
            max_payload_bytes: Some(rate.max_payload_bytes),
            unlimited: false,
            standard_payload_bytes: None,
            overhead: self.overhead.clone(),
            minimum_billed_bytes: 0,
            billing_step_bytes: 1,
            currency: None,
            price: None,
            fees: crate::Fees::default(),
            price_note: Some(self.price_note.clone()),
            mesh: None,
            airtime: Some(Airtime::Lora(lora)),
            duty_cycle: region.duty_cycle,
            dwell_time_s: region.dwell_time_s,
            messages_per_day: None,
            min_interval_s: None,
            latency: None,
            delivery: None,
            acknowledged: None,
            downlink: None,
            energy: Some(Energy::Radio(Radio {
                transmit_watts: self.transmit_watts,
                receive_watts: self.receive_watts,
                idle_watts: self.idle_watts,
                window_symbols: self.window_symbols,
                first_window: rate.first_window.unwrap_or(Window { spreading_factor, bandwidth_hz }),
                second_window: region.second_window,
                estimate: true,
                note: self.energy_note.clone(),
            })),
            note: Some(self.note.clone()),
            sources: self.sources_of(region),
        }
    }

    /// The sources of the radio and of the region, joined figure by figure.
    fn sources_of(&self, region: &Region) -> Sources {
        let mut sources = region.sources.clone();
        for (figure, ids) in &self.sources {
            sources.entry(figure.clone()).or_default().extend(ids.iter().cloned());
        }
        sources
    }
}
