//! The settings in `[output.mqtt.sparkplug]`.

use crate::mqtt::topic::is_unusual;
use serde::{Deserialize, Serialize};

/// Longest ID, in bytes.
const ID: usize = 128;

/// The settings in `[output.mqtt.sparkplug]`: the gateway as an Edge Node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SparkplugSettings {
    /// The Group ID.
    pub group: String,
    /// The Edge Node ID, which must be unique in the group.
    pub node: String,
    /// The Host ID of the host that must be online while the gateway publishes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub primary_host: Option<String>,
}

impl SparkplugSettings {
    /// Checks the IDs. An error begins with the key.
    pub fn check(&self) -> Result<(), String> {
        let ids = [
            ("group", Some(&self.group)),
            ("node", Some(&self.node)),
            ("primary_host", self.primary_host.as_ref()),
        ];
        for (key, id) in ids {
            let Some(id) = id else { continue };
            if id.is_empty() || id.len() > ID || id.contains(['/', '+', '#']) || id.contains(is_unusual) {
                return Err(format!(
                    "sparkplug.{key}: {id:?} must be 1 to {ID} bytes without /, +, # and control characters"
                ));
            }
        }
        match self.group == "STATE" {
            true => Err("sparkplug.group: must not be STATE, under which hosts publish their state".into()),
            false => Ok(()),
        }
    }
}
