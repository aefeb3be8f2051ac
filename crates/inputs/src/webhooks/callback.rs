//! The common form of providers' requests.

use super::origin::Origin;
use base64::{
    Engine,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use dunnage_ingest::{Code, Rejected};
use serde::de::DeserializeOwned;

/// The times in a signed request, in microseconds since 1970.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Signed {
    /// When it was signed.
    pub at: Option<i64>,
    /// When the device sent the message.
    pub sent: Option<i64>,
}

/// The maximum length of a provider's ID of a message or device.
const ID: usize = 128;

/// Standard base64 with optional padding, which some libraries omit.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The parts of a request that providers' modules read.
pub struct Body<'r> {
    /// The query of its URL.
    pub query: &'r str,
    /// Its `Content-Type`.
    pub content_type: &'r str,
    /// Its body.
    pub bytes: &'r [u8],
}

/// A parsed request.
pub enum Callback {
    /// A message of a device.
    Uplink(Box<Uplink>),
    /// A notification without a message, by the provider's name for it.
    Event(&'static str),
}

/// A message of a device.
pub struct Uplink {
    /// The provider's ID of the device.
    pub device: String,
    /// The provider's ID of the message.
    pub id: String,
    /// The raw bytes.
    pub payload: Vec<u8>,
    /// Further data of the provider.
    pub origin: Origin,
    /// The times of a signed request.
    pub signed: Option<Signed>,
}

impl Callback {
    /// Returns a message of `device`, or an event if it has no bytes, because it was only sent to keep the link alive.
    pub fn uplink(
        device: String,
        id: String,
        payload: Vec<u8>,
        origin: Origin,
    ) -> Result<Callback, Rejected> {
        for (what, text) in [("device", &device), ("message", &id)] {
            if text.is_empty() || text.len() > ID || !text.bytes().all(|b| b.is_ascii_graphic()) {
                return Err(foreign(format!("the {what} ID must be 1 to {ID} visible ASCII characters")));
            }
        }
        if payload.is_empty() {
            return Ok(Callback::Event("empty"));
        }
        Ok(Callback::Uplink(Box::new(Uplink { device, id, payload, origin, signed: None })))
    }
}

impl Body<'_> {
    /// Parses a JSON body.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Rejected> {
        serde_json::from_slice(self.bytes).map_err(|e| foreign(e.to_string()))
    }
}

/// Decodes base64.
pub fn base64(text: &str) -> Result<Vec<u8>, Rejected> {
    BASE64.decode(text).map_err(|e| foreign(format!("the message's data is not valid base64: {e}")))
}

/// Returns the problem of a request that is not in the provider's form.
pub fn foreign(detail: impl Into<String>) -> Rejected {
    Rejected::new(Code::Callback, detail)
}

/// Returns the problem of a request without valid authentication.
pub fn unauthorized(detail: impl Into<String>) -> Rejected {
    Rejected::new(Code::Unauthorized, detail)
}
