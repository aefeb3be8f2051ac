//! Messages per second as deltas, compared with the same messages as plain packed, in turn. The goal is 0.8.

use crate::{
    Failure,
    payload::Payload,
    rates::{self, Run},
    report,
    server::{Running, Server},
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
    /// Number of keep-alive connections
    #[arg(long, default_value_t = 64)]
    connections: usize,
    /// Runs of each form
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Length of a run in seconds
    #[arg(long, default_value_t = 3)]
    seconds: usize,
    /// Number of devices that send
    #[arg(long, default_value_t = 1000)]
    devices: usize,
}

/// Runs both forms in turn, and prints each round with its ratio, and the median ratio.
pub fn measure(plan: &Plan, report: &mut report::Report) -> Result<(), Failure> {
    let schema = &known_identity(bundled_named(SCHEMA).ok_or("the schema is not bundled")?)?;
    let trained = trained(schema)?;
    let payloads = [plain(schema, plan.devices)?, deltas(&trained, plan.devices)?];
    report.line(&format!(
        "**Deltas**: messages per second of `{SCHEMA}` as plain packed ({:.1} B) and as deltas ({:.1} B); {} connections, {} devices, \
         runs of {} s.\n",
        payloads[0].mean_bytes(),
        payloads[1].mean_bytes(),
        plan.connections,
        plan.devices,
        plan.seconds
    ));
    report.line("| round | plain | cpu | delta | cpu | of plain |\n|--:|--:|--:|--:|--:|--:|");
    let mut ratios = Vec::new();
    for round in 1..=plan.rounds {
        let runs = [run(plan, &payloads[0], schema)?, run(plan, &payloads[1], &trained)?];
        let [plain, delta] = runs;
        let ratio = delta.rps / plain.rps;
        report.line(&format!(
            "| {round} | {:.0} | {:.1} | {:.0} | {:.1} | {ratio:.2} |",
            plain.rps, plain.cpu_us, delta.rps, delta.cpu_us
        ));
        ratios.push(ratio);
    }
    ratios.sort_by(f64::total_cmp);
    let median = ratios[ratios.len() / 2];
    let verdict = if median >= GOAL { "hit" } else { "missed" };
    report.line(&format!("\nMedian: {median:.2} of plain packed; the goal of {GOAL} is {verdict}."));
    Ok(())
}

/// Measures one form against a fresh gateway whose devices have `schema`. Fails if a message is refused.
fn run(plan: &Plan, payload: &Payload, schema: &str) -> Result<Run, Failure> {
    let start = |folder: &Path| {
        std::fs::create_dir(folder.join("schemas"))?;
        std::fs::write(folder.join("schemas/measured.json"), schema)?;
        let path = folder.join("schemas");
        let config = format!(
            "[access]\nwho = \"anyone\"\n[schemas]\npath = {path:?}\n[[profile]]\ndevice = \"*\"\nschema = \"measured\"\n\
             known = {:?}\n",
            known(folder, &payload.bodies)?
        );
        Running::start_configured(Server::Dunnage, folder, &config)
    };
    let run = rates::run_started(start, payload, plan.connections, plan.seconds)?;
    match run.failures {
        0 => Ok(run),
        failures => Err(format!("{}: {failures} messages were refused", payload.name).into()),
    }
}

/// Returns the schema without what the gateway knows of a device: its ID and its telephone number.
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
