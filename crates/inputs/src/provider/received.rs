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
    /// Its messages, at least one, in their order. What cannot be opened, the envelope or a part of it, is there for the quarantine.
    Messages(Vec<RawMessage<'static>>),
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
        let envelope = Envelope { event, content_type: transport.content_type, headers: None, bytes: &bytes };
        let messages: Vec<_> = match self.open(&envelope, None) {
            Ok(Content::Event(event)) => return Received::Event(event),
            Ok(Content::Uplink(uplink)) => {
                self.message_of(ingest, transport, Ok(*uplink), bytes).into_iter().collect()
            }
            Ok(Content::Packets(packets)) => packets
                .into_iter()
                .filter_map(|packet| self.message_of(ingest, transport, packet.opened, packet.raw.into()))
                .collect(),
            Err(rejected) => self.message_of(ingest, transport, Err(rejected), bytes).into_iter().collect(),
        };
        match messages.is_empty() {
            true => Received::Event("empty"),
            false => Received::Messages(messages),
        }
    }

    /// Makes a message of what was opened of `bytes`; `None` if it has no content. What could not be opened, or has no valid device ID, goes
    /// into the quarantine as it is.
    fn message_of(
        &self,
        ingest: &Ingest,
        transport: &Transport<'_>,
        opened: Result<Uplink, Rejected>,
        bytes: Bytes,
    ) -> Option<RawMessage<'static>> {
        let is_right = |uplink: &Uplink| is_device(self.device(uplink));
        let bad_device = || Rejected::bad_device("the provider's ID of the device");
        let uplink = match opened.and_then(|uplink| Some(uplink).filter(is_right).ok_or_else(bad_device)) {
            Ok(uplink) => uplink,
            Err(rejected) => {
                let input = (transport.metric, transport.input, Some(transport.topic));
                return Some(self.unopened(ingest, input, bytes, rejected));
            }
        };
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
        Some(RawMessage::new(input, provenance, message.content_type, raw, message.bad))
    }

    /// Returns the message with which the quarantine keeps an envelope, or a part of it, that cannot be opened. The input is given by the name of
    /// its kind in metrics, its own name, and the topic. No message has this media type, so a retry never stores the envelope itself.
    pub fn unopened(
        &self,
        ingest: &Ingest,
        (metric, input, topic): (&'static str, &str, Option<&str>),
        bytes: Bytes,
        rejected: Rejected,
    ) -> RawMessage<'static> {
        let mut origin = serde_json::json!({"input": input, "provider": self.provider.name()});
        if let Some(topic) = topic {
            origin["topic"] = topic.into();
        }
        let provenance = Provenance {
            origin: Some(origin.to_string().into()),
            ..Provenance::new(NO_DEVICE, clock::now(), ingest.request_ids.next())
        };
        let content_type = format!("application/vnd.dunnage.envelope; provider={}", self.provider.name());
        let limit = ingest.message_limit_bytes();
        let bad = if bytes.len() > limit { Rejected::too_large(limit) } else { rejected };
        let input = (metric, ingest.metrics.inputs.of(input));
        RawMessage::new(input, provenance, content_type, bytes, Some(bad))
    }
}
