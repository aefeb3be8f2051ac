//! `dunnage schema train`: adds statistics to a schema.

use super::{
    held_out::{self, Forms, HeldOut},
    table, tables,
};
use crate::{
    failure::{Failure, complain},
    input::{self, Source},
    network::NetworkOptions,
    output::{self, counted, printable},
    sequences::{self, Sequence},
};
use clap::Args;
use dunnage_formats::Value;
use dunnage_packed::{Layout, Learnt, Training, other_slot};
use dunnage_schema::Model;
use dunnage_simulate::{ENOUGH, Network, Sizes};
use serde_json::value::RawValue;
use std::{fs, io::Write, path::PathBuf};

/// The halves of the messages differ by more than this share of their size: they drift.
const DRIFT: f64 = 0.1;
/// The share of the bytes that messages outside of the training may save less than those of the training without a warning.
const UNKNOWN: f64 = 0.1;
const STATISTICS: &str = "x-dunnage-statistics";
const SLOT: &str = "x-dunnage-slot";

/// Learn which values are likely, for smaller packed messages
///
/// Reads messages that devices have sent, one per line or a CSV file with a header, and in their order, and writes the schema with the statistics that
/// packed messages use: x-dunnage-statistics, and a new slot, because another layout needs one. Standard error says what
/// each field takes before and after, and what messages of other devices and of a later time take: for that, it trains once
/// more with three quarters of the devices and of the time, and sends the rest.
///
/// Deltas are trained on the message that the receiver has acknowledged by then, over a link that loses as much as the
/// options say.
///
/// With --without-messages it writes statistics from the schema alone: its x-dunnage-changes or x-dunnage-every, of which it
/// needs one, and x-dunnage-usual. They serve until there are messages to learn from.
#[derive(Args)]
pub struct Train {
    #[command(flatten)]
    source: Source,
    /// Schema of the messages: a JSON Schema file, the name of a bundled one, or - for standard input
    #[arg(long, value_name = "SCHEMA")]
    schema: String,
    #[command(flatten)]
    schemas: input::Schemas,
    /// JSON pointer to what identifies the device; without it, all messages are of one device
    #[arg(long, value_name = "POINTER")]
    device: Option<String>,
    /// The most bytes that the tables may take in the flash of a device: more make smaller messages. Without it, each byte must save 0.06 bits of a message in the prior form, or 0.03 of a delta
    #[arg(long, value_name = "BYTES")]
    tables_within: Option<usize>,
    /// Write statistics from what the schema says about changes, and read no messages
    #[arg(long, conflicts_with_all = ["path", "device", "tables_within", "loss", "ack_loss", "ack_delay", "ack_every"])]
    without_messages: bool,
    #[command(flatten)]
    network: NetworkOptions,
    /// Write the schema to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Train {
    pub fn run(self) -> Result<(), Failure> {
        let (model, text) = self.schemas.model_and_text(&self.schema)?;
        let about = |error: &dyn std::fmt::Display| Failure::about(&self.schema, error);
        if self.without_messages {
            let statistics =
                Training::assumed(&Layout::untrained(&model)).map_err(|error| about(&error.message()))?;
            let statistics = statistics.ok_or_else(|| {
                about(&"the schema says nothing about changes: add x-dunnage-changes or x-dunnage-every to its numbers")
            })?;
            let (_, text) = trained(&model, &text, &statistics).map_err(|error| about(&error))?;
            return self.write(&text);
        }
        let devices = sequences::read(&self.source, &model, self.device.as_deref())?;
        let network = self.network.network();
        let all: Vec<&[Value]> = devices.iter().map(|device| &*device.messages).collect();
        let within = self.tables_within;
        let untrained = Layout::untrained(&model);
        let learnt = held_out::learn(&untrained, all.iter().copied(), network, within)?;
        let tables = tables::flash(&untrained, &learnt);
        let trial = held_out::trial(&model, &devices, network, within)?;
        let (model, text) = trained(&model, &text, &learnt.statistics).map_err(|error| about(&error))?;
        let layout = Layout::new(&model).map_err(|error| about(&error))?;
        let known = held_out::forms(&layout, &all, 0, network)?;
        report(&learnt, tables, (&known, trial.as_ref()), network, devices.len());
        warn(&layout, &learnt, &devices)?;
        warn_of_others(&known, trial.as_ref(), devices.len());
        self.write(&text)
    }

