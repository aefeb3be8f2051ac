//! The settings in `[[output]]`, and the one place where each kind of output is registered.

use crate::{Output, downlink, files, http, influx, kafka, mqtt, nats, objects, onem2m, postgres, relay};
use dunnage_base::{kind, kinds, name::is_name};
use dunnage_expression::Expressions;
use serde::{Deserialize, Deserializer, Serialize};
use std::sync::Arc;

/// Default limit on concurrent calls.
const CONCURRENCY: usize = 64;

/// An output that was opened from its settings.
pub struct Named {
    /// Its name.
    pub name: Arc<str>,
    /// Largest number of concurrent calls.
    pub concurrency: usize,
    /// Which messages it delivers, and as what.
    pub expressions: Expressions,
    /// Delivers its messages.
    pub output: Arc<dyn Output>,
}

/// The settings in `[[output]]`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutputSettings {
    /// The name, in metrics, in the log and of the cursor. It must be unique.
    pub name: String,
    /// Largest number of concurrent calls, 1 to 1024; by default 64. The forwarder makes fewer if more of them slow the receiver down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<usize>,
    /// Expressions in jq: which messages it delivers, and as what.
    #[serde(flatten)]
    pub expressions: Expressions,
    /// The settings of its kind.
    #[serde(flatten)]
    pub kind: OutputKind,
}

kinds! {
    /// The settings of each kind of output.
    OutputKind in "[[output]]":
    /// POST to a URL.
    "http" => Http(http),
    /// Files by day.
    "files" => Files(files),
    /// Objects in S3, Google Cloud Storage or Azure.
    "objects" => Objects(objects),
    /// Publish to a NATS stream.
    "nats" => Nats(nats),
    /// Publish to an MQTT broker.
    "mqtt" => Mqtt(mqtt),
    /// Create contentInstances in a oneM2M CSE.
    "onem2m" => Onem2m(onem2m),
    /// Write rows to PostgreSQL or TimescaleDB.
    "postgres" => Postgres(postgres),
    /// Write points to InfluxDB, or another database with its line protocol.
    "influx" => Influx(influx),
    /// Acknowledge packed messages to their devices.
    "downlink" => Downlink(downlink),
    /// Write to a Kafka topic.
    "kafka" => Kafka(kafka),
    /// Send readings in few bytes to a gateway elsewhere.
    "relay" => Relay(relay),
}

impl OutputKind {
    /// Returns whether the output writes all messages in the order of their IDs.
    pub(crate) fn is_in_one_order(&self) -> bool {
        matches!(self, OutputKind::Files(_) | OutputKind::Objects(_) | OutputKind::Relay(_))
    }

    /// Checks the expressions of an output of this kind. An error has the invalid key, and the reason.
    pub(crate) fn check(&self, expressions: &Expressions) -> Result<(), (&'static str, String)> {
        expressions.check()?;
        if expressions.map.is_some() && !self.is_mapped() {
            let kind = kind::Kind::key(self);
            return Err(("map", format!("does not work with {kind:?}; when and until do")));
        }
        Ok(())
    }

    /// Returns whether `map` decides what the output delivers. The columns of rows follow the schema of the messages, and acknowledgements
    /// have no content.
    fn is_mapped(&self) -> bool {
        match self {
            OutputKind::Http(_) | OutputKind::Onem2m(_) => true,
            OutputKind::Nats(settings) => settings.payload == nats::Payload::Json,
            OutputKind::Mqtt(settings) => settings.is_mapped(),
            OutputKind::Kafka(settings) => settings.payload == kafka::Payload::Json,
            OutputKind::Files(_)
            | OutputKind::Objects(_)
            | OutputKind::Postgres(_)
            | OutputKind::Influx(_)
            | OutputKind::Downlink(_)
            | OutputKind::Relay(_) => false,
        }
    }
}

