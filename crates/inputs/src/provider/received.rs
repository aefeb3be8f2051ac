//! Envelopes of transports that cannot reject one: brokers and streams. An envelope that cannot be opened goes into the quarantine, whole.

use super::{
    Provider, Rules, chirpstack,
    envelope::{Content, Envelope, Uplink},
};
use bytes::Bytes;
use dunnage_base::{clock, name::is_device};
use dunnage_buffer::Provenance;
use dunnage_ingest::{Ingest, RawMessage, Rejected};

/// The device ID of envelopes without a valid one.
const NO_DEVICE: &str = "unknown";

/// How an envelope arrived.
pub struct Transport<'t> {
    /// The name of the input.
    pub input: &'t str,
    /// The name of its kind in metrics.
    pub metric: &'static str,
    /// The topic, or the subject.
    pub topic: &'t str,
    /// What separates the levels of the topic.
    pub separator: char,
    /// The `Content-Type`; empty if there is none.
    pub content_type: &'t str,
    /// The link of the messages, if the input sets one.
    pub link: Option<&'t str>,
}

/// The content of an envelope.
pub enum Received {
    /// A message, or the whole envelope for the quarantine.
    Message(Box<RawMessage<'static>>),
    /// A notification without a message, by the provider's name for it.
    Event(&'static str),
}

impl Rules {
    /// Opens the envelope `bytes`.
    pub fn receive(&self, ingest: &Ingest, transport: &Transport<'_>, bytes: Bytes) -> Received {
        let event = match self.provider {
            Provider::Chirpstack => chirpstack::event_of(transport.topic.split(transport.separator)),
            _ => None,
        };
        let envelope = Envelope { event, content_type: transport.content_type, bytes: &bytes };
        let uplink = match self.open(&envelope, None) {
            Ok(Content::Uplink(uplink)) if is_device(self.device(&uplink)) => uplink,
            Ok(Content::Uplink(_)) => {
                return self.quarantined(
                    ingest,
                    transport,
                    bytes,
                    Rejected::bad_device("the provider's ID of the device"),
                );
            }
            Ok(Content::Event(event)) => return Received::Event(event),
            Err(rejected) => return self.quarantined(ingest, transport, bytes, rejected),
        };
        self.message_of(ingest, transport, *uplink).map_or(Received::Event("empty"), Received::Message)
    }

    fn message_of(
        &self,
        ingest: &Ingest,
        transport: &Transport<'_>,
        uplink: Uplink,
    ) -> Option<Box<RawMessage<'static>>> {
        let with = (&**ingest.profiles.load(), ingest.message_limit_bytes());
        let message = self.message(with, transport.input, Some(transport.topic), &uplink)?;
        let provenance = Provenance {
            link: transport.link.map(str::to_owned),
            key: message.key,
            origin: message.origin,
            ..Provenance::new(self.device(&uplink), clock::now(), ingest.request_ids.next())
        };
        let input = (transport.metric, ingest.metrics.inputs.of(transport.input));
        let raw = uplink.payload.into();
        Some(Box::new(RawMessage::new(input, provenance, message.content_type, raw, message.bad)))
    }

    /// Keeps an envelope that cannot be opened. No message has this media type, so a retry never stores the envelope itself.
    fn quarantined(
        &self,
        ingest: &Ingest,
        transport: &Transport<'_>,
        bytes: Bytes,
        rejected: Rejected,
    ) -> Received {
        let origin = serde_json::json!({
            "input": transport.input, "provider": self.provider.name(), "topic": transport.topic,
        });
        let provenance = Provenance {
            origin: Some(origin.to_string().into()),
            ..Provenance::new(NO_DEVICE, clock::now(), ingest.request_ids.next())
        };
        let input = (transport.metric, ingest.metrics.inputs.of(transport.input));
        let content_type = format!("application/vnd.dunnage.envelope; provider={}", self.provider.name());
        let limit = ingest.message_limit_bytes();
        let bad = if bytes.len() > limit { Rejected::too_large(limit) } else { rejected };
        Received::Message(Box::new(RawMessage::new(input, provenance, content_type, bytes, Some(bad))))
    }
}
