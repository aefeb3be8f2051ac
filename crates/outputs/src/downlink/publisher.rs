//! Publishes messages over one connection to a broker, with QoS 1, and waits for the acknowledgement of each.

use crate::{Class, Failed};
use dunnage_clients::{
    connector::Connector,
    mqtt::{Acknowledgement, Client, Event},
    secret::SecretFile,
};
use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
    time::Duration,
};
use tokio::{
    sync::{mpsc, oneshot, watch},
    task::AbortHandle,
    time::{sleep, timeout},
};

/// Largest number of messages that wait to be written to the connection.
const CAPACITY: usize = 64;
/// Delay before the next connection.
const RECONNECT_DELAY: Duration = Duration::from_millis(500);

/// A client of a broker that only publishes.
pub struct Publisher {
    link: Arc<Link>,
    timeout: Duration,
    /// Spawned by the first message, because no runtime exists before.
    connection: OnceLock<AbortHandle>,
}

/// The state that the connection shares with the callers.
struct Link {
    connector: Connector,
    state: watch::Sender<State>,
}

/// The state of the connection.
enum State {
    /// Connected. The channel accepts messages.
    Up(mpsc::Sender<Message>),
    /// Not connected, for this reason.
    Down(String),
}

struct Message {
    topic: String,
    payload: Vec<u8>,
    /// Gets the broker's acknowledgement; dropped if the connection ends first.
    done: oneshot::Sender<Result<Acknowledgement, Failed>>,
}

impl Publisher {
    /// Creates a publisher that connects with the first message, and waits at most `timeout` for an acknowledgement.
    pub fn new(connector: Connector, timeout: Duration) -> Publisher {
        let state = watch::Sender::new(State::Down("not connected yet".into()));
        Publisher { link: Arc::new(Link { connector, state }), timeout, connection: OnceLock::new() }
    }

    /// Returns the files that a reload reads again.
    pub fn secrets(&self) -> Vec<Arc<SecretFile>> {
        self.link.connector.secrets()
    }

    /// Publishes a message. `Ok` means that the broker has it, and, with MQTT 5, that somebody subscribes to its topic.
    pub async fn publish(&self, topic: String, payload: Vec<u8>) -> Result<(), Failed> {
        self.connection.get_or_init(|| tokio::spawn(Arc::clone(&self.link).run()).abort_handle());
        let acknowledgement = match timeout(self.timeout, self.send(topic.clone(), payload)).await {
            Ok(acknowledgement) => acknowledgement?,
            Err(_) => return Err(self.no_answer()),
        };
        match acknowledgement {
            Acknowledgement::Taken => Ok(()),
            Acknowledgement::NoSubscriber => {
                let reason =
                    format!("nobody subscribes to {topic}: is the network server connected to the broker?");
                Err(Failed::retry(reason).because(Class::Missing))
            }
            Acknowledgement::Refused(_, why) => {
                Err(Failed::retry(format!("the broker refused {topic}: {why}")).because(Class::Denied))
            }
        }
    }

    async fn send(&self, topic: String, payload: Vec<u8>) -> Result<Acknowledgement, Failed> {
        let mut state = self.link.state.subscribe();
        let messages = match state.wait_for(|state| matches!(state, State::Up(_))).await.as_deref() {
            Ok(State::Up(messages)) => messages.clone(),
            _ => return Err(self.no_answer()),
        };
        let lost = || Failed::retry("the connection to the broker was lost").because(Class::Connection);
        let (done, acknowledgement) = oneshot::channel();
        messages.send(Message { topic, payload, done }).await.map_err(|_| lost())?;
        acknowledgement.await.map_err(|_| lost())?
    }

    fn no_answer(&self) -> Failed {
        match &*self.link.state.borrow() {
            State::Up(_) => {
                Failed::retry("the broker did not acknowledge the message in time").because(Class::Timeout)
            }
            State::Down(why) => Failed::retry(why.clone()).because(Class::Connection),
        }
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.get() {
            connection.abort();
        }
    }
}

impl Link {
    /// Connects repeatedly. Messages that were not acknowledged are not sent again here; their callers retry them.
    async fn run(self: Arc<Link>) {
        loop {
            let why = self.serve().await.err().unwrap_or_default();
            tracing::debug!(why, "no connection to the broker of downlinks");
            self.state.send_replace(State::Down(format!("no connection to the broker: {why}")));
            sleep(RECONNECT_DELAY).await;
        }
    }

    /// Publishes messages and returns their acknowledgements until the connection ends.
    async fn serve(&self) -> Result<(), String> {
        let options = self.connector.options()?;
        let (mut client, _) = Client::connect(&options).await.map_err(|why| why.to_string())?;
        let (sender, mut messages) = mpsc::channel::<Message>(CAPACITY);
        self.state.send_replace(State::Up(sender));
        let mut waiting = HashMap::new();
        loop {
            tokio::select! {
                event = client.next(true) => match event.map_err(|why| why.to_string())? {
                    Event::Acknowledged(id, acknowledgement) => {
                        let done: Option<oneshot::Sender<_>> = waiting.remove(&id);
                        // A caller that no longer waits will retry.
                        done.map(|done| done.send(Ok(acknowledgement)));
                    }
                    Event::Message(_) | Event::Subscribed(_) => {}
                },
                Some(Message { topic, payload, done }) = messages.recv() => {
                    match client.publish(&topic, &payload) {
                        Ok(Some(id)) => drop(waiting.insert(id, done)),
                        // All identifiers are in use. The caller retries.
                        Ok(None) => {}
                        Err(why) => drop(done.send(Err(Failed::refused(why.to_string())))),
                    }
                }
            }
        }
    }
}
