//! Requests per second and latency of the gateway, the probe and the Node service in turn.

use crate::{
    Failure, node,
    payload::{self, Payload},
    report::Report,
    results::{About, Results},
    server::{Running, Server},
};
use rusqlite::Connection;
use serde_json::Value;
use std::{path::Path, process::Command};

/// Options of the measurement.
#[derive(Debug, clap::Args)]
pub struct Plan {
    /// Numbers of keep-alive connections
    #[arg(long, value_delimiter = ',', default_values_t = Plan::default().connections)]
    connections: Vec<usize>,
    /// Runs of each server; the median is reported
    #[arg(long, default_value_t = Plan::default().rounds)]
    rounds: usize,
    /// Length of a run in seconds
    #[arg(long, default_value_t = Plan::default().seconds)]
    seconds: usize,
    /// Number of devices that send
    #[arg(long, default_value_t = Plan::default().devices)]
    devices: usize,
    /// Measure only this format
    #[arg(long)]
    format: Option<String>,
    /// Leave out the Node service
    #[arg(long)]
    without_node: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Plan {
            connections: vec![64, 256],
            rounds: 1,
            seconds: 3,
            devices: 1000,
            format: None,
            without_node: false,
        }
    }
}

impl Plan {
    /// The plan of `--quick`.
    pub fn quick() -> Plan {
        Plan { connections: vec![256], seconds: 1, ..Plan::default() }
    }
}

/// The results of one run.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    pub rps: f64,
    pub p95_ms: f64,
    /// The server's processor time per request, in µs. It depends less on the machine's other load.
    pub cpu_us: f64,
    pub failures: u64,
}

/// Runs all measurements, prints a table and writes `bench/results/load.jsonl`.
pub fn measure(plan: &Plan, report: &mut Report) -> Result<(), Failure> {
    if !plan.without_node {
        node::install()?;
    }
    let mut results = Results::of("ingest");
    report.line(&format!(
        "**Rates**: acknowledged requests per second, 95th percentile (ms) and processor time of the server per request (µs); \
         runs of {} s, in turn, {} of each; {} devices.\n",
        plan.seconds, plan.rounds, plan.devices
    ));
    report.line(
        "| format | bytes | connections | gateway | p95 | cpu | probe | p95 | cpu | Node | p95 | cpu | of probe | of Node |",
    );
    report.line("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for payload in payload::all(plan.devices)? {
        if plan.format.as_ref().is_some_and(|format| format != payload.name) {
            continue;
        }
        for &connections in &plan.connections {
            row(plan, &payload, connections, &mut results, report)?;
        }
    }
    results.save()
}

/// Measures all servers with one format, and prints the row of the table.
fn row(
    plan: &Plan,
    payload: &Payload,
    connections: usize,
    results: &mut Results,
    report: &mut Report,
) -> Result<(), Failure> {
    let mut servers = vec![Server::Dunnage, Server::Probe];
    if payload.node && !plan.without_node {
        servers.push(Server::Node);
    }
    let mut runs = vec![Vec::new(); servers.len()];
    for _ in 0..plan.rounds {
        for (server, runs) in servers.iter().zip(&mut runs) {
            runs.push(run(*server, payload, connections, plan.seconds)?);
        }
    }
    let medians: Vec<_> = runs.iter().cloned().map(median).collect();
    for ((server, runs), median) in servers.iter().zip(&runs).zip(&medians) {
        record(results, *server, payload, connections, (median, runs));
    }
    let mut line = format!("| {} | {:.0} | {connections} |", payload.name, payload.mean_bytes());
    for run in &medians {
        line += &format!(" {:.0} | {:.1} | {:.1} |", run.rps, run.p95_ms, run.cpu_us);
    }
    for _ in medians.len()..3 {
        line += " | | |";
    }
    for other in 1..3 {
        let of = medians.get(other).map(|other| format!(" {:.2} ", medians[0].rps / other.rps));
        line += &format!("{}|", of.unwrap_or_else(|| " ".into()));
    }
    report.line(&line);
    Ok(())
}

