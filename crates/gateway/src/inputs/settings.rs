//! The settings of an `[[input]]`, by kind.

use super::{broker, coap, mqtt, nats, udp, webhooks};
use dunnage_base::kind::{self, Kind};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

/// The settings of an `[[input]]`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InputSettings {
    /// The name of the input, which is unique.
    pub name: String,
    /// The kind of input, with its settings.
    #[serde(flatten)]
    pub kind: InputKind,
}

/// A kind of input other than HTTP's `/ingest`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum InputKind {
    /// An MQTT listener.
    Mqtt(mqtt::Settings),
    /// Subscriptions to topics of an MQTT broker.
    Broker(broker::Settings),
    /// A NATS stream.
    Nats(nats::Settings),
    /// A webhook for a provider.
    Webhook(webhooks::Settings),
    /// CoAP over UDP.
    Coap(coap::Settings),
    /// Bare datagrams.
    Udp(udp::Settings),
}

impl Kind for InputKind {
    const SECTION: &'static str = "[[input]]";
    const KEYS: &'static [&'static str] = &["mqtt", "broker", "nats", "webhook", "coap", "udp"];

    fn key(&self) -> &'static str {
        match self {
            InputKind::Mqtt(_) => "mqtt",
            InputKind::Broker(_) => "broker",
            InputKind::Nats(_) => "nats",
            InputKind::Webhook(_) => "webhook",
            InputKind::Coap(_) => "coap",
            InputKind::Udp(_) => "udp",
        }
    }

    fn read<'de, D: Deserializer<'de>>(key: &str, table: D) -> Result<InputKind, D::Error> {
        match key {
            "mqtt" => Deserialize::deserialize(table).map(InputKind::Mqtt),
            "broker" => Deserialize::deserialize(table).map(InputKind::Broker),
            "nats" => Deserialize::deserialize(table).map(InputKind::Nats),
            "webhook" => Deserialize::deserialize(table).map(InputKind::Webhook),
            "coap" => Deserialize::deserialize(table).map(InputKind::Coap),
            "udp" => Deserialize::deserialize(table).map(InputKind::Udp),
            key => Err(D::Error::unknown_field(key, InputKind::KEYS)),
        }
    }
}

impl<'de> Deserialize<'de> for InputSettings {
    fn deserialize<D: Deserializer<'de>>(table: D) -> Result<InputSettings, D::Error> {
        let read = kind::read(table, &["name"])?;
        Ok(InputSettings { name: read.name, kind: read.kind })
    }
}
