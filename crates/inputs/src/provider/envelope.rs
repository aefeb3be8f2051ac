//! What a provider wraps a device's message in, whichever transport carried it, and what is taken from it.

use super::{ids, origin::Origin};
use axum::http::HeaderMap;
use base64::{
    Engine,
    alphabet::{STANDARD, URL_SAFE},
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use dunnage_base::hex::unhex;
use dunnage_ingest::{Code, Rejected};
use serde_json::value::RawValue;

/// The times in a signed request, in microseconds since 1970.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Signed {
    /// When it was signed.
    pub at: Option<i64>,
    /// When the device sent the message.
    pub sent: Option<i64>,
}

const OPTIONAL_PADDING: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);

/// Base64 with optional padding, which some libraries omit.
const BASE64: GeneralPurpose = GeneralPurpose::new(&STANDARD, OPTIONAL_PADDING);
const BASE64_URL: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, OPTIONAL_PADDING);

/// What a transport delivers.
pub struct Envelope<'r> {
    /// The provider's name for the event, if the transport says it: the parameter `event` of a URL, or a level of a topic.
    pub event: Option<&'r str>,
    /// Its `Content-Type`; empty if the transport names none.
    pub content_type: &'r str,
    /// The headers of the request, if a request carried it. Its sender is authorized, so that a device in them is believed.
    pub headers: Option<&'r HeaderMap>,
    /// Its bytes.
    pub bytes: &'r [u8],
}

/// An opened envelope.
pub enum Content {
    /// A message of a device.
    Uplink(Box<Uplink>),
    /// The messages of an envelope that holds any number of them, in their order.
    Packets(Vec<Packet>),
    /// A notification without a message, by the provider's name for it.
    Event(&'static str),
}

/// A part of an envelope that holds several messages.
pub struct Packet {
    /// What the quarantine keeps of it if it cannot be stored as a message: its JSON.
    pub raw: Vec<u8>,
    /// Its message. A mistake in it concerns no other packet.
    pub opened: Result<Uplink, Rejected>,
}

/// A message of a device.
#[derive(Default)]
pub struct Uplink {
    /// The provider's ID of the device.
    pub device: String,
    /// The provider's ID of the message, encoded, if it gives one.
    pub id: Option<String>,
    /// The raw bytes.
    pub payload: Vec<u8>,
    /// What the network server decoded from the bytes, as JSON.
    pub decoded: Option<Box<RawValue>>,
    /// The same in the network server's common form of all devices.
    pub normalized: Option<Box<RawValue>>,
    /// Further data of the provider.
    pub origin: Origin,
    /// The times of a signed request.
    pub signed: Option<Signed>,
}

impl Content {
    /// Returns the message `uplink`. An empty ID names nothing, and a long one is replaced by its hash.
    pub fn uplink(uplink: Uplink) -> Content {
        Content::Uplink(Box::new(uplink.with_bounded_id()))
    }
}

impl Packet {
    /// Returns a packet from its JSON and its message.
    pub fn new(raw: Option<Box<RawValue>>, opened: Result<Uplink, Rejected>) -> Packet {
        let raw = raw.map(|text| text.get().as_bytes().to_vec()).unwrap_or_default();
        Packet { raw, opened: opened.map(Uplink::with_bounded_id) }
    }
}

impl Uplink {
    fn with_bounded_id(mut self) -> Uplink {
        self.id = self.id.filter(|id| !id.is_empty()).map(ids::bounded);
        self
    }
}

/// Decodes base64.
pub fn base64(text: &str) -> Result<Vec<u8>, Rejected> {
    BASE64.decode(text).map_err(|e| foreign(format!("the message's data is not valid base64: {e}")))
}

/// Decodes base64 with the alphabet for URLs.
pub fn base64_url(text: &str) -> Result<Vec<u8>, Rejected> {
    BASE64_URL.decode(text).map_err(|e| foreign(format!("the message's data is not valid base64url: {e}")))
}

/// Decodes hexadecimal digits, in upper or lower case.
pub fn hex(text: &str) -> Result<Vec<u8>, Rejected> {
    unhex(text).ok_or_else(|| foreign("the message's data must be hexadecimal digits, two a byte"))
}

/// Returns the problem of an envelope that is not in the provider's form.
pub fn foreign(detail: impl Into<String>) -> Rejected {
    Rejected { kind: Some("malformed"), ..Rejected::new(Code::Callback, detail) }
}

/// Returns the problem of a request without valid authentication.
pub fn unauthorized(detail: impl Into<String>) -> Rejected {
    Rejected::new(Code::Unauthorized, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_digits_come_in_pairs() {
        assert_eq!(hex("48656C6c6f").unwrap(), b"Hello");
        assert_eq!(hex("").unwrap(), b"");
        assert!(hex("486").is_err() && hex("4g").is_err() && hex("é0").is_err() && hex("+1").is_err());
    }

    #[test]
    fn padding_of_base64_is_optional() {
        assert_eq!((base64("-_8=").is_err(), base64("+/8=").unwrap()), (true, vec![0xfb, 0xff]));
        assert_eq!(
            (base64("+/8").unwrap(), base64_url("-_8").unwrap()),
            (vec![0xfb, 0xff], vec![0xfb, 0xff])
        );
    }

    #[test]
    fn an_id_is_bounded() {
        let of = |id: &str| match Content::uplink(Uplink { id: Some(id.into()), ..Uplink::default() }) {
            Content::Uplink(uplink) => uplink.id,
            Content::Packets(_) | Content::Event(_) => None,
        };
        assert_eq!((of(""), of("1").as_deref()), (None, Some("1")));
        assert_eq!((of(&"d".repeat(128)).unwrap().len(), of(&"d".repeat(129)).unwrap().len()), (128, 45));
    }
}
