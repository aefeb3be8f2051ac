//! `dunnage gateway device`: the register of devices.

use super::running::{Which, counted, list, print_json, text};
use crate::{
    failure::Failure,
    output::{self, printable},
    schema::table,
};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Map, Value, json};
use std::{
    fs,
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

/// Register devices: names, tags, external IDs, profiles and places
///
/// The register is in the buffer of the running gateway, whose admin socket the commands use. Messages and deliveries carry
/// the name and the tags of their device. A message that names an external ID is one of the device that has it.
#[derive(Args)]
pub struct Device {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Add a device
    Add {
        #[command(flatten)]
        which: Which,
        /// Device ID
        device: String,
        #[command(flatten)]
        fields: Fields,
    },
    /// Change a device; what is not named stays
    Set {
        #[command(flatten)]
        which: Which,
        /// Device ID
        device: String,
        #[command(flatten)]
        fields: Fields,
        /// Remove a tag; may be repeated
        #[arg(long, value_name = "KEY")]
        remove_tag: Vec<String>,
        /// Remove a field
        #[arg(long, value_name = "FIELD")]
        unset: Vec<Field>,
        /// Store its messages again
        #[arg(long, conflicts_with = "disable")]
        enable: bool,
    },
    /// List the devices, in ascending order of IDs
    List {
        #[command(flatten)]
        which: Which,
        /// Only devices with this text in the ID, the name, an external ID or the notes
        #[arg(long, value_name = "TEXT")]
        find: Option<String>,
        /// Only devices with this tag; may be repeated
        #[arg(long, value_name = "KEY=VALUE", value_parser = tag)]
        tag: Vec<(String, String)>,
        /// Maximum number of devices
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1000))]
        limit: u16,
        /// Only devices with larger IDs
        #[arg(long, value_name = "DEVICE")]
        after: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print what the register has of a device, as JSON
    Show {
        #[command(flatten)]
        which: Which,
        /// Device ID
        device: String,
    },
    /// Remove devices; their messages stay
    Remove {
        #[command(flatten)]
        which: Which,
        /// Device IDs
        #[arg(required = true, value_name = "DEVICE")]
        devices: Vec<String>,
    },
    /// Add the devices of a file, and replace those that are there: all, or none
    ///
    /// CSV has a header with the columns device, name, profile, latitude, longitude, interval_seconds, notes, disabled,
    /// external_id, external_id.2, ..., and tag.KEY for each tag; all but device may be missing. NDJSON has a record on each
    /// line, as `show` prints it without first_seen and last_seen.
    Import {
        #[command(flatten)]
        which: Which,
        /// File; - for standard input
        file: PathBuf,
        /// Format of the file [default: ndjson for *.ndjson and *.jsonl, otherwise csv]
        #[arg(long)]
        format: Option<Format>,
        /// Only check the file, and say what would change
        #[arg(long)]
        dry_run: bool,
    },
    /// Print all devices as a file that import reads
    Export {
        #[command(flatten)]
        which: Which,
        /// Format of the file
        #[arg(long, default_value = "csv")]
        format: Format,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Csv,
    Ndjson,
}

impl Format {
    fn name(self) -> String {
        match self {
            Format::Csv => "csv".into(),
            Format::Ndjson => "ndjson".into(),
        }
    }

    fn of(file: &Path) -> Format {
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("ndjson" | "jsonl") => Format::Ndjson,
            _ => Format::Csv,
        }
    }
}

/// A field that can be removed.
#[derive(Clone, Copy, ValueEnum)]
enum Field {
    Name,
    Tags,
    ExternalIds,
    Profile,
    Place,
    Interval,
    Notes,
}

impl Field {
    fn names(self) -> &'static [&'static str] {
        match self {
            Field::Name => &["name"],
            Field::Tags => &["tags"],
            Field::ExternalIds => &["external_ids"],
            Field::Profile => &["profile"],
            Field::Place => &["latitude", "longitude"],
            Field::Interval => &["interval_seconds"],
            Field::Notes => &["notes"],
        }
    }
}

/// The fields of a device.
#[derive(Args)]
struct Fields {
    /// Name, for people
    #[arg(long)]
    name: Option<String>,
    /// Tag; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = tag)]
    tag: Vec<(String, String)>,
    /// Another ID under which messages may name it, such as a DevEUI; may be repeated. Replaces those it has
    #[arg(long, value_name = "ID")]
    external_id: Vec<String>,
    /// Name of its profile, in place of the first that matches
    #[arg(long)]
    profile: Option<String>,
    /// Latitude of its fixed place, in degrees
    #[arg(long, allow_negative_numbers = true)]
    latitude: Option<f64>,
    /// Longitude of its fixed place, in degrees
    #[arg(long, allow_negative_numbers = true)]
    longitude: Option<f64>,
    /// Seconds between two messages, as expected
    #[arg(long, value_name = "SECONDS")]
    interval: Option<u64>,
    /// Notes, for people
    #[arg(long)]
    notes: Option<String>,
    /// Put its messages into the quarantine
    #[arg(long)]
    disable: bool,
}

