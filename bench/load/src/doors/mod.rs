//! The gateway's doors side by side: MQTT with QoS 1, CoAP with confirmable messages, HTTP; and other people's servers behind
//! the same generators.

mod coap;
mod idle;
mod load;
mod mqtt;
mod peers;

pub use coap::exchange;
pub use load::percentile_95;

use crate::{
    Failure,
    coap::{POST, request},
    mqtt::publish,
    payload::{self, Payload},
    rates::{self, Run},
    report::Report,
    results::{About, Results},
    server::{Running, Server},
};
use load::Load;
use peers::Peer;
use rusqlite::Connection;
use std::{path::Path, time::Duration};

/// The formats that are sent: names in the results, in topics, and Content-Formats.
const FORMATS: [(&str, u16); 2] = [("cbor", 60), ("packed", 65_001)];

/// What is run.
#[derive(Debug, clap::Args)]
pub struct Plan {
    /// Clients of each door
    #[arg(long, default_value_t = Plan::default().clients)]
    clients: usize,
    /// Messages of an MQTT client that are not acknowledged yet; a CoAP client has one
    #[arg(long, default_value_t = Plan::default().window)]
    window: u16,
    /// Length of a run
    #[arg(long, default_value_t = Plan::default().seconds)]
    seconds: usize,
    /// Devices that the messages are of
    #[arg(long, default_value_t = Plan::default().devices)]
    devices: usize,
    /// MQTT clients that are connected and say nothing; 0 to leave this out
    #[arg(long, default_value_t = Plan::default().idle)]
    idle: usize,
}

impl Default for Plan {
    fn default() -> Self {
        Plan { clients: 256, window: 8, seconds: 3, devices: 1000, idle: 10_000 }
    }
}

/// The doors of a gateway that is measured.
const CONFIG: &str = "[[input]]\nname = \"mqtt\"\n[input.mqtt]\nlisten = \"127.0.0.1:0\"\n\
                      [[input]]\nname = \"coap\"\n[input.coap]\nlisten = \"127.0.0.1:0\"\n";

/// Runs it all, prints the tables and writes `bench/results/load.jsonl`.
pub async fn measure(plan: &Plan, report: &mut Report) -> Result<(), Failure> {
    let mut results = Results::of("doors");
    let Plan { clients, window, seconds, devices, .. } = plan;
    report.line(&format!(
        "**Doors**: acknowledged messages a second, 95th percentile (ms) and processor time of the server for a message (µs); \
         {clients} clients of {devices} devices, runs of {seconds} s in turn. MQTT: QoS 1, {window} messages under way for each client. \
         CoAP: confirmable, 1. HTTP: wrk, 1.\n",
    ));
    report.line("| format | door | gateway | p95 | cpu | other | | p95 | cpu | of the other |");
    report.line("|---|---|--:|--:|--:|---|--:|--:|--:|--:|");
    for payload in payload::all(*devices)? {
        let Some((_, content_format)) = FORMATS.iter().find(|(name, _)| *name == payload.name) else {
            continue;
        };
        let ours = mqtt(plan, &payload, true).await?;
        let broker = mqtt(plan, &payload, false).await?;
        row(&payload, "mqtt", &ours, Some(("mosquitto", &broker)), plan, &mut results, report);
        let ours = coap(plan, &payload, *content_format, true).await?;
        let server = coap(plan, &payload, *content_format, false).await?;
        row(&payload, "coap", &ours, Some(("libcoap", &server)), plan, &mut results, report);
        let ours = tokio::task::block_in_place(|| rates::run(Server::Dunnage, &payload, *clients, *seconds))?;
        row(&payload, "http", &ours, None, plan, &mut results, report);
    }
    if plan.idle > 0 {
        idle::measure(plan.idle, CONFIG, &mut results, report).await?;
    }
    results.save()
}

