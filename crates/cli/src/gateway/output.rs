//! `dunnage gateway output`: the outputs of a running gateway.

use super::running::{Which, counted, list, print_json, text};
use crate::{
    failure::Failure,
    output::{self, printable},
    schema::table,
};
use clap::{Args, Subcommand};
use serde_json::Value;
use std::io::Write;

/// Try the expressions of an output, or deliver messages again
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
    /// Deliver messages again that an output has delivered, beside the new ones
    ///
    /// Each message has the same stable ID as before, so that the receiver can drop those that it has. `dunnage gateway status` shows
    /// the progress.
    Replay {
        #[command(flatten)]
        which: Which,
        /// Name of the output
        #[arg(value_name = "NAME")]
        name: String,
        /// Messages that were received at this time or later, such as 2026-01-31T08:00:00Z; needed to begin a replay
        #[arg(long, value_name = "TIME", required_unless_present = "action")]
        from: Option<String>,
        /// Messages that were received before this time
        #[arg(long, value_name = "TIME")]
        until: Option<String>,
        /// Messages of this device; `*` stands for any characters
        #[arg(long, value_name = "ID")]
        device: Option<String>,
        /// Only count the messages
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        change: Change,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// An action on the replay in progress.
#[derive(Args)]
#[group(id = "action", multiple = false, conflicts_with_all = ["from", "until", "device", "dry_run"])]
struct Change {
    /// Pause the replay in progress
    #[arg(long)]
    pause: bool,
    /// Resume the paused replay
    #[arg(long)]
    resume: bool,
    /// End the replay
    #[arg(long)]
    cancel: bool,
}

impl Change {
    /// The action's name; `None` to begin a replay.
    fn name(&self) -> Option<&'static str> {
        [(self.pause, "pause"), (self.resume, "resume"), (self.cancel, "cancel")]
            .into_iter()
            .find_map(|(given, name)| given.then_some(name))
    }
}

impl Output {
    pub fn run(self) -> Result<(), Failure> {
        match self.command {
            Command::Try { which, name, last, when, until, map, json } => {
                let mut query = vec![("output", name), ("last", last.to_string())];
                for (key, expression) in [("when", when), ("until", until), ("map", map)] {
                    query.extend(expression.map(|expression| (key, expression)));
                }
                let answer = which.post("/outputs/try", &query)?;
                if json { print_json(&answer) } else { print(&answer) }
            }
            Command::Replay { which, name, from, until, device, dry_run, change, json } => {
                let mut query = vec![("output", name)];
                let path = match change.name() {
                    Some(action) => {
                        query.push(("action", action.into()));
                        "/outputs/replay/change"
                    }
                    None => {
                        query.push(("dry_run", dry_run.to_string()));
                        "/outputs/replay"
                    }
                };
                for (key, given) in [("from", from), ("until", until), ("device", device)] {
                    query.extend(given.map(|given| (key, given)));
                }
                let answer = which.post(path, &query)?;
                if json { print_json(&answer) } else { print_replay(&answer["replay"]) }
            }
        }
    }
}

/// Prints the state of a replay in one line.
fn print_replay(replay: &Value) -> Result<(), Failure> {
    let mut output = output::stdout();
    writeln!(output, "{}", replay_line(replay))?;
    Ok(output.flush()?)
}

/// The state of a replay, for people. Null means that it was cancelled.
pub fn replay_line(replay: &Value) -> String {
    let all = counted(&replay["messages"], "message");
    match replay["state"].as_str() {
        None => "the replay is cancelled".into(),
        Some("planned") => format!("{all} would be delivered again"),
        Some(state) => format!("replay {}: {} of {all} done", printable(state), text(&replay["done"])),
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
