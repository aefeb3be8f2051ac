//! Publishes messages over one connection to a broker, with QoS 1, and waits for the acknowledgement of each.
//!
//! A call that needs the connection makes it, so the attempts are as far apart as the forwarder's calls, which back off. A broker ends an
//! earlier connection of the same client ID, so what is still on its way there does not arrive after later messages.

mod connection;

use crate::{Class, Failed};
use connection::{Connection, Request};
use dunnage_clients::{
    connector::Connector,
    mqtt::{Acknowledgement, Client, Error, Limits, Publication},
    secret::SecretFile,
};
use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::{
    sync::{Mutex, mpsc, oneshot, watch},
    time::{Instant, timeout},
};

/// Largest number of messages that wait to be written to the connection.
const CAPACITY: usize = 64;
/// Longest time that the connection may take to close.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// The number of the next connection.
static CONNECTIONS: AtomicU64 = AtomicU64::new(1);

/// A client of a broker that publishes.
pub struct Publisher {
    connector: Connector,
    timeout: Duration,
    /// Replaces the client ID of the connector.
    client_id: OnceLock<String>,
    state: Mutex<State>,
}

/// The state of the connection.
enum State {
    Up(Session),
    /// The last attempt has failed: when it ended, and why. At the start, nothing was attempted.
    Down(Option<(Instant, Failed)>),
}

/// A connection, as long as it lasts. It is closed when the last copy is dropped.
#[derive(Clone)]
pub struct Session {
    requests: mpsc::Sender<Request>,
    limits: Limits,
    /// A number that no other connection of the process has.
    number: u64,
    /// Why it has ended.
    ended: watch::Receiver<Option<Failed>>,
}

impl Publisher {
    /// Creates a publisher that waits at most `timeout` for each acknowledgement. It connects when a session is needed.
    pub fn new(connector: Connector, timeout: Duration) -> Publisher {
        Publisher { connector, timeout, client_id: OnceLock::new(), state: Mutex::new(State::Down(None)) }
    }

    /// Sets the client ID of all connections. The first one stays.
    pub fn identify(&self, client_id: String) {
        self.client_id.get_or_init(|| client_id);
    }

    /// Returns the files that a reload reads again.
    pub fn secrets(&self) -> Vec<Arc<SecretFile>> {
        self.connector.secrets()
    }

    /// Returns the connection. Connects if there is none, once for all that wait for it.
    pub async fn session(&self) -> Result<Session, Failed> {
        let asked = Instant::now();
        let mut state = self.state.lock().await;
        match &*state {
            State::Up(session) if !session.requests.is_closed() => return Ok(session.clone()),
            State::Down(Some((ended, failed))) if *ended >= asked => return Err(failed.clone()),
            _ => {}
        }
        let session = self.connect().await;
        *state = match &session {
            Ok(session) => State::Up(session.clone()),
            Err(failed) => State::Down(Some((Instant::now(), failed.clone()))),
        };
        session
    }

    async fn connect(&self) -> Result<Session, Failed> {
        let mut options = self.connector.options().map_err(Failed::retry)?;
        if let Some(id) = self.client_id.get() {
            options.client_id.clone_from(id);
        }
        let (mut client, _) = Client::connect(&options).await.map_err(|error| unconnected(&error))?;
        let limits = client.limits();
        if !limits.qos_1 {
            client.close().await;
            return Err(Failed::retry(
                "the broker accepts QoS 0 only, as its CONNACK says; deliveries need QoS 1",
            ));
        }
        let (requests, received) = mpsc::channel(CAPACITY);
        let (end, ended) = watch::channel(None);
        let mut connection = Connection::new(client, received, self.timeout);
        tokio::spawn(async move {
            let why = connection.serve().await;
            tracing::debug!(why = why.reason, "the connection to a broker has ended");
            // Before the queue of requests is dropped, so that those who wait know the reason.
            end.send_replace(Some(why));
        });
        let number = CONNECTIONS.fetch_add(1, Ordering::Relaxed);
        Ok(Session { requests, limits, number, ended })
    }

    /// Closes the connection in order.
    pub async fn close(&self) {
        let state = std::mem::replace(&mut *self.state.lock().await, State::Down(None));
        if let State::Up(Session { requests, mut ended, .. }) = state {
            drop(requests);
            // If it is not closed in time, the broker notices when the process ends.
            let _ = timeout(CLOSE_TIMEOUT, ended.wait_for(Option::is_some)).await;
        }
    }
}

impl Session {
    /// Returns what the broker accepts.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Returns a number that no other connection of the process has. It is not 0.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Publishes a message, and waits for its acknowledgement.
    pub async fn publish(&self, publication: Publication) -> Result<Acknowledgement, Failed> {
        let (done, acknowledgement) = oneshot::channel();
        if self.requests.send(Request { publication, done }).await.is_err() {
            return Err(self.lost());
        }
        match acknowledgement.await {
            Ok(acknowledgement) => acknowledgement,
            Err(_) => Err(self.lost()),
        }
    }

    fn lost(&self) -> Failed {
        let lost = || Failed::retry("the connection to the broker was lost").because(Class::Connection);
        self.ended.borrow().clone().unwrap_or_else(lost)
    }
}

/// Why there is no connection. The codes are those of a CONNACK of MQTT 3.1.1 (section 3.2.2.3) and 5 (section 3.2.2.2).
fn unconnected(error: &Error) -> Failed {
    let class = match error {
        // Bad user name or password, not authorized, banned, bad authentication method.
        Error::Refused(4 | 5 | 0x86 | 0x87 | 0x8a | 0x8c, _) => Class::Denied,
        // Unavailable, busy, quota exceeded, connection rate exceeded.
        Error::Refused(3 | 0x88 | 0x89 | 0x97 | 0x9f, _) => Class::Busy,
        Error::Refused(..) | Error::Unsendable(_) => Class::Other,
        Error::Silent => Class::Timeout,
        Error::Io(_) | Error::Ended(_) | Error::Foreign(..) | Error::Protocol(_) => Class::Connection,
    };
    Failed::retry(format!("no connection to the broker: {error}")).because(class)
}
