//! Sparkplug B (Eclipse Sparkplug Specification 3.0): the gateway is an Edge Node, and its devices are the node's devices.
//!
//! The specification demands QoS 0, which a broker does not acknowledge. A message is delivered when the broker has answered a ping that
//! followed it: it has read the message. After a crash or a lost connection, messages are published again with the same timestamps.

mod datatype;
mod declared;
mod devices;
mod link;
mod node;
mod payload;
mod readings;
mod settings;
mod topics;
mod update;

pub use settings::SparkplugSettings;

use super::{Settings, client_id};
use crate::{
    Catalog, Class, Failed, Message, Output, Partitions, Shape,
    publisher::{Publisher, Session},
};
use dunnage_clients::secret::SecretFile;
use link::Link;
use node::Node;
use std::{
    sync::{Arc, Mutex as StdMutex, PoisonError},
    time::Duration,
};
use tokio::{
    sync::Mutex,
    time::{Instant, timeout},
};
use topics::Topics;

/// How often the node looks whether a host asks for births, or the primary host has changed its state.
const TEND: Duration = Duration::from_secs(1);
/// How often the node tries to connect without a message.
const RECONNECT: Duration = Duration::from_secs(10);

/// The output.
pub struct Sparkplug {
    publisher: Publisher,
    /// The name of the output.
    name: String,
    settings: Settings,
    primary_host: Option<String>,
    link: Arc<Link>,
    node: Mutex<Node>,
    catalog: StdMutex<Option<Arc<dyn Catalog>>>,
    /// When a connection was last tried without a message.
    tried: StdMutex<Option<Instant>>,
}

impl Sparkplug {
    /// Creates the output with the name `name`. Returns an error for invalid settings.
    pub fn new(name: &str, settings: &Settings, sparkplug: &SparkplugSettings) -> Result<Sparkplug, String> {
        settings.check_sparkplug(sparkplug)?;
        let topics = Arc::new(Topics::new(sparkplug));
        let link = Arc::new(Link::new(Arc::clone(&topics)));
        let publisher = Publisher::new(settings.connector()?, Duration::from_secs(settings.timeout_seconds));
        Ok(Sparkplug {
            publisher: publisher.with(Arc::<Link>::clone(&link)),
            name: name.to_owned(),
            settings: settings.clone(),
            primary_host: sparkplug.primary_host.clone(),
            node: Mutex::new(Node::new(topics, Arc::clone(&link))),
            link,
            catalog: StdMutex::default(),
            tried: StdMutex::default(),
        })
    }

    async fn publish(&self, message: &Message) -> Result<(), Failed> {
        let catalog = self.catalog.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let readings = readings::readings(message, catalog.as_deref()).map_err(Failed::refused)?;
        let session = self.publisher.session().await?;
        self.wait_for_host(&session).await?;
        let answer = {
            let mut node = self.node.lock().await;
            node.prepare(&session).await?;
            self.check_host(&session)?;
            node.send(&session, &message.device, &readings, link::millis(message.received_at)).await?
        };
        session.answer(answer).await?;
        self.node.lock().await.confirm(&session, &message.device);
        Ok(())
    }

    /// Waits until the primary host is online, if there is one. Its state comes soon after the connection.
    async fn wait_for_host(&self, session: &Session) -> Result<(), Failed> {
        if self.primary_host.is_some() {
            let mut host = self.link.host();
            let number = session.number();
            let known = host.wait_for(|host| host.is_online(number) == Some(true) || host.is_lost(number));
            // A state that comes in time is looked at below.
            let _ = timeout(Duration::from_secs(self.settings.timeout_seconds), known).await;
        }
        self.check_host(session)
    }

    /// Returns an error if the primary host is not online.
    fn check_host(&self, session: &Session) -> Result<(), Failed> {
        let Some(name) = &self.primary_host else { return Ok(()) };
        let reason = match self.link.host().borrow().is_online(session.number()) {
            Some(true) => return Ok(()),
            Some(false) => format!("the primary host {name:?} is offline, as its STATE says"),
            None => format!("the broker has no STATE of the primary host {name:?}"),
        };
        Err(Failed::retry(reason).because(Class::Connection))
    }

    /// Returns the connection. Tries to make one from time to time.
    async fn connection(&self) -> Option<Session> {
        if let Some(session) = self.publisher.present().await {
            return Some(session);
        }
        {
            let mut tried = self.tried.lock().unwrap_or_else(PoisonError::into_inner);
            if tried.is_some_and(|tried| tried.elapsed() < RECONNECT) {
                return None;
            }
            *tried = Some(Instant::now());
        }
        // The next delivery reports the failure.
        self.publisher.session().await.ok()
    }
}

#[async_trait::async_trait]
impl Output for Sparkplug {
    fn shape(&self) -> Shape {
        Shape { partitions: Partitions::PerDevice, batch: 1, linger: Duration::ZERO }
    }

    fn resume(&self, buffer: &str, _delivered_to: i64) {
        self.publisher.identify(client_id(&self.settings, buffer, &self.name));
    }

    fn learn(&self, catalog: Arc<dyn Catalog>) {
        *self.catalog.lock().unwrap_or_else(PoisonError::into_inner) = Some(catalog);
    }

    async fn deliver(&self, messages: &[Message]) -> Result<(), Failed> {
        for (delivered, message) in messages.iter().enumerate() {
            self.publish(message).await.map_err(|failed| failed.after(delivered))?;
        }
        Ok(())
    }

    fn deadline(&self) -> Duration {
        // A message may wait for those before it, for a connection, the primary host, and births.
        Duration::from_secs(self.settings.timeout_seconds.saturating_mul(4).saturating_add(30))
    }

    fn tends_every(&self) -> Option<Duration> {
        Some(TEND)
    }

    /// Keeps the node alive without messages: connects, sends the births that a host asks for, and leaves when the primary host does.
    async fn tend(&self, _buffer: &str, _catalog: Arc<dyn Catalog>) {
        let Some(session) = self.connection().await else { return };
        if self.link.host().borrow().is_lost(session.number()) {
            drop(session);
            // The connection publishes its NDEATH before it closes. The next one waits for the host.
            self.publisher.close().await;
        } else if self.check_host(&session).is_ok() {
            // The next delivery reports a failure.
            let _ = self.node.lock().await.prepare(&session).await;
        }
    }

    fn secrets(&self) -> Vec<Arc<SecretFile>> {
        self.publisher.secrets()
    }

    async fn close(&self) {
        self.publisher.close().await;
    }
}
