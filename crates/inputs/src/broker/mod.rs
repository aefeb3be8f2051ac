//! `[input.broker]`: subscribes to topics of an existing broker over MQTT 5, in a session that the broker keeps.
//!
//! A message is acknowledged to the broker after its commit, in the order of arrival. The broker sends unacknowledged messages again.
//! After a lost connection, the next one resumes the session.

use crate::{
    Environment, Input,
    mqtt::{
        TOLD, TOPIC,
        flow::{Flow, Outcome, Storing, To, duplicate},
        message::{self, Address},
    },
    topic::{Pattern, Said},
};
use dunnage_access::Buckets;
use dunnage_base::name::is_name;
use dunnage_clients::{
    mqtt::{Client, Event, Options, Publish, Trust, Version},
    secret::{self, SecretFile},
};
use dunnage_formats::Id;
use dunnage_ingest::{RawMessage, Submitted};
use mqtt_protocol_core::mqtt::packet::Qos;
use serde::{Deserialize, Serialize};
use std::{collections::HashSet, path::PathBuf, sync::Arc, time::Duration};
use url::Url;

/// The input's section of the commented default configuration.
pub const EXAMPLE: &str = "\
# Messages that devices publish to your MQTT 5 broker.
# [[input]]
# name = \"yard\"
# [input.broker]
# url = \"mqtt://127.0.0.1:1883\"     # mqtts:// for TLS
# client_id = \"dunnage-1\"           # unique to this gateway: the broker keeps its session under it
# topics = [\"yard/{device}/{format}\"]   # + and a final # are allowed
# format = \"json\"                   # of messages that name no format
# group = \"gateways\"                # gateways of one group share the messages ($share/GROUP/...)
# in_flight_messages = 256
# session_expiry_seconds = 604800   # how long the broker keeps messages for a disconnected gateway
# If the broker requires them: user with password_file, and ca_file for mqtts:// with your own CA.
";

/// The input's name in metrics.
const METRIC: &str = "broker";
/// The device ID of messages without a valid one.
const NO_DEVICE: &str = "unknown";
/// The shortest and the longest delay before another connection.
const MIN_RECONNECT_DELAY: Duration = Duration::from_millis(100);
const MAX_RECONNECT_DELAY: Duration = Duration::from_secs(10);
/// How many bytes a packet may have in addition to a message: its topic and properties.
const AROUND: usize = 64 << 10;

/// `[input.broker]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// `mqtt://HOST:PORT`, or `mqtts://HOST:PORT`.
    pub url: String,
    /// The client identifier, which no other client uses.
    pub client_id: String,
    /// Patterns of topics.
    pub topics: Vec<String>,
    /// The format of messages that do not name theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<dunnage_ingest::profiles::settings::FormatName>,
    /// The group of gateways that share the messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The maximum number of messages that are not acknowledged yet.
    #[serde(default = "in_flight_messages")]
    pub in_flight_messages: u16,
    /// How long the broker keeps the session while this gateway is not connected, in seconds.
    #[serde(default = "session_expiry_seconds")]
    pub session_expiry_seconds: u32,
    /// The user name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// A file with the password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_file: Option<PathBuf>,
    /// A PEM file with the certificates to trust instead of the system's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
}

fn in_flight_messages() -> u16 {
    256
}

fn session_expiry_seconds() -> u32 {
    7 * 24 * 3600
}

/// An input that subscribes to topics of a broker.
pub struct Broker {
    name: Arc<str>,
    options: Options,
    password: Option<Arc<SecretFile>>,
    /// The certificates to trust instead of the system's.
    ca: Option<Arc<SecretFile>>,
    patterns: Vec<Pattern>,
    filters: Vec<String>,
    format: Option<Id>,
    in_flight: u16,
    /// Limits how many topics without a device are logged.
    told: Buckets<()>,
}

