//! Makes a message of a stream's message and its headers.

use async_nats::jetstream::Message;
use dunnage_base::{
    clock,
    name::{is_key, is_name},
};
use dunnage_buffer::{Provenance, is_stable_id, key_of};
use dunnage_clients::nats::{device_of, header};
use dunnage_ingest::{Ingest, RawMessage, Rejected};

/// The device ID of messages without a valid one.
const NO_DEVICE: &str = "unknown";
/// The input's name in metrics.
const METRIC: &str = "nats";

/// Makes a message of `message`, from its headers and its subject.
pub fn read(ingest: &Ingest, input: &str, message: Message) -> RawMessage<'static> {
    let text = |name: &str| message.headers.as_ref()?.get(name).map(|value| value.as_str().to_owned());
    let mut bad = None;
    let mut name = |what: &str, given: Option<String>| match given {
        Some(given) if !is_name(&given) => {
            bad.get_or_insert_with(|| Rejected::bad_id(what));
            None
        }
        given => given,
    };
    let token = || message.subject.rsplit('.').next().map(device_of);
    let device = name("the device ID", text(header::DEVICE).or_else(token));
    let schema = name("schema", text(header::SCHEMA)).map(Into::into);
    let link = name("link", text(header::LINK));
    let request = text(header::REQUEST).filter(|name| is_name(name));
    let received_at = text(header::RECEIVED_AT).and_then(|text| text.parse().ok());
    let origin = text(header::ORIGIN).filter(|text| is_object(text));
    let provenance = Provenance {
        device: device.unwrap_or_else(|| NO_DEVICE.into()),
        received_at: received_at.filter(|micros| *micros >= 0).unwrap_or_else(clock::now),
        schema,
        link,
        key: Some(key(input, text(async_nats::header::NATS_MESSAGE_ID.as_ref()), &message)),
        dedup_by_payload: false,
        is_answered: false,
        request: request.unwrap_or_else(|| ingest.request_ids.next()),
        origin: origin.map(Into::into),
    };
    let content_type = text(header::CONTENT_TYPE).unwrap_or_default();
    let limit = ingest.message_limit_bytes;
    if message.payload.len() > limit {
        bad = Some(Rejected::too_large(limit));
    }
    let meter = ingest.metrics.inputs.of(input);
    RawMessage::new((METRIC, meter), provenance, content_type, message.message.payload, bad)
}

/// Returns whether `text` is a JSON object.
fn is_object(text: &str) -> bool {
    text.starts_with('{') && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// Returns the idempotency key: the message's own ID, or else its position in the stream. A redelivery has the same key.
fn key(input: &str, id: Option<String>, message: &Message) -> String {
    match id {
        Some(name) if is_stable_id(&name) => key_of(&name),
        Some(id) if is_key(&id) => id,
        _ => match message.info() {
            Ok(info) => format!("{}@{}:{input}", info.stream_sequence, info.published.unix_timestamp_nanos()),
            Err(_) => input.to_owned(),
        },
    }
}