/// Reads `KEY=VALUE`.
pub fn tag(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("must be KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

impl Fields {
    /// Returns the fields that were given, as a JSON merge patch.
    fn patch(self) -> Map<String, Value> {
        let mut patch = Map::new();
        let given = [
            ("name", self.name.map(Value::from)),
            ("external_ids", (!self.external_id.is_empty()).then(|| self.external_id.into())),
            ("profile", self.profile.map(Value::from)),
            ("latitude", self.latitude.map(Value::from)),
            ("longitude", self.longitude.map(Value::from)),
            ("interval_seconds", self.interval.map(Value::from)),
            ("notes", self.notes.map(Value::from)),
            ("disabled", self.disable.then(|| true.into())),
        ];
        patch.extend(given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
        if !self.tag.is_empty() {
            patch.insert("tags".into(), object(self.tag));
        }
        patch
    }
}

fn object(tags: Vec<(String, String)>) -> Value {
    tags.into_iter().map(|(key, value)| (key, Value::from(value))).collect::<Map<_, _>>().into()
}

impl Device {
    pub fn run(self) -> Result<(), Failure> {
        match self.command {
            Command::Add { which, device, fields } => {
                let body = Value::Object(fields.patch()).to_string();
                which.send("/devices/add", &[("device", device.clone())], body)?;
                say(&format!("added {}", printable(&device)))
            }
            Command::Set { which, device, fields, remove_tag, unset, enable } => {
                let body = changes(fields, remove_tag, &unset, enable)?;
                which.send("/devices/set", &[("device", device.clone())], body.to_string())?;
                say(&format!("changed {}", printable(&device)))
            }
            Command::List { which, find, tag, limit, after, json } => {
                let mut query = vec![("limit", limit.to_string())];
                query.extend(find.map(|find| ("find", find)));
                query.extend(after.map(|after| ("after", after)));
                query.extend((!tag.is_empty()).then(|| ("tags", object(tag).to_string())));
                let answer = which.get("/devices", &query)?;
                if json { print_json(&answer) } else { print_list(&answer) }
            }
            Command::Show { which, device } => {
                print_json(&which.get("/devices/show", &[("device", device)])?)
            }
            Command::Remove { which, devices } => {
                let answer = which.send("/devices/remove", &[], json!(devices).to_string())?;
                say(&format!("removed {}", counted(&answer["removed"], "device")))
            }
            Command::Import { which, file, format, dry_run } => {
                let format = format.unwrap_or_else(|| Format::of(&file));
                let query = [("format", format.name()), ("dry_run", dry_run.to_string())];
                let answer = which.send("/devices/import", &query, read(&file)?)?;
                let count = |name: &str| text(&answer[name]);
                let sum = format!(
                    "{} added, {} changed, {} unchanged",
                    count("added"),
                    count("changed"),
                    count("unchanged")
                );
                say(&if dry_run { format!("would be: {sum}") } else { sum })
            }
            Command::Export { which, format } => {
                let answer = which.get("/devices/export", &[("format", format.name())])?;
                // A file for programs, whose characters are not those of a terminal.
                let file = answer["file"].as_str().unwrap_or_default();
                Ok(io::stdout().lock().write_all(file.as_bytes())?)
            }
        }
    }
}

/// Returns the merge patch of `set`.
fn changes(fields: Fields, remove_tag: Vec<String>, unset: &[Field], enable: bool) -> Result<Value, Failure> {
    let mut patch = fields.patch();
    if !remove_tag.is_empty() {
        let tags = patch.entry("tags").or_insert_with(|| json!({}));
        remove_tag.into_iter().for_each(|key| tags[key] = Value::Null);
    }
    for name in unset.iter().flat_map(|field| field.names()) {
        if patch.insert((*name).to_owned(), Value::Null).is_some() {
            return Err(Failure::Usage(format!("{name} is both set and removed")));
        }
    }
    if enable {
        patch.insert("disabled".into(), false.into());
    }
    if patch.is_empty() {
        return Err(Failure::Usage("name what to change".into()));
    }
    Ok(patch.into())
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = match file.as_os_str() == "-" {
        true => io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes),
        false => fs::read(file),
    };
    read.map_err(|e| Failure::about(file.display(), e))
}

fn say(line: &str) -> Result<(), Failure> {
    Ok(writeln!(io::stdout().lock(), "{line}")?)
}

const COLUMNS: [table::Column; 6] = [
    table::text("device"),
    table::text("name"),
    table::text("tags"),
    table::text("external IDs"),
    table::text("profile"),
    table::text("last seen"),
];

fn print_list(answer: &Value) -> Result<(), Failure> {
    let mut output = output::stdout();
    let devices = list(&answer["devices"]);
    if devices.is_empty() {
        writeln!(output, "no devices")?;
    } else {
        table::write(&mut output, &COLUMNS, devices.iter().map(row))?;
    }
    if !answer["next"].is_null() {
        let next = text(&answer["next"]);
        writeln!(output, "{} in all; continue with --after {next:?}", counted(&answer["matches"], "device"))?;
    }
    Ok(output.flush()?)
}

fn row(device: &Value) -> Vec<String> {
    let tags = device["tags"].as_object().into_iter().flatten();
    let tags: Vec<_> = tags.map(|(key, value)| format!("{}={}", printable(key), text(value))).collect();
    let ids: Vec<_> = list(&device["external_ids"]).iter().map(text).collect();
    let mut id = text(&device["device"]);
    if device["disabled"] == true {
        id += " (disabled)";
    }
    vec![
        id,
        text(&device["name"]),
        tags.join(" "),
        ids.join(" "),
        text(&device["profile"]),
        text(&device["last_seen"]),
    ]
}