impl Broker {
    /// Creates the input `name`. An error says which setting is wrong. The broker may still be down.
    pub fn new(name: &str, settings: &Settings) -> Result<Broker, String> {
        if settings.in_flight_messages == 0 {
            return Err("in_flight_messages: must be at least 1".into());
        }
        if settings.topics.is_empty() {
            return Err("topics: must have at least one topic".into());
        }
        if settings.client_id.is_empty() {
            return Err("client_id: must be set, because the broker identifies the session by it".into());
        }
        if settings.group.as_deref().is_some_and(|group| !is_name(group)) {
            return Err("group: must be 1 to 64 of A-Z a-z 0-9 . _ : -".into());
        }
        let patterns = settings.topics.iter().map(|text| Pattern::read(text));
        let patterns = patterns.collect::<Result<Vec<_>, _>>().map_err(|e| format!("topics: {e}"))?;
        let filter = |pattern: &Pattern| match &settings.group {
            None => pattern.filter(),
            Some(group) => format!("$share/{group}/{}", pattern.filter()),
        };
        Ok(Broker {
            name: name.into(),
            options: options(settings)?,
            password: password(settings)?,
            ca: ca(settings)?,
            filters: patterns.iter().map(filter).collect(),
            patterns,
            format: settings.format.map(|format| format.0),
            in_flight: settings.in_flight_messages,
            told: Buckets::new(TOLD),
        })
    }

    /// Receives messages until the gateway stops, or until the connection ends, which is an error. `unacknowledged` holds the identifiers
    /// of messages that are stored although the broker cannot know it.
    async fn session(&self, env: &Arc<Environment>, unacknowledged: &mut HashSet<u16>) -> Result<(), String> {
        let mut options = self.options.clone();
        if let (Some((_, password)), Some(file)) = (&mut options.login, &self.password) {
            *password = file.text().as_bytes().to_vec();
        }
        if let Some(file) = &self.ca {
            options.tls = Some(Trust::new(Some(file.text().as_bytes()))?);
        }
        options.packet_limit = env.ingest.message_limit_bytes() + AROUND;
        let connected = tokio::select! {
            connected = Client::connect(&options) => connected,
            () = env.stopping.cancelled() => return Ok(()),
        };
        let (mut client, present) = connected.map_err(|why| why.to_string())?;
        tracing::info!(input = %self.name, present, "connected to a broker");
        if !present {
            unacknowledged.clear();
        }
        client.subscribe(&self.filters).map_err(|why| why.to_string())?;
        let commit = {
            let env = Arc::clone(env);
            move |submitted: Submitted| -> Storing {
                let env = Arc::clone(&env);
                Box::pin(async move { submitted.commit(&env.ingest, &env.stopping).await.into() })
            }
        };
        let mut flow = Flow::new(usize::from(self.in_flight), commit);
        let ended = loop {
            let open = flow.is_open();
            tokio::select! {
                done = flow.advance(), if !flow.is_empty() => stored(done).for_each(|id| client.acknowledge(id)),
                event = client.next(open) => match event {
                    Ok(Event::Message(publish)) => self.receive(env, publish, unacknowledged, &mut flow),
                    Ok(Event::Subscribed(Err(why))) => break Err(format!("the broker refused a subscription: {why}")),
                    Ok(Event::Subscribed(Ok(())) | Event::Acknowledged(_)) => {}
                    Err(why) => break Err(why.to_string()),
                },
                () = env.stopping.cancelled() => break Ok(()),
            }
        };
        if ended.is_ok() {
            while !flow.is_empty() {
                stored(flow.advance().await).for_each(|id| client.acknowledge(id));
            }
            client.close().await;
        }
        unacknowledged.extend(client.unwritten());
        // The broker should learn at once that a broken connection has ended.
        drop(client);
        while !flow.is_empty() {
            unacknowledged.extend(stored(flow.advance().await));
        }
        ended
    }

    fn receive<C: Fn(Submitted) -> Storing>(
        &self,
        env: &Arc<Environment>,
        publish: Publish,
        unacknowledged: &mut HashSet<u16>,
        flow: &mut Flow<C>,
    ) {
        let Publish { id, qos, dup: again, .. } = publish;
        let to: To = (id, qos);
        // The broker has no acknowledgement of the message, and sends it again under the identifier that it has kept.
        if qos != Qos::AtMostOnce && unacknowledged.remove(&id) && again {
            flow.answer(to, duplicate(env));
            return;
        }
        let message = self.read(env, publish);
        let env = Arc::clone(env);
        flow.submit(to, Box::pin(async move { env.ingest.submit_retrying(message, &env.stopping).await }));
    }

