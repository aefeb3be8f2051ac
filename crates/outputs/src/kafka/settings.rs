//! The settings in `[output.kafka]`.

use dunnage_clients::{
    kafka::{Access, Address, Login, Mechanism, Password, Producer},
    secret::{self, SecretFile},
};
use serde::{Deserialize, Serialize};
use std::{path::PathBuf, time::Duration};

/// Example for the default configuration, commented out.
pub const EXAMPLE: &str = "\
# A topic of Kafka; the key of a record is its device.
# [[output]]
# name = \"log\"
# [output.kafka]
# brokers = \"127.0.0.1:9092\"  # or several, separated by commas
# topic = \"telemetry\"
# tls = false
# payload = \"json\"            # the value; envelope: with device, time, ...; avro or protobuf: by the message's schema, with a registry
# timeout_seconds = 30
# Also ca_file, and tables sasl for a login and registry for schemas: docs/outputs.md.
";

/// Most bytes in the name of a topic (`org.apache.kafka.common.internals.Topic`).
const NAME: usize = 249;

/// The settings in `[output.kafka]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Bootstrap brokers: `HOST:PORT`, separated by commas.
    pub brokers: String,
    /// The topic.
    pub topic: String,
    /// Whether connections are encrypted. With a login, it must be set unless the brokers are on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<bool>,
    /// A PEM file with the certificates to trust instead of the system's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
    /// The value of a record.
    #[serde(default)]
    pub payload: Payload,
    /// Longest time until all in-sync replicas acknowledge a record, in seconds.
    #[serde(default = "timeout_seconds")]
    pub timeout_seconds: u64,
    /// The login.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sasl: Option<Sasl>,
    /// The schema registry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registry: Option<Registry>,
}

/// The value of a record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Payload {
    /// The value of the message, as compact JSON.
    #[default]
    Json,
    /// The object that the output to HTTP sends.
    Envelope,
    /// Avro by the schema of the message.
    Avro,
    /// Protobuf by the schema of the message.
    Protobuf,
}

/// The settings in `[output.kafka.registry]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Registry {
    /// The address of its API: `https://HOST:PORT`, or `http://`.
    pub url: String,
    /// The user name, together with a password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// A file with the password. A new request reads it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_file: Option<PathBuf>,
    /// A PEM file with the certificates to trust instead of the system's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
}

/// The settings in `[output.kafka.sasl]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sasl {
    /// How the user is authenticated.
    pub mechanism: Mechanism,
    /// The user.
    pub user: String,
    /// A file with the password. A new connection reads it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_file: Option<PathBuf>,
    /// An environment variable with the password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_variable: Option<String>,
}

fn timeout_seconds() -> u64 {
    30
}

impl Settings {
    /// Returns settings for brokers without TLS and login.
    pub fn new(brokers: &str, topic: &str) -> Settings {
        Settings {
            brokers: brokers.into(),
            topic: topic.into(),
            tls: None,
            ca_file: None,
            timeout_seconds: timeout_seconds(),
            payload: Payload::Json,
            sasl: None,
            registry: None,
        }
    }

    /// Returns the producer. An error begins with the key.
    pub(super) fn producer(&self) -> Result<Producer, String> {
        if self.brokers.is_empty() {
            return Err("brokers: must not be empty".into());
        }
        let brokers = self.brokers.split(',').map(|address| Address::parse(address.trim()));
        let brokers = brokers.collect::<Result<Vec<_>, _>>().map_err(|e| format!("brokers: {e}"))?;
        check_topic(&self.topic)?;
        if !(1..=600).contains(&self.timeout_seconds) {
            return Err("timeout_seconds: must be 1 to 600".into());
        }
        if self.sasl.is_some() && self.tls.is_none() && !brokers.iter().all(Address::is_loopback) {
            let why =
                "must be set together with sasl: true, or false to log in to other machines in the clear";
            return Err(format!("tls: {why}"));
        }
        let ca = self.ca_file.clone();
        let ca = ca.map(|path| SecretFile::open("ca_file", path, secret::certificates)).transpose()?;
        let login = self.sasl.as_ref().map(Sasl::login).transpose().map_err(|e| format!("sasl.{e}"))?;
        let access = Access::new(self.tls == Some(true), ca, login, self.tls == Some(false))?;
        let timeout = Duration::from_secs(self.timeout_seconds);
        Ok(Producer::new(brokers, self.topic.clone(), access, timeout))
    }
}

