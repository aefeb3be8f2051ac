//! Reads the configuration, and writes the commented default.

use crate::config::Config;
use std::{fmt::Write, path::Path};
use toml::{Table, Value};

/// Every key: section, name, and its comment in the default configuration.
const KEYS: &[(&str, &str, &str)] = &[
    (
        "http",
        "listen",
        "Address and port of the HTTP input, the API and the page. Port 0 selects a free port.",
    ),
    ("http", "tls", "Whether the port accepts only HTTPS, with the certificate of [tls]."),
    ("http", "body_limit_bytes", "Maximum size of a message in bytes, at most 1 MiB; larger ones get 413."),
    (
        "http",
        "connections",
        "Maximum number of connections. At the limit, idle connections are closed to make room.",
    ),
    (
        "http",
        "address_connections",
        "Maximum number of connections of an address (of IPv6, a /64); not applied to the loopback address.",
    ),
    (
        "http",
        "header_timeout_seconds",
        "Maximum wait for the headers of a request; idle connections are closed after it.",
    ),
    ("http", "body_timeout_seconds", "Maximum time for a body to arrive; then 408."),
    ("http", "write_timeout_seconds", "Maximum time that a client may leave an answer unread."),
    ("http", "drain_timeout_seconds", "Maximum time for requests to finish when the gateway stops."),
    (
        "access",
        "who",
        "Which clients need no token to send and to read: loopback (the gateway's own user on this machine), tokens (none), anyone (all).",
    ),
    (
        "access",
        "tokens",
        "The token file, which `dunnage gateway token` writes. A relative path is relative to the buffer's folder.",
    ),
    (
        "access",
        "keys",
        "The file with the keys of devices that send over DTLS, which `dunnage gateway key` writes. Relative to the buffer's folder.",
    ),
    (
        "access",
        "device_messages_per_minute",
        "Maximum number of messages per device and minute, also in one burst; further ones get 429. 0: no limit.",
    ),
    (
        "access",
        "address_messages_per_minute",
        "Maximum number of messages per address (of IPv6, a /64) and minute; not applied to the loopback address. 0: no limit.",
    ),
    (
        "tls",
        "certificate",
        "The certificate chain of listeners with tls = true (PEM). It is read again when it changes.",
    ),
    ("tls", "key", "Its private key (PEM)."),
    ("buffer", "path", "The SQLite file that holds the messages. Its folder is created if it is missing."),
    ("buffer", "queue_messages", "Maximum number of messages that wait to be written; further ones get 503."),
    (
        "buffer",
        "queue_bytes",
        "Maximum size of all messages in memory, arriving or waiting, in bytes; further ones get 503.",
    ),
    ("buffer", "batch_messages", "Maximum number of messages in one transaction."),
    (
        "buffer",
        "duplicate_window_seconds",
        "How long duplicates are recognized (Idempotency-Key) and stored only once; 0: never.",
    ),
    (
        "buffer",
        "duplicate_limit_messages",
        "How many messages are remembered for that, in about 56 bytes of memory each: at least their rate times the window.",
    ),
    (
        "buffer",
        "limit_bytes",
        "Maximum used size of the file in bytes; 0: no limit. The write-ahead log takes about 64 MiB more.",
    ),
    (
        "buffer",
        "when_full",
        "At the limit: drop-delivered removes messages that every output has resolved, else new ones get 503; refuse removes none.",
    ),
    (
        "buffer",
        "keep_delivered_hours",
        "How long messages are kept after every output has resolved them; 0: until their space is needed.",
    ),
    ("quarantine", "messages", "Maximum number of quarantined messages; beyond it, the oldest are removed."),
    (
        "quarantine",
        "bytes",
        "Maximum size of all quarantined messages in bytes; beyond it, the oldest are removed.",
    ),
    (
        "schemas",
        "path",
        "A folder of schemas: NAME.json, and NAME.SUFFIX.json for further packed layouts; empty: only the bundled schemas.",
    ),
    (
        "schemas",
        "assert_formats",
        "Whether text must match its format (uuid, date-time, ...). Devices that send packed messages must use the same setting.",
    ),
    (
        "schemas",
        "require_check",
        "Whether packed messages are rejected if their schema has no x-dunnage-check.",
    ),
    (
        "admin",
        "socket",
        "The Unix socket of `dunnage gateway status` and similar commands, relative to the buffer's folder; empty: none.",
    ),
    ("log", "format", "human or json."),
    ("log", "level", "error, warn, info, debug or trace."),
];

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
# What devices send. The first profile whose pattern matches the device ID is used; * matches any characters.
# All keys except device are optional.
# [[profile]]
# device = \"LMCU*\"
# schema = \"container\"
# The formats that they may send; others get 415 and go into the quarantine. Default: all.
# formats = [\"json\", \"cbor\", \"packed\"]
# The slots of their packed layouts. Default: all slots of the schema.
# slots = [1]
# How protobuf, struct and struct-zlib carry decimals: exact (scaled integers) or float32.
# mapping = \"exact\"
# Your own .proto, in place of the one that is derived from the schema:
# proto = \"container.proto\"
# Their link, if the sender names none:
# link = \"astrocast\"
# The value of {path} in the templates of outputs:
# path = \"fleet/containers\"
# How duplicates are recognized: by key (Idempotency-Key), or by bytes (a message without a key that has the same bytes).
# duplicates = \"key\"
# After how long without a message the metrics report a device as silent. Default: never.
# silent_after_seconds = 3600
";

const INPUTS: &str = "
# Inputs other than HTTP, any number.
";

const OUTPUTS: &str = "
# Outputs, any number. Each has its own cursor, and starts with the oldest message of the buffer.
";

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{path}: {source}")]
    Read {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
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
            Some(path) => std::fs::read_to_string(path)
                .map_err(|source| ConfigError::Read { path: path.display().to_string(), source })?,
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
        for &(section, key, comment) in KEYS {
            if section != open {
                let _ = writeln!(text, "\n[{section}]");
                open = section;
            }
            let _ = writeln!(text, "# {comment}\n{key} = {}", defaults[section][key]);
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

/// Overrides `config` with the environment. Also returns what is wrong there.
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
    let mut ours = KEYS.iter().filter_map(|(section, key, _)| {
        Some((*section, *key, rest.strip_prefix(section)?.strip_prefix('_')?.to_owned()))
    });
    let mut section_known = None;
    let found = ours.find(|(section, key, name)| {
        section_known = Some(*section);
        key == name
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
    let keys = KEYS.iter().filter(|(section, key, _)| {
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
