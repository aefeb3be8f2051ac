//! A message as a JSON object with its provenance: what `[output.http]` sends, and what expressions see.

use crate::Message;
use dunnage_base::clock;
use dunnage_register::Tags;
use serde::Serialize;
use serde_json::value::RawValue;

#[derive(Serialize)]
struct Envelope<'a> {
    name: &'a str,
    device: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    device_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tags: Option<&'a Tags>,
    received_at: String,
    format: &'a str,
    schema: Option<&'a str>,
    link: Option<&'a str>,
    request: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<&'a RawValue>,
    value: &'a RawValue,
}

/// Appends the envelope of `message` to `body`.
///
/// # Errors
/// The value or the origin is not JSON: the buffer is damaged.
pub fn write(message: &Message, body: &mut Vec<u8>) -> serde_json::Result<()> {
    let envelope = Envelope {
        name: &message.stable_id,
        device: &message.device,
        device_name: message.device_name(),
        tags: message.tags(),
        received_at: clock::rfc3339(message.received_at),
        format: &message.format,
        schema: message.schema.as_deref(),
        link: message.link.as_deref(),
        request: &message.request,
        origin: message.origin.as_deref().map(serde_json::from_str).transpose()?,
        value: serde_json::from_str(&message.json)?,
    };
    serde_json::to_writer(body, &envelope)
}
