//! Compares an output that has a filter and a map with one that has none: messages per second that reach the receiver.

use super::{Filled, median};
use crate::{
    Failure, catch_up,
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

/// The length of a run.
const RUN: Duration = Duration::from_secs(3);

/// Prints a row for each number of messages in a request: medians of the rates, and of their ratios.
pub async fn measure(filled: &Filled, rounds: usize, report: &mut Report) -> Result<(), Failure> {
    let folder = filled.folder.path();
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
        for round in 0..rounds {
            // An output with a new name begins with the first message.
            let plain = output(&format!("plain-{batch}-{round}"), "");
            let before = rate(folder, &plain, &received).await?;
            let mapped = output(&format!("mapped-{batch}-{round}"), EXPRESSIONS);
            let after = rate(folder, &mapped, &received).await?;
            without.push(before);
            with.push(after);
            ratios.push(after / before);
        }
        let [without, with, ratio] = [without, with, ratios].map(|values| median(&values));
        all_hit &= ratio >= GOAL;
        report.line(&format!("| {batch} | {without:.0} | {with:.0} | {ratio:.2} |"));
    }
    report.line(&format!("\nThe goal of {GOAL} is {}.", if all_hit { "hit" } else { "missed" }));
    Ok(())
}

/// Returns how many messages per second reach the receiver from a gateway with the configuration `output`.
async fn rate(folder: &Path, output: &str, received: &AtomicU64) -> Result<f64, Failure> {
    let running = Running::start_with(Server::Dunnage, folder, output)?;
    tokio::time::sleep(START).await;
    let before = received.load(Ordering::Relaxed);
    tokio::time::sleep(RUN).await;
    let count = received.load(Ordering::Relaxed) - before;
    running.stop()?;
    Ok(count as f64 / RUN.as_secs_f64())
}
