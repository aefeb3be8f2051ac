//! `[input.mqtt]`: a listener for devices that publish over MQTT 3.1.1 or 5. It is not a broker: it accepts no subscriptions.
//!
//! A message of QoS 1 or 2 is acknowledged after its commit, whether it is stored or quarantined (`flow.rs`). While the queue is full or
//! the disk fails, the gateway stops reading from the client (`connection.rs`).

mod answer;
mod connect;
mod connection;
mod end;
pub mod flow;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzz;
pub mod message;
mod session;
mod will;
mod wire;

use crate::{
    Environment, Input,
    connections::{Connections, Limits, Place, accept::accept_stream},
    device_at,
    routes::TopicSettings,
};
use dunnage_access::Denied;
use dunnage_access::{
    Buckets, Peer,
    tls::{Acceptor, TlsError},
};
use dunnage_buffer::{Memory, Shares};
use dunnage_clients::mqtt::reason::{Reason, Refusal};
use dunnage_ingest::Meter;
use message::Topics;
use serde::{Deserialize, Serialize};
use session::Sessions;
use std::{net::SocketAddr, sync::Arc, time::Duration};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// The input's section of the commented default configuration.
pub const EXAMPLE: &str = "\
# Devices that publish over MQTT 3.1.1 or 5 to v1/DEVICE/FORMAT. It is not a broker: it accepts no subscriptions.
# [[input]]
# name = \"devices\"
# [input.mqtt]
# listen = \"127.0.0.1:1883\"
# connections = 10000               # at the limit, those that have not sent CONNECT are closed
# address_connections = 2500        # of an address (of IPv6, a /64); not applied to the loopback address
# in_flight_messages = 64           # per client, waiting for their commits
# session_expiry_seconds = 3600     # how long the packet identifiers of a disconnected client are remembered
# topics = [\"tele/{device}/SENSOR\"]   # besides v1/..., for devices that cannot be changed; + and a final # are allowed
# format = \"json\"                   # of messages to these topics that name no format; { topic = \"...\", format = \"text\" } is for one of them
# device_at = \"/imei\"              # the JSON pointer to the device ID of messages whose topic has none
# ignore = [\"tele/#\", \"stat/#\"]      # other topics whose messages are acknowledged and dropped; by default they are refused
# Also tls: whether to use TLS, with the certificate of [tls].
";

/// How many bytes a packet may have in addition to a message: its topic and properties.
const AROUND: usize = 64 << 10;
/// How many rejected topics are logged per minute.
pub const TOLD: u32 = 10;
/// How many characters of a rejected topic are logged.
pub const TOPIC: usize = 200;
/// The interval between two removals of expired sessions.
const EXPIRY_INTERVAL: Duration = Duration::from_secs(60);

/// `[input.mqtt]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Address and port; port 0 selects a free port.
    #[serde(default = "listen")]
    pub listen: SocketAddr,
    /// Whether the listener uses TLS, with the certificate of `[tls]`.
    #[serde(default)]
    pub tls: bool,
    /// The maximum number of connections. When it is reached, connections that have not sent CONNECT give way to new ones.
    #[serde(default = "connections")]
    pub connections: usize,
    /// The maximum number of connections of an address (of IPv6, a /64). It does not apply to the loopback address.
    #[serde(default = "address_connections")]
    pub address_connections: usize,
    /// How many messages of a client may wait for their commits.
    #[serde(default = "in_flight_messages")]
    pub in_flight_messages: u16,
    /// Patterns of topics that are accepted besides the gateway's own, for devices that cannot be changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<TopicSettings>,
    /// The format of messages to these topics that do not name theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<dunnage_ingest::profiles::settings::FormatName>,
    /// Where a JSON message has its device ID, as a JSON pointer, if its topic matches a pattern without `{device}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_at: Option<String>,
    /// Filters of topics, for devices that cannot be changed: messages to these topics that match none of the above are acknowledged and
    /// dropped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    /// The maximum time in seconds that a session is kept after its connection.
    #[serde(default = "session_expiry_seconds")]
    pub session_expiry_seconds: u64,
}

fn listen() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 1883))
}

