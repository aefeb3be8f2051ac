//! An output that is behind by a million messages must neither slow the ingest nor take much memory.

use crate::{
    Failure,
    payload::{self, Payload},
    rates::wrk,
    results::{About, Results},
    server::{Running, Server},
};
use axum::{Router, body::Bytes, extract::State, http::StatusCode, routing::post};
use std::{
    net::SocketAddr,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// Options of the measurement.
#[derive(Debug, clap::Args)]
pub struct Plan {
    /// Messages that the output has still to deliver
    #[arg(long, default_value_t = 1_000_000)]
    messages: u64,
    /// Keep-alive connections of the ingest
    #[arg(long, default_value_t = 256)]
    connections: usize,
    /// Runs with and without the output, in turn; the medians are reported
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Length of a run in seconds
    #[arg(long, default_value_t = 3)]
    seconds: usize,
    /// Messages in a request of the output
    #[arg(long, default_value_t = 1)]
    batch: usize,
}

/// One run.
struct Run {
    ingest: f64,
    /// Messages per second that reached the output's receiver: during the ingest, and without it.
    during_ingest: f64,
    without_ingest: f64,
    memory_mb: f64,
}

/// Prints a table, and writes `bench/results/load.jsonl`.
pub async fn measure(plan: &Plan) -> Result<(), Failure> {
    let payloads = payload::all(1000)?;
    let payload = payloads.first().ok_or("there is no payload")?;
    let folder = tempfile::tempdir()?;
    payload.write_bodies(&folder.path().join("bodies"))?;
    fill(plan.messages, (plan.connections, plan.seconds), payload, folder.path())?;
    let (sink, received) = sink().await?;
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for round in 0..plan.rounds {
        without.push(run(plan, payload, folder.path(), "", &received).await?);
        // An output with a new name begins with the first message.
        let output = format!(
            "[[output]]\nname = \"r{round}\"\n[output.http]\nurl = \"http://{sink}/\"\nbatch = {}\n",
            plan.batch
        );
        with.push(run(plan, payload, folder.path(), &output, &received).await?);
    }
    report(plan, payload, &without, &with)
}

fn report(plan: &Plan, payload: &Payload, without: &[Run], with: &[Run]) -> Result<(), Failure> {
    let median = |runs: &[Run], of: fn(&Run) -> f64| {
        let mut values: Vec<_> = runs.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let without_output = median(without, |run| run.ingest);
    let with_output = median(with, |run| run.ingest);
    let memory = with.iter().map(|run| run.memory_mb).fold(0.0, f64::max);
    println!(
        "| ingest | with an output | ratio | delivered/s | without ingest | memory, MB |\n|--:|--:|--:|--:|--:|--:|"
    );
    println!(
        "| {without_output:.0} | {with_output:.0} | {:.2} | {:.0} | {:.0} | {memory:.0} |",
        with_output / without_output,
        median(with, |run| run.during_ingest),
        median(with, |run| run.without_ingest)
    );
    let mut results = Results::of("catch-up");
    let target = format!("{} messages behind, batches of {}", plan.messages, plan.batch);
    let about = About { target: &target, format: payload.name, library: "dunnage" };
    results.add(&about, "ratio", (100.0 * with_output / without_output).round() / 100.0, "1");
    results.add(&about, "memory", memory.round(), "MB");
    results.add(&about, "rps", median(with, |run| run.during_ingest).round(), "1/s");
    results.save()
}

/// Measures one run of a gateway with the configuration `output`.
async fn run(
    plan: &Plan,
    payload: &Payload,
    folder: &Path,
    output: &str,
    received: &AtomicU64,
) -> Result<Run, Failure> {
    let running = Running::start_with(Server::Dunnage, folder, output)?;
    let rate = |before: u64, seconds: f64| (received.load(Ordering::Relaxed) - before) as f64 / seconds;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let before = received.load(Ordering::Relaxed);
    let found = tokio::task::block_in_place(|| {
        wrk(&running, payload, &folder.join("bodies"), plan.connections, plan.seconds)
    })?;
    let during_ingest = rate(before, plan.seconds as f64);
    let before = received.load(Ordering::Relaxed);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let without_ingest = rate(before, 1.0);
    let memory_mb = running.memory_mb()?;
    running.stop()?;
    let number = |key: &str| found[key].as_f64().unwrap_or_default();
    let acknowledged = number("requests") - number("bad_status");
    Ok(Run {
        ingest: acknowledged / (number("microseconds") / 1e6),
        during_ingest,
        without_ingest,
        memory_mb,
    })
}

/// Fills the buffer with at least `messages` messages, through the gateway's HTTP input: over so many connections, for some seconds at a time.
pub fn fill(
    messages: u64,
    (connections, seconds): (usize, usize),
    payload: &Payload,
    folder: &Path,
) -> Result<(), Failure> {
    let running = Running::start(Server::Dunnage, folder)?;
    let mut stored = 0.0;
    while stored < messages as f64 {
        let found = wrk(&running, payload, &folder.join("bodies"), connections, seconds)?;
        let number = |key: &str| found[key].as_f64().unwrap_or_default();
        let more = number("requests") - number("bad_status");
        if more < 1.0 {
            return Err("no message could be stored".into());
        }
        stored += more;
    }
    running.stop()
}

/// Starts a server that counts the messages that it receives, at least one per request and one per line, and answers 204. Returns its address
/// and the counter.
pub async fn sink() -> Result<(SocketAddr, Arc<AtomicU64>), Failure> {
    let received = Arc::new(AtomicU64::new(0));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let count = |State(received): State<Arc<AtomicU64>>, body: Bytes| async move {
        let lines = body.iter().filter(|byte| **byte == b'\n').count().max(1);
        received.fetch_add(lines as u64, Ordering::Relaxed);
        StatusCode::NO_CONTENT
    };
    let router = Router::new().route("/", post(count)).with_state(Arc::clone(&received));
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok((address, received))
}
