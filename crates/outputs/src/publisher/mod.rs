//! Publishes messages over one connection to a broker, with QoS 1, and waits for the acknowledgement of each. A protocol that demands QoS 0
//! takes part in each connection ([`Protocol`]), and its messages are confirmed by the answer to a ping.
//!
//! A call that needs the connection makes it, so the attempts are as far apart as the forwarder's calls, which back off. A broker ends an
//! earlier connection of the same client ID, so what is still on its way there does not arrive after later messages.

mod connection;
mod pinged;
mod protocol;

pub use protocol::Protocol;

use crate::{Class, Failed};
use connection::{Connection, Request, Way};
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
    protocol: Option<Arc<dyn Protocol>>,
    /// The number of CONNECT packets.
    attempts: AtomicU64,
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
    attempt: u64,
    /// Why it has ended.
    ended: watch::Receiver<Option<Failed>>,
}

/// A place in the queue of a connection.
pub struct Slot<'s>(mpsc::Permit<'s, Request>);

/// The confirmation of a message, when it comes.
pub type Answer = oneshot::Receiver<Result<Acknowledgement, Failed>>;

impl Publisher {
    /// Creates a publisher that waits at most `timeout` for each acknowledgement. It connects when a session is needed.
    pub fn new(connector: Connector, timeout: Duration) -> Publisher {
        Publisher {
            connector,
            timeout,
            client_id: OnceLock::new(),
            protocol: None,
            attempts: AtomicU64::new(0),
            state: Mutex::new(State::Down(None)),
        }
    }

    /// Lets `protocol` take part in all connections.
    pub fn with(self, protocol: Arc<dyn Protocol>) -> Publisher {
        Publisher { protocol: Some(protocol), ..self }
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

    /// Returns the connection, if there is one.
    pub async fn present(&self) -> Option<Session> {
        match &*self.state.lock().await {
            State::Up(session) if !session.requests.is_closed() => Some(session.clone()),
            _ => None,
        }
    }

    async fn connect(&self) -> Result<Session, Failed> {
        let mut options = self.connector.options().map_err(Failed::retry)?;
        if let Some(id) = self.client_id.get() {
            options.client_id.clone_from(id);
        }
        let attempt = self.attempts.fetch_add(1, Ordering::Relaxed);
        options.will = self.protocol.as_ref().map(|protocol| protocol.will(attempt));
        let connected = Client::connect(&options).await;
        if let Err(Error::Io(_) | Error::Unsendable(_)) = &connected {
            // No CONNECT was sent.
            self.attempts.store(attempt, Ordering::Relaxed);
        }
        let (mut client, _) = connected.map_err(|error| unconnected(&error))?;
        let limits = client.limits();
        if !limits.qos_1 {
            client.close().await;
            return Err(Failed::retry(
                "the broker accepts QoS 0 only, as its CONNACK says; deliveries need QoS 1",
            ));
        }
        let number = CONNECTIONS.fetch_add(1, Ordering::Relaxed);
        if let Some(protocol) = &self.protocol {
            client.subscribe(&protocol.filters()).map_err(|error| unconnected(&error))?;
        }
        let (requests, received) = mpsc::channel(CAPACITY);
        let (end, ended) = watch::channel(None);
        let protocol = self.protocol.clone().map(|protocol| (number, protocol));
        let mut connection = Connection::new(client, received, self.timeout, protocol);
        tokio::spawn(async move {
            let why = connection.serve().await;
            tracing::debug!(why = why.reason, "the connection to a broker has ended");
            // Before the queue of requests is dropped, so that those who wait know the reason.
            end.send_replace(Some(why));
        });
        Ok(Session { requests, limits, number, attempt, ended })
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

    /// Returns how many CONNECT packets the publisher had sent before that of this connection.
    pub fn attempt(&self) -> u64 {
        self.attempt
    }

    /// Publishes a message with QoS 1, and waits for its acknowledgement.
    pub async fn publish(&self, publication: Publication) -> Result<Acknowledgement, Failed> {
        let (done, answer) = oneshot::channel();
        let request = Request { publication, way: Way::Acknowledgement, done };
        if self.requests.send(request).await.is_err() {
            return Err(self.lost());
        }
        self.answer(answer).await
    }

    /// Waits until a message can be queued. Messages are sent in the order in which slots are used.
    pub async fn slot(&self) -> Result<Slot<'_>, Failed> {
        self.requests.reserve().await.map(Slot).map_err(|_| self.lost())
    }

    /// Waits for the broker to confirm a message that was queued.
    pub async fn answer(&self, answer: Answer) -> Result<Acknowledgement, Failed> {
        answer.await.unwrap_or_else(|_| Err(self.lost()))
    }

    fn lost(&self) -> Failed {
        let lost = || Failed::retry("the connection to the broker was lost").because(Class::Connection);
        self.ended.borrow().clone().unwrap_or_else(lost)
    }
}

impl Slot<'_> {
    /// Queues a message of QoS 0. It is sent also if the answer is dropped, unless the connection ends.
    pub fn send(self, publication: Publication) -> Answer {
        let (done, answer) = oneshot::channel();
        self.0.send(Request { publication, way: Way::Ping, done });
        answer
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
