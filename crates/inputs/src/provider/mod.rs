//! Providers: what network servers and operators wrap a device's message in. A module for each provider opens its envelopes, whichever
//! transport carries them: a webhook, a broker, or a NATS stream. It has the document that it follows in its comment.
//!
//! [`Rules`] make a message of an opened envelope, with the settings that all transports share.

mod astrocast;
pub mod chirpstack;
pub mod envelope;
mod fields;
mod helium;
mod ids;
mod iridium_cloudconnect;
pub mod jwt;
mod loriot;
mod myriota;
mod notehub;
mod one_nce;
pub mod origin;
mod pointers;
mod received;
pub mod rockblock;
mod rules;
mod sigfox;
mod soracom;
#[cfg(test)]
mod testing;
mod the_things_stack;
mod thingpark;

pub use pointers::Pointers;
pub use received::{Received, Transport};
pub use rules::{Message, RuleSettings, Rules};

pub use dunnage_ingest::profiles::settings::Payload;

use dunnage_ingest::Rejected;
use envelope::{Content, Envelope, foreign};
use jwt::PublicKey;
use serde::{Deserialize, Serialize};

/// A provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provider {
    /// Astrocast's callbacks.
    Astrocast,
    /// ChirpStack 4 and 3.
    Chirpstack,
    /// The Things Stack 3.
    TheThingsStack,
    /// Iridium through Ground Control's RockBLOCK.
    Rockblock,
    /// Sigfox's callbacks.
    Sigfox,
    /// Actility ThingPark.
    Thingpark,
    /// Helium's Console.
    Helium,
    /// Blues Notehub.
    Notehub,
    /// LORIOT.
    Loriot,
    /// Iridium CloudConnect.
    IridiumCloudconnect,
    /// Myriota's destinations, whose envelopes hold several messages.
    Myriota,
    /// Soracom Beam and Funnel.
    Soracom,
    /// 1NCE's Cloud Integrator.
    #[serde(rename = "1nce")]
    OneNce,
    /// What a table of JSON pointers describes.
    Generic,
}

