//! `dunnage gateway profile`.

use super::running::print_json;
use crate::{
    failure::Failure,
    output::{self, printable},
};
use clap::{Args, Subcommand};
use dunnage_gateway::{Applied, Explained, Provider, Sample};
use serde::{Deserialize, de::IntoDeserializer};
use serde_json::{Map, Value};
use std::{
    io::{self, Write},
    path::PathBuf,
};

/// Explain which profile applies to a message
#[derive(Args)]
pub struct Profile {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Explain(Box<Explain>),
}

/// Print the profile of a message, and why the profiles before it do not match
///
/// Reads the configuration file, and the register in the buffer; no gateway needs to run. The message is described by the options, or it is the one in an envelope
/// of a network server (--provider, --body), which is opened with the settings of the first input for this provider. The exit code is 0
/// also if no profile matches.
#[derive(Args)]
struct Explain {
    /// Device ID
    #[arg(required_unless_present = "body", conflicts_with = "body")]
    device: Option<String>,
    /// Configuration file
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Origin of the message, as in `GET /api/messages/ID`: a JSON object
    #[arg(long, value_name = "JSON", conflicts_with = "body")]
    origin: Option<String>,
    /// Port of the link
    #[arg(long, value_name = "N", conflicts_with = "body")]
    port: Option<u8>,
    /// Topic or subject
    #[arg(long, value_name = "TOPIC")]
    topic: Option<String>,
    /// Device profile at the provider
    #[arg(long, value_name = "NAME", conflicts_with = "body")]
    provider_profile: Option<String>,
    /// Application at the provider
    #[arg(long, value_name = "NAME", conflicts_with = "body")]
    application: Option<String>,
    /// Tenant at the provider
    #[arg(long, value_name = "NAME", conflicts_with = "body")]
    tenant: Option<String>,
    /// Content-Type of the message [default: none]
    #[arg(long, value_name = "TYPE", conflicts_with = "body")]
    content_type: Option<String>,
    /// Provider of the envelope, such as chirpstack
    #[arg(long, value_name = "NAME", requires = "body", value_parser = provider)]
    provider: Option<Provider>,
    /// File with one envelope
    #[arg(long, value_name = "FILE", requires = "provider")]
    body: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Profile {
    pub fn run(self) -> Result<(), Failure> {
        let Command::Explain(explain) = self.command;
        explain.run()
    }
}

fn provider(name: &str) -> Result<Provider, String> {
    Provider::deserialize(name.into_deserializer()).map_err(|e: serde::de::value::Error| e.to_string())
}

impl Explain {
    fn run(self) -> Result<(), Failure> {
        let config = super::load(self.config.as_deref())?;
        let sample = match (&self.body, self.provider) {
            (Some(file), Some(provider)) => {
                let body = std::fs::read(file).map_err(|e| Failure::about(file.display(), e))?;
                Sample::Envelope { provider, topic: self.topic, body }
            }
            _ => Sample::Message {
                origin: self.origin()?,
                device: self.device.unwrap_or_default(),
                content_type: self.content_type.unwrap_or_default(),
            },
        };
        let explained = dunnage_gateway::explain(&config, sample).map_err(Failure::Failed)?;
        if self.json {
            return print_json(&explained);
        }
        let mut output = output::stdout();
        print(&mut output, &explained)?;
        Ok(output.flush()?)
    }

    /// Returns the origin of the message: the given one, with what the other options add.
    fn origin(&self) -> Result<Option<String>, Failure> {
        let read =
            |text: &String| serde_json::from_str(text).map_err(|e| Failure::Usage(format!("--origin: {e}")));
        let mut origin: Map<String, Value> = self.origin.as_ref().map_or(Ok(Map::new()), read)?;
        let texts = [
            ("topic", &self.topic),
            ("profile", &self.provider_profile),
            ("application", &self.application),
            ("tenant", &self.tenant),
        ];
        let texts = texts.into_iter().filter_map(|(name, text)| Some((name, Value::from(text.clone()?))));
        for (name, value) in texts.chain(self.port.map(|port| ("port", port.into()))) {
            origin.insert(name.to_owned(), value);
        }
        Ok((!origin.is_empty()).then(|| Value::Object(origin).to_string()))
    }
}

fn print(output: &mut impl Write, explained: &Explained) -> io::Result<()> {
    let mut line = |what: &str, text: String| writeln!(output, "{what:<12}{}", printable(&text));
    line("device", explained.device.clone())?;
    for (key, value) in &explained.message {
        line("", format!("{key} {value}"))?;
    }
    let place = |place: &Option<String>| place.as_ref().map_or(String::new(), |place| format!(" at {place}"));
    let name = |name: &Option<String>| name.as_ref().map_or(String::new(), |name| format!(" {name:?}"));
    for tried in &explained.earlier {
        let which = format!("{}{}{}", tried.number, name(&tried.name), place(&tried.place));
        line("not", format!("{which}: {tried}"))?;
    }
    match &explained.profile {
        None => line("profile", "none matches".into())?,
        Some(profile) => {
            let which = format!("{}{}{}", profile.number, name(&profile.name), place(&profile.place));
            line("profile", format!("{which}: {}", profile.conditions))?;
            for (what, text) in settings(profile) {
                line(what, text)?;
            }
        }
    }
    match (explained.format, &explained.rejected) {
        (Some("codec"), _) => line("decoded by", "the codec".into()),
        (Some(format), _) => line("decoded as", format.into()),
        (None, Some(reason)) => line("rejected", reason.clone()),
        (None, None) => Ok(()),
    }
}

fn settings(profile: &Applied) -> Vec<(&'static str, String)> {
    let or = |text: &Option<String>, none: &str| text.clone().unwrap_or_else(|| none.to_owned());
    let listed = |all: Vec<String>| if all.is_empty() { "all".to_owned() } else { all.join(", ") };
    vec![
        ("schema", or(&profile.schema, "none")),
        ("codec", or(&profile.codec, "none")),
        ("formats", listed(profile.formats.iter().map(ToString::to_string).collect())),
        ("slots", listed(profile.slots.iter().map(ToString::to_string).collect())),
        ("link", or(&profile.link, "none")),
        ("position", or(&profile.position, "where it is found")),
    ]
}
