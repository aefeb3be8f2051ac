//! `[input.broker]`: subscribes to topics of an existing broker over MQTT 5, in a session that the broker keeps.
//!
//! A message is acknowledged to the broker after its commit, in the order of arrival. The broker sends unacknowledged messages again.
//! After a lost connection, the next one resumes the session.

mod settings;

pub use settings::{EXAMPLE, Settings};

use crate::{
    Environment, Input, device_at,
    mqtt::{
        TOLD, TOPIC,
        flow::{Flow, Outcome, Storing, To, duplicate},
        message::{self, Address},
    },
    provider::{Received, RuleSettings, Rules, Transport},
    routes::{self, DeviceIn, Route},
    topic::{self, Said, widest},
};
use dunnage_access::Buckets;
use dunnage_base::name::{is_device, is_name};
use dunnage_clients::{
    connector::Connector,
    mqtt::{Client, Event, Publish},
    secret::SecretFile,
};
use dunnage_formats::Id;
use dunnage_ingest::{RawMessage, Submitted};
use mqtt_protocol_core::mqtt::packet::Qos;
use std::{collections::HashSet, sync::Arc, time::Duration};

/// The input's name in metrics.
const METRIC: &str = "broker";
/// The device ID of messages without a valid one.
const NO_DEVICE: &str = "unknown";
/// The shortest and the longest delay before another connection.
const MIN_RECONNECT_DELAY: Duration = Duration::from_millis(100);
const MAX_RECONNECT_DELAY: Duration = Duration::from_secs(10);
/// How many bytes a packet may have in addition to a message: its topic and properties.
const AROUND: usize = 64 << 10;