fn connections() -> usize {
    10_000
}

fn address_connections() -> usize {
    2500
}

fn in_flight_messages() -> u16 {
    64
}

fn session_expiry_seconds() -> u64 {
    3600
}

/// The MQTT input.
pub struct Mqtt {
    name: Arc<str>,
    settings: Settings,
    topics: Topics,
    socket: Option<TcpListener>,
}

/// The state that all connections of a listener share.
struct Listener {
    name: Arc<str>,
    meter: Arc<Meter>,
    settings: Settings,
    topics: Topics,
    /// Limits how many rejected topics are logged.
    told: Buckets<()>,
    env: Arc<Environment>,
    sessions: Arc<Sessions>,
    /// Memory for large packets that are arriving. It has the same size as that for messages, and is separate from it.
    arriving: Memory,
}

impl Mqtt {
    /// Creates the input `name`; `certificate` says whether there is one for TLS. An error says which setting is wrong.
    pub fn new(name: &str, settings: &Settings, certificate: bool) -> Result<Mqtt, String> {
        if settings.tls && !certificate {
            return Err("tls: requires [tls] certificate and key".into());
        }
        for (key, number) in [
            ("connections", settings.connections),
            ("address_connections", settings.address_connections),
            ("in_flight_messages", usize::from(settings.in_flight_messages)),
        ] {
            if number == 0 {
                return Err(format!("{key}: must be at least 1"));
            }
        }
        for (key, given) in
            [("format", settings.format.is_some()), ("device_at", settings.device_at.is_some())]
        {
            if given && settings.topics.is_empty() {
                return Err(format!("{key}: applies only to topics that match a pattern; set topics, too"));
            }
        }
        device_at::check(settings.device_at.as_deref(), false)?;
        let format = settings.format.map(|format| format.0);
        let topics = Topics::new(&settings.topics, format, settings.device_at.as_deref());
        let topics = topics.map_err(|e| format!("topics: {e}"))?;
        let topics = topics.ignoring(&settings.ignore).map_err(|e| format!("ignore: {e}"))?;
        Ok(Mqtt { name: name.into(), settings: settings.clone(), topics, socket: None })
    }
}

#[async_trait::async_trait]
impl Input for Mqtt {
    async fn listen(&mut self) -> std::io::Result<Option<SocketAddr>> {
        let socket = TcpListener::bind(self.settings.listen)
            .await
            .map_err(|e| std::io::Error::new(e.kind(), format!("listen: {}: {e}", self.settings.listen)))?;
        let address = socket.local_addr()?;
        self.socket = Some(socket);
        Ok(Some(address))
    }

    async fn run(self: Box<Self>, env: Arc<Environment>) {
        let Some(socket) = self.socket else { return };
        let Ok(tls) = acceptor(&self.settings, &env) else { return };
        let limits = Limits { all: self.settings.connections, of_address: self.settings.address_connections };
        let places = Connections::new(limits, env.metrics.connections_of(&self.name));
        let sessions = Arc::new(Sessions::new(self.settings.connections.saturating_mul(2)));
        let Shares { all, .. } = env.ingest.buffer.queue.shares();
        let largest = env.ingest.message_limit_bytes() + AROUND;
        let arriving = Memory::new(Shares { incomplete: all, ..Shares::of(all, largest) });
        let listener = Listener {
            meter: env.ingest.metrics.inputs.of(&self.name),
            name: self.name,
            settings: self.settings,
            topics: self.topics,
            told: Buckets::new(TOLD),
            env,
            sessions,
            arriving,
        };
        let listener = Arc::new(listener);
        let mut connections = JoinSet::new();
        let mut remove_expired = tokio::time::interval(EXPIRY_INTERVAL);
        loop {
            tokio::select! {
                accepted = accept(&socket, &places) => {
                    let Some((stream, peer, place)) = accepted else { continue };
                    let Ok(to) = stream.local_addr() else { continue };
                    let peer = Remote { address: peer, peer: Peer::of_connection(peer, to, listener.settings.listen.ip()) };
                    let id = place.id();
                    let (listener, tls) = (Arc::clone(&listener), tls.clone());
                    let task = connections.spawn(async move {
                        match tls {
                            None => connection::serve(listener, stream, peer, &place).await,
                            // Boxed so that connections without TLS do not hold memory for it.
                            Some(tls) => Box::pin(secure(tls, listener, stream, peer, &place)).await,
                        }
                    });
                    places.attach(id, task);
                }
                Some(_) = connections.join_next() => {}
                _ = remove_expired.tick() => listener.sessions.remove_expired(),
                () = listener.env.stopping.cancelled() => break,
            }
        }
        drop(socket);
        while connections.join_next().await.is_some() {}
    }
}

