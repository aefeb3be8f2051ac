//! Compares an output that has a filter and a map with one that has none: messages per second that reach the receiver.

use crate::{
    Failure, catch_up, payload,
    report::Report,
    server::{Running, Server},
};
use std::{
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// The least share of the rate without expressions.
const GOAL: f64 = 0.85;
/// Holds for every message, so that both outputs deliver the same. The map keeps the value.
const EXPRESSIONS: &str =
    "when = '.value != null and .device != \"\"'\nmap = '{id: .name, device, at: .received_at, value}'\n";
/// The time before a measurement, in which the output starts.
const START: Duration = Duration::from_millis(1500);

/// Options of the measurement.
#[derive(Debug, clap::Args)]
pub struct Plan {
    /// Messages in the buffer when the output starts
    #[arg(long, default_value_t = 300_000)]
    messages: u64,
    /// Runs of each, in turn; the medians are reported
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Length of a run in seconds
    #[arg(long, default_value_t = 3)]
    seconds: u64,
}

/// Prints a row for each number of messages in a request: medians of the rates, and of their ratios.
pub async fn measure(plan: &Plan, report: &mut Report) -> Result<(), Failure> {
    let payloads = payload::all(1000)?;
    let payload = payloads.iter().find(|payload| payload.name == "json").ok_or("there is no JSON")?;
    let folder = tempfile::tempdir()?;
    payload.write_bodies(&folder.path().join("bodies"))?;
    catch_up::fill(plan.messages, (256, 3), payload, folder.path())?;
    let (sink, received) = catch_up::sink().await?;
    report.line("**Expressions**: messages per second through `[output.http]`, without and with `when` and `map`; the container's message.\n");
    report.line("| messages in a request | without | with | of without |\n|--:|--:|--:|--:|");
    let mut all_hit = true;
    for batch in [1, 100] {
        let output = |name: &str, expressions: &str| {
            format!(
                "[[output]]\nname = \"{name}\"\n{expressions}[output.http]\nurl = \"http://{sink}/\"\nbatch = {batch}\n"
            )
        };
        let (mut without, mut with, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..plan.rounds {
            // An output with a new name begins with the first message.
            let plain = output(&format!("plain-{batch}-{round}"), "");
            let before = rate(plan, folder.path(), &plain, &received).await?;
            let mapped = output(&format!("mapped-{batch}-{round}"), EXPRESSIONS);
            let after = rate(plan, folder.path(), &mapped, &received).await?;
            without.push(before);
            with.push(after);
            ratios.push(after / before);
        }
        let [without, with, ratio] = [without, with, ratios].map(median);
        all_hit &= ratio >= GOAL;
        report.line(&format!("| {batch} | {without:.0} | {with:.0} | {ratio:.2} |"));
    }
    report.line(&format!("\nThe goal of {GOAL} is {}.", if all_hit { "hit" } else { "missed" }));
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Returns how many messages per second reach the receiver from a gateway with the configuration `output`.
async fn rate(plan: &Plan, folder: &Path, output: &str, received: &AtomicU64) -> Result<f64, Failure> {
    let running = Running::start_with(Server::Dunnage, folder, output)?;
    tokio::time::sleep(START).await;
    let before = received.load(Ordering::Relaxed);
    tokio::time::sleep(Duration::from_secs(plan.seconds)).await;
    let count = received.load(Ordering::Relaxed) - before;
    running.stop()?;
    Ok(count as f64 / plan.seconds as f64)
}
