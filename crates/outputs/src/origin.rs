//! What outputs need of the origin of a message.

use dunnage_base::clock;
use serde::Deserialize;

#[derive(Default, Deserialize)]
struct Origin<'o> {
    slot: Option<u8>,
    #[serde(borrow)]
    payload: Option<&'o str>,
    rounded: Option<u64>,
    nulls: Option<u64>,
}

fn read(text: Option<&str>) -> Origin<'_> {
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// Returns the media type with the slot of a packed message that does not have it in its bytes: the origin has it.
pub fn with_slot(media_type: &str, text: Option<&str>) -> String {
    match read(text).slot {
        Some(slot) => format!("{media_type}; slot={slot}"),
        None => media_type.to_owned(),
    }
}

/// Whether a network server decoded the message, so that its raw bytes are not in its format.
pub fn is_decoded(text: Option<&str>) -> bool {
    read(text).payload == Some("decoded")
}

/// Whether the raw bytes of the message are not its value: a network server decoded them, or numbers were changed.
pub fn differs(text: Option<&str>) -> bool {
    let origin = read(text);
    origin.payload == Some("decoded") || origin.rounded.is_some() || origin.nulls.is_some()
}

/// Returns when a message was sent, as its origin says, in microseconds since 1970. Providers say it in milliseconds.
pub fn sent_at(text: &str) -> Option<i64> {
    #[derive(Deserialize)]
    struct Sent {
        sent_at: Option<String>,
    }
    // Most origins have none.
    let sent: Sent = text.contains("\"sent_at\"").then(|| serde_json::from_str(text).ok())??;
    clock::parse(&sent.sent_at?)
}
