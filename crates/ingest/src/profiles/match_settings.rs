//! The settings of `match` in `[[profile]]`.

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, SeqAccess, Unexpected, Visitor},
};
use std::{collections::BTreeMap, fmt};

/// `match`: the conditions on a message. In texts, `*` matches any characters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Match {
    /// The device's ID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// The port of the link, or a list of ports; empty for all messages.
    #[serde(default, deserialize_with = "ports", skip_serializing_if = "Vec::is_empty")]
    pub port: Vec<u8>,
    /// The topic or subject in the message's origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Tags of the device in the register, by their keys.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
    /// What the provider knows of the device.
    #[serde(default, skip_serializing_if = "ProviderMatch::is_empty")]
    pub provider: ProviderMatch,
}

/// `match.provider`: the conditions on what a provider's envelope says of the device.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderMatch {
    /// The device's profile or type there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Its application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<String>,
    /// Its tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
}

impl Match {
    /// Returns whether no condition is given.
    pub fn is_empty(&self) -> bool {
        *self == Match::default()
    }

    /// Returns the key, below the profile, of a text that matches nothing because it is empty.
    pub fn empty_text(&self) -> Option<&'static str> {
        let texts = [
            ("match.device", &self.device),
            ("match.topic", &self.topic),
            ("match.provider.profile", &self.provider.profile),
            ("match.provider.application", &self.provider.application),
            ("match.provider.tenant", &self.provider.tenant),
        ];
        let is_empty = self.tags.values().any(String::is_empty);
        let text = texts.iter().find(|(_, text)| text.as_deref() == Some("")).map(|(key, _)| *key);
        text.or(is_empty.then_some("match.tags"))
    }
}

impl ProviderMatch {
    fn is_empty(&self) -> bool {
        *self == ProviderMatch::default()
    }
}

/// Deserializes one port, or a list of them. An empty list would match no message.
fn ports<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    struct Ports;

    impl Ports {
        fn port<E: de::Error>(&self, port: i64) -> Result<u8, E> {
            u8::try_from(port).map_err(|_| E::invalid_value(Unexpected::Signed(port), self))
        }
    }

    impl<'de> Visitor<'de> for Ports {
        type Value = Vec<u8>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a port, a whole number from 0 to 255, or a list of ports")
        }

        fn visit_i64<E: de::Error>(self, port: i64) -> Result<Vec<u8>, E> {
            self.port(port).map(|port| vec![port])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<u8>, A::Error> {
            let mut all = Vec::new();
            while let Some(port) = list.next_element()? {
                all.push(self.port(port)?);
            }
            match all.is_empty() {
                true => Err(de::Error::invalid_length(0, &self)),
                false => Ok(all),
            }
        }
    }

    from.deserialize_any(Ports)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_a_number_or_a_list() {
        let read = |text: &str| toml::from_str::<Match>(text).map(|read| read.port);
        assert_eq!(read("port = 85").unwrap(), [85]);
        assert_eq!(read("port = [0, 255]").unwrap(), [0, 255]);
        for bad in ["256", "-1", "1.5", "'85'", "[]", "[256]", "['a']", "{}"] {
            assert!(read(&format!("port = {bad}")).is_err(), "{bad}");
        }
        for bad in ["300", "[1, 300]"] {
            let error = read(&format!("port = {bad}")).unwrap_err();
            assert!(error.message().contains("0 to 255"), "{error}");
        }
    }

    #[test]
    fn settings_survive_writing() {
        let text = "device = 'a*'\nport = [1, 2]\ntopic = 't'\nprovider.profile = 'p'";
        let read: Match = toml::from_str(text).unwrap();
        let written = toml::to_string(&read).unwrap();
        assert_eq!(toml::from_str::<Match>(&written).unwrap(), read, "{written}");
        assert_eq!(toml::to_string(&Match::default()).unwrap(), "");
    }
}
