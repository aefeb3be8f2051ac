//! `dunnage simulate`: sends messages over a lossy link, end to end.

mod chart;
mod json;
mod run;
mod table;

use crate::{
    failure::Failure,
    input::{self, Source},
    link_id::LinkId,
    network::NetworkOptions,
    output,
    sequences::{self, Sequence},
};
use clap::Args;
use dunnage_links::{Link, Load};
use dunnage_packed::Layout;
use dunnage_simulate::{Containers, Network};
use run::{Outcome, Work};
use std::{
    fs::File,
    io::Write,
    path::{Path, PathBuf},
};

/// Send messages over a lossy link and decode them, packed
///
/// Encodes each message in every form that the schema has: plain; with statistics, the prior form and deltas. Loses
/// messages and acknowledgements, decodes what arrives, and compares it with what was sent. All chance comes from the
/// seed.
///
/// The messages are those of simulated containers, for the schemas container and container-voyage, or those of a file.
#[derive(Args)]
pub struct Simulate {
    /// Schema of the messages: a JSON Schema file, the name of a bundled one, or - for standard input
    #[arg(long, value_name = "SCHEMA")]
    schema: String,
    #[command(flatten)]
    schemas: input::Schemas,
    /// File with one message per line, or CSV, in the order in which they were sent, instead of simulated containers
    #[arg(long, value_name = "FILE")]
    messages: Option<PathBuf>,
    /// JSON pointer to what identifies the device in --messages; without it, all are of one device
    #[arg(long, value_name = "POINTER", requires = "messages")]
    device: Option<String>,
    /// Number of simulated containers (--messages brings its own devices); above 1,000, a thousand of them are simulated for all
    #[arg(long, value_name = "N", default_value = "100", conflicts_with = "messages", value_parser = clap::value_parser!(u64).range(1..=Load::MAX_DEVICES))]
    devices: u64,
    /// Time between two messages of a device, for the price and the airtime, whatever times --messages have: 15m, 6h, 1d
    #[arg(long, value_name = "TIME", default_value = "15m", value_parser = duration)]
    cadence: f64,
    /// Most seconds by which a container's message is late
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = clap::value_parser!(u32).range(..=3600))]
    jitter: u32,
    /// Messages of each container
    #[arg(long, value_name = "N", default_value = "1000", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    count: u64,
    #[command(flatten)]
    network: NetworkOptions,
    /// Link whose limit, airtime and price to show; repeatable
    #[arg(long, value_name = "ID", value_parser = LinkId, hide_possible_values = true)]
    link: Vec<&'static Link>,
    /// Seed of the containers and of the losses
    #[arg(long, value_name = "N", default_value = "1")]
    seed: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write a histogram of sizes to this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// The subject of the simulation, and its results.
struct Report {
    schema: String,
    network: Network,
    /// Devices that were simulated, and the size of the fleet that they represent.
    simulated: u64,
    devices: u64,
    per_day: f64,
    links: Vec<&'static Link>,
    outcomes: Vec<Outcome>,
}

/// The most containers that are simulated.
const SAMPLE: u64 = 1000;

impl Simulate {
    pub fn run(self) -> Result<(), Failure> {
        let layout = self.schemas.layout(&self.schema)?;
        // Before the simulation, which is lost if the file cannot be written.
        let mut plot = self.svg.as_deref().map(|path| create(path).map(|file| (file, path))).transpose()?;
        let network = self.network.network();
        let work = Work { layout: &layout, network, seed: self.seed };
        let (outcomes, devices, simulated) = match &self.messages {
            Some(path) => {
                let source = Source::from(path.clone());
                let sequences = sequences::read(&source, layout.model(), self.device.as_deref())?;
                (work.sequences(&sequences)?, sequences.len() as u64, sequences.len() as u64)
            }
            None => {
                let simulated = self.devices.min(SAMPLE);
                (work.containers(self.containers(&layout)?, simulated, self.count)?, self.devices, simulated)
            }
        };
        let per_day = 86_400.0 / self.cadence;
        let (schema, links) = (self.schema, self.link);
        let report = Report { schema, network, simulated, devices, per_day, links, outcomes };
        if let Some((file, path)) = &mut plot {
            let written = file.write_all(chart::svg(&report)?.as_bytes());
            written.map_err(|error| Failure::about(path.display(), error))?;
        }
        let mut output = output::stdout();
        match self.json {
            true => writeln!(output, "{}", json::render(&report))?,
            false => table::write(&mut output, &report)?,
        }
        Ok(output.flush()?)
    }

    /// Returns the containers whose messages the schema allows.
    fn containers(&self, layout: &Layout) -> Result<Containers, Failure> {
        use dunnage_links::fleet::Detail::{Full, Voyage};
        let of = |detail| Containers {
            seed: self.seed,
            cadence_s: self.cadence,
            jitter_s: self.jitter.into(),
            detail,
        };
        let fits = |containers: &Containers| {
            containers.messages(0, 1).all(|message| layout.model().validate(&message).is_ok())
        };
        [Full, Voyage].map(of).into_iter().find(fits).ok_or_else(|| {
            let reason =
                "it does not allow the messages of the simulated containers; give yours with --messages";
            Failure::about(&self.schema, reason)
        })
    }
}

/// A time with its unit, in seconds.
fn duration(text: &str) -> Result<f64, String> {
    let (number, unit) = text.split_at(text.len() - text.chars().next_back().map_or(0, char::len_utf8));
    let seconds = match unit {
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return Err("give a number with its unit s, m, h or d, such as 15m".to_owned()),
    };
    match number.parse::<f64>() {
        Ok(number) if (1.0..=31.0 * 86_400.0).contains(&(number * seconds)) => Ok(number * seconds),
        _ => Err("give a time from 1s to 31d".to_owned()),
    }
}

fn create(path: &Path) -> Result<File, Failure> {
    File::create(path).map_err(|error| Failure::about(path.display(), error))
}
