//! The output `[output.mqtt]`: publishes to an MQTT broker, 3.1.1 or 5, with QoS 1. A message is delivered when the broker has acknowledged
//! it. With `[output.mqtt.sparkplug]` it is another one ([`Sparkplug`]).
//!
//! A device's next message is published when the previous one is acknowledged, so its messages arrive in order. After a crash, messages are
//! published again with the same stable ID, which a retained value does not show.

mod discovery;
mod payload;
mod settings;
mod sparkplug;
mod topic;
mod unit;
mod verdict;

pub use settings::{Discovery, EXAMPLE, Payload, Settings};
pub use sparkplug::{Sparkplug, SparkplugSettings};

use super::{Catalog, Failed, Message, Output, Partitions, Shape};
use crate::publisher::Publisher;
use discovery::Announcer;
use dunnage_base::hex::hex;
use dunnage_clients::secret::SecretFile;
use futures_util::future::join_all;
use sha2::{Digest, Sha256};
use std::{sync::Arc, time::Duration};
use topic::Template;

/// The output.
pub struct Mqtt {
    publisher: Publisher,
    /// The name of the output.
    name: String,
    topic: Template,
    announcer: Option<Announcer>,
    settings: Settings,
}

impl Mqtt {
    /// Creates the output with the name `name`. Returns an error for invalid settings.
    pub fn new(name: &str, settings: &Settings) -> Result<Mqtt, String> {
        let topic = settings.check()?;
        let timeout = Duration::from_secs(settings.timeout_seconds);
        let publisher = Publisher::new(settings.connector()?, timeout);
        let announcer = settings.discovery.map(|Discovery::HomeAssistant| Announcer::new(settings.payload));
        Ok(Mqtt { publisher, name: name.to_owned(), topic, announcer, settings: settings.clone() })
    }

    async fn publish(&self, message: &Message) -> Result<(), Failed> {
        let session = self.publisher.session().await?;
        let Settings { payload, retain, .. } = self.settings;
        if (retain || self.announcer.is_some()) && !session.limits().retain {
            let reason =
                "the broker retains no messages, as its CONNACK says; retain and discovery need that";
            return Err(Failed::retry(reason));
        }
        let topic = self.topic.topic(message);
        if let Some(announcer) = &self.announcer {
            announcer.announce(&session, message, &topic).await?;
        }
        let publications =
            payload::publications(message, &topic, payload, retain).map_err(Failed::refused)?;
        let sent = publications.into_iter().map(|publication| verdict::send(&session, publication));
        verdict::worst(join_all(sent).await)
    }
}

#[async_trait::async_trait]
impl Output for Mqtt {
    fn shape(&self) -> Shape {
        Shape { partitions: Partitions::PerDevice, batch: 1, linger: Duration::ZERO }
    }

    fn resume(&self, buffer: &str, _delivered_to: i64) {
        self.publisher.identify(client_id(&self.settings, buffer, &self.name));
    }

    fn learn(&self, catalog: Arc<dyn Catalog>) {
        if let Some(announcer) = &self.announcer {
            announcer.learn(catalog);
        }
    }

    async fn deliver(&self, messages: &[Message]) -> Result<(), Failed> {
        for (delivered, message) in messages.iter().enumerate() {
            self.publish(message).await.map_err(|failed| failed.after(delivered))?;
        }
        Ok(())
    }

    fn deadline(&self) -> Duration {
        // A message may wait for those before it, and for a connection.
        Duration::from_secs(self.settings.timeout_seconds.saturating_mul(3).saturating_add(15))
    }

    fn secrets(&self) -> Vec<Arc<SecretFile>> {
        self.publisher.secrets()
    }

    async fn close(&self) {
        self.publisher.close().await;
    }
}

/// Returns the client ID of the output `name` of a gateway with this buffer.
fn client_id(settings: &Settings, buffer: &str, name: &str) -> String {
    // 23 letters and digits, which every broker accepts (MQTT 3.1.1, section 3.1.3.1).
    let hash = Sha256::new().chain_update(buffer).chain_update([0]).chain_update(name).finalize();
    settings.client_id.clone().unwrap_or_else(|| format!("dunnage{}", hex(&hash[..8])))
}
