//! What all transports do with an opened envelope: which device it is of, and whether its bytes or what the network server decoded of them
//! are the message.

use super::{
    Pointers, Provider,
    envelope::{Content, Envelope, Uplink},
    ids,
    jwt::PublicKey,
    origin::Stored,
};
use dunnage_base::name::is_device;
use dunnage_formats::Id;
use dunnage_ingest::{
    DECODED_TYPE, Rejected,
    profiles::{
        Profiles, Subject,
        settings::{FormatName, Payload},
    },
};
use serde_json::value::RawValue;
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

/// What a TS013 codec of this project returns for a message that only the gateway can decode.
const DELTA: &str = r#"{"dunnage":"delta"}"#;

/// The settings of the rules, which each input has among its own.
pub struct RuleSettings<'s> {
    /// What becomes the message.
    pub payload: Option<Payload>,
    /// The format of the devices' bytes.
    pub format: Option<FormatName>,
    /// The formats by LoRaWAN port.
    pub formats: &'s BTreeMap<String, FormatName>,
    /// Device IDs, by the IDs that the provider uses.
    pub names: &'s BTreeMap<String, String>,
    /// Where a generic envelope has its parts.
    pub pointers: Option<&'s Pointers>,
}

/// How an input makes messages of envelopes.
pub struct Rules {
    /// The provider.
    pub provider: Provider,
    payload: Option<Payload>,
    format: Option<FormatName>,
    formats: HashMap<u8, FormatName>,
    /// Device IDs, by the IDs that the provider uses, in lower case if these are hexadecimal digits.
    names: BTreeMap<String, String>,
    pointers: Option<Pointers>,
}

/// A message of an envelope.
pub struct Message {
    /// Its idempotency key, if the provider names its messages.
    pub key: Option<String>,
    /// Its `Content-Type`.
    pub content_type: String,
    /// Why it cannot be decoded.
    pub bad: Option<Rejected>,
    /// Its origin, as JSON.
    pub origin: Option<Arc<str>>,
}

impl Rules {
    /// Checks the settings. An error begins with the key.
    pub fn new(provider: Provider, settings: &RuleSettings<'_>) -> Result<Rules, String> {
        let RuleSettings { payload, format, .. } = *settings;
        if !provider.has_ports() && !settings.formats.is_empty() {
            return Err(format!("formats: messages of {} have no port", provider.name()));
        }
        if payload == Some(Payload::Normalized) && provider != Provider::TheThingsStack {
            return Err(format!("payload: {} does not normalize payloads", provider.name()));
        }
        match (provider, settings.pointers) {
            (Provider::Generic, None) => return Err("pointers: must be set for generic".into()),
            (Provider::Generic, Some(pointers)) => pointers.check()?,
            (_, None) => {}
            (_, Some(_)) => {
                return Err(format!("pointers: {} has its own; they are for generic", provider.name()));
            }
        }
        let port = |text: &String| text.parse().ok().filter(|port| (1..=223_u8).contains(port));
        let formats = settings.formats.iter().map(|(text, format)| match port(text) {
            Some(port) => Ok((port, *format)),
            None => Err(format!("formats: {text:?} is not a valid port: ports are 1 to 223")),
        });
        if let Some(bad) = settings.names.values().find(|id| !is_device(id)) {
            return Err(format!("names: {bad:?} is not a valid device ID"));
        }
        let (formats, names) = (formats.collect::<Result<_, _>>()?, names(provider, settings.names)?);
        let pointers = settings.pointers.cloned();
        Ok(Rules { provider, payload, format, formats, names, pointers })
    }

    /// Checks the settings of an input that opens envelopes only if a provider is set. Without one, they must not be given, nor must `other`, a
    /// setting of the input with this name. The format alone may be that of messages without an envelope. An error begins with the key.
    pub fn optional(
        provider: Option<Provider>,
        settings: &RuleSettings<'_>,
        other: (&str, bool),
    ) -> Result<Option<Rules>, String> {
        if let Some(provider) = provider {
            return Rules::new(provider, settings).map(Some);
        }
        let given = [
            ("payload", settings.payload.is_some()),
            ("formats", !settings.formats.is_empty()),
            ("names", !settings.names.is_empty()),
            ("pointers", settings.pointers.is_some()),
            other,
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((key, _)) => Err(format!("{key}: needs provider")),
            None => Ok(None),
        }
    }

