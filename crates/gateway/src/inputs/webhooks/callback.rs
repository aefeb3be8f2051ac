//! What a provider's request says.

use super::origin::Origin;
use crate::problem::Problem;
use axum::http::StatusCode;
use base64::{
    Engine,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use serde::de::DeserializeOwned;

/// The times that a signed request has, in microseconds since 1970.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Signed {
    /// When it was signed.
    pub at: Option<i64>,
    /// When its device sent the message.
    pub sent: Option<i64>,
}

/// Longest name that a provider may give a message or a device.
const ID: usize = 128;

/// Standard base64; some libraries leave out the padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A request of a provider, as far as any of them is read.
pub struct Body<'r> {
    /// The query of its URL.
    pub query: &'r str,
    /// Its `Content-Type`.
    pub content_type: &'r str,
    /// Its body.
    pub bytes: &'r [u8],
}

/// What it is.
pub enum Callback {
    /// A message of a device.
    Uplink(Box<Uplink>),
    /// Something that carries none, by the provider's name for it.
    Event(&'static str),
}

/// A message of a device.
pub struct Uplink {
    /// What the provider calls the device.
    pub device: String,
    /// What the provider calls the message.
    pub id: String,
    /// The device's bytes.
    pub payload: Vec<u8>,
    /// What else the provider knows.
    pub origin: Origin,
    /// The times of a signed request.
    pub signed: Option<Signed>,
}

impl Callback {
    /// A message of `device`; without bytes it is an event, as it was only sent to keep the link.
    pub fn uplink(device: String, id: String, payload: Vec<u8>, origin: Origin) -> Result<Callback, Problem> {
        for (what, text) in [("device", &device), ("message", &id)] {
            if text.is_empty() || text.len() > ID || !text.bytes().all(|b| b.is_ascii_graphic()) {
                return Err(foreign(format!("the {what}'s id must be 1 to {ID} visible ASCII characters")));
            }
        }
        if payload.is_empty() {
            return Ok(Callback::Event("empty"));
        }
        Ok(Callback::Uplink(Box::new(Uplink { device, id, payload, origin, signed: None })))
    }
}

impl Body<'_> {
    /// Reads a body of JSON.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        serde_json::from_slice(self.bytes).map_err(|e| foreign(e.to_string()))
    }
}

/// Bytes in base64.
pub fn base64(text: &str) -> Result<Vec<u8>, Problem> {
    BASE64.decode(text).map_err(|e| foreign(format!("the message's data is no base64: {e}")))
}

/// The request is none of the provider's.
pub fn foreign(detail: impl Into<String>) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "callback", "Not a request of the provider", detail)
}

/// The request comes from who knows whom.
pub fn unauthorized(detail: impl Into<String>) -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", "Unauthorized", detail)
}
