//! The settings of a webhook.

use crate::provider::{Payload, Pointers, Provider};
use axum::http::header;
use dunnage_ingest::profiles::settings::FormatName;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{SeqAccess, Visitor},
};
use std::{collections::BTreeMap, path::PathBuf};

/// The input's section of the commented default configuration.
pub const EXAMPLE: &str = "\
# A webhook: a network provider posts messages to /hooks/NAME on the HTTP port.
# [[input]]
# name = \"sat\"
# [input.webhook]
# provider = \"rockblock\"         # astrocast, chirpstack, the-things-stack, rockblock, sigfox, thingpark, helium, notehub, loriot, iridium-cloudconnect, myriota, soracom, 1nce, generic
# format = \"packed\"              # of the devices' messages; without it, that of the device's profile
# payload = \"decoded\"            # what the network server decoded, and not the bytes; also normalized and both
# devices = \"LMCU*\"              # the devices that it may send as, or a list; required with RockBLOCK's published key
# link = \"iridium-sbd-mo\"        # the link of these messages
# Also token_file (one token per line; required except for rockblock), hmac_file (in its place, for generic), header (which has the token),
# formats (by LoRaWAN port), names (device IDs by the provider's IDs) and pointers (for generic): docs/inputs.md.
";

/// `[input.webhook]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The provider.
    pub provider: Provider,
    /// A file of tokens, one per line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_file: Option<PathBuf>,
    /// The header that carries the provider's token, with or without `Bearer` before it.
    #[serde(default = "authorization")]
    pub header: String,
    /// A PEM file with the public key to use instead of the one that the provider publishes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_file: Option<PathBuf>,
    /// What becomes the message: the bytes, or what the network server decoded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Payload>,
    /// A file of secrets, one per line. The provider sends the HMAC-SHA256 of the body with one of them in `header`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hmac_file: Option<PathBuf>,
    /// The format of the devices' messages; without it and `formats`, their profile decides, such as by its format or codec.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<FormatName>,
    /// The formats of messages by their LoRaWAN port (FPort, 1 to 223).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub formats: BTreeMap<String, FormatName>,
    /// The link of the messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The devices that it may send as: IDs, where `*` matches any characters. By default all.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "patterns")]
    pub devices: Option<Vec<String>>,
    /// Device IDs, by the IDs that the provider uses. A device that is not listed keeps the provider's ID.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub names: BTreeMap<String, String>,
    /// Where a generic envelope has its parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointers: Option<Pointers>,
}

/// Deserializes one pattern, or a list of them.
fn patterns<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<String>>, D::Error> {
    struct Patterns;

    impl<'de> Visitor<'de> for Patterns {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str(
                "a pattern of device IDs, or a list of them; the table of names is [input.webhook.names]",
            )
        }

        fn visit_str<E>(self, text: &str) -> Result<Vec<String>, E> {
            Ok(vec![text.to_owned()])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<String>, A::Error> {
            let mut all = Vec::new();
            while let Some(pattern) = list.next_element()? {
                all.push(pattern);
            }
            Ok(all)
        }
    }

    from.deserialize_any(Patterns).map(Some)
}

fn authorization() -> String {
    header::AUTHORIZATION.to_string()
}

/// Returns the query parameters that `provider` sends.
pub fn parameters(provider: Provider) -> &'static [&'static str] {
    match provider {
        Provider::Chirpstack => &["event"],
        Provider::Rockblock | Provider::Myriota => &["token"],
        // Those of its tunnel interface.
        Provider::Thingpark => &["LrnDevEui", "LrnFPort", "LrnInfos", "AS_ID", "Time", "Token"],
        _ => &[],
    }
}