/// An input that subscribes to topics of a broker.
pub struct Broker {
    name: Arc<str>,
    connector: Connector,
    session_expiry_seconds: u32,
    routes: Vec<Route>,
    filters: Vec<String>,
    format: Option<Id>,
    /// How to open envelopes, if a provider is set.
    rules: Option<Rules>,
    link: Option<String>,
    /// Where messages have their device ID, if their topics have none.
    device_at: Option<String>,
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
        let rules = rules(settings)?;
        device_at::check(settings.device_at.as_deref(), rules.is_some())?;
        let device_in = match (&rules, &settings.device_at) {
            (Some(_), _) => DeviceIn::Envelope,
            (None, Some(_)) => DeviceIn::Message,
            (None, None) => DeviceIn::Topic,
        };
        let routes = routes::read(&settings.topics, device_in).map_err(|e| format!("topics: {e}"))?;
        let filters: Vec<_> = routes.iter().map(Route::filter).collect();
        let filters = widest(&filters);
        // What the provider names is recognized when it comes again.
        if !rules.as_ref().is_some_and(Rules::name_messages) {
            topic::check_disjoint(&filters).map_err(|e| format!("topics: {e}"))?;
        }
        let filter = |filter: &str| match &settings.group {
            None => filter.to_owned(),
            Some(group) => format!("$share/{group}/{filter}"),
        };
        Ok(Broker {
            name: name.into(),
            connector: settings.connector()?,
            session_expiry_seconds: settings.session_expiry_seconds,
            filters: filters.into_iter().map(filter).collect(),
            routes,
            format: settings.format.map(|format| format.0),
            rules,
            link: settings.link.clone(),
            device_at: settings.device_at.clone(),
            in_flight: settings.in_flight_messages,
            told: Buckets::new(TOLD),
        })
    }

    /// Receives messages until the gateway stops, or until the connection ends, which is an error. `unacknowledged` holds the identifiers
    /// of messages that are stored although the broker cannot know it.
    async fn session(&self, env: &Arc<Environment>, unacknowledged: &mut HashSet<u16>) -> Result<(), String> {
        let mut options = self.connector.options()?;
        options.clean = false;
        options.session_expiry_seconds = self.session_expiry_seconds;
        options.receive_maximum = self.in_flight;
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
        let mut flow = Flow::new(&env.ingest.buffer.queue, usize::from(self.in_flight), commit);
        let ended = loop {
            let open = flow.is_open();
            tokio::select! {
                done = flow.advance(), if !flow.is_empty() => stored(done).for_each(|id| client.acknowledge(id)),
                event = client.next(open) => match event {
                    Ok(Event::Message(publish)) => self.receive(env, publish, unacknowledged, &mut flow),
                    Ok(Event::Subscribed(Err(why))) => break Err(format!("the broker refused a subscription: {why}")),
                    Ok(Event::Subscribed(Ok(())) | Event::Acknowledged(..) | Event::Answered) => {}
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
        let mut messages = match &self.rules {
            None => vec![self.read(env, publish)],
            Some(rules) => self.open(env, rules, publish),
        };
        let Some(last) = messages.pop() else {
            return flow.answer(to, Box::pin(std::future::ready(Outcome::Stored)));
        };
        let env = Arc::clone(env);
        flow.submit(to, |failed_batches| async move {
            env.ingest.submit_all_retrying(messages, last, failed_batches, &env.stopping).await
        });
    }

    /// Makes messages of the envelope in `publish`; none of one that is a notification. What cannot be opened goes into the quarantine.
    fn open(&self, env: &Environment, rules: &Rules, publish: Publish) -> Vec<RawMessage<'static>> {
        let Publish { topic, payload, content_type, .. } = publish;
        let transport = Transport {
            input: &self.name,
            metric: METRIC,
            topic: &topic,
            separator: '/',
            content_type: content_type.as_deref().unwrap_or_default(),
            link: self.link.as_deref(),
        };
        match rules.receive(&env.ingest, &transport, payload) {
            Received::Messages(messages) => messages,
            Received::Event(event) => {
                env.metrics.event(rules.provider.name(), event);
                Vec::new()
            }
        }
    }

    /// Makes a message of `publish`. If anything in it is invalid, it goes into the quarantine, because a message of a broker cannot be
    /// rejected.
    fn read(&self, env: &Environment, mut publish: Publish) -> RawMessage<'static> {
        let topic = std::mem::take(&mut publish.topic);
        let (route, said) = routes::find(&self.routes, &topic).unzip();
        let Said { device, format, schema, field } = said.unwrap_or_default();
        let found = match &self.device_at {
            Some(pointer) if device.is_empty() => device_at::device(&publish.payload, pointer),
            _ if is_device(device) => Ok(device.to_owned()),
            _ => Err(message::bad_device(device)),
        };
        let is_inside = device.is_empty() && found.is_ok();
        let standard = route
            .and_then(|route| route.format)
            .or(self.format)
            .or(is_inside.then_some(Id::Json))
            .filter(|_| !message::is_typed(&publish));
        let format = format.or(standard.map(Id::name));
        let device = found.as_deref().unwrap_or(NO_DEVICE).into();
        let address = Address {
            device,
            format,
            schema,
            schema_else: route.and_then(|route| route.schema.as_deref()),
            field,
            topic: Some(&topic),
        };
        let input = (METRIC, env.ingest.metrics.inputs.of(&self.name));
        let mut message = message::read(&env.ingest, input, &address, publish);
        if let Err(rejected) = found {
            if self.told.take(&()).is_ok() {
                let (input, topic) = (&self.name, topic.chars().take(TOPIC).collect::<String>());
                tracing::info!(%input, topic, "a message has no device ID; it is in the quarantine");
            }
            message.bad.get_or_insert(rejected);
        }
        message
    }
}

/// Returns the identifiers of messages that are stored or in the quarantine, and that need an acknowledgement.
fn stored(done: Vec<(To, Outcome)>) -> impl Iterator<Item = u16> {
    let stored = |(to, outcome): (To, Outcome)| (!matches!(outcome, Outcome::Left)).then_some(to);
    done.into_iter().filter_map(stored).filter(|(_, qos)| *qos != Qos::AtMostOnce).map(|(id, _)| id)
}

/// Returns how to open envelopes, if a provider is set. An error says which setting is wrong.
pub fn rules(settings: &Settings) -> Result<Option<Rules>, String> {
    let Settings { provider, payload, format, formats, names, link, pointers, .. } = settings;
    if let Some(bad) = link.as_deref().filter(|link| !is_name(link)) {
        return Err(format!("link: {bad:?} is not a valid link ID"));
    }
    let pointers = pointers.as_ref();
    let settings = RuleSettings { payload: *payload, format: *format, formats, names, pointers };
    Rules::optional(*provider, &settings, ("link", link.is_some()))
}

#[async_trait::async_trait]
impl Input for Broker {
    fn secrets(&self) -> Vec<Arc<SecretFile>> {
        self.connector.secrets()
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
