//! `[[output]]`: the settings of outputs, and the one place where each kind is registered.

#[cfg(feature = "kafka")]
use crate::kafka;
use crate::{Output, files, http, nats, onem2m};
use dunnage_base::{
    kind::{self, Kind},
    name::is_name,
};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use std::sync::Arc;

/// One example of each kind of output, commented out, for the commented default configuration.
pub const EXAMPLES: &[&str] = &[
    http::EXAMPLE,
    files::EXAMPLE,
    nats::EXAMPLE,
    onem2m::EXAMPLE,
    #[cfg(feature = "kafka")]
    kafka::EXAMPLE,
];

/// Most calls at a time, when the configuration does not say.
const CONCURRENCY: usize = 64;

/// An output as it is configured.
pub struct Named {
    /// What it is called.
    pub name: Arc<str>,
    /// Most calls at a time.
    pub concurrency: usize,
    /// The system.
    pub output: Arc<dyn Output>,
}

/// `[[output]]`: where messages go.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutputSettings {
    /// What it is called in metrics and the log, and what its cursor belongs to. No two have the same.
    pub name: String,
    /// Most calls at a time, 1 to 1024; without it, 64. Fewer are made when the other side gets slower under more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<usize>,
    /// How they go.
    #[serde(flatten)]
    pub kind: OutputKind,
}

/// How messages go.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputKind {
    /// POST to a URL.
    Http(http::Settings),
    /// Files by day.
    Files(files::Settings),
    /// Publish to a NATS stream.
    Nats(nats::Settings),
    /// A topic of Kafka.
    #[cfg(feature = "kafka")]
    Kafka(kafka::Settings),
    /// contentInstances in a oneM2M CSE.
    Onem2m(onem2m::Settings),
}

impl Kind for OutputKind {
    const SECTION: &'static str = "[[output]]";
    const KEYS: &'static [&'static str] = &[
        "http",
        "files",
        "nats",
        #[cfg(feature = "kafka")]
        "kafka",
        "onem2m",
    ];

    fn key(&self) -> &'static str {
        match self {
            OutputKind::Http(_) => "http",
            OutputKind::Files(_) => "files",
            OutputKind::Nats(_) => "nats",
            #[cfg(feature = "kafka")]
            OutputKind::Kafka(_) => "kafka",
            OutputKind::Onem2m(_) => "onem2m",
        }
    }

    fn read<'de, D: Deserializer<'de>>(key: &str, table: D) -> Result<OutputKind, D::Error> {
        match key {
            "http" => Deserialize::deserialize(table).map(OutputKind::Http),
            "files" => Deserialize::deserialize(table).map(OutputKind::Files),
            "nats" => Deserialize::deserialize(table).map(OutputKind::Nats),
            #[cfg(feature = "kafka")]
            "kafka" => Deserialize::deserialize(table).map(OutputKind::Kafka),
            "onem2m" => Deserialize::deserialize(table).map(OutputKind::Onem2m),
            key => Err(D::Error::unknown_field(key, OutputKind::KEYS)),
        }
    }
}

impl<'de> Deserialize<'de> for OutputSettings {
    fn deserialize<D: Deserializer<'de>>(table: D) -> Result<OutputSettings, D::Error> {
        let read = kind::read(table, &["name", "concurrency"])?;
        Ok(OutputSettings { name: read.name, concurrency: read.concurrency, kind: read.kind })
    }
}

impl OutputSettings {
    /// An output of the kind `kind`, with as many calls at a time as there are by default.
    pub fn new(name: &str, kind: OutputKind) -> OutputSettings {
        OutputSettings { name: name.into(), concurrency: None, kind }
    }
}

/// An output that cannot be used as it is configured.
#[derive(Debug, thiserror::Error)]
#[error("[[output]] name = {name:?}: {message}")]
pub struct OutputError {
    /// Which.
    pub name: String,
    /// Why.
    pub message: String,
}

/// Makes the outputs that the settings describe, of which no two have the same name. What they talk to need not be there yet.
pub fn open_all(outputs: &[OutputSettings]) -> Result<Vec<Named>, OutputError> {
    let mut opened: Vec<Named> = Vec::new();
    for (index, output) in outputs.iter().enumerate() {
        let concurrency = check(&outputs[..index], output)
            .map_err(|(_, message)| OutputError { name: output.name.clone(), message })?;
        opened.push(Named { name: output.name.as_str().into(), concurrency, output: open(output)? });
    }
    Ok(opened)
}

/// Most calls at a time of the output `config`, behind the outputs `earlier`. An error has the key that is wrong, and why.
pub fn check(earlier: &[OutputSettings], config: &OutputSettings) -> Result<usize, (&'static str, String)> {
    if earlier.iter().any(|other| other.name == config.name) {
        return Err(("name", "another output has this name".into()));
    }
    let concurrency = config.concurrency.unwrap_or(CONCURRENCY);
    match (1..=1024).contains(&concurrency) {
        true => Ok(concurrency),
        false => Err(("concurrency", "concurrency must be 1 to 1024".into())),
    }
}

/// Makes the output that `config` describes. What it talks to need not be there yet.
pub fn open(config: &OutputSettings) -> Result<Arc<dyn Output>, OutputError> {
    let failed = |message: String| OutputError { name: config.name.clone(), message };
    if !is_name(&config.name) {
        return Err(failed("the name must be 1 to 64 of A-Z a-z 0-9 . _ : -".into()));
    }
    Ok(match &config.kind {
        OutputKind::Http(settings) => Arc::new(http::Http::new(settings).map_err(failed)?),
        OutputKind::Files(settings) => Arc::new(files::Files::new(settings).map_err(failed)?),
        OutputKind::Nats(settings) => Arc::new(nats::Nats::new(settings).map_err(failed)?),
        #[cfg(feature = "kafka")]
        OutputKind::Kafka(settings) => Arc::new(kafka::Kafka::new(settings).map_err(failed)?),
        OutputKind::Onem2m(settings) => Arc::new(onem2m::OneM2m::new(settings).map_err(failed)?),
    })
}