    /// Returns whether the provider's envelopes name their messages, so that one that comes twice is stored once.
    pub fn name_messages(&self) -> bool {
        self.pointers.as_ref().is_none_or(|pointers| !pointers.id.is_empty())
    }

    /// Opens an envelope. With a `key`, the envelope of RockBLOCK must be signed with it.
    pub fn open(&self, envelope: &Envelope<'_>, key: Option<&PublicKey>) -> Result<Content, Rejected> {
        self.provider.open(envelope, key, self.pointers.as_ref())
    }

    /// Returns the ID that the device of `uplink` has here.
    pub fn device<'u>(&'u self, uplink: &'u Uplink) -> &'u str {
        let named = match self.provider.has_hex_ids() {
            true => self.names.get(&uplink.device.to_ascii_lowercase()),
            false => self.names.get(&uplink.device),
        };
        named.unwrap_or(&uplink.device)
    }

    /// Returns the idempotency key of `uplink`, which `input` received. The IDs of a generic envelope name a message only among those of the
    /// input.
    pub fn key(&self, input: &str, uplink: &Uplink) -> Option<String> {
        let id = uplink.id.as_ref()?;
        Some(match self.provider {
            Provider::Generic => ids::key(&format!("generic:{input}"), id),
            provider => ids::key(provider.name(), id),
        })
    }

    /// Returns the message of `uplink`, which the input `input` received over `topic`; `None` if it has no content, because it was only sent
    /// to keep the link alive. `limit` is the maximum size of a message in bytes.
    pub fn message(
        &self,
        (profiles, limit): (&Profiles, usize),
        input: &str,
        topic: Option<&str>,
        uplink: &Uplink,
    ) -> Option<Message> {
        let device = self.device(uplink);
        let format = self.format_of(uplink.origin.port);
        let mut stored = Stored {
            input,
            provider: self.provider.name(),
            message_id: uplink.id.as_deref(),
            provider_device: (device != uplink.device).then_some(&*uplink.device),
            topic,
            origin: &uplink.origin,
            decoded: None,
        };
        let (payload, has_decoding) = self.by_profile(profiles, device, &stored);
        let decoded = decoded(payload, uplink);
        let is_known = format.is_some() || has_decoding;
        let takes_decoded = decoded.is_some()
            && match payload {
                Some(Payload::Decoded | Payload::Normalized) => true,
                Some(Payload::Bytes) => false,
                // A message that the network server could decode is not rejected for lack of a format, nor lost for lack of bytes.
                Some(Payload::Both) | None => {
                    !is_known || (uplink.payload.is_empty() && self.provider.has_more_than_bytes())
                }
            };
        if uplink.payload.is_empty() && !takes_decoded {
            return None;
        }
        let size = decoded.map(|decoded| decoded.get().len()).filter(|_| takes_decoded);
        let bad = match size.unwrap_or(uplink.payload.len()) > limit {
            true => Some(Rejected::too_large(limit)),
            false => (!takes_decoded && !is_known).then(|| no_format(uplink.origin.port)),
        };
        let keeps_decoded = takes_decoded || payload == Some(Payload::Both);
        stored.decoded = decoded.filter(|_| keeps_decoded);
        let content_type = match takes_decoded {
            true => DECODED_TYPE.to_owned(),
            false => media_type(format, uplink.origin.port),
        };
        Some(Message { key: self.key(input, uplink), content_type, bad, origin: stored.to_json() })
    }

    fn format_of(&self, port: Option<u8>) -> Option<Id> {
        let format = port.and_then(|port| self.formats.get(&port)).or(self.format.as_ref());
        format.map(|FormatName(format)| *format)
    }

