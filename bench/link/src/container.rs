//! The simulated containers over a link that loses messages and acknowledgements.

use crate::goal::{Goal, Wanted};
use base64::{Engine, prelude::BASE64_STANDARD};
use dunnage_links::fleet::Detail;
use dunnage_packed::{Layout, Training};
use dunnage_schema::{Model, bundled};
use dunnage_simulate::{Containers, Device, Network, Sizes, train};
use serde_json::{Value, json};

/// The devices that statistics are trained on, and those that are measured, have different seeds.
pub const TRAINED: u64 = 1;
pub const MEASURED: u64 = 77;
/// The containers of the training, and of a measurement.
pub const TRAINING_CONTAINERS: usize = 40;
const CONTAINERS: usize = 400;
/// Messages of each container.
const MESSAGES: usize = 2880;
pub const SEED: u64 = 9;

/// A link that loses three of ten messages, and as many acknowledgements.
pub const LOSSY: Network = Network { loss: 0.3, ack_loss: 0.3, ack_every: 1, ack_delay: 0 };

/// The error of a benchmark.
pub type Failed = Box<dyn std::error::Error>;

/// The goals for the messages of a schema and a cadence.
struct Case {
    schema: &'static str,
    detail: Detail,
    cadence_s: u32,
    /// The factor of the price of tables: 1 for a microcontroller, 0 where any size is allowed.
    price: f64,
    /// The form of messages, with the goals for their mean and for the shares of messages within 30 and within 19 bytes, in percent.
    sent: Vec<(&'static str, bool, Network, [Wanted; 3])>,
}

fn cases() -> Vec<Case> {
    use Wanted::{AtLeast, AtMost, Nothing};
    let none = [Nothing, Nothing, Nothing];
    let fifth = Network { ack_every: 5, ..LOSSY };
    let lossless = Network { loss: 0.0, ack_loss: 0.0, ..LOSSY };
    let slow = Network { ack_delay: 4, ..LOSSY };
    let generic = |cadence_s| Case {
        schema: "container",
        detail: Detail::Full,
        cadence_s,
        price: 1.0,
        sent: vec![("prior", false, LOSSY, none), ("delta, 30/30 lost", true, LOSSY, none)],
    };
    vec![
        Case {
            schema: "container-voyage",
            detail: Detail::Voyage,
            cadence_s: 900,
            price: 1.0,
            sent: vec![
                ("prior", false, LOSSY, [AtMost(27.0), AtLeast(99.5), Nothing]),
                ("delta, 30/30 lost", true, LOSSY, [AtMost(16.5), AtLeast(99.9), AtLeast(90.0)]),
                ("delta, 30/30, one ack in 5", true, fifth, [Nothing, AtLeast(99.9), Nothing]),
                ("delta, 30/30, acks 4 late", true, slow, none),
                ("delta, nothing lost", true, lossless, none),
            ],
        },
        Case {
            schema: "container-voyage",
            detail: Detail::Voyage,
            cadence_s: 21_600,
            price: 1.0,
            sent: vec![
                ("prior", false, LOSSY, [AtMost(27.0), AtLeast(99.5), Nothing]),
                ("delta, 30/30 lost", true, LOSSY, [AtMost(21.5), AtLeast(99.5), Nothing]),
                ("delta, 30/30, one ack in 5", true, fifth, [Nothing, AtLeast(99.9), Nothing]),
            ],
        },
        Case {
            schema: "container-voyage",
            detail: Detail::Voyage,
            cadence_s: 900,
            price: 0.0,
            sent: vec![
                ("prior", false, LOSSY, [AtMost(22.5), Nothing, Nothing]),
                ("delta, 30/30 lost", true, LOSSY, [AtMost(15.3), Nothing, Nothing]),
            ],
        },
        generic(900),
        generic(21_600),
    ]
}

/// Sends the messages of all cases.
pub fn goals(quick: bool) -> Result<Vec<Goal>, Failed> {
    let mut goals = Vec::new();
    let containers = if quick { CONTAINERS / 200 } else { CONTAINERS };
    for case in cases() {
        let layout = trained(case.schema, case.detail, case.cadence_s, case.price)?;
        let tables = if case.price == 0.0 { ", tables of any size" } else { "" };
        let payload = format!("{}, {}{tables}", case.schema, cadence(case.cadence_s));
        let plain = Layout::untrained(layout.model());
        let (sizes, _) = send(&plain, &case, containers, false, LOSSY)?;
        goals.push(mean(&payload, "plain", &sizes, Wanted::Nothing));
        for (sent, deltas, network, wanted) in &case.sent {
            let (sizes, tally) = send(&layout, &case, containers, *deltas, *network)?;
            goals.push(mean(&payload, sent, &sizes, wanted[0]));
            for (limit, metric, wanted) in [(30, "<= 30 B", wanted[1]), (19, "<= 19 B", wanted[2])] {
                let value = 100.0 * sizes.share(limit);
                let (payload, sent) = (payload.clone(), (*sent).to_owned());
                let repetitions = sizes.messages();
                goals.push(Goal { payload, sent, metric, value, unit: "%", wanted, repetitions });
            }
            for (metric, value, wanted) in [
                ("wrong values", tally.wrong, Wanted::AtMost(0.0)),
                ("quarantined", tally.quarantined, Wanted::Nothing),
            ] {
                let (payload, sent, value) = (payload.clone(), (*sent).to_owned(), value as f64);
                goals.push(Goal {
                    payload,
                    sent,
                    metric,
                    value,
                    unit: "",
                    wanted,
                    repetitions: tally.delivered,
                });
            }
        }
    }
    Ok(goals)
}

fn mean(payload: &str, sent: &str, sizes: &Sizes, wanted: Wanted) -> Goal {
    let (payload, sent, repetitions) = (payload.to_owned(), sent.to_owned(), sizes.messages());
    Goal { payload, sent, metric: "mean", value: sizes.mean(), unit: "B", wanted, repetitions }
}

fn cadence(seconds: u32) -> String {
    if seconds < 3600 { format!("{} min", seconds / 60) } else { format!("{} h", seconds / 3600) }
}

/// Counts of messages by their fate.
#[derive(Default)]
struct Tally {
    delivered: u64,
    wrong: u64,
    quarantined: u64,
}

fn send(
    layout: &Layout,
    case: &Case,
    containers: usize,
    deltas: bool,
    network: Network,
) -> Result<(Sizes, Tally), Failed> {
    let (mut sizes, mut tally) = (Sizes::default(), Tally::default());
    for number in 0..containers {
        let mut device = Device::new(layout, deltas, network, (SEED, number as u64));
        for message in fleet(MEASURED, case.detail, case.cadence_s).messages(number, MESSAGES) {
            let sent = device.send(&message)?;
            sizes.add(sent.bytes);
            tally.delivered += u64::from(sent.delivered);
            tally.wrong += u64::from(sent.wrong);
            tally.quarantined += u64::from(sent.refused);
        }
    }
    Ok((sizes, tally))
}

fn fleet(seed: u64, detail: Detail, cadence_s: u32) -> Containers {
    Containers { seed, cadence_s: cadence_s.into(), jitter_s: 30.0, detail }
}

/// Returns the layout of a bundled container schema with statistics, whose tables cost `price` times as much as by default. The receiver knows
/// the container and its SIM.
pub fn trained(name: &str, detail: Detail, cadence_s: u32, price: f64) -> Result<Layout, Failed> {
    let (_, text) = bundled().iter().find(|(bundled, _)| *bundled == name).ok_or("no such schema")?;
    let mut schema: Value = serde_json::from_str(text)?;
    schema["properties"]["iso6346"]["x-dunnage-known"] = json!("device");
    schema["properties"]["msisdn"]["x-dunnage-known"] = json!("msisdn");
    schema["properties"]["time"]["x-dunnage-time"]["every"] = json!(cadence_s);
    let layout = Layout::untrained(&Model::compile(&schema.to_string())?);
    let mut training = Training::new(&layout)?;
    for number in 0..TRAINING_CONTAINERS {
        let messages = fleet(TRAINED, detail, cadence_s).messages(number, MESSAGES);
        train(&mut training, messages, LOSSY, (SEED, number as u64))?;
    }
    let learnt = training.priced(price).finish();
    eprintln!("{name}, {}: {} bytes of statistics", cadence(cadence_s), learnt.statistics.len());
    schema["x-dunnage-statistics"] = json!(BASE64_STANDARD.encode(learnt.statistics));
    Ok(Layout::new(&Model::compile(&schema.to_string())?)?)
}

/// Returns messages of the containers that are measured.
pub fn messages(detail: Detail, cadence_s: u32, container: usize) -> Vec<dunnage_packed::Value> {
    fleet(MEASURED, detail, cadence_s).messages(container, MESSAGES).collect()
}
