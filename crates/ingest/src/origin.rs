//! Fields that ingest adds to the origin of a message, the object that its input stores with it (`spec/ingest.md`, "What is stored").

use bytes::Bytes;
use dunnage_base::clock;
use dunnage_relay::Entry;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json, value::RawValue};
use std::{borrow::Cow, sync::Arc};

/// The media type of a message that a network server decoded: JSON, which is in the origin, under [`DECODED`], while the raw bytes are those
/// of the device.
pub const DECODED_TYPE: &str = "application/vnd.dunnage.decoded+json";
/// What a network server decoded of the raw bytes.
pub const DECODED: &str = "decoded";
/// Says that what the network server decoded is the message: the raw bytes are not in its format.
pub const PAYLOAD: &str = "payload";

/// The slot of a packed message that does not have it in its bytes. Without the slot, nobody could decode them again.
pub const SLOT: &str = "slot";
/// The count of the message's numbers that were rounded to the nearest binary64.
pub const ROUNDED: &str = "rounded";
/// How many are null, because the sender wrote NaN or an infinity.
pub const NULLS: &str = "nulls";

/// The paths of the properties that the sender left out, so that the message fits its link.
pub const LEFT_OUT: &str = "left_out";

/// The relay that sent the reading.
pub const RELAY: &str = "relay";
/// The number of the reading among those of the relay.
pub const RELAY_SEQUENCE: &str = "relay_sequence";
/// When the message was sent: for a reading, when its relay received it.
pub const SENT_AT: &str = "sent_at";

/// The port of the link, with which a vendor's codec decoded the message.
pub const PORT: &str = "port";
/// The external ID by which the message named its device.
pub const EXTERNAL_ID: &str = "external_id";
/// The warnings of a vendor's codec.
pub const WARNINGS: &str = "warnings";

/// Returns `origin` with `value` under `name`.
pub fn with(origin: Option<Arc<str>>, name: &str, value: impl Into<Value>) -> Option<Arc<str>> {
    let mut object = match &origin {
        Some(text) => serde_json::from_str(text).ok()?,
        None => json!({}),
    };
    match &mut object {
        Value::Object(members) => members.insert(name.to_owned(), value.into()),
        // No input stores anything else.
        _ => return origin,
    };
    Some(object.to_string().into())
}

/// Returns what the readings of a batch with the origin `batch` have of it: not what a network server decoded of the batch, and not the external
/// ID of the relay.
pub fn of_readings(batch: Option<&str>) -> Option<Arc<str>> {
    let mut object: Value = serde_json::from_str(batch?).ok()?;
    let members = object.as_object_mut()?;
    members.retain(|name, _| ![DECODED, EXTERNAL_ID].contains(&name.as_str()));
    Some(object.to_string().into())
}

/// Returns the origin of a reading in a batch of `relay` that has the origin `batch`.
pub fn relayed(batch: Option<&str>, relay: &str, entry: &Entry<'_>) -> Option<Arc<str>> {
    let mut origin = with(batch.map(Arc::from), RELAY, relay);
    origin = with(origin, RELAY_SEQUENCE, entry.sequence);
    match entry.received_at {
        Some(seconds) => with(origin, SENT_AT, clock::rfc3339(i64::from(seconds) * 1_000_000)),
        None => origin,
    }
}

/// Returns what a network server decoded, if `content_type` says that it is the message.
pub fn decoded(content_type: &str, origin: Option<&str>) -> Option<Bytes> {
    #[derive(Deserialize)]
    struct Origin<'o> {
        #[serde(borrow)]
        decoded: &'o RawValue,
    }
    let origin = origin.filter(|_| content_type == DECODED_TYPE)?;
    let Origin { decoded } = serde_json::from_str(origin).ok()?;
    Some(Bytes::copy_from_slice(decoded.get().as_bytes()))
}

/// Returns `origin` after what a network server decoded has become the message.
pub fn with_decoded_taken(origin: Option<&str>) -> Option<Arc<str>> {
    let mut object: Value = serde_json::from_str(origin?).ok()?;
    let members = object.as_object_mut()?;
    members.remove(DECODED);
    members.insert(PAYLOAD.to_owned(), DECODED.into());
    Some(object.to_string().into())
}

/// Whether the raw bytes of the message of `origin` are not in its format, because a network server decoded them.
pub fn is_decoded_elsewhere(origin: Option<&str>) -> bool {
    #[derive(Deserialize)]
    struct Origin<'o> {
        #[serde(borrow)]
        payload: Option<&'o str>,
    }
    let origin = origin.and_then(|origin| serde_json::from_str::<Origin<'_>>(origin).ok());
    origin.is_some_and(|origin| origin.payload == Some(DECODED))
}

/// The members of an origin by which profiles are chosen. A member that is not of its type counts as missing.
#[derive(Default, Deserialize)]
pub struct Facts<'o> {
    /// The device profile at the provider.
    #[serde(borrow, default, deserialize_with = "text")]
    pub profile: Option<Cow<'o, str>>,
    /// The application at the provider.
    #[serde(borrow, default, deserialize_with = "text")]
    pub application: Option<Cow<'o, str>>,
    /// The tenant at the provider.
    #[serde(borrow, default, deserialize_with = "text")]
    pub tenant: Option<Cow<'o, str>>,
    /// The topic or subject.
    #[serde(borrow, default, deserialize_with = "text")]
    pub topic: Option<Cow<'o, str>>,
    /// The port of the link.
    #[serde(default, deserialize_with = "port_of")]
    pub port: Option<u8>,
}

impl<'o> Facts<'o> {
    /// Reads the members of `origin`; none if it is no JSON object.
    pub fn read(origin: Option<&'o str>) -> Facts<'o> {
        origin.and_then(|origin| serde_json::from_str(origin).ok()).unwrap_or_default()
    }
}

/// Borrows the text from the origin, unless it has escapes.
fn text<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Cow<'de, str>>, D::Error> {
    #[derive(Deserialize)]
    struct Text<'t>(#[serde(borrow)] Cow<'t, str>);
    let raw = <&RawValue>::deserialize(from)?;
    Ok(serde_json::from_str(raw.get()).ok().map(|Text(text)| text))
}

fn port_of<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u8>, D::Error> {
    Ok(serde_json::from_str(<&RawValue>::deserialize(from)?.get()).ok())
}

/// Returns the port that `origin` has.
pub fn port(origin: Option<&str>) -> Option<u8> {
    Facts::read(origin).port
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_added_once() {
        assert_eq!(with(None, SLOT, 7_u64).as_deref(), Some(r#"{"slot":7}"#));
        let twice = with(with(Some(r#"{"input":"i"}"#.into()), SLOT, 7_u64), SLOT, 7_u64);
        assert_eq!(twice.as_deref(), Some(r#"{"input":"i","slot":7}"#));
    }

    #[test]
    fn what_a_network_server_decoded_moves_from_the_origin_into_the_message() {
        let origin = r#"{"input":"i","decoded":{"t": 21.50}}"#;
        let found = |content_type, origin| decoded(content_type, Some(origin));
        assert_eq!(found(DECODED_TYPE, origin).as_deref(), Some(&br#"{"t": 21.50}"#[..]));
        assert_eq!((found("application/json", origin), found(DECODED_TYPE, "{}")), (None, None));
        let taken = with_decoded_taken(Some(origin));
        assert_eq!(taken.as_deref(), Some(r#"{"input":"i","payload":"decoded"}"#));
        assert!(is_decoded_elsewhere(taken.as_deref()));
        assert!(!is_decoded_elsewhere(Some(origin)) && !is_decoded_elsewhere(None));
    }
}
