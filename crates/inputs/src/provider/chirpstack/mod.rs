//! ChirpStack's integration events (chirpstack.io, "Integrations", "Event types"; integration.proto), of version 4 and 3, over HTTP or
//! MQTT, as JSON or Protobuf. The parameter `event` of the URL, or the level after `event` of the topic
//! (`application/ID/device/DEVEUI/event/up`), names the event. ChirpStack does not repeat what it could not deliver.

mod json;
mod protobuf;

use super::{
    envelope::{Content, Envelope, Uplink, foreign},
    ids,
    origin::Origin,
};
use dunnage_ingest::Rejected;
use serde_json::value::RawValue;

/// The events that are not messages. The last three are those of version 3, and a downlink that another application has queued.
const EVENTS: [&str; 9] =
    ["join", "status", "ack", "txack", "log", "location", "integration", "error", "down"];

/// An uplink event, in the one form of all versions and marshalers.
struct Up {
    /// The DevEUI in hexadecimal digits.
    dev_eui: String,
    /// Encoded.
    id: Option<String>,
    payload: Vec<u8>,
    object: Option<Box<RawValue>>,
    origin: Origin,
}

/// Opens an event.
pub fn read(envelope: &Envelope<'_>) -> Result<Content, Rejected> {
    if let Some(event) = envelope.event.filter(|event| *event != "up") {
        let known = EVENTS.into_iter().find(|known| *known == event);
        return known.map(Content::Event).ok_or_else(|| foreign("the event is not one of ChirpStack"));
    }
    let first = envelope.bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    let up = match first {
        // No event in Protobuf begins with one of these: they would be the field 15 as a group, and one that does not exist.
        Some(b'{' | 0xef | b'[') | None => json::read(envelope)?,
        Some(_) => protobuf::read(envelope.bytes)?,
    };
    Ok(Content::uplink(Uplink {
        device: up.dev_eui.to_ascii_lowercase(),
        id: up.id,
        payload: up.payload,
        decoded: up.object,
        origin: up.origin,
        ..Uplink::default()
    }))
}

/// Returns the event that the levels of a topic, or the tokens of a subject, name.
pub fn event_of<'t>(mut levels: impl Iterator<Item = &'t str> + Clone) -> Option<&'t str> {
    let last = levels.clone().last();
    match levels.find(|level| ["event", "command"].contains(level)) {
        Some(_) => levels.next(),
        // The topics before 3.11 end in the event, of which a message is `rx`.
        None => last.filter(|last| EVENTS.contains(last)),
    }
}

/// Returns the ID of a message of version 3, which has none: that of its reception by the first gateway, or else its counter and its time.
fn id_of_version_3(uplink: Option<String>, counter: u32, published: Option<&str>) -> Option<String> {
    let place = || Some(ids::joined([&*counter.to_string(), published?]));
    uplink.map(|uplink| ids::encoded(&uplink)).or_else(place)
}

#[cfg(test)]
mod tests;
