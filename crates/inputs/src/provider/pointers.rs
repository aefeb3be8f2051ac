//! Envelopes that a table of JSON pointers (RFC 6901) describes: those of the provider `generic`, whose table is in the configuration, and
//! those of providers whose envelopes need nothing else.

use super::{
    envelope::{Content, Envelope, Uplink, base64, base64_url, hex},
    fields::Fields,
    ids::joined,
    origin::{Origin, Position, time, unix},
};
use dunnage_ingest::Rejected;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

type Pointer = Cow<'static, str>;

/// Numbers from this on are times in milliseconds since 1970, smaller ones in seconds. In seconds, it is the year 5138.
const MILLISECONDS: f64 = 1e11;

/// Where an envelope has its parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pointers {
    /// The ID of the device, a text or a whole number.
    pub device: Pointer,
    /// The device's bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Pointer>,
    /// How the envelope writes the bytes.
    #[serde(default)]
    pub encoding: Encoding,
    /// What the provider decoded of the bytes. An empty pointer is the whole envelope: the device itself sends JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decoded: Option<Pointer>,
    /// What names a message, together. Without it, a message that comes again is stored again.
    #[serde(default, skip_serializing_if = "<[Pointer]>::is_empty")]
    pub id: Cow<'static, [Pointer]>,
    /// The LoRaWAN port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<Pointer>,
    /// When the device sent the message: RFC 3339, or seconds or milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Pointer>,
    /// The number of messages that the device had sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counter: Option<Pointer>,
    /// The device's name, besides its ID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Pointer>,
    /// Whose device it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<Pointer>,
    /// The application that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<Pointer>,
    /// What kind of device it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Pointer>,
    /// The latitude of the device in degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latitude: Option<Pointer>,
    /// The longitude of the device in degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longitude: Option<Pointer>,
}

/// How an envelope writes bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// In base64, with or without padding.
    #[default]
    Base64,
    /// In base64 with the alphabet for URLs.
    Base64url,
    /// In hexadecimal digits.
    Hex,
    /// As they are, in UTF-8.
    Text,
}

/// No part of an envelope, for tables in the program.
pub const NOWHERE: Pointers = Pointers {
    device: Cow::Borrowed(""),
    payload: None,
    encoding: Encoding::Base64,
    decoded: None,
    id: Cow::Borrowed(&[]),
    port: None,
    time: None,
    counter: None,
    name: None,
    tenant: None,
    application: None,
    profile: None,
    latitude: None,
    longitude: None,
};

/// Returns a pointer of a table in the program.
pub const fn at(pointer: &'static str) -> Option<Pointer> {
    Some(Cow::Borrowed(pointer))
}

impl Pointers {
    /// Checks the pointers. The error begins with the key.
    pub fn check(&self) -> Result<(), String> {
        let optional = [
            ("payload", &self.payload),
            ("decoded", &self.decoded),
            ("port", &self.port),
            ("time", &self.time),
            ("counter", &self.counter),
            ("name", &self.name),
            ("tenant", &self.tenant),
            ("application", &self.application),
            ("profile", &self.profile),
            ("latitude", &self.latitude),
            ("longitude", &self.longitude),
        ];
        let all = optional.into_iter().filter_map(|(key, pointer)| Some((key, pointer.as_ref()?)));
        let all = all.chain([("device", &self.device)]).chain(self.id.iter().map(|pointer| ("id", pointer)));
        for (key, pointer) in all {
            if !(pointer.starts_with('/') || key == "decoded" && pointer.is_empty()) {
                return Err(format!("pointers: {key}: {pointer:?} is not a JSON pointer, such as /imei"));
            }
        }
        if self.payload.is_none() && self.decoded.is_none() {
            return Err("pointers: payload or decoded must be set".into());
        }
        Ok(())
    }

    /// Opens an envelope.
    pub fn read(&self, envelope: &Envelope<'_>) -> Result<Content, Rejected> {
        Ok(Content::uplink(self.uplink(&Fields::read(envelope.bytes)?)?))
    }

