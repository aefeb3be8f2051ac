//! `dunnage gateway dead-letters`: the messages that outputs have rejected for good, and those that they retry.

use super::running::{self, Which, check_found, counted, list, print_json, text};
use crate::{failure::Failure, output, schema::table};
use clap::{Args, Subcommand};
use serde_json::Value;
use std::io::Write;

/// List, retry or discard the messages that an output's receiver or expression rejected for good
///
/// The list and the command to discard also cover messages whose delivery fails and is retried: of each device, the first one, which holds up
/// the later ones. The commands talk to the running gateway over its admin socket. The messages stay in the buffer either way.
#[derive(Args)]
pub struct DeadLetters {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List them by output, the oldest first, and the messages that are retried
    List {
        #[command(flatten)]
        chosen: Chosen,
        /// Maximum number of messages of an output
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1000))]
        limit: u16,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Deliver them again
    ///
    /// A delivered message leaves the list; a rejected one returns to it. Without IDs, an output retries at most 100,000 at a time.
    Retry {
        #[command(flatten)]
        chosen: Chosen,
        /// IDs from the list
        #[arg(value_name = "ID")]
        ids: Vec<i64>,
    },
    /// Discard them: they leave the list without being delivered
    ///
    /// A message that is retried is discarded only if its ID is given.
    Discard {
        #[command(flatten)]
        chosen: Chosen,
        /// IDs from the list
        #[arg(value_name = "ID")]
        ids: Vec<i64>,
        /// Discard all dead letters; required without --output and IDs
        #[arg(long)]
        all: bool,
    },
}

/// Which messages.
#[derive(Args)]
struct Chosen {
    #[command(flatten)]
    which: Which,
    /// Output [default: all]
    #[arg(long, value_name = "NAME")]
    output: Option<String>,
}

impl Chosen {
    fn query(&self, ids: &[i64]) -> Vec<(&'static str, String)> {
        let mut query = Vec::new();
        if let Some(output) = &self.output {
            query.push(("output", output.clone()));
        }
        query.extend(running::ids(ids));
        query
    }
}

impl DeadLetters {
    pub fn run(self) -> Result<(), Failure> {
        match self.command {
            Command::List { chosen, limit, json } => {
                let mut query = chosen.query(&[]);
                query.push(("limit", limit.to_string()));
                let answer = chosen.which.get("/dead-letters", &query)?;
                if json { print_json(&answer) } else { print_list(&answer) }
            }
            Command::Retry { chosen, ids } => {
                let answer = chosen.which.post("/dead-letters/retry", &chosen.query(&ids))?;
                say("retrying", &answer, &ids)
            }
            Command::Discard { chosen, ids, all } => {
                let query = chosen.query(&ids);
                if query.is_empty() && !all {
                    return Err(Failure::Usage("name the messages to discard, or give --all".into()));
                }
                let answer = chosen.which.post("/dead-letters/discard", &query)?;
                say("discarded", &answer, &ids)
            }
        }
    }
}

/// Prints the number of messages.
fn say(done: &str, answer: &Value, ids: &[i64]) -> Result<(), Failure> {
    check_found(ids, answer["messages"] != 0, "dead-letters")?;
    let mut output = output::stdout();
    writeln!(output, "{done} {}", counted(&answer["messages"], "message"))?;
    Ok(output.flush()?)
}

const COLUMNS: [table::Column; 6] = [
    table::text("output"),
    table::number("id"),
    table::text("state"),
    table::text("since"),
    table::text("device"),
    table::text("reason"),
];

fn print_list(answer: &Value) -> Result<(), Failure> {
    let mut output = output::stdout();
    let outputs = list(&answer["outputs"]);
    if outputs.is_empty() {
        writeln!(output, "no dead letters")?;
        return Ok(output.flush()?);
    }
    let rows = outputs.iter().flat_map(|of| {
        let row = move |state: &str, since: &str, message: &Value| {
            let columns = ["id", "", since, "device", "reason"].map(|key| text(&message[key]));
            let mut row: Vec<_> = [text(&of["output"])].into_iter().chain(columns).collect();
            row[2] = state.to_owned();
            row
        };
        let letters = list(&of["messages"]).iter().map(move |message| row("rejected", "refused_at", message));
        let retried = list(&of["retried"]).iter().map(move |message| row("retried", "failed_at", message));
        letters.chain(retried)
    });
    table::write(&mut output, &COLUMNS, rows)?;
    for of in outputs {
        let (shown, count) = (list(&of["messages"]).len() as u64, of["count"].as_u64().unwrap_or_default());
        if shown < count {
            writeln!(output, "and {} more of {}", count - shown, text(&of["output"]))?;
        }
    }
    Ok(output.flush()?)
}
