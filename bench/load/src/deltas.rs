//! Messages per second as deltas, compared with the same messages as plain packed. The goal is 0.8.
//!
//! Both forms are the same messages of the same devices. Each form has a gateway of its own, and they take turns (`turns.rs`).
//!
//! wrk makes its requests before it sends them, and its first thread sends while the second one makes them, which wrk's time does not include.
//! `post.lua` therefore makes a request in the same few steps whatever its length, so that the longer plain messages gain nothing from it.

use crate::{
    Failure,
    payload::Payload,
    report,
    turns::{self, Gateway},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use dunnage_formats::{Id, Value};
use dunnage_links::fleet::Fleet;
use dunnage_packed::{Layout, Training};
use dunnage_schema::{Model, bundled_named};
use std::path::Path;

/// The schema of the messages.
const SCHEMA: &str = "container";
/// The seeds of the containers that are measured, and of those that the statistics are trained on.
const SEEDS: (u64, u64) = (7, 99);
/// The containers that the statistics are trained on, and the reports of each.
const TRAINING: (usize, usize) = (20, 200);
/// The reports of a container. All but the first are deltas against the one before.
const REPORTS: usize = 40;
/// The seconds between two reports.
const SECONDS: f64 = 900.0;
/// The least share of the rate of plain messages.
const GOAL: f64 = 0.8;

/// Options of the measurement.
#[derive(Debug, clap::Args)]
pub struct Plan {
    #[command(flatten)]
    turns: turns::Plan,
    /// Number of devices that send
    #[arg(long, default_value_t = 1000)]
    devices: usize,
}

/// Runs both forms in turn, and prints each round with its ratio, and the median and range of the ratios.
pub fn measure(plan: &Plan, report: &mut report::Report) -> Result<(), Failure> {
    let schema = &known_identity(bundled_named(SCHEMA).ok_or("the schema is not bundled")?)?;
    let trained = trained(schema)?;
    let plain = start(plain(schema, plan.devices)?, schema)?;
    let delta = start(deltas(&trained, plan.devices)?, &trained)?;
    report.line(&format!(
        "**Deltas**: messages per second of `{SCHEMA}` as plain packed ({:.1} B) and as deltas ({:.1} B), and the processor time of the \
         gateway per message (µs); {}, {} devices.\n",
        plain.payload.mean_bytes(),
        delta.payload.mean_bytes(),
        plan.turns,
        plan.devices
    ));
    let [least, median, most] = turns::ratios(&plan.turns, ("plain", plain), ("delta", delta), report)?.rate;
    let verdict = if median >= GOAL { "hit" } else { "missed" };
    report.line(&format!(
        "\nMedian: {median:.2} of plain packed, {least:.2} to {most:.2} in the rounds; the goal of {GOAL} is {verdict}."
    ));
    Ok(())
}

/// Starts a gateway that receives one of the forms, and whose devices have `schema`.
fn start(payload: Payload, schema: &str) -> Result<Gateway, Failure> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("schemas");
    std::fs::create_dir(&path)?;
    std::fs::write(path.join("measured.json"), schema)?;
    let config = format!(
        "[access]\nwho = \"anyone\"\n[schemas]\npath = {path:?}\n[[profile]]\ndevice = \"*\"\nschema = \"measured\"\n\
         known = {:?}\n",
        known(folder.path(), &payload.bodies)?
    );
    Gateway::start(payload, folder, &config)
}

/// Returns the schema without the texts that the gateway knows about a device: its ID and its telephone number.
fn known_identity(schema: &str) -> Result<String, Failure> {
    let mut schema: serde_json::Value = serde_json::from_str(schema)?;
    for (field, name) in [("iso6346", "device"), ("msisdn", "msisdn")] {
        schema["properties"][field]["x-dunnage-known"] = name.into();
    }
    Ok(schema.to_string())
}

/// Writes the texts that the gateway knows of the devices, and returns their file.
fn known(folder: &Path, bodies: &[(String, Vec<u8>)]) -> Result<std::path::PathBuf, Failure> {
    let path = folder.join("known.json");
    let texts =
        bodies.iter().map(|(device, _)| (device.clone(), serde_json::json!({ "msisdn": "393315537800" })));
    std::fs::write(&path, serde_json::Value::Object(texts.collect()).to_string())?;
    Ok(path)
}

/// A device and its message.
type Report = (String, Value);

/// The reports of some containers, each with those of all containers.
fn reports(seed: u64, containers: usize, reports: usize) -> Vec<Vec<Report>> {
    let mut fleet = Fleet::new(seed, containers);
    let report = |_| {
        fleet.step(SECONDS);
        fleet.containers().iter().map(|one| (one.device().to_owned(), one.message())).collect()
    };
    (0..reports).map(report).collect()
}

/// The reports of the measured containers: first all of one half of them, then all of the other, because each of the two threads of wrk begins
/// with another half.
fn halves(containers: usize) -> impl Iterator<Item = Vec<Vec<Report>>> {
    let reports = reports(SEEDS.0, containers, REPORTS);
    let half = containers / 2;
    [0, half]
        .into_iter()
        .map(move |from| reports.iter().map(|report| report[from..from + half].to_vec()).collect())
}

/// Returns the schema with statistics.
fn trained(schema: &str) -> Result<String, Failure> {
    let layout = Layout::untrained(&Model::compile(schema)?);
    let mut training = Training::new(&layout)?;
    let mut before = Vec::new();
    for report in reports(SEEDS.1, TRAINING.0, TRAINING.1) {
        let examples =
            report.iter().map(|(_, message)| training.example(message)).collect::<Result<Vec<_>, _>>()?;
        examples.iter().for_each(|example| training.add(example));
        examples.iter().zip(&before).for_each(|(example, before)| training.add_change(example, before));
        before = examples;
    }
    let mut trained: serde_json::Value = serde_json::from_str(schema)?;
    trained["x-dunnage-statistics"] = BASE64_STANDARD.encode(training.finish().statistics).into();
    Ok(trained.to_string())
}

fn plain(schema: &str, devices: usize) -> Result<Payload, Failure> {
    let layout = Layout::new(&Model::compile(schema)?)?;
    let encoded = halves(devices).flatten().flatten().map(|(device, message)| {
        let mut body = Vec::new();
        layout.encode(&message, &mut body)?;
        Ok((device, body))
    });
    Ok(payload("packed", encoded.collect::<Result<_, Failure>>()?))
}

fn deltas(schema: &str, devices: usize) -> Result<Payload, Failure> {
    let layout = Layout::new(&Model::compile(schema)?)?;
    let mut bodies = Vec::new();
    for half in halves(devices) {
        let mut before = Vec::new();
        for report in half {
            let references = report.iter().map(|(_, message)| layout.reference(message));
            let references = references.collect::<Result<Vec<_>, _>>()?;
            for (at, (device, message)) in report.into_iter().enumerate() {
                let mut body = Vec::new();
                match before.get(at) {
                    None => layout.encode(&message, &mut body)?,
                    Some(reference) => layout.encode_delta(&message, reference, &mut body)?,
                }
                bodies.push((device, body));
            }
            before = references;
        }
    }
    Ok(payload("delta", bodies))
}

fn payload(name: &'static str, bodies: Vec<(String, Vec<u8>)>) -> Payload {
    Payload { name, content_type: Id::Packed.media_type(), node: false, bodies }
}
