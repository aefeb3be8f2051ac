//! The event stream. It is a view and not a log: under load it carries a sample.

use dunnage_base::network;
use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::broadcast;

/// Events that a watcher may lag behind before it misses some.
const LAG: usize = 128;

/// One server-sent event.
#[derive(Debug, Clone)]
pub struct Event {
    /// `message`, `quarantine` or `stats`.
    pub name: &'static str,
    /// A JSON object.
    pub data: Arc<str>,
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

    /// Sends an event to all watchers.
    pub fn send<T: serde::Serialize>(&self, name: &'static str, object: &T) {
        if let Ok(data) = serde_json::to_string(object) {
            // An error means that nobody watches.
            let _ = self.events.send(Event { name, data: data.into() });
        }
    }
}
