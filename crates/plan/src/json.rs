//! The plan as JSON. docs/plan.md describes the keys.

use crate::{
    Report,
    estimate::{Estimate, Fit, LinkPlan},
    sizes::FormatSizes,
};
use dunnage_links::{Currency, Direction, Energy, Link, Money, Source, source};
use serde::Serialize;
use std::io;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'a str,
    messages: Vec<Message<'a>>,
    devices: u64,
    messages_per_day: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    battery_joules: Option<f64>,
    links: Vec<LinkRow<'a>>,
    refused: Vec<Refused<'a>>,
    advice: AdviceRow<'a>,
}

#[derive(Serialize)]
struct Message<'a> {
    name: &'a str,
    json_bytes: usize,
}

#[derive(Serialize)]
struct Refused<'a> {
    format: &'a str,
    reason: &'a str,
}

#[derive(Serialize)]
struct AdviceRow<'a> {
    choices: Vec<Choice<'a>>,
    sentences: &'a [String],
}

#[derive(Serialize)]
struct Choice<'a> {
    link: &'a str,
    format: &'a str,
}

#[derive(Serialize)]
struct LinkRow<'a> {
    id: &'a str,
    name: &'a str,
    direction: &'static str,
    ended: Option<&'a str>,
    min_payload_bytes: usize,
    max_payload_bytes: Option<usize>,
    unlimited: bool,
    standard_payload_bytes: Option<usize>,
    overhead_bytes: u64,
    hops: u32,
    max_hops: Option<u32>,
    price: Option<String>,
    price_note: Option<&'a str>,
    energy_note: Option<&'a str>,
    /// Whether the energy between messages is known and counted.
    counts_idle: bool,
    note: Option<&'a str>,
    sources: Vec<SourceRow<'a>>,
    formats: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct SourceRow<'a> {
    figure: &'a str,
    title: &'a str,
    url: &'a str,
    date: Option<&'a str>,
    read: &'a str,
}

#[derive(Serialize)]
struct Row<'a> {
    format: &'a str,
    lossless: bool,
    mean_bytes: f64,
    largest_bytes: usize,
    schema_max_bytes: Option<usize>,
    fits: &'static str,
    padded: bool,
    fits_standard: Option<&'static str>,
    fragments: Option<u64>,
    payload_bytes_per_month: f64,
    billed_bytes_per_month: f64,
    cost_per_month: Option<Cost>,
    airtime_s: Option<f64>,
    share_on_air: Option<f64>,
    max_messages_per_day: Option<f64>,
    within_dwell_time: Option<bool>,
    allowed: bool,
    joules_per_message: Option<f64>,
    battery_years: Option<f64>,
}

#[derive(Serialize)]
struct Cost {
    amount: f64,
    currency: Currency,
}

/// Renders the plan as one JSON object on one line, without a newline at the end. A figure that is not known
/// is null.
pub fn render(report: &Report) -> io::Result<String> {
    let choices = report.advice.choices.iter();
    let document = Document {
        schema: &report.schema,
        messages: report.messages.iter().map(|(name, size)| Message { name, json_bytes: *size }).collect(),
        devices: report.fleet.devices,
        messages_per_day: report.fleet.per_day,
        battery_joules: report.fleet.battery_joules,
        links: report.links.iter().map(|plan| link_row(report, plan)).collect(),
        refused: report.sizes.refused.iter().map(|(format, reason)| Refused { format, reason }).collect(),
        advice: AdviceRow {
            choices: choices.map(|(link, format)| Choice { link, format }).collect(),
            sentences: &report.advice.sentences,
        },
    };
    Ok(serde_json::to_string(&document)?)
}

fn link_row<'a>(report: &'a Report, plan: &'a LinkPlan) -> LinkRow<'a> {
    let link = plan.link;
    let rows = plan.estimates.iter().zip(&report.sizes.formats);
    LinkRow {
        id: &link.id,
        name: &link.name,
        direction: match link.direction {
            Direction::Up => "up",
            Direction::Down => "down",
        },
        ended: link.ended.as_deref(),
        min_payload_bytes: link.min_payload_bytes,
        max_payload_bytes: link.max_payload_bytes,
        unlimited: link.unlimited,
        standard_payload_bytes: link.standard_payload_bytes,
        overhead_bytes: link.overhead_bytes(),
        hops: plan.hops,
        max_hops: link.mesh.as_ref().map(|mesh| mesh.max_hops),
        price: link.price_text(),
        price_note: link.price_note.as_deref(),
        energy_note: link.energy.as_ref().map(|energy| energy.note()),
        counts_idle: link.energy.as_ref().and_then(Energy::idle_watts).is_some(),
        note: link.note.as_deref(),
        sources: sources(link)
            .map(|(figure, Source { title, url, date, read })| SourceRow {
                figure,
                title,
                url,
                date: date.as_deref(),
                read,
            })
            .collect(),
        formats: rows.map(|(estimate, sizes)| row(estimate, sizes)).collect(),
    }
}

/// The sources of a link, figure by figure.
pub fn sources(link: &Link) -> impl Iterator<Item = (&str, &'static Source)> {
    let pairs = link.sources.iter().flat_map(|(figure, ids)| ids.iter().map(move |id| (figure.as_str(), id)));
    pairs.filter_map(|(figure, id)| Some((figure, source(id)?)))
}

fn row<'a>(estimate: &'a Estimate, sizes: &FormatSizes) -> Row<'a> {
    Row {
        format: &estimate.format,
        lossless: estimate.lossless,
        mean_bytes: sizes.mean(),
        largest_bytes: sizes.largest(),
        schema_max_bytes: sizes.schema_max,
        fits: word(estimate.fit),
        padded: estimate.padded,
        fits_standard: estimate.standard_fit.map(word),
        fragments: estimate.fragments,
        payload_bytes_per_month: estimate.month.payload_bytes,
        billed_bytes_per_month: estimate.month.billed_bytes,
        cost_per_month: estimate.month.cost.map(|Money { amount, currency }| Cost { amount, currency }),
        airtime_s: estimate.airtime_s,
        share_on_air: estimate.share_on_air,
        max_messages_per_day: estimate.rate.max_per_day,
        within_dwell_time: estimate.rate.within_dwell_time,
        allowed: estimate.allowed,
        joules_per_message: estimate.joules,
        battery_years: estimate.years,
    }
}

fn word(fit: Fit) -> &'static str {
    match fit {
        Fit::Always => "always",
        Fit::Messages => "messages",
        Fit::Some(_) => "some",
        Fit::No => "no",
        Fit::Unknown => "unknown",
    }
}