/// The client of a connection.
#[derive(Clone, Copy)]
struct Remote {
    address: SocketAddr,
    peer: Peer,
}

/// Returns the TLS acceptor, if the listener uses TLS.
fn acceptor(settings: &Settings, env: &Environment) -> Result<Option<Acceptor>, TlsError> {
    let certificates = env.certificates.as_ref().filter(|_| settings.tls);
    // Clients that do not speak TLS get no plain answer, because it would not be MQTT.
    let acceptor = certificates.map(|certificates| certificates.acceptor(&["mqtt"], "")).transpose();
    acceptor.inspect_err(|error| tracing::error!(%error, "cannot offer TLS; accepts no connections"))
}

async fn secure(tls: Acceptor, listener: Arc<Listener>, stream: TcpStream, peer: Remote, place: &Place) {
    if let Some(stream) = tls.accept(stream).await {
        connection::serve(listener, stream, peer, place).await;
    }
}

async fn accept(socket: &TcpListener, places: &Arc<Connections>) -> Option<(TcpStream, SocketAddr, Place)> {
    let (stream, peer) = accept_stream(socket).await?;
    let place = places.enter(peer.ip()).await?;
    Some((stream, peer, place))
}

impl Listener {
    /// Returns the maximum size of a packet in bytes.
    fn largest(&self) -> usize {
        self.env.ingest.message_limit_bytes() + AROUND
    }

    /// Checks whether a client may connect.
    fn may_connect(&self, peer: &Peer, credential: Option<&str>) -> Result<(), Refusal> {
        self.env.ingest.access.may_connect(peer, credential).map_err(refusal)
    }

    /// Checks whether a client may send as `device`, and is within its limits.
    fn may_send(&self, peer: &Peer, device: &str, credential: Option<&str>) -> Result<(), Refusal> {
        let allowed = self.env.ingest.access.may_send(peer, device, credential);
        allowed.and_then(|()| self.env.ingest.limits.admit(peer, device)).map_err(refusal)
    }

    /// Counts a refusal.
    fn refused(&self, refusal: &Refusal) {
        self.env.ingest.metrics.answered(refusal.problem());
        self.meter.rejected(&refusal.why);
    }

    /// Logs that the will of a client is dropped, a few per minute.
    fn drop_will(&self, client: &str, topic: &str, refusal: &Refusal) {
        let (input, reason) = (&self.name, &refusal.why);
        if self.told.take(&()).is_ok() {
            let topic: String = topic.chars().take(TOPIC).collect();
            tracing::info!(%input, client, topic, reason, "the will of a client is dropped");
        }
    }

    /// Logs that a message to `topic` was rejected. Unknown topics are logged as `info`, a few per minute.
    fn tell(&self, client: &str, topic: &str, refusal: &Refusal) {
        let (input, reason) = (&self.name, &refusal.why);
        if refusal.reason == Reason::Topic && self.told.take(&()).is_ok() {
            let topic: String = topic.chars().take(TOPIC).collect();
            tracing::info!(%input, client, topic, reason, "a topic is refused");
        } else {
            tracing::debug!(%input, client, topic, reason, "a message is refused");
        }
    }
}

/// Returns the refusal that a client without access, or over its limits, gets.
fn refusal(denied: Denied) -> Refusal {
    match denied {
        Denied::TooMany { detail, .. } => Refusal::new(Reason::Quota, detail),
        Denied::Unauthorized(detail) | Denied::Forbidden(detail) | Denied::BadHost(detail) => {
            Refusal::new(Reason::NotAuthorized, detail)
        }
    }
}