/// One run over MQTT, of the gateway or of mosquitto.
async fn mqtt(plan: &Plan, payload: &Payload, ours: bool) -> Result<Run, Failure> {
    let length = Duration::from_secs(plan.seconds as u64);
    let message =
        |(device, body): &(String, Vec<u8>)| publish(&format!("v1/{device}/{}", payload.name), body);
    let messages = payload.bodies.iter().map(message).collect();
    let folder = tempfile::tempdir()?;
    if ours {
        let running = Running::start_with(Server::Dunnage, folder.path(), CONFIG)?;
        let seen = mqtt::load(running.door("mqtt")?, messages, plan.clients, plan.window, length).await?;
        return durable(&load::sum(&seen, length), running, folder.path());
    }
    let broker = Peer::mosquitto(folder.path())?;
    peers::want_everything(broker.address).await?;
    let seen = mqtt::load(broker.address, messages, plan.clients, plan.window, length).await?;
    Ok(of(&load::sum(&seen, length), broker.processor_seconds()?))
}

/// One run over CoAP, of the gateway or of libcoap's server.
async fn coap(plan: &Plan, payload: &Payload, content_format: u16, ours: bool) -> Result<Run, Failure> {
    let length = Duration::from_secs(plan.seconds as u64);
    let message =
        |(device, body): &(String, Vec<u8>)| request(POST, &["ingest", device], Some(content_format), body);
    let requests = payload.bodies.iter().map(message).collect();
    if ours {
        let folder = tempfile::tempdir()?;
        let running = Running::start_with(Server::Dunnage, folder.path(), CONFIG)?;
        let seen = coap::load(running.door("coap")?, requests, plan.clients, length).await?;
        return durable(&load::sum(&seen, length), running, folder.path());
    }
    let server = Peer::libcoap()?;
    let seen = coap::load(server.address, requests, plan.clients, length).await?;
    Ok(of(&load::sum(&seen, length), server.processor_seconds()?))
}

/// Ends the gateway, and holds what was acknowledged against what is in the buffer.
fn durable(load: &Load, running: Running, folder: &Path) -> Result<Run, Failure> {
    let run = of(load, running.processor_seconds()?);
    running.stop()?;
    let stored: u64 = Connection::open(folder.join("buffer.sqlite3"))?.query_row(
        "SELECT count(*) FROM messages",
        [],
        |row| row.get(0),
    )?;
    // A message whose answer was not seen may be stored, too.
    if stored < load.acknowledged || stored > load.acknowledged + load.failures {
        return Err(format!("{} acknowledged, {stored} stored", load.acknowledged).into());
    }
    Ok(run)
}

fn of(load: &Load, processor_seconds: f64) -> Run {
    let cpu_us = 1e6 * processor_seconds / (load.acknowledged as f64).max(1.0);
    Run { rps: load.rps, p95_ms: load.p95_ms, cpu_us, failures: load.failures }
}

fn row(
    payload: &Payload,
    door: &str,
    ours: &Run,
    other: Option<(&str, &Run)>,
    plan: &Plan,
    results: &mut Results,
    report: &mut Report,
) {
    let figures = |run: &Run| format!("{:.0} | {:.1} | {:.1}", run.rps, run.p95_ms, run.cpu_us);
    let beside = other.map_or_else(
        || " | | | | ".into(),
        |(name, other)| format!("{name} | {} | {:.2}", figures(other), ours.rps / other.rps),
    );
    report.line(&format!("| {} | {door} | {} | {beside} |", payload.name, figures(ours)));
    let target = format!("{} clients over {door}", plan.clients);
    for (library, run) in [(Server::Dunnage.name(), ours)].into_iter().chain(other) {
        let about = About { target: &target, format: payload.name, library, source: "measured" };
        results.add(&about, "rps", run.rps.round(), "1/s");
        results.add(&about, "p95_ms", run.p95_ms, "ms");
        results.add(&about, "cpu_us", (run.cpu_us * 10.0).round() / 10.0, "µs");
        results.add(&about, "failures", run.failures as f64, "1");
        if run.failures > 0 {
            report.line(&format!("\n{library}, {door}, {}: {} failed\n", payload.name, run.failures));
        }
    }
}
