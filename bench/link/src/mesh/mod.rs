//! The cost of formats on links with hops: the ten messages of the PSON paper and the container's message, over one to eight hops.
//!
//! The figures are those of `dunnage plan --hops`. Results go to `bench/results/mesh.jsonl`.

mod print;
mod sentences;

use crate::{container::Failed, corpus};
use dunnage_bench_record::{Record, results, write};
use dunnage_links::{Link, catalogue};
use dunnage_plan::{Fit, Fleet, LinkPlan, Sizes};
use std::ops::RangeInclusive;

/// The formats in the order in which they are shown.
const FORMATS: [&str; 6] = ["json", "msgpack", "cbor", "pson", "protobuf", "packed"];
const HOPS: RangeInclusive<u32> = 1..=8;

/// A message in a format on a link.
struct Figure {
    link: &'static Link,
    payload: String,
    format: &'static str,
    bytes: usize,
    /// The frames and the costs; `None` if the link refuses the message.
    sent: Option<Sent>,
}

/// The cost of a message that a link accepts.
struct Sent {
    /// The frames in each hop.
    frames: u64,
    /// The costs over one hop, two, and so on.
    costs: Vec<Cost>,
}

/// What a message costs over a number of hops.
#[derive(Clone, Copy)]
struct Cost {
    hops: u32,
    airtime_s: f64,
    joules: f64,
}

/// Prints the tables and what follows from them, and writes the records.
pub fn run() -> Result<(), Failed> {
    let figures = figures()?;
    print::tables(&figures);
    println!(
        "Protobuf and packed have a schema that is inferred from the message itself; the container's was written.\n"
    );
    for sentence in sentences::write(&figures)? {
        println!("{sentence}");
    }
    let records: Vec<Record> = figures.iter().flat_map(Figure::records).collect();
    write(&results().join("mesh.jsonl"), &records)?;
    Ok(())
}

/// The figures of all radio links with hops, link by link.
fn figures() -> Result<Vec<Figure>, Failed> {
    let mut measured = Vec::new();
    for (message, model) in corpus::paper_and_container()? {
        let messages = [message];
        let mut sizes = Sizes::measure(Some(&model), &messages);
        sizes.formats.retain(|sizes| FORMATS.contains(&sizes.format.as_str()));
        let [message] = messages;
        measured.push((message.name, sizes));
    }
    let mut figures = Vec::new();
    for link in catalogue().iter().filter(|link| link.mesh.is_some() && link.energy.is_some()) {
        for (payload, sizes) in &measured {
            let fleet = |hops| Fleet { devices: 1, per_day: 1.0, battery_joules: None, hops };
            let plans = HOPS.map(|hops| LinkPlan::new(link, sizes, &fleet(hops)));
            let plans = plans.collect::<Result<Vec<_>, _>>()?;
            let of = |format| Some((format, sizes.of(format)?.largest()));
            figures.extend(FORMATS.into_iter().filter_map(of).map(|(format, bytes)| {
                let sent = sent(&plans, format);
                Figure { link, payload: payload.clone(), format, bytes, sent }
            }));
        }
    }
    Ok(figures)
}

/// The costs of a format, from a plan for each number of hops.
fn sent(plans: &[LinkPlan], format: &str) -> Option<Sent> {
    let cost = |plan: &LinkPlan| {
        let estimate = plan.of(format).filter(|estimate| estimate.fit != Fit::No)?;
        Some(Cost { hops: plan.hops, airtime_s: estimate.airtime_s?, joules: estimate.joules? })
    };
    let frames = plans.first()?.of(format)?.fragments?;
    Some(Sent { frames, costs: plans.iter().map(cost).collect::<Option<_>>()? })
}

impl Figure {
    /// Says that the schema is inferred from the message itself, which makes the message smaller than one that was written would.
    fn note(&self) -> Option<String> {
        let needs_schema = ["protobuf", "packed"].contains(&self.format);
        let is_inferred = self.payload != "container";
        (needs_schema && is_inferred).then(|| "the schema is inferred from the message itself".to_owned())
    }

    fn records(&self) -> Vec<Record> {
        let record = |metric: &str, value: f64, unit: &str, hops: Option<u32>| {
            let subject = [self.payload.as_str(), self.format, "dunnage"];
            let mut record = Record::measured("mesh", &self.link.id, subject, "send", (metric, value, unit));
            record.version = Some(env!("CARGO_PKG_VERSION").to_owned());
            record.repetitions = Some(1);
            record.note = self.note();
            record.options = hops.map(|hops| format!("{hops} hop{}", if hops == 1 { "" } else { "s" }));
            record
        };
        let mut records = vec![record("bytes", self.bytes as f64, "bytes", None)];
        let Some(Sent { frames, costs }) = &self.sent else { return records };
        records.push(record("frames", *frames as f64, "1", None));
        for Cost { hops, airtime_s, joules } in costs {
            records.push(record("airtime", 1e3 * airtime_s, "ms", Some(*hops)));
            records.push(record("energy", 1e3 * joules, "mJ", Some(*hops)));
        }
        records
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure<'a>(figures: &'a [Figure], link: &str, payload: &str, format: &str) -> &'a Figure {
        let is_it = |it: &&Figure| it.link.id == link && it.payload == payload && it.format == format;
        figures.iter().find(is_it).unwrap()
    }

    #[test]
    fn every_message_has_its_figures_on_every_link() {
        let figures = figures().unwrap();
        assert_eq!(figures.len(), 5 * 11 * FORMATS.len());
        for figure in &figures {
            let Some(Sent { frames, costs }) = &figure.sent else {
                assert!(!figure.link.fits(figure.bytes), "{} on {}", figure.payload, figure.link.id);
                continue;
            };
            assert_eq!(Some(*frames), figure.link.fragments(figure.bytes));
            let hops: Vec<u32> = costs.iter().map(|cost| cost.hops).collect();
            assert_eq!(hops, HOPS.collect::<Vec<_>>());
            assert!((costs[7].airtime_s / costs[0].airtime_s - 8.0).abs() < 1e-9);
            assert!((costs[7].joules / costs[0].joules - 8.0).abs() < 1e-9);
        }
    }

    #[test]
    fn a_refused_message_has_bytes_and_no_costs() {
        let figures = figures().unwrap();
        let refused = figure(&figures, "meshtastic-longfast-eu868", "container", "json").records();
        assert_eq!(refused.iter().map(|it| it.metric.as_str()).collect::<Vec<_>>(), ["bytes"]);
        let carried = figure(&figures, "meshtastic-longfast-eu868", "container", "packed").records();
        assert_eq!(carried.len(), 2 + 2 * 8);
        let longest = carried.last().unwrap();
        assert_eq!((longest.metric.as_str(), longest.options.as_deref()), ("energy", Some("8 hops")));
    }

    #[test]
    fn what_follows_is_three_sentences() {
        let sentences = sentences::write(&figures().unwrap()).unwrap();
        assert_eq!(sentences.len(), 3);
        assert!(sentences.iter().all(|sentence| sentence.ends_with('.')), "{sentences:?}");
    }
}