    /// Makes a message of `publish`. If anything in it is invalid, it goes into the quarantine, because a message of a broker cannot be
    /// rejected.
    fn read(&self, env: &Environment, mut publish: Publish) -> RawMessage<'static> {
        let topic = std::mem::take(&mut publish.topic);
        let said = self.patterns.iter().find_map(|pattern| pattern.said(&topic)).unwrap_or_default();
        let Said { device, format, schema } = said;
        let known = is_name(device);
        let standard = self.format.map(Id::name).filter(|_| !message::is_typed(&publish));
        let address =
            Address { device: if known { device } else { NO_DEVICE }, format: format.or(standard), schema };
        let input = (METRIC, env.ingest.metrics.inputs.of(&self.name));
        let mut message = message::read(&env.ingest, input, &address, publish);
        if !known {
            if self.told.take(&()).is_ok() {
                let (input, topic) = (&self.name, topic.chars().take(TOPIC).collect::<String>());
                tracing::info!(%input, topic, "a topic has no device ID; its message is in the quarantine");
            }
            if message.bad.is_none() {
                message.bad = Some(message::bad_device(device));
            }
        }
        message.provenance.origin = Some(serde_json::json!({ "topic": topic }).to_string().into());
        message
    }
}

/// Returns the identifiers of messages that are stored or in the quarantine, and that need an acknowledgement.
fn stored(done: Vec<(To, Outcome)>) -> impl Iterator<Item = u16> {
    let stored = |(to, outcome): (To, Outcome)| (!matches!(outcome, Outcome::Left)).then_some(to);
    done.into_iter().filter_map(stored).filter(|(_, qos)| *qos != Qos::AtMostOnce).map(|(id, _)| id)
}

/// Opens the password file, if one is set.
fn password(settings: &Settings) -> Result<Option<Arc<SecretFile>>, String> {
    let path = settings.password_file.clone();
    path.map(|path| SecretFile::open("password_file", path, secret::any)).transpose()
}

/// Opens the file of the certificates to trust, if one is set.
fn ca(settings: &Settings) -> Result<Option<Arc<SecretFile>>, String> {
    let path = settings.ca_file.clone();
    path.map(|path| SecretFile::open("ca_file", path, secret::certificates)).transpose()
}

/// Returns the options of the connection, without the contents of files.
fn options(settings: &Settings) -> Result<Options, String> {
    let bad = |why: &dyn std::fmt::Display| format!("url: {:?}: {why}", settings.url);
    let url = Url::parse(&settings.url).map_err(|e| bad(&e))?;
    let tls = match url.scheme() {
        "mqtt" => false,
        "mqtts" => true,
        _ => return Err(bad(&"must begin with mqtt:// or mqtts://")),
    };
    let host = url.host_str().filter(|host| !host.is_empty()).ok_or_else(|| bad(&"has no host"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(bad(&"must not have a user or password; set user and password_file"));
    }
    let port = url.port().unwrap_or(if tls { 8883 } else { 1883 });
    let mut options = Options::new(Version::V5, &settings.client_id, host, port);
    options.clean = false;
    options.session_expiry_seconds = settings.session_expiry_seconds;
    options.receive_maximum = settings.in_flight_messages;
    options.login = match (&settings.user, &settings.password_file) {
        // The password is read from its file when a connection begins.
        (Some(user), Some(_)) => Some((user.clone(), Vec::new())),
        (None, None) => None,
        (Some(_), None) => return Err("password_file: must be set together with user".into()),
        (None, Some(_)) => return Err("user: must be set together with password_file".into()),
    };
    options.tls = match (tls, &settings.ca_file) {
        (false, Some(_)) => return Err("ca_file: requires an mqtts:// URL".into()),
        (false, None) | (true, Some(_)) => None,
        (true, None) => Some(Trust::new(None)?),
    };
    Ok(options)
}

#[async_trait::async_trait]
impl Input for Broker {
    fn secrets(&self) -> Vec<Arc<SecretFile>> {
        self.password.iter().chain(&self.ca).cloned().collect()
    }

    async fn run(self: Box<Self>, env: Arc<Environment>) {
        let mut unacknowledged = HashSet::new();
        let mut pause = MIN_RECONNECT_DELAY;
        while !env.stopping.is_cancelled() {
            let begun = tokio::time::Instant::now();
            let Err(reason) = self.session(&env, &mut unacknowledged).await else { break };
            env.ingest.metrics.inputs.of(&self.name).failed(&reason);
            tracing::warn!(input = %self.name, reason, "connection lost; reconnecting");
            pause = if begun.elapsed() > MAX_RECONNECT_DELAY {
                MIN_RECONNECT_DELAY
            } else {
                MAX_RECONNECT_DELAY.min(pause * 2)
            };
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = env.stopping.cancelled() => {}
            }
        }
    }
}
