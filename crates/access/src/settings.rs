//! The settings of `[access]`.

use documented::DocumentedFields;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// `[access]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields, default)]
pub struct AccessSettings {
    /// Which clients need no token to send and to read: loopback (the gateway's own user on this machine), tokens (none), anyone (all).
    pub who: Who,
    /// The token file, which `dunnage gateway token` writes. A relative path is relative to the buffer's folder.
    pub tokens: PathBuf,
    /// The file with the keys of devices that send over DTLS, which `dunnage gateway key` writes. Relative to the buffer's folder.
    pub keys: PathBuf,
    /// Maximum number of messages per device and minute, also in one burst; further ones get 429. 0: no limit.
    pub device_messages_per_minute: u32,
    /// Maximum number of messages per address (of IPv6, a /64) and minute; not applied to the loopback address. 0: no limit.
    pub address_messages_per_minute: u32,
}

/// The peers that can send and read without a token.
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
