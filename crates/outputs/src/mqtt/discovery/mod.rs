//! Discovery by Home Assistant: a retained configuration for each sensor of a device, before the device's first message
//! (home-assistant.io/integrations/mqtt, "MQTT Discovery", and home-assistant.io/integrations/sensor.mqtt).
//!
//! The sensors are those that the message's schema names. A message without a known schema has none, because nothing is guessed.

mod sensors;
mod units;

use super::{payload::field, settings::Payload, verdict};
use crate::{Catalog, Failed, FailureKind, Message, publisher::Session};
use dunnage_clients::mqtt::Publication;
use futures_util::future::join_all;
use sensors::{Kind, Sensor};
use serde::Serialize;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::{
    collections::HashSet,
    fmt::Write,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Most configurations that are remembered; beyond, all are published again.
const REMEMBERED: usize = 100_000;
/// The first level of the topics of configurations.
const PREFIX: &str = "homeassistant";

/// Publishes configurations, once for each connection.
pub struct Announcer {
    payload: Payload,
    catalog: Mutex<Option<Arc<dyn Catalog>>>,
    announced: Mutex<Announced>,
}

/// What was published over the connection with the number `session`.
#[derive(Default)]
struct Announced {
    session: u64,
    /// Hashes of all configurations of a device and a schema.
    hashes: HashSet<[u8; 16]>,
}

#[derive(Serialize)]
struct Config<'a> {
    /// The name of the sensor, which follows that of the device; null for a message that is one value.
    name: Option<String>,
    unique_id: String,
    state_topic: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    value_template: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unit_of_measurement: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    device_class: Option<&'static str>,
    qos: u8,
    device: serde_json::Value,
    origin: serde_json::Value,
}

impl Announcer {
    /// Creates an announcer of messages with this payload.
    pub fn new(payload: Payload) -> Announcer {
        Announcer { payload, catalog: Mutex::default(), announced: Mutex::default() }
    }

    /// Takes note of the current schemas.
    pub fn learn(&self, catalog: Arc<dyn Catalog>) {
        *self.catalog.lock().unwrap_or_else(PoisonError::into_inner) = Some(catalog);
    }

    /// Publishes the configurations for the device and the schema of `message`, whose topic is `topic`, unless this connection has done so. A
    /// configuration that the broker refuses does not hold up the message.
    pub async fn announce(&self, session: &Session, message: &Message, topic: &str) -> Result<(), Failed> {
        let configs = self.configs(message, topic);
        let hash = configs.iter().fold(Sha256::new(), |hash, config| {
            hash.chain_update(&config.topic).chain_update([0]).chain_update(&config.payload).chain_update([0])
        });
        let mut key = [0; 16];
        key.copy_from_slice(&hash.finalize()[..16]);
        if configs.is_empty() || self.announced(session.number()).hashes.contains(&key) {
            return Ok(());
        }
        for result in join_all(configs.into_iter().map(|config| verdict::send(session, config))).await {
            match result {
                Err(failed) if failed.kind == FailureKind::Refused => {
                    tracing::warn!(
                        device = message.device,
                        reason = failed.reason,
                        "a sensor was not announced"
                    );
                }
                result => result?,
            }
        }
        self.announced(session.number()).hashes.insert(key);
        Ok(())
    }

