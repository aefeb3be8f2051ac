//! The record of a message.

use crate::Message;
use bytes::Bytes;
use dunnage_clients::{kafka::Record, nats::header};

/// The header with the stable ID. The other headers are those of the NATS output.
const NAME: &str = "Dunnage-Name";

/// Returns the record of `message` with the value `value`.
pub fn of(message: &Message, value: Bytes) -> Record {
    Record {
        key: Bytes::copy_from_slice(message.device.as_bytes()),
        value,
        headers: headers(message),
        timestamp: message.received_at / 1000,
    }
}

fn headers(message: &Message) -> Vec<(&'static str, Bytes)> {
    let (received_at, tags) = (message.received_at.to_string(), message.tags_json());
    [
        (NAME, Some(&*message.stable_id)),
        (header::DEVICE, Some(&*message.device)),
        (header::DEVICE_NAME, message.device_name()),
        (header::TAGS, tags.as_deref()),
        (header::RECEIVED_AT, Some(&*received_at)),
        (header::FORMAT, Some(&*message.format)),
        (header::SCHEMA, message.schema.as_deref()),
        (header::LINK, message.link.as_deref()),
        (header::REQUEST, Some(&*message.request)),
        (header::ORIGIN, message.origin.as_deref()),
    ]
    .into_iter()
    .filter_map(|(key, value)| Some((key, Bytes::copy_from_slice(value?.as_bytes()))))
    .collect()
}