/// Measures one run with wrk against a fresh server. Fails if the stored messages contradict the acknowledged requests.
pub fn run(server: Server, payload: &Payload, connections: usize, seconds: usize) -> Result<Run, Failure> {
    let folder = tempfile::tempdir()?;
    payload.write_bodies(&folder.path().join("bodies"))?;
    let running = Running::start(server, folder.path())?;
    let (run, acknowledged) = run_on(&running, folder.path(), payload, connections, seconds)?;
    running.stop()?;
    check_stored(folder.path(), payload, acknowledged, connections)?;
    Ok(run)
}

/// Measures one run with wrk, which posts the messages in the file `bodies` of `folder`. Also returns the number of acknowledged messages.
pub fn run_on(
    running: &Running,
    folder: &Path,
    payload: &Payload,
    connections: usize,
    seconds: usize,
) -> Result<(Run, u64), Failure> {
    let before = running.processor_seconds()?;
    let found = wrk(running, payload, &folder.join("bodies"), connections, seconds)?;
    let processor_seconds = running.processor_seconds()? - before;
    let number = |key: &str| found[key].as_u64().unwrap_or_default();
    let acknowledged = number("requests") - number("bad_status");
    let run = Run {
        rps: acknowledged as f64 / (number("microseconds") as f64 / 1e6),
        p95_ms: number("p95_us") as f64 / 1e3,
        cpu_us: 1e6 * processor_seconds / acknowledged as f64,
        failures: number("bad_status") + number("broken"),
    };
    Ok((run, acknowledged))
}

/// Fails if the buffer in `folder` has fewer messages than were acknowledged, or more than `in_flight` others. Requests in flight when wrk
/// ended are stored, but wrk does not count them.
pub fn check_stored(
    folder: &Path,
    payload: &Payload,
    acknowledged: u64,
    in_flight: usize,
) -> Result<(), Failure> {
    let stored: u64 = Connection::open(folder.join("buffer.sqlite3"))?
        .query_row("SELECT count(*) FROM messages", [], |row| row.get::<_, i64>(0))?
        .try_into()?;
    if stored < acknowledged || stored > acknowledged + in_flight as u64 {
        return Err(format!("{}: {acknowledged} acknowledged, {stored} stored", payload.name).into());
    }
    Ok(())
}

/// Posts the messages in the file `bodies` with wrk, and returns the JSON object that `post.lua` prints.
pub fn wrk(
    running: &Running,
    payload: &Payload,
    bodies: &Path,
    connections: usize,
    seconds: usize,
) -> Result<Value, Failure> {
    let output = Command::new("wrk")
        .args(["--latency", "-t2", &format!("-c{connections}"), &format!("-d{seconds}s"), "-s"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/post.lua"))
        .arg(format!("http://{}", running.address))
        .env("BODIES", bodies)
        .env("CONTENT_TYPE", payload.content_type)
        .output()
        .map_err(|e| format!("wrk: {e} (apt install wrk)"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line =
        text.lines().find(|line| line.starts_with('{')).ok_or_else(|| format!("wrk failed: {text}"))?;
    Ok(serde_json::from_str(line)?)
}

fn median(mut runs: Vec<Run>) -> Run {
    runs.sort_by(|a, b| a.rps.total_cmp(&b.rps));
    Run { failures: runs.iter().map(|run| run.failures).sum(), ..runs[runs.len() / 2] }
}

/// Records the median run, with the range of all runs.
fn record(
    results: &mut Results,
    server: Server,
    payload: &Payload,
    connections: usize,
    (median, runs): (&Run, &[Run]),
) {
    let target = format!("{connections} connections");
    let about = About { target: &target, format: payload.name, library: server.name() };
    let mut add = |metric: &str, of: fn(&Run) -> f64, unit: &str| {
        let figures: Vec<f64> = runs.iter().map(of).collect();
        results.add_runs(&about, metric, of(median), &figures, unit);
    };
    add("rps", |run| run.rps.round(), "1/s");
    add("p95_ms", |run| run.p95_ms, "ms");
    add("cpu_us", |run| (run.cpu_us * 10.0).round() / 10.0, "µs");
    results.add(&about, "failures", median.failures as f64, "1");
}