    /// Returns what was published over the connection with this number.
    fn announced(&self, session: u64) -> MutexGuard<'_, Announced> {
        let mut announced = self.announced.lock().unwrap_or_else(PoisonError::into_inner);
        if announced.session != session || announced.hashes.len() >= REMEMBERED {
            *announced = Announced { session, hashes: HashSet::new() };
        }
        announced
    }

    fn configs(&self, message: &Message, topic: &str) -> Vec<Publication> {
        let catalog = self.catalog.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some((schema, catalog)) = message.schema.as_deref().zip(catalog) else { return Vec::new() };
        let sensors = sensors::sensors(catalog.versions(schema), catalog.units(schema));
        sensors.iter().filter_map(|sensor| self.config(message, schema, topic, sensor)).collect()
    }

    fn config(&self, message: &Message, schema: &str, topic: &str, sensor: &Sensor) -> Option<Publication> {
        let (device, object) = (id(&message.device), format!("{}__{}", id(schema), id(&sensor.pointer())));
        let (unit, class) = sensor.unit.as_deref().map(units::unit).unzip();
        let config = Config {
            name: (!sensor.path.is_empty()).then(|| sensor.path.join(" ")),
            unique_id: format!("dunnage__{device}__{object}"),
            state_topic: match self.payload {
                Payload::Fields => field(topic, &sensor.pointer()),
                _ => topic.to_owned(),
            },
            value_template: self.template(sensor),
            unit_of_measurement: unit,
            device_class: class.flatten(),
            qos: 1,
            device: json!({
                "identifiers": [format!("dunnage__{device}")],
                "name": message.device_name().unwrap_or(&message.device),
            }),
            origin: json!({"name": "dunnage", "sw_version": env!("CARGO_PKG_VERSION")}),
        };
        Some(Publication {
            topic: format!("{PREFIX}/sensor/{device}/{object}/config"),
            payload: serde_json::to_vec(&config).ok()?.into(),
            retain: true,
            content_type: Some("application/json".to_owned()),
            user: Vec::new(),
        })
    }

    /// Returns the Jinja template that finds the value in a payload; `None` if that is the value. A missing value is an empty text, after
    /// which the sensor keeps its state.
    fn template(&self, sensor: &Sensor) -> Option<String> {
        let mut value = "value_json".to_owned();
        let path: Vec<&str> = match self.payload {
            // A text is not JSON, and the texts that a schema lists are not either.
            Payload::Fields if sensor.kind != Kind::Number => return None,
            Payload::Fields => Vec::new(),
            Payload::Envelope => {
                std::iter::once("value").chain(sensor.path.iter().map(|name| &**name)).collect()
            }
            _ => sensor.path.iter().map(|name| &**name).collect(),
        };
        for name in &path {
            // A missing object has no fields.
            let name = serde_json::to_string(name).ok()?;
            value = format!("({value} | default({{}}))[{name}]");
        }
        Some(if path.is_empty() {
            format!("{{{{ {value} }}}}")
        } else {
            format!("{{{{ {value} | default('') }}}}")
        })
    }
}

/// Returns `text` with letters and digits, `-` and `_` only, which the topics of discovery allow. A `_` and two digits stand for another
/// byte, so two texts never have the same ID, and no ID contains `__`.
fn id(text: &str) -> String {
    text.bytes().fold(String::new(), |mut id, byte| {
        if byte.is_ascii_alphanumeric() || byte == b'-' {
            id.push(byte.into());
        } else {
            // Writing to a String does not fail.
            let _ = write!(id, "_{byte:02X}");
        }
        id
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_unique() {
        assert_eq!(id("urn:imei-1"), "urn_3Aimei-1");
        assert_eq!(id("a_3A"), "a_5F3A");
        assert_eq!(id("é/"), "_C3_A9_2F");
    }

    #[test]
    fn a_template_finds_its_value_in_each_payload() {
        let of = |payload, path: &[&str]| {
            let path = path.iter().map(|name| (*name).to_owned()).collect();
            Announcer::new(payload).template(&Sensor { path, kind: Kind::Number, unit: None }).unwrap()
        };
        assert_eq!(of(Payload::Json, &[]), "{{ value_json }}");
        assert_eq!(of(Payload::Json, &["t"]), "{{ (value_json | default({}))[\"t\"] | default('') }}");
        assert_eq!(
            of(Payload::Envelope, &["a\"}}"]),
            "{{ ((value_json | default({}))[\"value\"] | default({}))[\"a\\\"}}\"] | default('') }}"
        );
        assert_eq!(of(Payload::Fields, &["a", "b"]), "{{ value_json }}");
    }
}
