//! `dunnage gateway output`: the outputs of a running gateway.

use super::running::{Which, counted, list, print_json, text};
use crate::{failure::Failure, output, schema::table};
use clap::{Args, Subcommand};
use serde_json::Value;
use std::io::Write;

/// Try the expressions of an output
///
/// The commands talk to the running gateway over its admin socket.
#[derive(Args)]
pub struct Output {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print what an output would do with the last messages, without delivering any
    ///
    /// With --when, --until or --map, these expressions count instead of those of the configuration.
    Try {
        #[command(flatten)]
        which: Which,
        /// Name of the output
        #[arg(value_name = "NAME")]
        name: String,
        /// How many of the last messages to examine
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=100))]
        last: u16,
        /// Expression in jq: which messages are delivered
        #[arg(long, value_name = "EXPRESSION")]
        when: Option<String>,
        /// Expression in jq: when the alarm of a device ends
        #[arg(long, value_name = "EXPRESSION", requires = "when")]
        until: Option<String>,
        /// Expression in jq: what is delivered
        #[arg(long, value_name = "EXPRESSION")]
        map: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

impl Output {
    pub fn run(self) -> Result<(), Failure> {
        let Command::Try { which, name, last, when, until, map, json } = self.command;
        let mut query = vec![("output", name), ("last", last.to_string())];
        for (key, expression) in [("when", when), ("until", until), ("map", map)] {
            query.extend(expression.map(|expression| (key, expression)));
        }
        let answer = which.post("/outputs/try", &query)?;
        if json { print_json(&answer) } else { print(&answer) }
    }
}

const COLUMNS: [table::Column; 5] = [
    table::number("id"),
    table::text("received"),
    table::text("device"),
    table::text("result"),
    table::text("payload or reason"),
];

fn print(answer: &Value) -> Result<(), Failure> {
    let messages = list(&answer["messages"]);
    let rows = messages.iter().map(|message| {
        let shown = if message["reason"].is_null() { &message["payload"] } else { &message["reason"] };
        let result = text(&message["result"]).replace('_', " ");
        [text(&message["id"]), text(&message["received_at"]), text(&message["device"]), result, text(shown)]
    });
    let mut output = output::stdout();
    table::write(&mut output, &COLUMNS, rows)?;
    let delivered = messages.iter().filter(|message| message["result"] == "delivered").count();
    let all = counted(&messages.len().into(), "message");
    writeln!(output, "{delivered} of {all} would be delivered")?;
    Ok(output.flush()?)
}