    /// Returns what becomes the message, and whether its profile says how its bytes are decoded. `device` may be an external ID of the
    /// register.
    fn by_profile(&self, profiles: &Profiles, device: &str, stored: &Stored<'_>) -> (Option<Payload>, bool) {
        let origin = if profiles.need_origin() { stored.to_json() } else { None };
        let record = profiles.find(device);
        let device = record.as_ref().map_or(device, |record| &record.device);
        let subject = Subject::new(device, origin.as_deref());
        let rule = profiles.rule(&subject);
        let is_relay = rule.is_some_and(|rule| rule.relay.is_some());
        let of_profile = rule.and_then(|rule| rule.payload);
        (of_profile.or(self.payload), is_relay || profiles.decoding(&subject, "").is_ok())
    }
}

/// Returns what the network server decoded, in the form that the settings ask for.
fn decoded(payload: Option<Payload>, uplink: &Uplink) -> Option<&RawValue> {
    let decoded = match payload {
        Some(Payload::Normalized) => &uplink.normalized,
        _ => &uplink.decoded,
    };
    let is_delta = |text: &str| text.len() < 64 && text.split_whitespace().collect::<String>() == DELTA;
    decoded.as_deref().filter(|decoded| !is_delta(decoded.get()))
}

/// Returns the table of `names` for lookups.
fn names(provider: Provider, names: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, String> {
    if !provider.has_hex_ids() {
        return Ok(names.clone());
    }
    let mut all = BTreeMap::new();
    for (id, name) in names {
        if all.insert(id.to_ascii_lowercase(), name.clone()).is_some() {
            return Err(format!("names: {id:?} is there twice, in upper and in lower case"));
        }
    }
    Ok(all)
}

fn no_format(port: Option<u8>) -> Rejected {
    let whose = match port {
        Some(port) => format!("no format is set for the port {port}"),
        None => "no format is set".to_owned(),
    };
    Rejected::unsupported(format!(
        "{whose}, the device's profile has no single one, and the network server decoded nothing"
    ))
}

/// Returns the media type of a message on `port`. Without a `format`, it is that of the device's profile.
fn media_type(format: Option<Id>, port: Option<u8>) -> String {
    let media_type = format.map_or("application/octet-stream", Id::media_type);
    match port {
        // The port may be the slot.
        Some(port) if port > 0 && matches!(format, None | Some(Id::Packed)) => {
            format!("{media_type}; port={port}")
        }
        _ => media_type.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(provider: Provider, names: &[(&str, &str)]) -> Result<Rules, String> {
        let (formats, pointers) = (&BTreeMap::new(), None);
        let names = &names.iter().map(|(id, name)| ((*id).to_owned(), (*name).to_owned())).collect();
        Rules::new(provider, &RuleSettings { payload: None, format: None, formats, names, pointers })
    }

    #[test]
    fn hexadecimal_ids_have_their_names_in_any_case() {
        let of = |provider, id: &str, device: &str| {
            let rules = rules(provider, &[(id, "tank")]).unwrap();
            rules.device(&Uplink { device: device.into(), ..Uplink::default() }).to_owned()
        };
        for provider in
            [Provider::Chirpstack, Provider::TheThingsStack, Provider::Thingpark, Provider::Helium]
        {
            assert_eq!(of(provider, "70B3D57ED005A1B2", "70b3d57ed005a1b2"), "tank");
        }
        assert_eq!(of(Provider::Sigfox, "1b2c3d", "1B2C3D"), "tank");
        assert_eq!(of(Provider::Sigfox, "1b2c3d", "1B2C3E"), "1B2C3E");
        // Other IDs may differ in nothing but their case.
        assert_eq!(of(Provider::Notehub, "DEV:1", "dev:1"), "dev:1");
        let twice = rules(Provider::Helium, &[("AB", "x"), ("ab", "y")]).err().unwrap();
        assert!(twice.starts_with("names: ") && twice.contains("twice"), "{twice}");
    }
}