impl<'de> Deserialize<'de> for OutputSettings {
    fn deserialize<D: Deserializer<'de>>(table: D) -> Result<OutputSettings, D::Error> {
        let mut read = kind::read(table, &["name", "concurrency", "when", "until", "map"])?;
        let mut text = |key| read.texts.remove(key);
        let expressions = Expressions { when: text("when"), until: text("until"), map: text("map") };
        Ok(OutputSettings { name: read.name, concurrency: read.concurrency, expressions, kind: read.kind })
    }
}

impl OutputSettings {
    /// Creates the settings of an output of the kind `kind`, with the default concurrency.
    pub fn new(name: &str, kind: OutputKind) -> OutputSettings {
        OutputSettings { name: name.into(), concurrency: None, expressions: Expressions::default(), kind }
    }
}

/// The settings of an output are invalid.
#[derive(Debug, thiserror::Error)]
#[error("[[output]] name = {name:?}: {message}")]
pub struct OutputError {
    /// The output's name.
    pub name: String,
    /// The reason.
    pub message: String,
}

/// Opens the outputs in `outputs`, whose names must differ. The receivers need not be reachable yet.
pub fn open_all(outputs: &[OutputSettings]) -> Result<Vec<Named>, OutputError> {
    let mut opened: Vec<Named> = Vec::new();
    for (index, output) in outputs.iter().enumerate() {
        let concurrency = check(&outputs[..index], output)
            .map_err(|(_, message)| OutputError { name: output.name.clone(), message })?;
        let expressions = output.expressions.clone();
        opened.push(Named {
            name: output.name.as_str().into(),
            concurrency,
            expressions,
            output: open(output)?,
        });
    }
    Ok(opened)
}

/// Checks the name, the concurrency and the expressions of `config`, which follows the outputs `earlier`. Returns the largest number of concurrent calls. An
/// error has the invalid key, and the reason.
pub fn check(earlier: &[OutputSettings], config: &OutputSettings) -> Result<usize, (&'static str, String)> {
    if earlier.iter().any(|other| other.name == config.name) {
        return Err(("name", "another output has this name".into()));
    }
    config.kind.check(&config.expressions)?;
    let concurrency = config.concurrency.unwrap_or(CONCURRENCY);
    match (1..=1024).contains(&concurrency) {
        true => Ok(concurrency),
        false => Err(("concurrency", "concurrency must be 1 to 1024".into())),
    }
}

/// Opens the output that `config` describes. The receiver need not be reachable yet.
pub fn open(config: &OutputSettings) -> Result<Arc<dyn Output>, OutputError> {
    let failed = |message: String| OutputError { name: config.name.clone(), message };
    if !is_name(&config.name) {
        return Err(failed("the name must be 1 to 64 of A-Z a-z 0-9 . _ : -".into()));
    }
    Ok(match &config.kind {
        OutputKind::Http(settings) => Arc::new(http::Http::new(settings).map_err(failed)?),
        OutputKind::Files(settings) => Arc::new(files::Files::new(settings).map_err(failed)?),
        OutputKind::Objects(settings) => Arc::new(objects::Objects::new(settings).map_err(failed)?),
        OutputKind::Mqtt(settings) => match &settings.sparkplug {
            Some(sparkplug) => {
                Arc::new(mqtt::Sparkplug::new(&config.name, settings, sparkplug).map_err(failed)?)
            }
            None => Arc::new(mqtt::Mqtt::new(&config.name, settings).map_err(failed)?),
        },
        OutputKind::Nats(settings) => Arc::new(nats::Nats::new(settings).map_err(failed)?),
        OutputKind::Kafka(settings) => Arc::new(kafka::Kafka::new(settings).map_err(failed)?),
        OutputKind::Postgres(settings) => Arc::new(postgres::Postgres::new(settings).map_err(failed)?),
        OutputKind::Influx(settings) => Arc::new(influx::Influx::new(settings).map_err(failed)?),
        OutputKind::Downlink(settings) => Arc::new(downlink::Downlink::new(settings).map_err(failed)?),
        OutputKind::Relay(settings) => Arc::new(relay::Relay::new(settings).map_err(failed)?),
        OutputKind::Onem2m(settings) => Arc::new(onem2m::OneM2m::new(settings).map_err(failed)?),
    })
}