impl Sasl {
    fn login(&self) -> Result<Login, String> {
        if self.user.is_empty() || self.user.contains('\0') {
            return Err("user: must not be empty or have a NUL".into());
        }
        let password = match (&self.password_file, &self.password_variable) {
            (Some(path), None) => {
                Password::File(SecretFile::open("password_file", path.clone(), secret::any)?)
            }
            (None, Some(variable)) => {
                let text = std::env::var(variable);
                Password::Text(text.map_err(|e| format!("password_variable: {variable}: {e}"))?)
            }
            _ => return Err("password_file, password_variable: exactly one must be set".into()),
        };
        Ok(Login { mechanism: self.mechanism, user: self.user.clone(), password })
    }
}

fn check_topic(topic: &str) -> Result<(), String> {
    let is_legal = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    match (1..=NAME).contains(&topic.len()) && topic.chars().all(is_legal) && topic != "." && topic != ".." {
        true => Ok(()),
        false => Err(format!("topic: must be 1 to {NAME} of A-Z a-z 0-9 . _ - and not \".\" or \"..\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(change: impl FnOnce(&mut Settings)) -> String {
        let mut settings = Settings::new("127.0.0.1:9092", "t");
        change(&mut settings);
        settings.producer().err().unwrap_or_default()
    }

    fn sasl() -> Option<Sasl> {
        let (mechanism, user) = (Mechanism::ScramSha256, "u".to_owned());
        Some(Sasl { mechanism, user, password_file: None, password_variable: Some("PATH".into()) })
    }

    #[test]
    fn mistakes_name_their_keys() {
        assert_eq!(error(|_| ()), "");
        let long = "x".repeat(250);
        for (error, key) in [
            (error(|s| s.brokers.clear()), "brokers: "),
            (error(|s| s.brokers = "127.0.0.1:9092,,".into()), "brokers: "),
            (error(|s| s.brokers = "SSL://h:9092".into()), "brokers: "),
            (error(|s| s.topic = "a/b".into()), "topic: "),
            (error(|s| s.topic = "..".into()), "topic: "),
            (error(|s| s.topic = long), "topic: "),
            (error(|s| s.timeout_seconds = 0), "timeout_seconds: "),
            (error(|s| s.timeout_seconds = u64::MAX), "timeout_seconds: "),
            (error(|s| s.ca_file = Some("/nothing".into())), "ca_file: "),
            (error(|s| s.sasl = sasl().map(|sasl| Sasl { user: String::new(), ..sasl })), "sasl.user: "),
            (
                error(|s| s.sasl = sasl().map(|sasl| Sasl { password_variable: None, ..sasl })),
                "sasl.password_file, password_variable: ",
            ),
            (
                error(|s| {
                    s.sasl = sasl().map(|sasl| Sasl { password_variable: Some("NOT SET".into()), ..sasl });
                }),
                "sasl.password_variable: NOT SET: ",
            ),
        ] {
            assert!(error.starts_with(key), "{key}: {error}");
        }
    }

    #[test]
    fn a_login_to_another_machine_needs_a_word_about_tls() {
        let far = |tls| {
            error(|s| {
                s.brokers = "127.0.0.1:9092, kafka.example.org:9092".into();
                s.sasl = sasl();
                s.tls = tls;
            })
        };
        assert!(far(None).starts_with("tls: must be set together with sasl"));
        assert_eq!(far(Some(false)), "");
        assert_eq!(error(|s| s.sasl = sasl()), "");
    }
}
