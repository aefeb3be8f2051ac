//! The settings of `[access]`.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// `[access]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AccessSettings {
    /// Who may send and read without a token.
    pub who: Who,
    /// The token file; a relative path starts at the buffer's folder.
    pub tokens: PathBuf,
    /// The key file of DTLS; a relative path starts at the buffer's folder.
    pub keys: PathBuf,
    /// Most messages of a device in a minute; 0 for no limit.
    pub device_messages_per_minute: u32,
    /// Most messages from an address in a minute; 0 for no limit.
    pub address_messages_per_minute: u32,
}

/// Who may send and read without a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Who {
    /// The user that the gateway runs as, on the loopback address.
    Loopback,
    /// Nobody.
    Tokens,
    /// Everybody.
    Anyone,
}

impl Default for AccessSettings {
    fn default() -> Self {
        AccessSettings {
            who: Who::Loopback,
            tokens: "tokens.toml".into(),
            keys: "keys.toml".into(),
            device_messages_per_minute: 0,
            address_messages_per_minute: 0,
        }
    }
}
