//! `dunnage schema infer`: infers a schema from sample messages.

use super::{closed::closed, from_codec::FromCodec};
use crate::{
    failure::{Failure, complain},
    input::{self, Source},
    output::printable,
    several,
};
use anstyle::Style;
use clap::Args;
use dunnage_formats::Json;
use dunnage_packed::{Layout, with_slot};
use dunnage_schema::{Inferred, Model, infer};
use dunnage_simulate::ENOUGH;
use std::{
    io::{self, Write},
    path::PathBuf,
};

const BOLD: Style = Style::new().bold();

/// Infer a schema from messages
///
/// Writes the schema to standard output and the guesses to standard error, one per line: ranges with headroom, decimal
/// places, notations of numbers and times in text, patterns of identifiers, choices, optional fields. All given messages
/// are valid against the schema, except outliers, which have a value unlike all others of its field and are named. More
/// messages improve the guesses: 20 or more distinguish chance from structure.
///
/// A file may also be CSV: its first line has the names of the fields, and each further line is a message. Empty fields are
/// absent. docs/infer.md has the rules.
///
/// With --codec, the messages are those that a vendor's JavaScript codec returns for its examples, and for mutations of their
/// frames: the examples have the structure, and the mutated frames show the ranges, steps and texts. Prints the sizes beside
/// those of the vendor's frames, and whether every message comes back from packed. docs/codecs.md has the rules.
#[derive(Args)]
pub struct Infer {
    /// Files with one JSON message each, or CSV with a header; standard input if omitted or -
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// One message per line
    #[arg(long)]
    lines: bool,
    /// Leave out headroom: texts, ranges and lengths as the messages have them. Counters, times and rare texts keep it
    #[arg(long)]
    closed: bool,
    /// Title of the schema, which names generated code [default: from the file name]
    #[arg(long, value_name = "TITLE")]
    title: Option<String>,
    #[command(flatten)]
    codec: FromCodec,
}

/// The sample messages and their origins.
#[derive(Default)]
struct Samples {
    texts: Vec<String>,
    origins: Vec<String>,
    bytes: usize,
}

impl Infer {
    pub fn run(self) -> Result<(), Failure> {
        if let Some(codec) = &self.codec.codec {
            return self.codec.run(codec, self.title.as_deref(), self.closed);
        }
        let mut samples = Samples::default();
        let sources: Vec<Source> = match self.files.as_slice() {
            [] => vec![PathBuf::from("-").into()],
            files => files.iter().cloned().map(Source::from).collect(),
        };
        for source in &sources {
            let bytes = source.all()?;
            several::empty_columns(&bytes).into_iter().for_each(|pointer| {
                complain(format_args!(
                    "warning: {source}: the column of {pointer} is empty in every row, so the schema does not have it"
                ));
            });
            if self.lines || several::are_csv(&bytes) {
                several::each(source, &bytes, |place, text| {
                    samples.add(place, text.to_vec()).map_err(|(_, failure)| Failure::Failed(failure))
                })?;
            } else {
                input::within_limit(&bytes).map_err(|error| source.blame(error.into()))?;
                samples.add(source.to_string(), bytes).map_err(|(bytes, failure)| {
                    input::json_failure(failure, &bytes, "--lines reads one per line")
                })?;
            }
        }
        let title = self.title.clone().or_else(|| title(&self.files));
        let inferred = infer(&samples.texts, title.as_deref()).map_err(|error| {
            let origin = error.sample().and_then(|index| samples.origins.get(index));
            origin.map_or_else(|| Failure::Failed(error.to_string()), |origin| Failure::about(origin, &error))
        })?;
        samples.print(&inferred, self.closed)
    }
}

/// The common prefix of the files' titles: `reading-1.json` and `reading-2.json` give `Reading`.
fn title(files: &[PathBuf]) -> Option<String> {
    let mut titles = files.iter().map(|path| input::title(path));
    let first = titles.next()??;
    let common = titles.try_fold(first.clone(), |common, title| {
        let title = title?;
        let same = common.chars().zip(title.chars()).take_while(|(a, b)| a == b).count();
        Some(common.chars().take(same).collect())
    })?;
    let common =
        if files.len() > 1 { common.trim_end_matches(|c: char| !c.is_ascii_alphabetic()) } else { &first };
    (!common.is_empty()).then(|| common.to_owned())
}

/// Whether the messages have what clients of MQTT brokers write around a payload.
fn is_of_broker(schema: &str) -> bool {
    let schema: serde_json::Value = serde_json::from_str(schema).unwrap_or_default();
    let properties = &schema["properties"];
    !properties["topic"].is_null() && !properties["payload"].is_null() && !properties["qos"].is_null()
}

impl Samples {
    /// Adds the message `bytes`. If they are not a JSON message, returns them with the reason.
    fn add(&mut self, origin: String, bytes: Vec<u8>) -> Result<(), (Vec<u8>, String)> {
        if let Err(error) = Json.decode_sample(&bytes) {
            return Err((bytes, format!("{origin}: {error}")));
        }
        let text = String::from_utf8(bytes)
            .map_err(|error| (Vec::new(), format!("{origin}: {}", error.utf8_error())))?;
        let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
        self.bytes += text.len();
        if self.bytes > input::MAX_ALL {
            let limit = input::MAX_ALL >> 20;
            let reason = format!("{origin}: all messages together exceed {limit} MiB");
            return Err((Vec::new(), reason));
        }
        self.texts.push(text);
        self.origins.push(origin);
        Ok(())
    }

    /// Prints the guesses, then the odd messages, and the schema last, so that it is at the end on a terminal.
    fn print(&self, inferred: &Inferred, is_closed: bool) -> Result<(), Failure> {
        let mut notes = anstream::stderr().lock();
        for note in &inferred.notes {
            // If standard error is closed, the notes cannot be shown.
            let _ = writeln!(notes, "{BOLD}{}{BOLD:#}: {}", printable(&note.field), printable(&note.text));
        }
        for (index, violation) in &inferred.odd {
            let origin = self.origins.get(*index).map_or("a message", String::as_str);
            let _ = writeln!(
                notes,
                "{BOLD}{}{BOLD:#}: the schema rejects this message: {}",
                printable(origin),
                printable(violation)
            );
        }
        if is_of_broker(&inferred.schema) {
            let _ = writeln!(
                notes,
                "{BOLD}topic{BOLD:#}, {BOLD}payload{BOLD:#}: this looks like the log of a broker's client. For the schema of the devices' messages, infer from \
                 what `jq -c .payload` prints"
            );
        }
        let failed = |error| Failure::about("the inferred schema", error);
        let model = Model::compile(&inferred.schema).map_err(failed)?;
        if self.texts.len() >= ENOUGH && Layout::untrained(&model).is_plain() {
            let _ = writeln!(
                notes,
                "{BOLD}statistics{BOLD:#}: these messages are enough for `dunnage schema train`, which makes packed messages smaller"
            );
        }
        let schema = match is_closed {
            true => {
                let messages: Vec<_> =
                    self.texts.iter().flat_map(|text| Json.decode_sample(text.as_bytes())).collect();
                let (schema, note) = closed(&inferred.schema, &messages).map_err(failed)?;
                let _ = writeln!(notes, "{BOLD}closed{BOLD:#}: {note}");
                schema
            }
            false => inferred.schema.clone(),
        };
        let mut output = io::stdout().lock();
        writeln!(output, "{}", with_slot(&schema).map_err(failed)?)?;
        Ok(output.flush()?)
    }
}
