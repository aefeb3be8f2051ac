//! `dunnage plan`: the costs of a fleet's messages over each link in each format, and the format to choose.

mod arguments;
mod chart;
mod html;
mod messages;
mod table;

use crate::{
    failure::{Failure, complain},
    input,
    link_id::{LinkId, default_links},
    output,
};
use clap::Args;
use dunnage_links::Link;
use dunnage_plan::{Fleet, Report, Sizes, json};
use std::{fs, io::Write, path::PathBuf};

/// Plan a fleet: formats, links, price, airtime, battery
///
/// Encodes the messages in every format and computes for each link: whether they fit, the bytes and the price
/// of a month of 30 days for the whole fleet, the time on the air with its legal limit, and the energy of
/// sending. Then says what to choose and why: first what fits, then what is lossless, then the price, then
/// the upkeep.
///
/// Packed messages are those without a reference; what deltas save depends on what the link loses, and `dunnage simulate`
/// shows their bytes and price.
///
/// The link catalogue has a source for each figure; a figure without one is not published, and its column is
/// empty. Prices stay in the provider's currency. docs/plan.md has the formulas, and what is left out.
#[derive(Args)]
#[command(after_long_help = link_list())]
pub struct Plan {
    /// Schema of the messages: a JSON Schema file, the name of a bundled one, or - for standard input
    #[arg(long, value_name = "SCHEMA")]
    schema: String,
    #[command(flatten)]
    schemas: input::Schemas,
    #[command(flatten)]
    files: messages::Files,
    /// Number of devices
    #[arg(long, value_name = "N", value_parser = arguments::devices)]
    devices: u64,
    /// Messages per day from one device; fractions are allowed
    #[arg(long, value_name = "N", value_parser = arguments::per_day, allow_negative_numbers = true)]
    per_day: f64,
    /// Link to plan for; repeatable [default: the first six below]
    #[arg(long, value_name = "ID", value_parser = LinkId, hide_possible_values = true)]
    link: Vec<&'static Link>,
    /// Hops of a message, on links that have hops: Thread, Zigbee, Bluetooth mesh, Meshtastic, Wi-SUN, G3-PLC
    #[arg(long, value_name = "N", default_value = "1", value_parser = arguments::hops, allow_negative_numbers = true)]
    hops: u32,
    /// Energy of a device's battery with its unit, such as 19Wh or 68400J
    #[arg(long, value_name = "ENERGY", value_parser = arguments::battery, allow_hyphen_values = true)]
    battery: Option<f64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write bar charts to this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Write a self-contained page to this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// The IDs of all links, for `--help`.
fn link_list() -> String {
    let ids: Vec<_> = dunnage_links::catalogue().iter().map(|link| link.id.as_str()).collect();
    format!("Links: {}", ids.join(", "))
}

impl Plan {
    pub fn run(self) -> Result<(), Failure> {
        let report = self.report()?;
        let write = |path: &PathBuf, text: String| {
            fs::write(path, text).map_err(|error| Failure::about(path.display(), error))
        };
        if let Some(path) = &self.svg {
            write(path, chart::svg(&report)?)?;
        }
        if let Some(path) = &self.html {
            write(path, html::render(&report)?)?;
        }
        let mut output = output::stdout();
        if self.json {
            writeln!(output, "{}", json::render(&report)?)?;
        } else {
            table::write(&mut output, &report)?;
        }
        Ok(output.flush()?)
    }

    fn report(&self) -> Result<Report, Failure> {
        let (model, text) = self.schemas.model_and_text(&self.schema)?;
        let messages = self.files.read(&self.schema, &text, &model)?;
        let sizes = Sizes::measure(Some(&model), &messages);
        let fleet = Fleet {
            devices: self.devices,
            per_day: self.per_day,
            battery_joules: self.battery,
            hops: self.hops,
        };
        let links = if self.link.is_empty() { default_links().collect() } else { self.link.clone() };
        if model.statistics().is_some() {
            complain(
                "note: the schema has statistics: if they come from these messages, other messages take more bytes; \
                 `dunnage schema train` prints how many",
            );
        }
        let report = Report::new(&self.schema, &messages, sizes, &links, fleet);
        report.map_err(|error| Failure::Usage(error.to_string()))
    }
}
