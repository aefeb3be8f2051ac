//! The settings in `[output.mqtt]`.

use super::{sparkplug::SparkplugSettings, topic::Template};
use dunnage_clients::{
    connector::{self, Connector},
    mqtt::Version,
};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Example for the default configuration, commented out.
pub const EXAMPLE: &str = "\
# Publish to an MQTT broker, with QoS 1. A message is delivered when the broker has acknowledged it.
# [[output]]
# name = \"broker\"
# [output.mqtt]
# url = \"mqtt://127.0.0.1:1883\"   # or mqtts://, with ca_file to trust other certificates than the system's
# version = \"5\"                   # or 3.1.1
# topic = \"dunnage/{device}\"      # also {schema}, {link}, {path}, {tag:KEY}
# payload = \"json\"                # the value; envelope: with device, time, ...; raw: the bytes as they arrived; fields: a topic for each field
# retain = false
# timeout_seconds = 10
# Also user and password_file, client_id, discovery by Home Assistant, and Sparkplug B: docs/outputs.md.
";

/// The settings in `[output.mqtt]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The address of the broker: `mqtt://HOST:PORT`, or `mqtts://HOST:PORT` for TLS.
    pub url: String,
    /// The user name, together with a password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// A file with the password. A new connection reads it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_file: Option<PathBuf>,
    /// A PEM file with the certificates to trust instead of the system's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
    /// The broker's version of MQTT.
    #[serde(default = "version")]
    pub version: Version,
    /// The client ID, which must be unique at the broker; by default one of this buffer and this output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// The topic of a message: a template.
    #[serde(default = "topic")]
    pub topic: String,
    /// The payload of a publication.
    #[serde(default)]
    pub payload: Payload,
    /// Whether the broker keeps the last message of each topic for later subscribers.
    #[serde(default)]
    pub retain: bool,
    /// Whether devices are announced, and how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discovery: Option<Discovery>,
    /// The gateway as an Edge Node of Sparkplug B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sparkplug: Option<SparkplugSettings>,
    /// Longest time to wait for an acknowledgement.
    #[serde(default = "timeout_seconds")]
    pub timeout_seconds: u64,
}

/// The payload of a publication.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Payload {
    /// The value, as compact JSON.
    #[default]
    Json,
    /// The object that the output to HTTP sends.
    Envelope,
    /// The raw bytes.
    Raw,
    /// A publication for each leaf of the value.
    Fields,
}

/// The protocol of discovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Discovery {
    /// Home Assistant's, with its default prefix.
    HomeAssistant,
}

fn version() -> Version {
    Version::V5
}

fn topic() -> String {
    "dunnage/{device}".into()
}

fn timeout_seconds() -> u64 {
    10
}

impl Settings {
    /// Returns how to connect to the broker. An error begins with the key.
    pub(super) fn connector(&self) -> Result<Connector, String> {
        let settings = connector::Settings {
            url: &self.url,
            user: self.user.as_deref(),
            password_file: self.password_file.as_deref(),
            ca_file: self.ca_file.as_deref(),
        };
        Connector::new(&settings, self.version, self.client_id.as_deref().unwrap_or_default())
    }

    /// Returns whether `map` decides what is published. Discovery announces the fields of the schema, which a result of `map` may not have.
    pub(crate) fn is_mapped(&self) -> bool {
        matches!(self.payload, Payload::Json | Payload::Fields) && self.discovery.is_none()
    }

    /// Checks the settings that do not concern the connection, and returns the topics. An error begins with the key.
    pub(super) fn check(&self) -> Result<Template, String> {
        self.check_common()?;
        let topic = Template::parse(&self.topic).map_err(|why| format!("topic: {:?} {why}", self.topic))?;
        if !topic.has_device() && self.payload != Payload::Envelope {
            return Err(format!(
                "topic: {:?} must contain {{device}}, because only payload = \"envelope\" names the device",
                self.topic
            ));
        }
        if self.discovery.is_some() {
            if self.payload == Payload::Raw {
                return Err("discovery: requires payload = \"json\", \"envelope\" or \"fields\"".into());
            }
            if !topic.has_device() || topic.has_link() {
                return Err("discovery: requires a topic with {device} and without {link}, because a sensor has one topic".into());
            }
        }
        Ok(topic)
    }

    /// Checks the settings of an Edge Node that do not concern the connection. An error begins with the key.
    pub(super) fn check_sparkplug(&self, sparkplug: &SparkplugSettings) -> Result<(), String> {
        self.check_common()?;
        let set = [
            ("topic", self.topic != topic()),
            ("payload", self.payload != Payload::default()),
            ("retain", self.retain),
            ("discovery", self.discovery.is_some()),
        ];
        match set.into_iter().find(|(_, is_set)| *is_set) {
            Some((key, _)) => Err(format!("{key}: must not be set beside sparkplug, which decides that")),
            None => sparkplug.check(),
        }
    }

    fn check_common(&self) -> Result<(), String> {
        if self.timeout_seconds == 0 {
            return Err("timeout_seconds: must be at least 1".into());
        }
        if let Some(id) = &self.client_id
            && (id.is_empty() || id.len() > usize::from(u16::MAX) || id.contains(char::is_control))
        {
            return Err("client_id: must be 1 to 65535 bytes without control characters".into());
        }
        Ok(())
    }
}
