//! The settings of `[input.broker]`, and the connection that they describe.

use crate::{
    provider::{Payload, Pointers, Provider},
    routes::TopicSettings,
};
use dunnage_clients::{
    connector::{self, Connector},
    mqtt::Version,
};
use dunnage_ingest::profiles::settings::FormatName;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::PathBuf};

/// The input's section of the commented default configuration.
pub const EXAMPLE: &str = "\
# Messages that devices publish to your MQTT 5 broker.
# [[input]]
# name = \"yard\"
# [input.broker]
# url = \"mqtt://127.0.0.1:1883\"     # mqtts:// for TLS
# client_id = \"dunnage-1\"           # unique to this gateway: the broker keeps its session under it
# topics = [\"yard/{device}/{format}\"]   # + and a final # are allowed
# format = \"json\"                   # of messages that name no format; { topic = \"...\", format = \"text\" } in topics is for one of them
# group = \"gateways\"                # gateways of one group share the messages ($share/GROUP/...)
# in_flight_messages = 256
# session_expiry_seconds = 604800   # how long the broker keeps messages for a disconnected gateway
# Without provider also device_at: the JSON pointer to the device ID of messages whose topic has none.
# provider = \"chirpstack\"           # opens the envelopes of a network server; also the-things-stack
# payload = \"decoded\"              # what the network server decoded, and not the bytes; also normalized and both
# version = \"3.1.1\"                # of MQTT; without it 5, and 3.1.1 at The Things Stack
# Also formats (by LoRaWAN port), link and names (device IDs by the provider's IDs), with provider: docs/lorawan.md.
# If the broker requires them: user with password_file, and ca_file for mqtts:// with your own CA.
";

/// `[input.broker]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// `mqtt://HOST:PORT`, or `mqtts://HOST:PORT`.
    pub url: String,
    /// The client identifier, which no other client uses.
    pub client_id: String,
    /// The version of MQTT; without it 5, and 3.1.1 at The Things Stack, which speaks no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
    /// Patterns of topics.
    pub topics: Vec<TopicSettings>,
    /// What wraps the devices' messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<Provider>,
    /// What becomes the message: the bytes, or what the network server decoded. Needs `provider`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Payload>,
    /// The formats of messages by their LoRaWAN port (FPort, 1 to 223). Needs `provider`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub formats: BTreeMap<String, FormatName>,
    /// The link of the messages. Needs `provider`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Device IDs, by the IDs that the provider uses. A device that is not listed keeps the provider's ID. Needs `provider`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub names: BTreeMap<String, String>,
    /// Where a generic envelope has its parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointers: Option<Pointers>,
    /// Where a JSON message has its device ID, as a JSON pointer, if its topic has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_at: Option<String>,
    /// The format of messages that do not name theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<FormatName>,
    /// The group of gateways that share the messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The maximum number of messages that are not acknowledged yet.
    #[serde(default = "in_flight_messages")]
    pub in_flight_messages: u16,
    /// How long the broker keeps the session while this gateway is not connected, in seconds.
    #[serde(default = "session_expiry_seconds")]
    pub session_expiry_seconds: u32,
    /// The user name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// A file with the password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_file: Option<PathBuf>,
    /// A PEM file with the certificates to trust instead of the system's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
}

fn in_flight_messages() -> u16 {
    256
}

fn session_expiry_seconds() -> u32 {
    7 * 24 * 3600
}

impl Settings {
    /// Returns the version of MQTT.
    fn version(&self) -> Version {
        let standard =
            if self.provider == Some(Provider::TheThingsStack) { Version::V3 } else { Version::V5 };
        self.version.unwrap_or(standard)
    }

    /// Returns how to connect to the broker. An error begins with the key of the wrong setting.
    pub(super) fn connector(&self) -> Result<Connector, String> {
        let settings = connector::Settings {
            url: &self.url,
            user: self.user.as_deref(),
            password_file: self.password_file.as_deref(),
            ca_file: self.ca_file.as_deref(),
        };
        Connector::new(&settings, self.version(), &self.client_id)
    }
}
