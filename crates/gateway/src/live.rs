//! The event stream. It is a view and not a log: under load it carries a sample.

use crate::visible::Visible;
use dunnage_base::network;
use dunnage_register::{Record, Register};
use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::broadcast;

/// Events that a watcher may lag behind before it misses some.
const LAG: usize = 128;

/// What happened.
#[derive(Clone)]
pub enum Event {
    /// A message was stored or quarantined.
    OfDevice {
        /// `message` or `quarantine`.
        name: &'static str,
        /// The device.
        device: Arc<str>,
        /// A JSON object.
        data: Arc<str>,
    },
    /// The counts of the gateway have changed; a JSON object.
    Stats(Arc<str>),
    /// The register has changed: clients that may read devices by their tags may read others now.
    Retagged(Arc<[Retagged]>),
}

/// A device before and after a change of the register.
pub struct Retagged {
    device: String,
    before: Option<Arc<Record>>,
    now: Option<Arc<Record>>,
}

impl Retagged {
    /// Describes a change of `device` from the record `before` to the one that `register` has now.
    pub fn new(device: String, before: Option<Arc<Record>>, register: &Register) -> Retagged {
        Retagged { now: register.get(&device), device, before }
    }

    /// Whether the client may read the device only before the change, or only after it.
    pub fn concerns(&self, visible: &Visible) -> bool {
        visible.differs(&self.device, self.before.as_deref(), self.now.as_deref())
    }
}

/// Most watchers in all, and most of one address (of IPv6, a /64), so that no address can take all places.
pub const WATCHERS: (usize, usize) = (256, 64);

/// The stream of events.
pub struct Live {
    events: broadcast::Sender<Event>,
    watchers: Arc<Watchers>,
}

/// The number of watchers of each network.
#[derive(Default)]
struct Watchers(Mutex<HashMap<IpAddr, usize>>);

/// The place of a watcher, which dropping it frees.
pub struct Watching {
    watchers: Arc<Watchers>,
    network: IpAddr,
}

impl Watchers {
    fn networks(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let mut networks = self.watchers.networks();
        if let Some(count) = networks.get_mut(&self.network) {
            *count -= 1;
            if *count == 0 {
                networks.remove(&self.network);
            }
        }
    }
}

impl Live {
    /// Creates a stream without watchers.
    pub fn new() -> Live {
        Live { events: broadcast::Sender::new(LAG), watchers: Arc::default() }
    }

    /// Subscribes a watcher at `address` to the events from now on. The error says which limit is reached.
    pub fn watch(&self, address: IpAddr) -> Result<(broadcast::Receiver<Event>, Watching), String> {
        let network = network(address);
        let mut networks = self.watchers.networks();
        if networks.values().sum::<usize>() >= WATCHERS.0 {
            return Err(format!(
                "{} event streams are open, which is the limit; close one or try again later",
                WATCHERS.0
            ));
        }
        let count = networks.entry(network).or_default();
        if *count >= WATCHERS.1 {
            return Err(format!(
                "{} event streams of this address are open, which is the limit; close one or try again later",
                WATCHERS.1
            ));
        }
        *count += 1;
        Ok((self.events.subscribe(), Watching { watchers: Arc::clone(&self.watchers), network }))
    }

    /// Whether anybody watches.
    pub fn is_watched(&self) -> bool {
        self.events.receiver_count() > 0
    }

    /// Sends what happened to a device to the watchers that may read it: `message` or `quarantine`.
    pub fn send<T: serde::Serialize>(&self, name: &'static str, device: &str, object: &T) {
        if let Ok(data) = serde_json::to_string(object) {
            self.tell(Event::OfDevice { name, device: device.into(), data: data.into() });
        }
    }

    /// Sends the counts of the gateway to the watchers that may read everything.
    pub fn stats<T: serde::Serialize>(&self, object: &T) {
        if let Ok(data) = serde_json::to_string(object) {
            self.tell(Event::Stats(data.into()));
        }
    }

    /// Tells the watchers that the register has changed.
    pub fn retagged(&self, changes: Arc<[Retagged]>) {
        self.tell(Event::Retagged(changes));
    }

    fn tell(&self, event: Event) {
        // An error means that nobody watches.
        let _ = self.events.send(event);
    }
}