    /// Takes the parts of a message from the fields of an envelope.
    pub fn uplink(&self, fields: &Fields<'_>) -> Result<Uplink, Rejected> {
        let text = |pointer: &Option<Pointer>| fields.text(pointer.as_deref()?);
        let number = |pointer: &Option<Pointer>| fields.number(pointer.as_deref()?);
        let port = self.port.as_deref().map_or(Ok(None), |pointer| fields.port(pointer))?;
        let ids: Option<Vec<String>> = self.id.iter().map(|pointer| fields.id(pointer)).collect();
        let id = ids.filter(|ids| !ids.is_empty()).map(|ids| joined(ids.iter().map(String::as_str)));
        let payload = text(&self.payload).unwrap_or_default();
        Ok(Uplink {
            device: fields.needed(&self.device)?,
            id,
            payload: self.encoding.decode(&payload)?,
            decoded: self.decoded.as_deref().and_then(|pointer| fields.raw(pointer)),
            origin: Origin {
                sent_at: text(&self.time).and_then(|text| instant(&text)),
                position: Position::new(number(&self.latitude), number(&self.longitude)),
                device_name: text(&self.name),
                tenant: text(&self.tenant),
                application: text(&self.application),
                profile: text(&self.profile),
                port,
                counter: text(&self.counter).and_then(|text| text.parse().ok()),
                ..Origin::default()
            },
            ..Uplink::default()
        })
    }
}

impl Encoding {
    fn decode(self, text: &str) -> Result<Vec<u8>, Rejected> {
        match self {
            Encoding::Base64 => base64(text),
            Encoding::Base64url => base64_url(text),
            Encoding::Hex => hex(text),
            Encoding::Text => Ok(text.as_bytes().to_vec()),
        }
    }
}

/// Converts a time to the form in which it is stored.
fn instant(text: &str) -> Option<String> {
    match text.parse::<f64>() {
        Ok(number) if number >= MILLISECONDS => unix(Some(number / 1000.0)),
        Ok(number) => unix(Some(number)),
        Err(_) => time(Some(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::testing::{open, uplink};
    use serde_json::json;

    #[test]
    fn a_table_describes_any_envelope() {
        let table = "device = '/d/imei'\npayload = '/p'\nencoding = 'text'\nid = ['/n', '/t']\nport = '/port'\ntime = '/t'\n\
                     tenant = '/who'\napplication = '/app/0'\nprofile = '/d/type'";
        let pointers: Pointers = toml::from_str(table).unwrap();
        assert_eq!(pointers.check(), Ok(()));
        let read = |envelope: &Envelope<'_>| pointers.read(envelope);
        let body = json!({"d": {"imei": 300_234_010_753_370_u64, "type": 7}, "who": "ACME", "app": ["pumps"], "p": "21.5", "n": 7, "t": "2026-01-03T12:00:00+01:00", "port": "9"});
        let up = uplink(open(read, &body));
        assert_eq!(
            (&*up.device, &up.payload[..], up.origin.port),
            ("300234010753370", &b"21.5"[..], Some(9))
        );
        assert_eq!(up.origin.sent_at.as_deref(), Some("2026-01-03T11:00:00.000Z"));
        let kinds = [&up.origin.tenant, &up.origin.application, &up.origin.profile];
        assert_eq!(kinds.map(Option::as_deref), [Some("ACME"), Some("pumps"), Some("7")]);
        // A time with a space is one part of an ID, and the separator cannot be in a part.
        let spaced = json!({"d": {"imei": "1"}, "n": "a@b", "t": "2026-01-03 12:00:00"});
        assert_eq!(uplink(open(read, &spaced)).id.as_deref(), Some("a%40b@2026-01-03%2012:00:00"));
        // What a device posts itself is its message.
        let whole: Pointers = toml::from_str("device = '/imei'\ndecoded = ''").unwrap();
        assert_eq!(whole.check(), Ok(()));
        let body = json!({"imei": 300_234_010_753_370_u64, "t": 21.5});
        let up = uplink(open(|envelope| whole.read(envelope), &body));
        assert_eq!((&*up.device, up.decoded.unwrap().get()), ("300234010753370", &*body.to_string()));
        // An ID that is not complete names nothing.
        assert_eq!(uplink(open(read, &json!({"d": {"imei": "1"}, "n": 7}))).id, None);
        for bad in
            [json!({"p": "x"}), json!({"d": {"imei": null}}), json!({"d": {"imei": "1"}, "port": 70_000})]
        {
            assert!(open(read, &bad).is_err(), "{bad}");
        }
        for (table, key) in [
            ("device = 'imei'\npayload = '/p'", "device"),
            ("device = '/imei'", "payload"),
            ("device = ''\ndecoded = '/d'", "device"),
            ("device = '/a'\npayload = '/p'\nid = ['b']", "id"),
            ("device = '/a'\npayload = '/p'\nprofile = 'b'", "profile"),
        ] {
            let error = toml::from_str::<Pointers>(table).unwrap().check().unwrap_err();
            assert!(error.contains(key), "{error}");
        }
    }
}
