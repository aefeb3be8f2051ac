//! Compares the gateway's inputs: MQTT with QoS 1, CoAP with confirmable messages, HTTP, webhooks, batches, datagrams and a broker. The same
//! load generators also measure peer servers, where there are any.

mod batch;
mod broker;
mod coap;
mod http;
mod idle;
mod load;
mod mqtt;
mod peers;
mod udp;
mod webhook;

pub use coap::exchange;
pub use load::percentile_95;

use crate::{
    Failure,
    coap::{POST, request},
    dtls::Key,
    mqtt::publish,
    payload::{self, Payload},
    rates::{self, Run},
    report::Report,
    results::{About, Results},
    server::{Running, Server},
};
use load::Totals;
use peers::Peer;
use std::{net::SocketAddr, path::Path, time::Duration};

/// The formats that are sent: the name in results and topics, and the Content-Format.
const FORMATS: [(&str, u16); 2] = [("cbor", 60), ("packed", 65_001)];

/// Options of the comparison of inputs.
#[derive(Debug, clap::Args)]
pub struct Plan {
    /// Clients of each input
    #[arg(long, default_value_t = Plan::default().clients)]
    clients: usize,
    /// Unacknowledged messages of an MQTT client; a CoAP client has one
    #[arg(long, default_value_t = Plan::default().window)]
    window: u16,
    /// Length of a run in seconds
    #[arg(long, default_value_t = Plan::default().seconds)]
    seconds: usize,
    /// Number of devices that send
    #[arg(long, default_value_t = Plan::default().devices)]
    devices: usize,
    /// Idle MQTT clients; 0 skips this measurement
    #[arg(long, default_value_t = Plan::default().idle)]
    idle: usize,
}

impl Default for Plan {
    fn default() -> Self {
        Plan { clients: 256, window: 8, seconds: 3, devices: 1000, idle: 10_000 }
    }
}

/// Length of a run through an input without a peer server.
const LENGTH_WITHOUT_PEER: Duration = Duration::from_secs(2);

/// The inputs of the measured gateway, without and with DTLS.
const CONFIG: &str = "[[input]]\nname = \"mqtt\"\n[input.mqtt]\nlisten = \"127.0.0.1:0\"\n\
                      [[input]]\nname = \"coap\"\n[input.coap]\nlisten = \"127.0.0.1:0\"\n";
const COAPS: &str = "[[input]]\nname = \"coap\"\n[input.coap]\nlisten = \"127.0.0.1:0\"\ndtls = true\n";

/// Runs all measurements, prints the tables and writes `bench/results/load.jsonl`.
pub async fn measure(plan: &Plan, report: &mut Report) -> Result<(), Failure> {
    let mut results = Results::of("inputs");
    let Plan { clients, window, seconds, devices, .. } = plan;
    report.line(&format!(
        "**Inputs**: acknowledged messages per second, 95th percentile (ms) and processor time of the server per message (µs); \
         {clients} clients of {devices} devices, runs of {seconds} s in turn. MQTT: QoS 1, {window} messages in flight per client. \
         CoAP: confirmable, 1. HTTP: wrk, 1. Batches: {} messages per request, {} clients, and the percentile of requests. Webhooks and \
         batches: {} s.\n",
        batch::MESSAGES,
        batch::CLIENTS,
        LENGTH_WITHOUT_PEER.as_secs()
    ));
    report.line("| format | input | gateway | p95 | cpu | other | | p95 | cpu | of the other |");
    report.line("|---|---|--:|--:|--:|---|--:|--:|--:|--:|");
    let payloads = payload::all(*devices)?;
    for payload in &payloads {
        let mut table = Table { payload, clients: *clients, results: &mut results, report };
        if let Some((_, content_format)) = FORMATS.iter().find(|(name, _)| *name == payload.name) {
            let ours = mqtt(plan, payload, true).await?;
            let broker = mqtt(plan, payload, false).await?;
            table.row("mqtt", &ours, Some(("mosquitto", &broker)));
            for (input, with_dtls) in [("coap", false), ("coap, DTLS", true)] {
                let ours = coap_of_gateway(plan, payload, *content_format, with_dtls).await?;
                let server = coap_of_libcoap(plan, payload, *content_format, with_dtls).await?;
                table.row(input, &ours, Some(("libcoap", &server)));
            }
            let ours =
                tokio::task::block_in_place(|| rates::run(Server::Dunnage, payload, *clients, *seconds))?;
            table.row("http", &ours, None);
            for provider in webhook::PROVIDERS {
                let ours = webhook(plan, payload, provider).await?;
                table.row(&format!("webhook, {provider}"), &ours, None);
            }
        }
        table.clients = batch::CLIENTS;
        for framing in batch::framings(payload.name) {
            table.row(framing.name, &batch(payload, framing).await?, None);
        }
    }
    udp::measure(&payloads, &mut results, report).await?;
    broker::measure(&payloads, &mut results, report).await?;
    if plan.idle > 0 {
        idle::measure(plan.idle, CONFIG, &mut results, report).await?;
    }
    results.save()
}

/// Measures one run over MQTT: of the gateway if `ours`, otherwise of mosquitto.
async fn mqtt(plan: &Plan, payload: &Payload, ours: bool) -> Result<Run, Failure> {
    let length = Duration::from_secs(plan.seconds as u64);
    let message =
        |(device, body): &(String, Vec<u8>)| publish(&format!("v1/{device}/{}", payload.name), body);
    let messages = payload.bodies.iter().map(message).collect();
    let folder = tempfile::tempdir()?;
    if ours {
        let running = Running::start_with(Server::Dunnage, folder.path(), CONFIG)?;
        let results = mqtt::load(running.input("mqtt")?, messages, plan.clients, plan.window, length).await?;
        return stop_and_check(&load::total(&results, length), running, folder.path());
    }
    let broker = Peer::mosquitto(folder.path())?;
    peers::subscribe_to_all(broker.address).await?;
    let results = mqtt::load(broker.address, messages, plan.clients, plan.window, length).await?;
    Ok(run_of(&load::total(&results, length), broker.processor_seconds()?))
}