    fn write(&self, text: &str) -> Result<(), Failure> {
        match &self.output {
            Some(path) => fs::write(path, text).map_err(|e| Failure::about(path.display(), e))?,
            None => {
                let mut output = output::stdout();
                output.write_all(text.as_bytes())?;
                output.flush()?;
            }
        }
        Ok(())
    }
}

/// Returns the schema with statistics and a slot of its own, as a model and as text. The other members stay as they are written.
fn trained(
    model: &Model,
    text: &str,
    statistics: &[u8],
) -> Result<(Model, String), Box<dyn std::error::Error>> {
    let slot = other_slot(&Layout::untrained(model), model.slot());
    let model = model.clone().with_statistics(Some(statistics)).with_slot(slot)?;
    let members: Members<'_> = serde_json::from_str(text)?;
    let mut out = String::from("{\n");
    for (key, value) in members.0.iter().filter(|(key, _)| ![STATISTICS, SLOT].contains(&key.as_str())) {
        out.push_str(&format!("  {}: {},\n", serde_json::to_string(key)?, value.get()));
    }
    out.push_str(&format!(
        "  \"{SLOT}\": {},\n  \"{STATISTICS}\": \"{}\"\n}}\n",
        model.slot(),
        model.statistics().unwrap_or_default()
    ));
    Ok((model, out))
}

/// The members of an object in their order, as they are written.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> serde::Deserialize<'de> for Members<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a schema that is an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}

const COLUMNS: [table::Column; 4] =
    [table::text("field"), table::number("plain"), table::number("prior"), table::number("delta")];
const BYTES: [table::Column; 4] = [
    table::text("mean bytes of a message"),
    table::number("plain"),
    table::number("prior"),
    table::number("delta"),
];

/// Prints the bits of each field, and the bytes of messages: of those of the training, and of those that were left out of a trial.
fn report(
    learnt: &Learnt,
    tables: Option<usize>,
    (known, trial): (&Forms, Option<&HeldOut>),
    network: Network,
    devices: usize,
) {
    let bits = |bits: f64| format!("{bits:.1}");
    let rows = learnt.parts.iter().filter(|part| part.plain > 0.0).map(|part| {
        let delta = part.delta.map(bits).unwrap_or_default();
        [printable(&part.path).to_string(), bits(part.plain), bits(part.prior), delta]
    });
    let mut notes = anstream::stderr().lock();
    // If standard error is closed, the notes cannot be shown.
    let _ = table::write(&mut notes, &COLUMNS, rows);
    let share = 100.0 * (1.0 - network.loss) * (1.0 - network.ack_loss) / f64::from(network.ack_every);
    let _ = writeln!(
        notes,
        "\n{} of {}, bits of each field above. With deltas, {share:.0} % of the messages are acknowledged.\n\
         The statistics have {} bytes{}.\n",
        counted(known.plain.messages(), "message"),
        counted(devices as u64, "device"),
        learnt.statistics.len(),
        tables.map(|bytes| format!(", and their tables in C {bytes}")).unwrap_or_default()
    );
    let row = |name: String, forms: &Forms| {
        let mean = |sizes: &Sizes| format!("{:.1}", sizes.mean());
        [name, mean(&forms.plain), mean(&forms.prior), mean(&forms.delta)]
    };
    let held =
        trial.into_iter().flat_map(|held| held_rows(held, devices)).map(|(name, forms)| row(name, &forms));
    let rows = held.chain([row("these messages".to_owned(), known)]);
    let _ = table::write(&mut notes, &BYTES, rows);
}

