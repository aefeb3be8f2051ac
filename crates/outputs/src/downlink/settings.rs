//! The settings in `[output.downlink]`.

use dunnage_clients::{
    connector::{self, Connector},
    mqtt::Version,
};
use reqwest::Url;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Example for the default configuration, commented out.
pub const EXAMPLE: &str = "\
# Acknowledge packed messages to their devices, over the downlinks of the provider that they came from.
# [[output]]
# name = \"names\"
# [output.downlink]
# provider = \"chirpstack\"        # astrocast, chirpstack, the-things-stack, rockblock
# url = \"http://127.0.0.1:8090\"  # of the provider's API; or mqtt://, mqtts:// of the broker of chirpstack or the-things-stack
# token_file = \"chirpstack.key\"  # its API key
# The input whose messages are acknowledged. Default: all of this provider.
# input = \"lora\"
# One in so many messages of a device, and the shortest time between two downlinks to it.
# every = 4
# interval_seconds = 300
# Most downlinks to all devices in a minute; 0 for no limit.
# per_minute = 5
# Also application and webhook (the-things-stack), user and password_file (rockblock, brokers), application, ca_file and version (brokers),
# port, replace, max_age_seconds and timeout_seconds: docs/outputs.md.
";

/// The LoRaWAN ports of applications.
const PORTS: std::ops::RangeInclusive<u8> = 1..=223;

/// The settings in `[output.downlink]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The provider.
    pub provider: Provider,
    /// The address of its API, or of its broker: `mqtt://HOST:PORT`, `mqtts://HOST:PORT`. Astrocast and RockBLOCK have one by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// A file with the API key; for all APIs but that of RockBLOCK.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_file: Option<PathBuf>,
    /// The user name at RockBLOCK or at the broker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// A file with the password of that user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_file: Option<PathBuf>,
    /// A PEM file with the certificates to trust instead of the system's, for a broker with TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
    /// The broker's version of MQTT; without it 5, and 3.1.1 at The Things Stack, which speaks no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
    /// The application ID at The Things Stack, or that in the topics of a broker. By default, a broker's downlinks have the application in
    /// the topic of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<String>,
    /// The webhook ID at The Things Stack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook: Option<String>,
    /// The name of the input whose messages are acknowledged; by default all of the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// The LoRaWAN port (FPort) of the downlinks, 1 to 223.
    #[serde(default = "port")]
    pub port: u8,
    /// One in this many messages of a device is acknowledged.
    #[serde(default = "every")]
    pub every: u32,
    /// Shortest time between two downlinks to a device.
    #[serde(default = "interval_seconds")]
    pub interval_seconds: u64,
    /// Most downlinks to all devices in a minute; 0 for no limit.
    #[serde(default = "per_minute")]
    pub per_minute: u32,
    /// A message that is older is not acknowledged.
    #[serde(default = "max_age_seconds")]
    pub max_age_seconds: u64,
    /// Whether a downlink replaces all others that wait for the device; by default where the provider can do that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replace: Option<bool>,
    /// Longest time to wait for a response.
    #[serde(default = "timeout_seconds")]
    pub timeout_seconds: u64,
}

fn port() -> u8 {
    // The first number that is not a slot.
    64
}

fn every() -> u32 {
    4
}

fn interval_seconds() -> u64 {
    300
}

fn per_minute() -> u32 {
    // A frame with two bytes takes 1.16 s at SF12, where a LoRaWAN base station in Europe may send for 6 s a minute (docs/outputs.md).
    5
}

fn max_age_seconds() -> u64 {
    300
}

fn timeout_seconds() -> u64 {
    10
}

/// A provider of downlinks. The names are those of the webhooks' providers, which are stored with their messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provider {
    /// Astrocast's commands.
    Astrocast,
    /// The REST API of ChirpStack 4, or the broker of ChirpStack 4 and 3.
    Chirpstack,
    /// Webhooks or the MQTT server of The Things Stack 3.
    TheThingsStack,
    /// Iridium through Ground Control's RockBLOCK.
    Rockblock,
}

impl Provider {
    /// Returns its name in the configuration and in stored messages.
    pub fn name(self) -> &'static str {
        match self {
            Provider::Astrocast => "astrocast",
            Provider::Chirpstack => "chirpstack",
            Provider::TheThingsStack => "the-things-stack",
            Provider::Rockblock => "rockblock",
        }
    }

    /// Returns the address of its API, if it has one for all customers.
    fn url(self) -> Option<&'static str> {
        match self {
            Provider::Astrocast => Some("https://api.astrocast.com/v1/commands"),
            Provider::Rockblock => Some("https://rockblock.rock7.com/rockblock/MT"),
            Provider::Chirpstack | Provider::TheThingsStack => None,
        }
    }
}

