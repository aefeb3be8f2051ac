//! `dunnage compare`: the size of one message in every format, compared with the limits of the links.

mod chart;
mod json;
mod markdown;
mod measure;
mod table;

use crate::{
    failure::Failure,
    input::{self, Source},
    link_id::{self, LinkId},
    numbers::{Numbers, with_choice},
    output,
    proto::Proto,
};
use clap::Args;
use dunnage_formats::{Altered, Reception};
use dunnage_links::Link;
pub use measure::Comparison;
use measure::Outcome;
use std::{fs, io::Write, path::PathBuf};

/// Compare the size of a message in every format
///
/// One row per format, smallest first: bytes, percent of compact JSON, bytes after gzip -9, whether the
/// message decodes to the same value, and which links carry it in one message. With a schema, the formats that
/// need one are included: with the exact mapping (decimals as scaled integers) and, marked (float32), with
/// the mapping common in hand-written definitions (decimals as binary32), which preserves only some messages.
/// If no schema format carries the message, the exit code is 1. It does not depend on the links: `dunnage
/// generate c --link` fails if the largest message of a schema does not fit.
#[derive(Args)]
pub struct Compare {
    #[command(flatten)]
    message: Source,
    /// Schema of the message: a JSON Schema file, the name of a bundled one, or - for standard input
    #[arg(long, value_name = "SCHEMA")]
    schema: Option<String>,
    #[command(flatten)]
    numbers: Numbers,
    #[command(flatten)]
    schemas: input::Schemas,
    /// Link to compare with, of those in `dunnage plan --help`; repeatable [default: astrocast, iridium-sbd-mo, iridium-sbd-mt, orbcomm, kineis]
    #[arg(long, value_name = "ID", value_parser = LinkId, hide_possible_values = true)]
    link: Vec<&'static Link>,
    #[command(flatten)]
    proto: Proto,
    /// Write a bar chart to this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print JSON
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print a Markdown table
    #[arg(long)]
    markdown: bool,
}

impl Compare {
    pub fn run(self) -> Result<(), Failure> {
        let text = self.message.message(false)?;
        let model = self.schema.as_deref().map(|name| self.schemas.model(name)).transpose()?;
        let altered = Altered::default();
        let reception = Reception { numbers: self.numbers.of(&altered), ..Reception::default() };
        let comparison = Comparison::measure(&text, &reception, model.as_ref(), links(&self.link));
        let mut comparison = comparison.map_err(|error| {
            let failure = input::json_failure(
                with_choice(&error),
                &text,
                "compare takes one; `dunnage plan --messages FILE` takes many",
            );
            self.message.blame(failure)
        })?;
        if let (Some(path), Some(codec)) = (self.proto.file(), self.proto.codec(model.as_ref())?) {
            let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
            comparison.add_proto(&name, codec);
        }
        if let Some(path) = &self.svg {
            fs::write(path, chart::svg(&comparison)).map_err(|e| Failure::about(path.display(), e))?;
        }
        let mut output = output::stdout();
        if self.json {
            writeln!(output, "{}", json::render(&comparison))?;
        } else if self.markdown {
            write!(output, "{}", markdown::render(&comparison))?;
        } else {
            write!(output, "{}", table::render(&comparison))?;
        }
        output.flush()?;
        match (&self.schema, comparison.refused_by_schema()) {
            (Some(schema), Some(reason)) => {
                let message =
                    format!("no format that needs the schema {schema} carries the message: {reason}");
                Err(self.message.blame(Failure::Failed(message)))
            }
            _ => Ok(()),
        }
    }
}

/// The requested links, or the default links with a limit if none is requested; narrowest first.
fn links(asked: &[&'static Link]) -> Vec<&'static Link> {
    let mut links: Vec<&'static Link> = match asked {
        [] => link_id::default_links().filter(|link| link.max_payload_bytes.is_some()).collect(),
        asked => asked.to_vec(),
    };
    links.sort_by_key(|link| link.max_payload_bytes.unwrap_or(usize::MAX));
    links.dedup_by_key(|link| &link.id);
    links
}

/// Prints the table for one message and its schema, for `dunnage demo`.
pub fn print(text: &[u8], schema: &str) -> Result<(), Failure> {
    let model = input::Schemas::default().model(schema)?;
    let comparison = Comparison::measure(text, &Reception::default(), Some(&model), links(&[]))?;
    let mut output = output::stdout();
    write!(output, "{}", table::render(&comparison))?;
    Ok(output.flush()?)
}
