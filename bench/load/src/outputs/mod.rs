//! Outputs: messages per second of each kind to a real server on this machine, rows in PostgreSQL beside a service in Node, and the cost of
//! expressions. All of them begin with the first message of one buffer.

mod expressions;
mod kinds;
mod rows;

use crate::{
    Failure, catch_up,
    payload::{self, Payload},
    report::Report,
};
use tempfile::TempDir;

/// Options of the measurement.
#[derive(Debug, clap::Args)]
pub struct Plan {
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

/// Prints three tables, and writes them into the README and their figures into `bench/results/load.jsonl`.
pub async fn measure(plan: &Plan, report: &mut Report) -> Result<(), Failure> {
    let filled = tokio::task::block_in_place(|| Filled::new(plan.messages))?;
    kinds::measure(&filled, plan.rounds, report).await?;
    report.line("");
    tokio::task::block_in_place(|| rows::measure(&filled, plan.rounds, report))?;
    report.line("");
    expressions::measure(&filled, plan.rounds, report).await?;
    report.save("outputs")
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
