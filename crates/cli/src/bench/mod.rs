//! `dunnage bench`: the size and the speed of messages in every format, on this machine.

mod advice;
mod chart;
mod json;
mod messages;
mod numbers;
mod table;

use crate::{failure::Failure, input, output};
use clap::Args;
use dunnage_formats::Id;
use dunnage_measure::{Prepared, Row};
use indicatif::{ProgressBar, ProgressStyle};
use messages::Messages;
use std::{
    fs::File,
    io::Write,
    path::{Path, PathBuf},
    time::Duration,
};

/// Measure the size and the speed of messages in every format
///
/// One row per format, smallest first: bytes, bytes after gzip -9 and zstd -19, the time to encode and to decode one message
/// on this machine, and whether every message decodes to the same value. Times are medians of 21 rounds; each round measures
/// every format. With several messages, sizes are means of all, and times are means of up to 64 of them. 128 messages or
/// more also train zstd dictionaries: each half of the messages trains the one for the other half. With a schema, the formats that need one are included, with
/// the mappings that `dunnage compare` explains. The memory of the formats is measured by `make bench`.
#[derive(Args)]
pub struct Bench {
    /// Files with one message each; standard input if omitted or -
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Schema of the messages: a JSON Schema file, the name of a bundled one, or - for standard input
    #[arg(long, value_name = "SCHEMA")]
    schema: Option<String>,
    #[command(flatten)]
    schemas: input::Schemas,
    /// Every line of the files is a message
    #[arg(long)]
    lines: bool,
    /// Duration of the timing in seconds; messages are encoded and compressed before
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// Write a plot of size against speed to this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The result of a benchmark.
struct Outcome {
    /// The messages.
    messages: Messages,
    /// Mean size of a message as JSON without white space, in bytes.
    json_bytes: f64,
    /// Whether a schema was given.
    has_schema: bool,
    /// The formats, smallest first.
    rows: Vec<Row>,
}

impl Bench {
    pub fn run(self) -> Result<(), Failure> {
        let model = self.schema.as_deref().map(|name| self.schemas.model(name)).transpose()?;
        let messages = Messages::read(&self.files, self.lines)?;
        // Before the measurement, which is lost if the file cannot be written.
        let mut plot = self.svg.as_ref().map(|path| open(path)).transpose()?;
        let bar = progress_bar();
        let prepared = dunnage_measure::prepare(&messages.values, model.as_ref());
        if let Some(schema) = &self.schema {
            check_schema(schema, &prepared, &messages)?;
        }
        bar.set_message("measuring");
        let show = |share: f64| bar.set_position((share * 1000.0) as u64);
        let rows = prepared.measure(Duration::from_secs(self.seconds), show);
        bar.finish_and_clear();
        let json = rows.iter().find(|row| row.format == "json");
        let json_bytes = json.and_then(|row| row.outcome.as_ref().ok()).map_or(0.0, |json| json.bytes);
        let has_schema = model.is_some();
        let outcome = Outcome { messages, json_bytes, has_schema, rows };
        if let (Some(file), Some(path)) = (&mut plot, &self.svg) {
            let written = file.write_all(chart::svg(&outcome)?.as_bytes());
            written.map_err(|e| Failure::about(path.display(), e))?;
        }
        let mut output = output::stdout();
        match self.json {
            true => writeln!(output, "{}", json::render(&outcome))?,
            false => write!(output, "{}", table::render(&outcome))?,
        }
        Ok(output.flush()?)
    }
}

/// A progress bar with the time left, on standard error if that is a terminal.
fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::new(1000);
    if let Ok(style) = ProgressStyle::with_template("{msg} {bar:30} {percent} %, {eta} left") {
        bar.set_style(style);
    }
    bar.set_message("encoding and compressing");
    bar.tick();
    bar
}

/// Creates the file of the plot.
fn open(path: &Path) -> Result<File, Failure> {
    File::create(path).map_err(|e| Failure::about(path.display(), e))
}

/// Whether the format needs a schema.
fn needs_schema(format: &str) -> bool {
    // The name of a variant follows the ID after a space.
    let name = format.split(' ').next().unwrap_or_default();
    name.parse::<Id>().is_ok_and(|id| id.needs_schema())
}

/// Returns an error if no format that needs the schema carries the messages: that of the first such format.
fn check_schema(schema: &str, prepared: &Prepared<'_>, messages: &Messages) -> Result<(), Failure> {
    let mut reasons = prepared.formats().filter(|(format, _)| needs_schema(format)).map(|(_, reason)| reason);
    match reasons.next() {
        Some(Some(first)) if reasons.all(|reason| reason.is_some()) => {
            let what = format!("no format that needs the schema {schema} carries the message");
            Err(messages.blame(first.message, &what, &first.error))
        }
        _ => Ok(()),
    }
}
