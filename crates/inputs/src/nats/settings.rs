//! The settings of `[input.nats]`.

use crate::{
    device_at,
    provider::{Payload, Pointers, Provider, RuleSettings, Rules},
};
use dunnage_ingest::profiles::settings::FormatName;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::PathBuf};

/// The input's section of the commented default configuration.
pub const EXAMPLE: &str = "\
# Messages that other gateways put into a NATS stream with payload = \"raw\". Requires NATS 2.14 and one consumer per gateway.
# [[input]]
# name = \"fleet\"
# [input.nats]
# servers = [\"nats://127.0.0.1:4222\"]
# stream = \"DUNNAGE\"
# consumer = \"forwarder-1\"       # created if it is missing; its filter is never changed
# subjects = [\"dunnage.0.>\", \"dunnage.1.>\"]   # empty: all of the stream
# in_flight_messages = 1024
# device_at = \"/imei\"             # the JSON pointer to the device ID of messages without the header Dunnage-Device
# provider = \"the-things-stack\"    # opens the envelopes of a network server; then also payload, format, formats and names, as in a webhook
# When a message is acknowledged to the stream: stored (on disk here) or delivered (by every output). Default: delivered if all inputs
# are of this kind and there is an output.
# acknowledge = \"stored\"
# Files, if the servers require them: credentials or token_file; ca_file enables TLS.
";

/// `[input.nats]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// URLs of servers of one cluster.
    pub servers: Vec<String>,
    /// The stream.
    pub stream: String,
    /// The durable consumer, which no other gateway uses.
    pub consumer: String,
    /// The subjects of the stream that the consumer selects; empty for all.
    #[serde(default)]
    pub subjects: Vec<String>,
    /// The maximum number of messages in a batch. If they are acknowledged when stored, also the maximum that is not acknowledged yet.
    #[serde(default = "in_flight_messages")]
    pub in_flight_messages: usize,
    /// When a message is acknowledged to the stream. [`Acknowledge::default_of`] is the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledge: Option<Acknowledge>,
    /// What wraps the devices' messages. Without it, the headers describe a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<Provider>,
    /// What becomes the message: the bytes, or what the network server decoded. Needs `provider`, as the next three do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Payload>,
    /// The format of the devices' bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<FormatName>,
    /// The formats by LoRaWAN port (FPort, 1 to 223).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub formats: BTreeMap<String, FormatName>,
    /// Device IDs, by the IDs that the provider uses. A device that is not listed keeps the provider's ID.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub names: BTreeMap<String, String>,
    /// Where a generic envelope has its parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointers: Option<Pointers>,
    /// Where a JSON message without the header `Dunnage-Device` has its device ID, as a JSON pointer. Without it, the last token of the
    /// subject is the ID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_at: Option<String>,
    /// A credentials file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<PathBuf>,
    /// A file with a token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_file: Option<PathBuf>,
    /// A PEM file with the certificates to trust. The connection then uses TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
}

fn in_flight_messages() -> usize {
    1024
}

/// When a message is acknowledged to the stream, which may then discard it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Acknowledge {
    /// After its commit. Until an output has delivered it, the only copy may be on this disk.
    Stored,
    /// After every output has resolved it, so that the loss of the disk loses no message.
    Delivered,
}

impl Acknowledge {
    /// Returns the default: `Delivered` for a forwarder, which is a gateway with an output whose inputs are all NATS streams, and else
    /// `Stored`.
    pub fn default_of(only_streams: bool, outputs: bool) -> Acknowledge {
        match only_streams && outputs {
            true => Acknowledge::Delivered,
            false => Acknowledge::Stored,
        }
    }
}

impl Settings {
    /// Returns how to open envelopes, if a provider is set. An error says which setting is wrong.
    pub(crate) fn rules(&self) -> Result<Option<Rules>, String> {
        let Settings { provider, payload, format, formats, names, pointers, device_at, .. } = self;
        device_at::check(device_at.as_deref(), provider.is_some())?;
        let pointers = pointers.as_ref();
        let settings = RuleSettings { payload: *payload, format: *format, formats, names, pointers };
        Rules::optional(*provider, &settings, ("format", format.is_some()))
    }
}
