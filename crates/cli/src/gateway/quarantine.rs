//! `dunnage gateway quarantine`: the messages that could not be decoded.

use super::running::{Which, check_found, counted, ids, list, print_json, text};
use crate::{failure::Failure, output, schema::table};
use clap::{Args, Subcommand, builder::PossibleValuesParser};
use dunnage_gateway::KEPT_KINDS;
use serde_json::Value;
use std::io::Write;

/// List, decode again or discard the messages that could not be decoded
///
/// The commands use the admin socket of the running gateway.
#[derive(Args)]
pub struct Quarantine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the messages, oldest first
    List {
        #[command(flatten)]
        chosen: Chosen,
        /// Maximum number of messages
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1000))]
        limit: u16,
        /// Print JSON, including the bytes
        #[arg(long)]
        json: bool,
    },
    /// Decode messages again, with the current profiles and schemas
    ///
    /// Decoded messages are stored with their original receive time; prints a reason for each of the others, at most 1,000.
    /// The exit code is 0 if all messages were decoded, and 1 otherwise.
    Retry {
        #[command(flatten)]
        chosen: Chosen,
        /// Decode them as this type, which their senders did not name or named wrongly
        #[arg(long, value_name = "TYPE")]
        content_type: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Discard them permanently
    Discard {
        #[command(flatten)]
        chosen: Chosen,
        /// Discard all messages, if there is no other selection
        #[arg(long)]
        all: bool,
    },
}

/// Selected messages: those matching every option, or all.
#[derive(Args)]
struct Chosen {
    #[command(flatten)]
    which: Which,
    /// Device ID pattern; * matches any characters
    #[arg(long, value_name = "PATTERN")]
    device: Option<String>,
    /// Error kind
    #[arg(long, value_name = "KIND", value_parser = PossibleValuesParser::new(KEPT_KINDS))]
    kind: Option<String>,
    /// Schema that applies to them now
    #[arg(long, value_name = "NAME")]
    schema: Option<String>,
    /// Message IDs from the list
    #[arg(value_name = "ID")]
    ids: Vec<i64>,
}

impl Chosen {
    fn query(&self) -> Vec<(&'static str, String)> {
        let given = [("device", &self.device), ("kind", &self.kind), ("schema", &self.schema)];
        let mut query: Vec<_> =
            given.iter().filter_map(|(name, value)| Some((*name, value.as_ref()?.clone()))).collect();
        query.extend(ids(&self.ids));
        query
    }
}

impl Quarantine {
    pub fn run(self) -> Result<(), Failure> {
        match self.command {
            Command::List { chosen, limit, json } => {
                let mut query = chosen.query();
                query.push(("limit", limit.to_string()));
                let answer = chosen.which.get("/quarantine", &query)?;
                if json { print_json(&answer) } else { print_list(&answer) }
            }
            Command::Retry { chosen, content_type, json } => {
                let mut query = chosen.query();
                query.extend(content_type.map(|content_type| ("content_type", content_type)));
                let answer = chosen.which.post("/quarantine/retry", &query)?;
                check_found(&chosen.ids, answer["stored"] != 0 || answer["failed"] != 0, "quarantine")?;
                if json { print_json(&answer) } else { print_retried(&answer) }?;
                if answer["failed"] == 0 { Ok(()) } else { Err(Failure::Reported) }
            }
            Command::Discard { chosen, all } => {
                let query = chosen.query();
                if query.is_empty() && !all {
                    return Err(Failure::Usage("name the messages to discard, or give --all".into()));
                }
                let answer = chosen.which.post("/quarantine/discard", &query)?;
                check_found(&chosen.ids, answer["dropped"] != 0, "quarantine")?;
                let mut output = output::stdout();
                writeln!(output, "discarded {}", counted(&answer["dropped"], "message"))?;
                Ok(output.flush()?)
            }
        }
    }
}

const COLUMNS: [table::Column; 7] = [
    table::number("id"),
    table::text("received"),
    table::text("device"),
    table::text("schema"),
    table::text("content type"),
    table::number("bytes"),
    table::text("error"),
];

fn print_list(answer: &Value) -> Result<(), Failure> {
    let mut output = output::stdout();
    let kept = list(&answer["messages"]);
    if kept.is_empty() {
        writeln!(output, "no messages")?;
    } else {
        let rows = kept.iter().map(|message| {
            let mut row: Vec<_> = ["id", "received_at", "device", "schema", "content_type", "bytes"]
                .map(|key| text(&message[key]))
                .into();
            row.push(wrong(message));
            row
        });
        table::write(&mut output, &COLUMNS, rows)?;
    }
    if answer["more"] == true {
        writeln!(
            output,
            "more messages exist; raise --limit or narrow the selection: a list ends after 1 MiB of messages"
        )?;
    }
    Ok(output.flush()?)
}

fn print_retried(answer: &Value) -> Result<(), Failure> {
    let mut output = output::stdout();
    if answer["stored"] == 0 && answer["failed"] == 0 {
        writeln!(output, "no messages were selected")?;
        return Ok(output.flush()?);
    }
    writeln!(output, "decoded and stored {}", counted(&answer["stored"], "message"))?;
    if answer["failed"] != 0 {
        writeln!(output, "not decoded {}:", counted(&answer["failed"], "message"))?;
    }
    for failure in list(&answer["failures"]) {
        writeln!(output, "  {} of {}: {}", text(&failure["id"]), text(&failure["device"]), wrong(failure))?;
    }
    Ok(output.flush()?)
}

/// `kind: reason`, followed by the byte offset if there is one.
fn wrong(message: &Value) -> String {
    let at = message["offset"].as_u64().map_or_else(String::new, |offset| format!(" at byte {offset}"));
    format!("{}: {}{at}", text(&message["kind"]), text(&message["reason"]))
}
