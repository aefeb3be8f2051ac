//! The settings of an `[[input]]`, by kind.

use crate::{broker, coap, mqtt, nats, provider::Rules, udp, webhooks};
use dunnage_base::{kind, kinds};
use serde::{Deserialize, Deserializer, Serialize};

/// The settings of an `[[input]]`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InputSettings {
    /// The name of the input, which is unique.
    pub name: String,
    /// The kind of input, with its settings.
    #[serde(flatten)]
    pub kind: InputKind,
}

kinds! {
    /// A kind of input other than HTTP's `/ingest`.
    InputKind in "[[input]]":
    /// An MQTT listener.
    "mqtt" => Mqtt(mqtt),
    /// Subscriptions to topics of an MQTT broker.
    "broker" => Broker(broker),
    /// A NATS stream.
    "nats" => Nats(nats),
    /// CoAP over UDP.
    "coap" => Coap(coap),
    /// Bare datagrams.
    "udp" => Udp(udp),
    /// A webhook for a provider.
    "webhook" => Webhook(webhooks),
}

impl InputSettings {
    /// Returns how the input opens envelopes, if a provider is set. An error says which setting is wrong.
    pub fn rules(&self) -> Result<Option<Rules>, String> {
        match &self.kind {
            InputKind::Broker(settings) => broker::rules(settings),
            InputKind::Nats(settings) => settings.rules(),
            InputKind::Webhook(settings) => webhooks::rules(settings).map(Some),
            InputKind::Mqtt(_) | InputKind::Coap(_) | InputKind::Udp(_) => Ok(None),
        }
    }
}

impl<'de> Deserialize<'de> for InputSettings {
    fn deserialize<D: Deserializer<'de>>(table: D) -> Result<InputSettings, D::Error> {
        let read = kind::read(table, &["name"])?;
        Ok(InputSettings { name: read.name, kind: read.kind })
    }
}