impl Provider {
    /// Returns its name in the configuration, in keys and in stored messages.
    pub fn name(self) -> &'static str {
        match self {
            Provider::Astrocast => "astrocast",
            Provider::Chirpstack => "chirpstack",
            Provider::TheThingsStack => "the-things-stack",
            Provider::Rockblock => "rockblock",
            Provider::Sigfox => "sigfox",
            Provider::Thingpark => "thingpark",
            Provider::Helium => "helium",
            Provider::Notehub => "notehub",
            Provider::Loriot => "loriot",
            Provider::IridiumCloudconnect => "iridium-cloudconnect",
            Provider::Myriota => "myriota",
            Provider::Soracom => "soracom",
            Provider::OneNce => "1nce",
            Provider::Generic => "generic",
        }
    }

    /// Returns whether its messages have a LoRaWAN port.
    pub fn has_ports(self) -> bool {
        use Provider::{Chirpstack, Generic, Helium, Loriot, TheThingsStack, Thingpark};
        matches!(self, Chirpstack | TheThingsStack | Thingpark | Helium | Loriot | Generic)
    }

    /// Returns whether its IDs of devices are hexadecimal digits, such as a DevEUI, in which case means nothing. The device IDs of The Things
    /// Stack have lower case only.
    fn has_hex_ids(self) -> bool {
        use Provider::{Chirpstack, Helium, Loriot, Myriota, Sigfox, TheThingsStack, Thingpark};
        matches!(self, Chirpstack | TheThingsStack | Thingpark | Helium | Loriot | Sigfox | Myriota)
    }

    /// Returns whether its messages may have content without bytes. A LoRaWAN server that decodes an empty payload has no message.
    fn has_more_than_bytes(self) -> bool {
        matches!(self, Provider::Notehub | Provider::Soracom | Provider::OneNce | Provider::Generic)
    }

    /// Returns whether the token may be in the query of the URL (`token=`), because the provider's headers cannot be chosen.
    pub fn has_token_in_url(self) -> bool {
        matches!(self, Provider::Rockblock | Provider::Myriota)
    }

    /// Opens an envelope. With a `key`, the envelope of RockBLOCK must be signed with it. `pointers` describe a generic one.
    pub fn open(
        self,
        envelope: &Envelope<'_>,
        key: Option<&PublicKey>,
        pointers: Option<&Pointers>,
    ) -> Result<Content, Rejected> {
        match self {
            Provider::Astrocast => astrocast::read(envelope),
            Provider::Chirpstack => chirpstack::read(envelope),
            Provider::TheThingsStack => the_things_stack::read(envelope),
            Provider::Rockblock => rockblock::read(envelope, key),
            Provider::Sigfox => sigfox::read(envelope),
            Provider::Thingpark => thingpark::read(envelope),
            Provider::Helium => helium::read(envelope),
            Provider::Notehub => notehub::read(envelope),
            Provider::Loriot => loriot::read(envelope),
            Provider::IridiumCloudconnect => iridium_cloudconnect::read(envelope),
            Provider::Myriota => myriota::read(envelope),
            Provider::Soracom => soracom::read(envelope),
            Provider::OneNce => one_nce::read(envelope),
            Provider::Generic => match pointers {
                Some(pointers) => pointers.read(envelope),
                None => Err(foreign("no pointers are set")),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// Returns the paths of all values in `value`.
    fn paths(value: &Value, path: &str, all: &mut Vec<String>) {
        all.push(path.to_owned());
        match value {
            Value::Object(members) => {
                members.iter().for_each(|(key, value)| paths(value, &format!("{path}/{key}"), all));
            }
            Value::Array(items) => {
                (0..).zip(items).for_each(|(n, value): (usize, _)| paths(value, &format!("{path}/{n}"), all));
            }
            _ => {}
        }
    }

    /// Whatever one value of a documented envelope is replaced by, it has an error with a reason, or a message of the same device.
    #[test]
    fn any_value_may_be_anything() {
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        for (provider, body, device) in [
            (
                Provider::Chirpstack,
                read(include_str!("../../../gateway/tests/webhooks/chirpstack-up.json")),
                "70b3d57ed005a1b2",
            ),
            (
                Provider::TheThingsStack,
                read(include_str!("../../../gateway/tests/webhooks/the-things-stack-up.json")),
                "0004a30b001c0530",
            ),
            (
                Provider::Astrocast,
                read(include_str!("../../../gateway/tests/webhooks/astrocast.json")),
                "c984ff2b-e4d0-417f-8ea3-11d74a55d251",
            ),
        ] {
            let mut all = Vec::new();
            paths(&body, "", &mut all);
            for path in all {
                let deep = (0..40).fold(json!(1), |inner, _| json!([inner]));
                for other in [
                    Value::Null,
                    json!("x"),
                    json!(""),
                    json!(-1),
                    json!(1e300),
                    json!([]),
                    json!({}),
                    json!(70_000),
                    deep,
                ] {
                    let mut changed = body.clone();
                    *changed.pointer_mut(&path).unwrap() = other.clone();
                    let text = changed.to_string();
                    let envelope = Envelope {
                        event: None,
                        content_type: "application/json",
                        headers: None,
                        bytes: text.as_bytes(),
                    };
                    match provider.open(&envelope, None, None) {
                        Ok(Content::Uplink(uplink)) => {
                            let is_id = ["devEui", "dev_eui", "device_id", "deviceGuid"]
                                .iter()
                                .any(|id| path.ends_with(id));
                            assert!(uplink.device == device || is_id, "{path} = {other}: {}", uplink.device);
                        }
                        Ok(Content::Packets(_) | Content::Event(_)) => {}
                        Err(rejected) => assert!(!rejected.detail.is_empty()),
                    }
                }
            }
        }
    }
}
