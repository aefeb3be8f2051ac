//! What the tests of providers share.

use super::envelope::{Content, Envelope, Uplink};
use dunnage_ingest::Rejected;
use serde_json::Value;

/// Returns the message of an envelope.
pub fn uplink(content: Result<Content, Rejected>) -> Uplink {
    match content.unwrap() {
        Content::Uplink(uplink) => *uplink,
        Content::Packets(packets) => panic!("{} packets", packets.len()),
        Content::Event(event) => panic!("{event}"),
    }
}

/// Opens a JSON envelope.
pub fn open(
    read: impl Fn(&Envelope<'_>) -> Result<Content, Rejected>,
    body: &Value,
) -> Result<Content, Rejected> {
    let bytes = body.to_string();
    read(&Envelope { event: None, content_type: "application/json", headers: None, bytes: bytes.as_bytes() })
}
