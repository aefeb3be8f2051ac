//! Messages per second as deltas, compared with the same messages as plain packed. The goal is 0.8.
//!
//! Both forms are the same messages of the same devices, over the same connections, with the same load generator on the same cores. Each form
//! has a gateway of its own, which first receives messages for a while, so that neither the start nor the references that are read from the
//! buffer once for each device are measured. Then the gateways take turns in short rounds, in which the other one waits, and each round begins
//! with the form that came last in the round before: what else the machine does slows both forms down. A round has one ratio, and the median
//! of the ratios is the figure.
//!
//! wrk makes its requests before it sends them, and its first thread sends while the second one makes them, which wrk's time does not include.
//! `post.lua` therefore makes a request in the same few steps whatever its length, so that the longer plain messages gain nothing from it.

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
use tempfile::TempDir;

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
    /// Rounds, in each of which both forms have a turn
    #[arg(long, default_value_t = 11)]
    rounds: usize,
    /// Length of a turn in seconds
    #[arg(long, default_value_t = 2)]
    seconds: usize,
    /// Number of devices that send
    #[arg(long, default_value_t = 1000)]
    devices: usize,
}

/// Runs both forms in turn, and prints each round with its ratio, and the median and range of the ratios.
pub fn measure(plan: &Plan, report: &mut report::Report) -> Result<(), Failure> {
    let schema = &known_identity(bundled_named(SCHEMA).ok_or("the schema is not bundled")?)?;
    let trained = trained(schema)?;
    let mut plain = Gateway::start(plain(schema, plan.devices)?, schema)?;
    let mut delta = Gateway::start(deltas(&trained, plan.devices)?, &trained)?;
    report.line(&format!(
        "**Deltas**: messages per second of `{SCHEMA}` as plain packed ({:.1} B) and as deltas ({:.1} B), and the processor time of the \
         gateway per message (µs); {} connections, {} devices, turns of {} s.\n",
        plain.payload.mean_bytes(),
        delta.payload.mean_bytes(),
        plan.connections,
        plan.devices,
        plan.seconds
    ));
    report.line("| round | plain | cpu | delta | cpu | of plain |\n|--:|--:|--:|--:|--:|--:|");
    // The turn before the first round is not counted.
    plain.turn(plan)?;
    delta.turn(plan)?;
    let mut ratios = Vec::new();
    for round in 1..=plan.rounds {
        let (of_plain, of_delta) = if round % 2 == 0 {
            let first = plain.turn(plan)?;
            (first, delta.turn(plan)?)
        } else {
            let first = delta.turn(plan)?;
            (plain.turn(plan)?, first)
        };
        let ratio = of_delta.rps / of_plain.rps;
        report.line(&format!(
            "| {round} | {:.0} | {:.1} | {:.0} | {:.1} | {ratio:.2} |",
            of_plain.rps, of_plain.cpu_us, of_delta.rps, of_delta.cpu_us
        ));
        ratios.push(ratio);
    }
    plain.finish(plan)?;
    delta.finish(plan)?;
    ratios.sort_by(f64::total_cmp);
    let [least, median, most] = [0, ratios.len() / 2, ratios.len() - 1].map(|at| ratios[at]);
    let verdict = if median >= GOAL { "hit" } else { "missed" };
    report.line(&format!(
        "\nMedian: {median:.2} of plain packed, {least:.2} to {most:.2} in the rounds; the goal of {GOAL} is {verdict}."
    ));
    Ok(())
}

/// A gateway that receives one of the forms.
struct Gateway {
    payload: Payload,
    folder: TempDir,
    running: Running,
    /// How many messages it has acknowledged.
    acknowledged: u64,
    turns: usize,
}

impl Gateway {
    /// Starts a gateway whose devices have `schema`.
    fn start(payload: Payload, schema: &str) -> Result<Gateway, Failure> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("schemas");
        std::fs::create_dir(&path)?;
        std::fs::write(path.join("measured.json"), schema)?;
        payload.write_bodies(&folder.path().join("bodies"))?;
        let config = format!(
            "[access]\nwho = \"anyone\"\n[schemas]\npath = {path:?}\n[[profile]]\ndevice = \"*\"\nschema = \"measured\"\n\
             known = {:?}\n",
            known(folder.path(), &payload.bodies)?
        );
        let running = Running::start_configured(Server::Dunnage, folder.path(), &config)?;
        Ok(Gateway { payload, folder, running, acknowledged: 0, turns: 0 })
    }

    /// Measures a turn. Fails if a message is refused.
    fn turn(&mut self, plan: &Plan) -> Result<Run, Failure> {
        let (folder, payload) = (self.folder.path(), &self.payload);
        let (run, acknowledged) =
            rates::run_on(&self.running, folder, payload, plan.connections, plan.seconds)?;
        if run.failures > 0 {
            return Err(format!("{}: {} messages were refused", self.payload.name, run.failures).into());
        }
        self.acknowledged += acknowledged;
        self.turns += 1;
        Ok(run)
    }

    /// Stops the gateway. Fails if the stored messages contradict the acknowledged ones.
    fn finish(self, plan: &Plan) -> Result<(), Failure> {
        self.running.stop()?;
        let in_flight = self.turns * plan.connections;
        rates::check_stored(self.folder.path(), &self.payload, self.acknowledged, in_flight)
    }
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