/// Returns whether an ID can be a path segment: it is not empty, does not refer to another segment (`.`, `..`), and has no control
/// characters, some of which URLs lose.
pub fn is_segment(id: &str) -> bool {
    !matches!(id, "" | "." | "..") && !id.contains(char::is_control)
}

/// Returns whether an ID can be a level of a topic.
pub fn is_level(id: &str) -> bool {
    !id.is_empty() && !id.contains(['/', '+', '#']) && !id.contains(char::is_control)
}

impl Settings {
    /// Returns whether the downlinks go over the provider's broker.
    pub fn is_over_broker(&self) -> bool {
        let url = self.url.as_deref().unwrap_or_default();
        url.starts_with("mqtt://") || url.starts_with("mqtts://")
    }

    /// Returns whether a downlink replaces those that wait. ChirpStack's broker has no command for that.
    pub fn replaces(&self) -> bool {
        self.replace.unwrap_or(!(self.is_over_broker() && self.provider == Provider::Chirpstack))
    }

    /// Returns how to connect to the broker. An error begins with the key.
    pub fn connector(&self) -> Result<Connector, String> {
        let settings = connector::Settings {
            url: self.url.as_deref().unwrap_or_default(),
            user: self.user.as_deref(),
            password_file: self.password_file.as_deref(),
            ca_file: self.ca_file.as_deref(),
        };
        let standard = if self.provider == Provider::TheThingsStack { Version::V3 } else { Version::V5 };
        // Client IDs must be unique at a broker.
        let client_id = format!("dunnage-{:x}", dunnage_base::clock::now());
        Connector::new(&settings, self.version.unwrap_or(standard), &client_id)
    }

    /// Checks what does not depend on files. An error begins with the key.
    pub fn check(&self) -> Result<(), String> {
        if !PORTS.contains(&self.port) {
            return Err(format!("port: must be {} to {}", PORTS.start(), PORTS.end()));
        }
        for (key, number) in [
            ("every", u64::from(self.every)),
            ("max_age_seconds", self.max_age_seconds),
            ("timeout_seconds", self.timeout_seconds),
        ] {
            if number == 0 {
                return Err(format!("{key}: must be at least 1"));
            }
        }
        match self.is_over_broker() {
            true => self.check_broker(),
            false => self.check_api(),
        }
    }

    fn check_broker(&self) -> Result<(), String> {
        let name = self.provider.name();
        if !matches!(self.provider, Provider::Chirpstack | Provider::TheThingsStack) {
            return Err(format!("url: {name} has no broker for downlinks"));
        }
        for (key, given) in [("token_file", self.token_file.is_some()), ("webhook", self.webhook.is_some())] {
            if given {
                return Err(format!(
                    "{key}: must not be set with a broker, which takes user and password_file"
                ));
            }
        }
        if self.provider == Provider::Chirpstack && self.replace == Some(true) {
            return Err(
                "replace: ChirpStack's broker has no command that drops waiting downlinks; use its API"
                    .into(),
            );
        }
        match self.application.as_deref().filter(|id| !is_level(id)) {
            Some(bad) => Err(format!("application: {bad:?} is not a valid level of a topic")),
            None => Ok(()),
        }
    }

    fn check_api(&self) -> Result<(), String> {
        let provider = self.provider;
        let (stack, rockblock) = (provider == Provider::TheThingsStack, provider == Provider::Rockblock);
        for (key, given) in [("ca_file", self.ca_file.is_some()), ("version", self.version.is_some())] {
            if given {
                return Err(format!("{key}: requires an mqtt:// or mqtts:// URL"));
            }
        }
        for (key, given, needed) in [
            ("application", self.application.is_some(), stack),
            ("webhook", self.webhook.is_some(), stack),
            ("user", self.user.is_some(), rockblock),
            ("password_file", self.password_file.is_some(), rockblock),
            ("token_file", self.token_file.is_some(), !rockblock),
        ] {
            match (given, needed) {
                (false, true) => return Err(format!("{key}: must be set for {}", provider.name())),
                (true, false) => return Err(format!("{key}: {} has no such setting", provider.name())),
                _ => {}
            }
        }
        for (key, text) in [("application", &self.application), ("webhook", &self.webhook)] {
            if let Some(bad) = text.as_deref().filter(|text| !is_segment(text)) {
                return Err(format!("{key}: {bad:?} is not a valid ID"));
            }
        }
        Ok(())
    }

    /// Parses the address of the API.
    pub fn address(&self) -> Result<Url, String> {
        let Some(text) = self.url.as_deref().or(self.provider.url()) else {
            return Err(format!("url: must be set for {}", self.provider.name()));
        };
        let url = Url::parse(text).map_err(|e| format!("url: {e}"))?;
        match url.scheme() {
            "http" | "https" => Ok(url),
            _ => {
                Err("url: must begin with http:// or https://, or with mqtt:// or mqtts:// for a broker"
                    .into())
            }
        }
    }
}
