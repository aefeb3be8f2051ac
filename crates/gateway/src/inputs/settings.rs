//! `[[input]]`: the settings of inputs, and the one place where each kind is registered.

use super::{broker, coap, mqtt, nats, udp, webhooks};
use dunnage_base::kind::{self, Kind};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

/// `[[input]]`: where messages come from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InputSettings {
    /// What it is called in the log. No two have the same.
    pub name: String,
    /// How they come.
    #[serde(flatten)]
    pub kind: InputKind,
}

/// How messages come, beside HTTP's `/ingest`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum InputKind {
    /// A listener for MQTT.
    Mqtt(mqtt::Settings),
    /// Topics of a broker.
    Broker(broker::Settings),
    /// A NATS stream.
    Nats(nats::Settings),
    /// What a network's provider posts.
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
