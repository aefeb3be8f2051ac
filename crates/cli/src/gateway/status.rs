//! `dunnage gateway status`: the state and counters of a running gateway.

use super::{
    output::replay_line,
    running::{Which, counted, list, print_json, text},
};
use crate::{failure::Failure, output};
use clap::Args;
use serde_json::Value;
use std::io::{self, Write};

/// Show the state of the running gateway
///
/// Uses the admin socket. The exit code is 1 if no gateway is running.
#[derive(Args)]
pub struct Status {
    #[command(flatten)]
    which: Which,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Status {
    pub fn run(self) -> Result<(), Failure> {
        let status = self.which.get("/status", &[])?;
        if self.json {
            return print_json(&status);
        }
        let mut output = output::stdout();
        print(&mut output, &status)?;
        Ok(output.flush()?)
    }
}

fn print(output: &mut impl Write, status: &Value) -> io::Result<()> {
    let up = duration(status["uptime_seconds"].as_u64().unwrap_or_default());
    let (version, address) = (text(&status["version"]), text(&status["address"]));
    let line = |output: &mut dyn Write, what: &str, text: String| writeln!(output, "{what:<12}{text}");
    line(output, "gateway", format!("dunnage {version} on {address}, up {up}"))?;
    let counts = ["received", "stored", "duplicates", "quarantined", "refused", "dropped"];
    let counts: Vec<_> = counts.iter().map(|what| format!("{} {what}", status[what])).collect();
    line(output, "messages", format!("{}; {}", counts.join(", "), counted(&status["devices"], "device")))?;
    let buffer = &status["buffer"];
    let mut text_of_buffer = format!("{}, {} with its log", text(&buffer["path"]), bytes(&buffer["bytes"]));
    if buffer["limit_bytes"] != 0 {
        // The file keeps the pages of dropped messages, and the log is emptied again and again.
        text_of_buffer += &format!(", limit {} in use", bytes(&buffer["limit_bytes"]));
    }
    if buffer["full"] == true {
        text_of_buffer += ", FULL";
    }
    if buffer["writable"] != true {
        text_of_buffer += ", NOT WRITABLE";
    }
    line(output, "buffer", text_of_buffer)?;
    if status["damages"] != 0 {
        let times = counted(&status["damages"], "time");
        let text = format!("{times}, {} lost", counted(&status["lost"], "message"));
        line(output, "damaged", text)?;
    }
    for what in ["queue", "quarantine"] {
        let (holds, most) = (&status[what], |key| &status[what][key]);
        let text = format!(
            "{} of {} messages, {} of {}",
            holds["messages"],
            most("limit_messages"),
            bytes(&holds["bytes"]),
            bytes(most("limit_bytes"))
        );
        line(output, what, text)?;
    }
    list(&status["outputs"]).iter().try_for_each(|of| print_output(output, of))
}

/// Prints a line with the state of an output, and a line with its last error.
fn print_output(output: &mut impl Write, of: &Value) -> io::Result<()> {
    let mut parts = vec![text(&of["state"]), format!("{} delivered", of["delivered"])];
    parts.push(format!("{} pending", of["lag_messages"]));
    let age = of["age_seconds"].as_f64().unwrap_or_default() as u64;
    if age > 0 {
        parts.push(format!("oldest {} old", duration(age)));
    }
    parts.push(format!("{} of {} calls", of["calls"], of["limit"]));
    let counts = [
        (counted(&of["failing"], "device") + " retried", &of["failing"]),
        (counted(&of["duplicates"], "duplicate"), &of["duplicates"]),
        (format!("{} dropped", of["dropped"]), &of["dropped"]),
        (counted(&of["undelivered"], "dead letter"), &of["undelivered"]),
    ];
    parts.extend(counts.into_iter().filter(|(_, count)| **count != 0).map(|(text, _)| text));
    writeln!(output, "{:<12}{}: {}", "output", text(&of["output"]), parts.join(", "))?;
    if !of["replay"].is_null() {
        writeln!(output, "{:<12}  {}", "", replay_line(&of["replay"]))?;
    }
    let failure = &of["last_failure"];
    match failure.is_null() {
        true => Ok(()),
        false => writeln!(output, "{:<12}  {} {}", "", text(&failure["at"]), text(&failure["reason"])),
    }
}

/// A size with a decimal unit, for example `12.3 MB`.
fn bytes(count: &Value) -> String {
    indicatif::DecimalBytes(count.as_u64().unwrap_or_default()).to_string()
}

/// The two largest units of a duration.
fn duration(seconds: u64) -> String {
    let (days, hours, minutes) = (seconds / 86400, seconds / 3600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min {} s", seconds % 60),
        (0, ..) => format!("{hours} h {minutes} min"),
        _ => format!("{days} d {hours} h"),
    }
}
