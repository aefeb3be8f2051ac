//! The settings in `[output.relay]`.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Example for the default configuration, commented out.
pub const EXAMPLE: &str = "\
# Send readings in few bytes to a gateway elsewhere, over the first of these links that works.
# [[output]]
# name = \"cloud\"
# [output.relay]
# readings = 12
# wait_seconds = 60
# times = true
# [[output.relay.link]]
# name = \"port\"
# http = { url = \"https://telemetry.example.org/ingest/ship-7\" }
# [[output.relay.link]]
# name = \"satellite\"
# limit_bytes = 340
# fit = true
# exec = { command = [\"/usr/local/bin/send-sbd\"] }
# Also a file with a short number for each device, and a bearer token: docs/edge.md.
";

/// The settings in `[output.relay]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// A JSON file with the number of each device, and the slot of its packed layout; the other gateway has the same. Without it, each
    /// reading has the ID of its device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numbers: Option<PathBuf>,
    /// Largest number of readings in a batch, 1 to 1024.
    #[serde(default = "readings")]
    pub readings: usize,
    /// Longest time that a reading waits for others, 0 to 86400.
    #[serde(default = "wait_seconds")]
    pub wait_seconds: u64,
    /// Whether batches say when each reading was received. That takes 1 or 2 bytes a reading, and 5 a batch.
    #[serde(default = "times")]
    pub times: bool,
    /// The links, the preferred one first.
    #[serde(default)]
    pub link: Vec<LinkSettings>,
}

/// The settings of a link. Exactly one of `http` and `exec` must be set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSettings {
    /// Its name, which is unique.
    pub name: String,
    /// Largest number of bytes of a batch, 8 to 1048576.
    #[serde(default = "limit_bytes")]
    pub limit_bytes: usize,
    /// Whether properties with `x-dunnage-drop` are left out of a reading that is too large for a batch of its own.
    #[serde(default)]
    pub fit: bool,
    /// Longest time that sending a batch may take, 1 to 3600.
    #[serde(default = "timeout_seconds")]
    pub timeout_seconds: u64,
    /// POST to the other gateway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<HttpSettings>,
    /// Hand over to a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exec: Option<ExecSettings>,
}

/// A link to the other gateway's HTTP input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpSettings {
    /// The URL, which ends in `/ingest/` and the relay's ID.
    pub url: String,
    /// A file with a bearer token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_file: Option<PathBuf>,
}

/// A program that sends batches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExecSettings {
    /// The program and its arguments. It gets a batch on its standard input, and exits with 0 once the link has taken it over.
    pub command: Vec<String>,
}

fn readings() -> usize {
    32
}

fn wait_seconds() -> u64 {
    60
}

fn times() -> bool {
    true
}

fn limit_bytes() -> usize {
    65_536
}

fn timeout_seconds() -> u64 {
    120
}

impl Settings {
    /// Checks what the types do not.
    pub(super) fn check(&self) -> Result<(), String> {
        if !(1..=dunnage_relay::MAX_READINGS).contains(&self.readings) {
            return Err(format!("readings: must be 1 to {}", dunnage_relay::MAX_READINGS));
        }
        if self.wait_seconds > 86_400 {
            return Err("wait_seconds: must be 0 to 86400".into());
        }
        if self.link.is_empty() {
            return Err("link: at least one link is needed".into());
        }
        for (index, link) in self.link.iter().enumerate() {
            let failed = |key, message| Err(format!("link[{index}].{key}: {message}"));
            if !dunnage_base::name::is_name(&link.name) {
                return failed("name", "must be 1 to 64 of A-Z a-z 0-9 . _ : -");
            }
            if self.link[..index].iter().any(|other| other.name == link.name) {
                return failed("name", "another link has this name");
            }
            if !(8..=1 << 20).contains(&link.limit_bytes) {
                return failed("limit_bytes", "must be 8 to 1048576");
            }
            if !(1..=3600).contains(&link.timeout_seconds) {
                return failed("timeout_seconds", "must be 1 to 3600");
            }
        }
        Ok(())
    }
}
