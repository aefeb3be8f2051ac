//! Makes a message of a stream's message and its headers.

use crate::{
    Environment, device_at,
    provider::{Received, Rules, Transport},
};
use async_nats::jetstream::Message;
use dunnage_base::{
    clock,
    name::{is_device, is_key, is_name},
};
use dunnage_buffer::{Provenance, is_stable_id, key_of};
use dunnage_clients::nats::{device_of, header};
use dunnage_formats::Id;
use dunnage_ingest::{Ingest, RawMessage, Rejected};

/// The device ID of messages without a valid one.
const NO_DEVICE: &str = "unknown";
/// The input's name in metrics.
const METRIC: &str = "nats";

/// Makes messages of the envelope in `message`. An envelope without one is counted. The envelope's place in the stream is the key of a message
/// without an ID, with the place in the envelope if that holds several.
pub fn open(env: &Environment, rules: &Rules, input: &str, message: &Message) -> Vec<RawMessage<'static>> {
    let content_type = message.headers.as_ref().and_then(|headers| headers.get(header::CONTENT_TYPE));
    let transport = Transport {
        input,
        metric: METRIC,
        topic: &message.subject,
        separator: '.',
        content_type: content_type.map_or("", |value| value.as_str()),
        link: None,
    };
    match rules.receive(&env.ingest, &transport, message.payload.clone()) {
        Received::Messages(mut opened) => {
            for (index, opened) in opened.iter_mut().enumerate() {
                opened.provenance.key.get_or_insert_with(|| match (key(input, None, message), index) {
                    (place, 0) => place,
                    (place, index) => format!("{place} {index}"),
                });
            }
            opened
        }
        Received::Event(event) => {
            env.metrics.event(rules.provider.name(), event);
            Vec::new()
        }
    }
}

/// Makes a message of `message`, from its headers and its subject. With `device_at`, a JSON pointer, a message without the header of the
/// device has its ID there, and is JSON.
pub fn read(ingest: &Ingest, input: &str, device_at: Option<&str>, message: Message) -> RawMessage<'static> {
    let text = |name: &str| message.headers.as_ref()?.get(name).map(|value| value.as_str().to_owned());
    let named = text(header::DEVICE);
    let inside = device_at.filter(|_| named.is_none());
    let device = match inside {
        Some(pointer) => device_at::device(&message.payload, pointer),
        None => {
            let token = named.as_deref().or_else(|| message.subject.rsplit('.').next()).unwrap_or_default();
            Some(device_of(token))
                .filter(|device| is_device(device))
                .ok_or_else(|| Rejected::bad_device("the device ID"))
        }
    };
    let mut bad = device.as_ref().err().cloned();
    let mut name = |what: &str, given: Option<String>| match given {
        Some(given) if !is_name(&given) => {
            bad.get_or_insert_with(|| Rejected::bad_id(what));
            None
        }
        given => given,
    };
    let schema = name("schema", text(header::SCHEMA)).map(Into::into);
    let link = name("link", text(header::LINK));
    let request = text(header::REQUEST).filter(|name| is_name(name));
    let received_at = received_at(text(header::RECEIVED_AT).as_deref(), clock::now());
    let origin = text(header::ORIGIN).filter(|text| is_object(text));
    let provenance = Provenance {
        schema,
        link,
        key: Some(key(input, text(async_nats::header::NATS_MESSAGE_ID.as_ref()), &message)),
        origin: origin.map(Into::into),
        ..Provenance::new(
            device.unwrap_or_else(|_| NO_DEVICE.into()),
            received_at,
            request.unwrap_or_else(|| ingest.request_ids.next()),
        )
    };
    let standard = inside.map_or("", |_| Id::Json.media_type());
    let content_type = text(header::CONTENT_TYPE).unwrap_or_else(|| standard.to_owned());
    let limit = ingest.message_limit_bytes();
    if message.payload.len() > limit {
        bad = Some(Rejected::too_large(limit));
    }
    let meter = ingest.metrics.inputs.of(input);
    RawMessage::new((METRIC, meter), provenance, content_type, message.message.payload, bad)
}

/// Returns when a message arrived at the first gateway, in microseconds since 1970, as its header says. A time before 1970 or more than a day
/// after `now` is wrong, and is replaced by `now`.
fn received_at(header: Option<&str>, now: i64) -> i64 {
    const DAY: i64 = 86_400_000_000;
    let given = header.and_then(|text| text.parse().ok());
    given.filter(|micros| (0..=now.saturating_add(DAY)).contains(micros)).unwrap_or(now)
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

#[cfg(test)]
mod tests {
    use super::received_at;

    #[test]
    fn a_time_that_cannot_be_is_replaced_by_now() {
        let now = 1_767_225_600_000_000;
        for right in [0, 1_587_602_980_049_999, now, now + 3_600_000_000] {
            assert_eq!(received_at(Some(&right.to_string()), now), right);
        }
        let beyond = (now + 86_400_000_001).to_string();
        for wrong in ["9000000000000000000", "9223372036854775808", "-1", "", "soon", &beyond] {
            assert_eq!(received_at(Some(wrong), now), now, "{wrong}");
        }
        assert_eq!(received_at(None, now), now);
    }
}
