//! Reads the configuration, and writes the commented default.

use crate::config::{Admin, Config, Log};
use documented::DocumentedFields;
use dunnage_access::{AccessSettings, tls::TlsSettings};
use dunnage_buffer::{BufferSettings, QuarantineSettings};
use dunnage_ingest::{RegisterSettings, profiles::settings::SchemaSettings};
use dunnage_inputs::HttpSettings;
use std::{fmt::Write, io::ErrorKind, path::Path};
use toml::{Table, Value};

/// Names and doc comments of a section's keys.
type Section = (&'static str, &'static [&'static str], &'static [&'static str]);

/// Every section in the order of the default configuration. The doc comments of the settings are its comments.
const SECTIONS: [Section; 9] = [
    section::<HttpSettings>("http"),
    section::<AccessSettings>("access"),
    section::<TlsSettings>("tls"),
    section::<BufferSettings>("buffer"),
    section::<QuarantineSettings>("quarantine"),
    section::<RegisterSettings>("register"),
    section::<SchemaSettings>("schemas"),
    section::<Admin>("admin"),
    section::<Log>("log"),
];

const fn section<T: DocumentedFields>(name: &'static str) -> Section {
    (name, T::FIELD_NAMES, T::FIELD_DOCS)
}

/// Returns section, name and comment of every key.
fn keys() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let keys = |(section, names, comments): Section| {
        names.iter().zip(comments).map(move |(key, comment)| (section, *key, *comment))
    };
    SECTIONS.into_iter().flat_map(keys)
}

/// Longest time in a setting, in seconds: ten years. The clocks of the system cannot represent the largest integer of TOML.
const YEARS: u64 = 315_360_000;
/// Longest queue, in messages.
const QUEUE: usize = 1 << 24;

const HEAD: &str = "\
# The gateway's configuration, with its defaults. Keep only the lines that you change.
# The environment variable DUNNAGE_SECTION_KEY overrides a key: DUNNAGE_HTTP_LISTEN=0.0.0.0:8080.
# Relative paths are relative to the working directory.
";

const PROFILE: &str = "
# The formats and schemas of devices. The first profile that matches a message is used; in patterns, * matches any characters.
# A profile needs device, match or name. All other keys are optional.
# [[profile]]
# device = \"LMCU*\"
# In place of device, conditions that all hold: on the device ID, the provider's profile, application and tenant, the port, the topic, and tags.KEY.
# match = { provider.profile = \"EM300-*\", provider.application = \"farm\", port = [85, 2] }
# A name that is unique. Lists show it in place of the conditions.
# name = \"containers\"
# schema = \"container\"
# The formats that they may send; others get 415 and go into the quarantine. Default: all.
# formats = [\"json\", \"cbor\", \"packed\"]
# The slots of their packed layouts. Default: all slots of the schema.
# slots = [1]
# The texts of x-dunnage-known for each device, other than its ID: {\"LMCU0000001\": {\"msisdn\": \"393315537800\"}}.
# known = \"devices.json\"
# How protobuf, struct and struct-zlib carry decimals: exact (scaled integers) or float32.
# mapping = \"exact\"
# The header of their Avro messages: none, registry (five bytes, as Confluent's serializers write) or single-object (ten).
# avro_header = \"none\"
# Numbers in JSON, SenML, XML and YAML whose digits neither 64 bits nor a binary64 keep: nearest (the nearest one; counted, and marked in the origin), exact (the
# message is rejected) or lenient (like nearest, and NaN and infinities in JSON are null).
# numbers = \"nearest\"
# Numbers that a binary format carries as binary32: exact (31.420000076293945) or shortest (31.42: the shortest decimal that is the same binary32).
# binary32 = \"exact\"
# The vendor's JavaScript that decodes messages which name no format: TS013's decodeUplink, or Decode or Decoder of older network servers.
# codec = \"codecs/em300-th.js\"
# Your own .proto, in place of the one that is derived from the schema; it needs no schema:
# proto = \"container.proto\"
# Its message, by name. Default: the first.
# proto_message = \"fleet.v1.Container\"
# Folders of what it imports, besides its own folder.
# proto_path = [\"protos\"]
# Their link, if the sender names none:
# link = \"astrocast\"
# The value of {path} in the templates of outputs:
# path = \"fleet/containers\"
# Where their messages have a position, if the map does not find it: the JSON pointer to latitude and longitude or to a GeoJSON point:
# position = \"/status/fix\"
# How duplicates are recognized: by key (Idempotency-Key), or by bytes (a message without a key that has the same bytes).
# duplicates = \"key\"
# What becomes the message if a network server wraps it: bytes, decoded, normalized or both. Default: what the input says.
# payload = \"decoded\"
# After how long without a message the metrics report a device as silent. Default: never.
# silent_after_seconds = 3600
";

const INPUTS: &str = "
# Inputs other than HTTP, any number. Topics, formats and names are examples; numbers are the defaults.
";

const OUTPUTS: &str = "
# Outputs, any number. Each has its own cursor, and starts with the oldest message of the buffer. After its name, each may have
# concurrency = 64 (calls at a time), and expressions in jq: when and until select messages, map is what is delivered (docs/outputs.md).
";

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{path}: {source}{hint}")]
    Read {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
        /// A suggestion, or empty.
        hint: &'static str,
    },
    /// The file is not a valid configuration; the message has line and column.
    #[error("{path}: {message}")]
    File {
        /// The file.
        path: String,
        /// Why and where.
        message: String,
    },
    /// An environment variable has an invalid value, or names no key.
    #[error("{variable}: {message}")]
    Environment {
        /// The variable.
        variable: String,
        /// Why.
        message: String,
    },
    /// A value is invalid.
    #[error("[{section}] {key}: {message}")]
    Value {
        /// The section.
        section: &'static str,
        /// The key.
        key: &'static str,
        /// Why.
        message: &'static str,
    },
}

impl Config {
    /// Reads `file`, if there is one, and overrides it with the environment.
    pub fn load(file: Option<&Path>) -> Result<Config, ConfigError> {
        let text = match file {
            None => String::new(),
            Some(path) => std::fs::read_to_string(path).map_err(|source| {
                let hint = match source.kind() {
                    ErrorKind::NotFound => "; `dunnage gateway config` prints one with all defaults",
                    _ => "",
                };
                ConfigError::Read { path: path.display().to_string(), source, hint }
            })?,
        };
        let name = file.map_or_else(String::new, |path| path.display().to_string());
        let config = Config::parse(&name, &text, std::env::vars())?;
        Ok(Config { file: file.map(Path::to_owned), ..config })
    }

    /// Returns the default configuration as TOML, with a comment for every key. It parses to `Config::default()`.
    pub fn commented_default() -> String {
        let defaults = table(&Config::default());
        let mut text = String::from(HEAD);
        let mut open = "";
        for (section, key, comment) in keys() {
            if section != open {
                let _ = writeln!(text, "\n[{section}]");
                open = section;
            }
            let _ = writeln!(text, "# {}\n{key} = {}", comment.replace('\n', " "), defaults[section][key]);
        }
        text + PROFILE
            + INPUTS
            + &dunnage_inputs::EXAMPLES.concat()
            + OUTPUTS
            + &dunnage_outputs::EXAMPLES.concat()
    }

    fn parse(
        name: &str,
        text: &str,
        environment: impl Iterator<Item = (String, String)>,
    ) -> Result<Config, ConfigError> {
        let config: Config = toml::from_str(text)
            .map_err(|e| ConfigError::File { path: name.into(), message: e.to_string().trim_end().into() })?;
        let (config, errors) = overridden(config, environment);
        if let Some(error) = errors.into_iter().next() {
            return Err(error);
        }
        match config.mistakes().first() {
            None => Ok(config),
            Some(&(section, key, message)) => Err(ConfigError::Value { section, key, message }),
        }
    }

    /// Returns the invalid values: section, key, and reason.
    pub fn mistakes(&self) -> Vec<(&'static str, &'static str, &'static str)> {
        let mut mistakes = Vec::new();
        let mut refuse = |section, key, message| mistakes.push((section, key, message));
        for (section, key, number) in [
            ("http", "body_limit_bytes", self.http.body_limit_bytes),
            ("http", "connections", self.http.connections),
            ("http", "address_connections", self.http.address_connections),
            ("buffer", "queue_messages", self.buffer.queue_messages),
            ("buffer", "batch_messages", self.buffer.batch_messages),
        ] {
            if number == 0 {
                refuse(section, key, "must be at least 1");
            }
        }
        for (key, seconds) in [
            ("header_timeout_seconds", self.http.header_timeout_seconds),
            ("body_timeout_seconds", self.http.body_timeout_seconds),
            ("write_timeout_seconds", self.http.write_timeout_seconds),
        ] {
            if seconds == 0 {
                refuse("http", key, "must be at least 1");
            }
        }
        for (section, key, seconds) in [
            ("http", "header_timeout_seconds", self.http.header_timeout_seconds),
            ("http", "body_timeout_seconds", self.http.body_timeout_seconds),
            ("http", "write_timeout_seconds", self.http.write_timeout_seconds),
            ("http", "drain_timeout_seconds", self.http.drain_timeout_seconds),
            ("buffer", "duplicate_window_seconds", self.buffer.duplicate_window_seconds),
        ] {
            if seconds > YEARS {
                refuse(section, key, "must be at most 315360000, ten years");
            }
        }
        if self.buffer.queue_messages > QUEUE {
            refuse("buffer", "queue_messages", "must be at most 16777216");
        }
        let (certificate, key) = (&self.tls.certificate, &self.tls.key);
        match (certificate.as_os_str().is_empty(), key.as_os_str().is_empty()) {
            (false, true) => refuse("tls", "key", "must be set together with certificate"),
            (true, false) => refuse("tls", "certificate", "must be set together with key"),
            (true, true) if self.http.tls => refuse("http", "tls", "requires [tls] certificate and key"),
            _ => {}
        }
        if self.http.body_limit_bytes > 1 << 20 {
            refuse("http", "body_limit_bytes", "must be at most 1 MiB (1048576), the limit of all formats");
        }
        if self.buffer.queue_bytes < self.http.body_limit_bytes {
            refuse("buffer", "queue_bytes", "must be at least [http] body_limit_bytes");
        }
        if (1..1 << 20).contains(&self.buffer.limit_bytes) {
            refuse("buffer", "limit_bytes", "must be at least 1 MiB (1048576), or 0 for no limit");
        }
        if self.buffer.keep_delivered_hours > 1_000_000 {
            refuse("buffer", "keep_delivered_hours", "must be at most 1000000");
        }
        mistakes
    }
}

/// Overrides `config` with the environment. Also returns the mistakes there.
pub fn overridden(
    mut config: Config,
    environment: impl Iterator<Item = (String, String)>,
) -> (Config, Vec<ConfigError>) {
    let mut errors = Vec::new();
    for (variable, text) in environment {
        let changed = key_of(&variable).and_then(|key| {
            let Some((section, key)) = key else { return Ok(None) };
            let changed = set(&config, section, key, &text);
            changed.map(Some).map_err(|message| ConfigError::Environment { variable, message })
        });
        match changed {
            Ok(None) => {}
            Ok(Some(changed)) => config = changed,
            Err(error) => errors.push(error),
        }
    }
    (config, errors)
}

/// Returns section and key of an environment variable, or `None` if it is not one of ours. `DUNNAGE_` with a known section must name one of
/// its keys.
fn key_of(variable: &str) -> Result<Option<(&'static str, &'static str)>, ConfigError> {
    let Some(rest) = variable.strip_prefix("DUNNAGE_") else { return Ok(None) };
    let rest = rest.to_ascii_lowercase();
    let mut ours = keys().filter_map(|(section, key, _)| {
        Some((section, key, rest.strip_prefix(section)?.strip_prefix('_')?.to_owned()))
    });
    let mut section_known = None;
    let found = ours.find(|(section, key, name)| {
        section_known = Some(*section);
        *key == *name
    });
    match (found, section_known) {
        (Some((section, key, _)), _) => Ok(Some((section, key))),
        (None, None) => Ok(None),
        (None, Some(section)) => Err(ConfigError::Environment {
            variable: variable.into(),
            message: format!("[{section}] has no such key; `dunnage gateway config` lists them"),
        }),
    }
}

/// Sets one key of `config` to `text`, parsed as the type of the current value.
fn set(config: &Config, section: &str, key: &str, text: &str) -> Result<Config, String> {
    let mut values = table(config);
    let old = &mut values[section][key];
    *old = match old {
        Value::Integer(_) => {
            Value::Integer(text.trim().parse().map_err(|_| format!("must be a whole number, not {text:?}"))?)
        }
        Value::Boolean(_) => {
            Value::Boolean(text.trim().parse().map_err(|_| format!("must be true or false, not {text:?}"))?)
        }
        _ => Value::String(text.into()),
    };
    values.try_into().map_err(|e| e.message().to_owned())
}

/// Returns the settings that differ between `old` and `new` and need a restart, as `[section] key`. Profiles, schemas and the token and key
/// files are left out: a reload applies them.
pub fn differences(old: &Config, new: &Config) -> Vec<String> {
    let (before, now) = (table(old), table(new));
    let keys = keys().filter(|(section, key, _)| {
        *section != "schemas" && !matches!((*section, *key), ("access", "tokens" | "keys"))
    });
    let changed = keys.filter(|(section, key, _)| before[*section][*key] != now[*section][*key]);
    let mut all: Vec<_> = changed.map(|(section, key, _)| format!("[{section}] {key}")).collect();
    let inputs = old.inputs.iter().filter(|input| !new.inputs.contains(input));
    let inputs = inputs.chain(new.inputs.iter().filter(|input| !old.inputs.contains(input)));
    all.extend(inputs.map(|input| format!("[[input]] name = {:?}", input.name)));
    let outputs = old.outputs.iter().filter(|output| !new.outputs.contains(output));
    let outputs = outputs.chain(new.outputs.iter().filter(|output| !old.outputs.contains(output)));
    all.extend(outputs.map(|output| format!("[[output]] name = {:?}", output.name)));
    all.dedup();
    all
}

fn table(config: &Config) -> Table {
    Table::try_from(config).unwrap_or_default()
}

#[cfg(test)]
mod tests;
