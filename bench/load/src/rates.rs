//! Requests a second and latency, gateway and probe in turn.

use crate::{
    Failure,
    payload::{self, Payload},
    server::{Running, Server},
};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::{fs::File, io::Write, path::Path, process::Command};

/// What is run.
#[derive(Debug, clap::Args)]
pub struct Plan {
    /// Numbers of keep-alive connections
    #[arg(long, value_delimiter = ',', default_values_t = Plan::default().connections)]
    connections: Vec<usize>,
    /// Runs of each server; the median counts
    #[arg(long, default_value_t = Plan::default().rounds)]
    rounds: usize,
    /// Length of a run
    #[arg(long, default_value_t = Plan::default().seconds)]
    seconds: usize,
    /// Only this format
    #[arg(long)]
    format: Option<String>,
}

impl Default for Plan {
    fn default() -> Self {
        Plan { connections: vec![64, 256], rounds: 3, seconds: 5, format: None }
    }
}

/// What one run of wrk found.
#[derive(Debug, Clone, Copy)]
struct Run {
    rps: f64,
    p95_ms: f64,
    /// The server's processor time for a request. It depends less on what else the machine does.
    cpu_us: f64,
    failures: u64,
}

/// Runs it all, prints a table and writes `bench/results/load.jsonl`.
pub fn measure(plan: &Plan) -> Result<(), Failure> {
    let results = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../results"));
    std::fs::create_dir_all(results)?;
    let mut file = File::create(results.join("load.jsonl"))?;
    println!(
        "Acknowledged requests a second; medians of {} runs of {} s, in turn.\n",
        plan.rounds, plan.seconds
    );
    println!(
        "| format | bytes | connections | gateway req/s | p95 ms | cpu µs | probe req/s | p95 ms | cpu µs | ratio |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for payload in payload::all()? {
        if plan.format.as_ref().is_some_and(|format| format != payload.name) {
            continue;
        }
        for &connections in &plan.connections {
            let (mut gateway, mut probe) = (Vec::new(), Vec::new());
            for _ in 0..plan.rounds {
                probe.push(run(Server::Probe, &payload, connections, plan.seconds)?);
                gateway.push(run(Server::Dunnage, &payload, connections, plan.seconds)?);
            }
            let (gateway, probe) = (median(gateway), median(probe));
            println!(
                "| {} | {} | {connections} | {:.0} | {:.1} | {:.1} | {:.0} | {:.1} | {:.1} | {:.2} |",
                payload.name,
                payload.body.len(),
                gateway.rps,
                gateway.p95_ms,
                gateway.cpu_us,
                probe.rps,
                probe.p95_ms,
                probe.cpu_us,
                gateway.rps / probe.rps
            );
            for (server, run) in [(Server::Dunnage, gateway), (Server::Probe, probe)] {
                record(&mut file, server, &payload, connections, run)?;
            }
        }
    }
    Ok(())
}

/// One run: a fresh server, wrk, and a look at what the server has stored.
fn run(server: Server, payload: &Payload, connections: usize, seconds: usize) -> Result<Run, Failure> {
    let folder = tempfile::tempdir()?;
    let body = folder.path().join("body");
    std::fs::write(&body, &payload.body)?;
    let running = Running::start(server, folder.path(), &payload.profile)?;
    let output = Command::new("wrk")
        .args(["--latency", "-t2", &format!("-c{connections}"), &format!("-d{seconds}s"), "-s"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/post.lua"))
        .arg(format!("http://{}", running.address))
        .env("BODY", &body)
        .env("CONTENT_TYPE", payload.content_type)
        .output()
        .map_err(|e| format!("wrk: {e} (apt install wrk)"))?;
    let processor_seconds = running.processor_seconds()?;
    running.stop()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line =
        text.lines().find(|line| line.starts_with('{')).ok_or_else(|| format!("wrk failed: {text}"))?;
    let found: Value = serde_json::from_str(line)?;
    let number = |key: &str| found[key].as_u64().unwrap_or_default();

    let acknowledged = number("requests") - number("bad_status");
    let stored: u64 = Connection::open(folder.path().join("buffer.sqlite3"))?
        .query_row("SELECT count(*) FROM messages", [], |row| row.get::<_, i64>(0))?
        .try_into()?;
    // Requests that were under way when wrk ended are stored, and wrk does not count them.
    if stored < acknowledged || stored > acknowledged + connections as u64 {
        return Err(format!("{}: {acknowledged} acknowledged, {stored} stored", server.name()).into());
    }
    Ok(Run {
        rps: acknowledged as f64 / (number("microseconds") as f64 / 1e6),
        p95_ms: number("p95_us") as f64 / 1e3,
        cpu_us: 1e6 * processor_seconds / acknowledged as f64,
        failures: number("bad_status") + number("broken"),
    })
}

fn median(mut runs: Vec<Run>) -> Run {
    runs.sort_by(|a, b| a.rps.total_cmp(&b.rps));
    Run { failures: runs.iter().map(|run| run.failures).sum(), ..runs[runs.len() / 2] }
}

fn record(
    file: &mut File,
    server: Server,
    payload: &Payload,
    connections: usize,
    run: Run,
) -> Result<(), Failure> {
    for (metric, value, unit) in [
        ("rps", run.rps.round(), "1/s"),
        ("p95_ms", run.p95_ms, "ms"),
        ("cpu_us", (run.cpu_us * 10.0).round() / 10.0, "µs"),
        ("failures", run.failures as f64, "1"),
    ] {
        let line = json!({
            "suite": "load", "target": format!("{connections} connections"), "payload": "container",
            "format": payload.name, "library": server.name(), "version": env!("CARGO_PKG_VERSION"),
            "operation": "ingest", "metric": metric, "value": value, "unit": unit, "source": "measured",
        });
        writeln!(file, "{line}")?;
    }
    Ok(())
}