/// Measures one run of the gateway over CoAP, with DTLS if `with_dtls`.
async fn coap_of_gateway(
    plan: &Plan,
    payload: &Payload,
    format: u16,
    with_dtls: bool,
) -> Result<Run, Failure> {
    let folder = tempfile::tempdir()?;
    let key = with_dtls.then(|| Key::of_gateway(folder.path())).transpose()?;
    let config = if with_dtls { COAPS } else { CONFIG };
    let running = Running::start_with(Server::Dunnage, folder.path(), config)?;
    let totals = coap_load(plan, payload, format, running.input("coap")?, key.as_ref()).await?;
    stop_and_check(&totals, running, folder.path())
}

/// Measures one run of libcoap's server, with DTLS if `with_dtls`.
async fn coap_of_libcoap(
    plan: &Plan,
    payload: &Payload,
    format: u16,
    with_dtls: bool,
) -> Result<Run, Failure> {
    let key = with_dtls.then(|| Key::new("a-key-of-some-bytes")).transpose()?;
    let server = Peer::libcoap(key.as_ref())?;
    let totals = coap_load(plan, payload, format, server.address, key.as_ref()).await?;
    Ok(run_of(&totals, server.processor_seconds()?))
}

async fn coap_load(
    plan: &Plan,
    payload: &Payload,
    format: u16,
    server: SocketAddr,
    key: Option<&Key>,
) -> Result<Totals, Failure> {
    let length = Duration::from_secs(plan.seconds as u64);
    let message = |(device, body): &(String, Vec<u8>)| request(POST, &["ingest", device], Some(format), body);
    let requests = payload.bodies.iter().map(message).collect();
    let results = coap::load(server, key, requests, plan.clients, length).await?;
    Ok(load::total(&results, length))
}

/// Measures one run of webhook requests of `provider`.
async fn webhook(plan: &Plan, payload: &Payload, provider: &str) -> Result<Run, Failure> {
    let folder = tempfile::tempdir()?;
    let config = webhook::config(provider, payload.name, folder.path())?;
    let requests = webhook::requests(provider, payload)?;
    let running = Running::start_with(Server::Dunnage, folder.path(), &config)?;
    let results = http::load(running.address, requests, plan.clients, LENGTH_WITHOUT_PEER).await?;
    stop_and_check(&load::total(&results, LENGTH_WITHOUT_PEER), running, folder.path())
}

/// Measures one run of requests with several messages each.
async fn batch(payload: &Payload, framing: batch::Framing) -> Result<Run, Failure> {
    let folder = tempfile::tempdir()?;
    let requests = batch::requests(framing, payload)?;
    let running = Running::start(Server::Dunnage, folder.path())?;
    let results = http::load(running.address, requests, batch::CLIENTS, LENGTH_WITHOUT_PEER).await?;
    stop_and_check(
        &load::total(&results, LENGTH_WITHOUT_PEER).of_batches(batch::MESSAGES),
        running,
        folder.path(),
    )
}

/// Stops the gateway. Fails if the number of messages in its buffer contradicts the acknowledgements.
fn stop_and_check(totals: &Totals, running: Running, folder: &Path) -> Result<Run, Failure> {
    let run = run_of(totals, running.processor_seconds()?);
    running.stop()?;
    let stored = udp::stored(folder)?;
    // A message whose answer the client did not receive may be stored, too.
    if stored < totals.acknowledged || stored > totals.acknowledged + totals.failures {
        return Err(format!("{} acknowledged, {stored} stored", totals.acknowledged).into());
    }
    Ok(run)
}

fn run_of(totals: &Totals, processor_seconds: f64) -> Run {
    let cpu_us = 1e6 * processor_seconds / (totals.acknowledged as f64).max(1.0);
    Run { rps: totals.rps, p95_ms: totals.p95_ms, cpu_us, failures: totals.failures }
}

/// The rows of one format.
struct Table<'a> {
    payload: &'a Payload,
    clients: usize,
    results: &'a mut Results,
    report: &'a mut Report,
}

impl Table<'_> {
    fn row(&mut self, input: &str, ours: &Run, other: Option<(&str, &Run)>) {
        let figures = |run: &Run| format!("{:.0} | {:.1} | {:.1}", run.rps, run.p95_ms, run.cpu_us);
        let other_columns = other.map_or_else(
            || " | | | | ".into(),
            |(name, other)| format!("{name} | {} | {:.2}", figures(other), ours.rps / other.rps),
        );
        let format = self.payload.name;
        self.report.line(&format!("| {format} | {input} | {} | {other_columns} |", figures(ours)));
        let target = format!("{} clients over {input}", self.clients);
        for (library, run) in [(Server::Dunnage.name(), ours)].into_iter().chain(other) {
            let about = About { target: &target, format, library };
            self.results.add(&about, "rps", run.rps.round(), "1/s");
            self.results.add(&about, "p95_ms", run.p95_ms, "ms");
            self.results.add(&about, "cpu_us", (run.cpu_us * 10.0).round() / 10.0, "µs");
            self.results.add(&about, "failures", run.failures as f64, "1");
            if run.failures > 0 {
                self.report.line(&format!("\n{library}, {input}, {format}: {} failed\n", run.failures));
            }
        }
    }
}
