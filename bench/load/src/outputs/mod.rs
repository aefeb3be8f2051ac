//! Outputs: messages per second of each kind to a real server on this machine, rows in PostgreSQL beside a service in Node, and the cost of
//! expressions. All of them begin with the first message of one buffer.

mod expressions;
mod kinds;
mod rows;

use crate::{
    Failure, catch_up,
    payload::{self, Payload},
    report::Report,
    server::{Running, Server},
};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How often the gateway is asked how far its output is.
const POLL: Duration = Duration::from_millis(50);
/// An output that delivers nothing for so long has failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// A table of the measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Messages per second of each kind
    Kinds,
    /// Rows in PostgreSQL beside a service in Node
    Rows,
    /// The cost of a filter and a map
    Expressions,
}

/// Options of the measurement.
#[derive(Debug, clap::Args)]
pub struct Plan {
    /// One table only; the README is then left as it is
    #[arg(value_enum)]
    part: Option<Part>,
    /// Messages in the buffer when an output starts
    #[arg(long, default_value_t = 300_000)]
    messages: u64,
    /// Runs of each, in turn; the medians are reported
    #[arg(long, default_value_t = 3)]
    rounds: usize,
}

/// A buffer with messages.
struct Filled {
    folder: TempDir,
    payload: Payload,
    /// How many messages it has.
    messages: u64,
}

impl Filled {
    fn new(messages: u64) -> Result<Filled, Failure> {
        let all = payload::all(1000)?;
        let payload = all.into_iter().find(|payload| payload.name == "json").ok_or("there is no JSON")?;
        let folder = tempfile::tempdir()?;
        payload.write_bodies(&folder.path().join("bodies"))?;
        catch_up::fill(messages, (256, 3), &payload, folder.path())?;
        let buffer = rusqlite::Connection::open(folder.path().join("buffer.sqlite3"))?;
        let messages = buffer.query_row("SELECT count(*) FROM messages", [], |row| row.get::<_, u64>(0))?;
        Ok(Filled { folder, payload, messages })
    }
}

/// Prints the tables. If these are all, they are written into the README, too; figures go into `bench/results/load.jsonl`.
pub async fn measure(plan: &Plan, report: &mut Report) -> Result<(), Failure> {
    let wants = |part| plan.part.is_none_or(|only| only == part);
    let filled = tokio::task::block_in_place(|| Filled::new(plan.messages))?;
    if wants(Part::Kinds) {
        kinds::measure(&filled, plan.rounds, report).await?;
        report.line("");
    }
    if wants(Part::Rows) {
        tokio::task::block_in_place(|| rows::measure(&filled, plan.rounds, report))?;
        report.line("");
    }
    if wants(Part::Expressions) {
        expressions::measure(&filled, plan.rounds, report).await?;
    }
    if plan.part.is_none() { report.save("outputs") } else { Ok(()) }
}

/// Runs a gateway with the output `name` until it has delivered all messages. Returns the messages per second, with the start of the
/// gateway, and the processor time for one in microseconds.
fn deliver(
    filled: &Filled,
    name: &str,
    output: &str,
    variables: &[(&str, &str)],
) -> Result<(f64, f64), Failure> {
    let config = format!("[[output]]\nname = \"{name}\"\n{output}");
    let begun = Instant::now();
    let running = Running::start_in(Server::Dunnage, filled.folder.path(), &config, variables)?;
    let (mut before, mut moved) = (0, Instant::now());
    loop {
        let delivered = running.counts()?.outputs.first().map_or(0, |output| output.delivered);
        if delivered >= filled.messages {
            break;
        }
        if delivered != before {
            (before, moved) = (delivered, Instant::now());
        } else if moved.elapsed() > PATIENCE {
            return Err(format!("{output}: {delivered} of {} messages are delivered", filled.messages).into());
        }
        std::thread::sleep(POLL);
    }
    let (seconds, cpu) = (begun.elapsed().as_secs_f64(), running.processor_seconds()?);
    running.stop()?;
    Ok((filled.messages as f64 / seconds, cpu * 1e6 / filled.messages as f64))
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
