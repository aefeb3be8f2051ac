//! The simulation as JSON.

use super::Report;
use super::table::{airtime_s, month_cost};
use dunnage_links::{Currency, Money};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Json<'a> {
    schema: &'a str,
    devices: u64,
    simulated_devices: u64,
    messages_per_day: f64,
    loss: f64,
    ack_loss: f64,
    ack_every: u32,
    ack_delay: usize,
    forms: Vec<Form<'a>>,
}

#[derive(Serialize)]
struct Form<'a> {
    form: &'a str,
    messages: u64,
    mean_bytes: f64,
    p50_bytes: usize,
    p90_bytes: usize,
    p99_bytes: usize,
    max_bytes: usize,
    delivered: u64,
    quarantined: u64,
    wrong: u64,
    /// The number of messages of each size.
    sizes: BTreeMap<usize, u64>,
    links: BTreeMap<&'a str, OnLink>,
}

#[derive(Serialize)]
struct OnLink {
    /// The share of messages within the limit, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    fit: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    airtime_s_per_day: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    price_per_month: Option<Price>,
}

#[derive(Serialize)]
struct Price {
    amount: f64,
    currency: Currency,
}

pub fn render(report: &Report) -> String {
    let forms = report.outcomes.iter().map(|outcome| {
        let sizes = &outcome.sizes;
        let counts = sizes.counts().iter().copied().enumerate();
        let on_link = |link: &dunnage_links::Link| OnLink {
            fit: link.max_payload_bytes.map(|limit| sizes.share(limit)),
            airtime_s_per_day: airtime_s(report, link, outcome),
            price_per_month: month_cost(report, link, outcome)
                .map(|Money { amount, currency }| Price { amount, currency }),
        };
        Form {
            form: outcome.form.name(),
            messages: sizes.messages(),
            mean_bytes: sizes.mean(),
            p50_bytes: sizes.percentile(0.5),
            p90_bytes: sizes.percentile(0.9),
            p99_bytes: sizes.percentile(0.99),
            max_bytes: sizes.percentile(1.0),
            delivered: outcome.delivered,
            quarantined: outcome.quarantined,
            wrong: outcome.wrong,
            sizes: counts.filter(|(_, count)| *count > 0).collect(),
            links: report.links.iter().map(|link| (link.id.as_str(), on_link(link))).collect(),
        }
    });
    let json = Json {
        schema: &report.schema,
        devices: report.devices,
        simulated_devices: report.simulated,
        messages_per_day: report.per_day,
        loss: report.network.loss,
        ack_loss: report.network.ack_loss,
        ack_every: report.network.ack_every,
        ack_delay: report.network.ack_delay,
        forms: forms.collect(),
    };
    serde_json::to_string_pretty(&json).unwrap_or_default()
}