/// Returns the rows of the messages that were left out of the training: of all devices, and of the two whose deltas are the smallest and the
/// largest.
fn held_rows(held: &HeldOut, devices: usize) -> Vec<(String, Forms)> {
    if devices == 1 {
        return vec![("a later time, the same device".to_owned(), held.all())];
    }
    let mut rows = vec![("a later time, other devices".to_owned(), held.all())];
    let mean = |forms: &&Forms| forms.delta.mean();
    let by_mean = |a: &&Forms, b: &&Forms| mean(a).total_cmp(&mean(b));
    let best = held.devices.iter().min_by(by_mean).map(|forms| ("  the device with the fewest", forms));
    let worst = held.devices.iter().max_by(by_mean).map(|forms| ("  the device with the most", forms));
    rows.extend(best.into_iter().chain(worst).map(|(name, forms)| (name.to_owned(), forms.clone())));
    rows
}

/// Warns if messages outside of the training take more than the statistics promise.
fn warn_of_others(known: &Forms, trial: Option<&HeldOut>, devices: usize) {
    let Some(held) = trial else { return };
    if devices == 1 {
        complain(format_args!(
            "warning: all messages are of one device; those of another device may take {:.1} bytes, as in the plain \
             form: train with messages of several devices, and say with --device what identifies them",
            known.plain.mean()
        ));
    }
    let saved = |forms: &Forms| 1.0 - forms.prior.mean() / forms.plain.mean();
    let (known, others) = (saved(known), saved(&held.all()));
    if known - others > UNKNOWN {
        complain(format_args!(
            "warning: the prior form saves {:.0} % of these messages, and {:.0} % of messages outside of the training: train with \
             more devices and a longer time",
            100.0 * known,
            100.0 * others.max(0.0)
        ));
    }
}

fn warn(layout: &Layout, learnt: &Learnt, devices: &[Sequence]) -> Result<(), Failure> {
    let count: usize = devices.iter().map(|device| device.messages.len()).sum();
    if count < ENOUGH {
        complain(format_args!(
            "warning: {count} messages are few; from {ENOUGH} on, tables no longer follow chance"
        ));
    }
    let mut halves = [Sizes::default(), Sizes::default()];
    for device in devices {
        for (i, message) in device.messages.iter().enumerate() {
            let mut bytes = Vec::new();
            layout.encode(message, &mut bytes).map_err(|error| Failure::Failed(error.to_string()))?;
            halves[usize::from(2 * i >= device.messages.len())].add(bytes.len());
        }
    }
    // A device with one message has no second half.
    let compares = halves[1].messages() > 0;
    let [first, second] = halves.map(|sizes| sizes.mean());
    if compares && (second - first).abs() > DRIFT * first {
        complain(format_args!(
            "warning: the messages drift: {first:.1} bytes on average in each device's first half, {second:.1} in its second; \
             messages of a longer time train better"
        ));
    }
    for field in identifying(learnt, devices) {
        complain(format_args!(
            "warning: {} identifies the device, and the statistics know the devices of the training only; x-dunnage-known \
             leaves it out",
            printable(&field)
        ));
    }
    Ok(())
}

/// Returns the properties of the message that are constant for each device and differ between all devices.
fn identifying(learnt: &Learnt, devices: &[Sequence]) -> Vec<String> {
    let Some(Value::Map(entries)) = devices.first().and_then(|device| device.messages.first()) else {
        return Vec::new();
    };
    let constant = |name: &str| -> Option<std::collections::HashSet<String>> {
        let mut all = std::collections::HashSet::new();
        for device in devices {
            let value = device.messages.first()?.get(name)?;
            let differs = device.messages.iter().any(|message| message.get(name) != Some(value));
            if differs || !all.insert(format!("{value:?}")) {
                return None;
            }
        }
        Some(all)
    };
    let many = devices.len() > 1;
    let is_learnt = |name: &str| learnt.parts.iter().any(|part| part.path == name);
    let names = entries.iter().map(|(name, _)| name.clone());
    names.filter(|name| many && is_learnt(name) && constant(name).is_some()).collect()
}
