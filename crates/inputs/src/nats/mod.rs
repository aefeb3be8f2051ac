//! `[input.nats]`: receives the messages of a NATS stream. Each is acknowledged to the stream after its commit, or after every output has
//! delivered it.
//!
//! The durable consumer acknowledges all messages up to one (`AckPolicy::All`), and delivers in the order of the stream. A start, a lost
//! connection, another leader or a redelivery may change that order. After each of these, the consumer is reset to the last acknowledged
//! message (consumer reset, NATS server 2.14), and continues in order from there. Within a batch, a message waits for the commit of the
//! previous one of its device. Therefore the messages of a device are stored in their order, whatever fails.

mod consumer;
mod message;
mod settings;

pub use settings::{Acknowledge, EXAMPLE, Settings};

use crate::{Environment, Input, provider::Rules};
use async_nats::jetstream::{
    AckKind, Context, Message,
    consumer::{PullConsumer, pull},
    context::ContextBuilder,
    message::Acker,
};
use consumer::OpenError;
use dunnage_clients::{
    nats::{Access, Servers},
    secret::SecretFile,
};
use dunnage_ingest::RawMessage;
use futures_util::{StreamExt, future, stream::ReadyChunks};
use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};

/// The maximum time to wait for an answer of the servers.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The interval of heartbeats from a consumer without messages.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// The interval of checks whether waiting messages have been delivered.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// The shortest and the longest delay before another session.
const MIN_RETRY_DELAY: Duration = Duration::from_millis(100);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(5);

/// An input that receives the messages of a stream.
pub struct Nats {
    name: Arc<str>,
    servers: Servers,
    settings: Settings,
    /// How to open envelopes, if a provider is set.
    rules: Option<Rules>,
    acknowledge: Acknowledge,
}

/// The position of the input in the stream.
#[derive(Default)]
struct Position {
    /// When the stream was created, in nanoseconds since 1970. The numbers of another stream mean nothing.
    stream: i128,
    /// All messages up to this one are acknowledged; `None` until the consumer has reported its state.
    acknowledged: Option<u64>,
    /// All messages up to this one are on disk here.
    stored: u64,
}

/// Messages that are on disk here and not yet acknowledged.
struct Unacknowledged {
    /// The number of the last one in the stream.
    last: u64,
    acker: Acker,
    /// The last message ID of the buffer after they were stored. When the outputs have delivered that, they have delivered these.
    delivered_with: i64,
}

impl Nats {
    /// Creates the input `name`, in a gateway whose inputs are `only_streams` and that has `outputs`. An error says which setting is
    /// wrong.
    pub fn new(name: &str, settings: &Settings, only_streams: bool, outputs: bool) -> Result<Nats, String> {
        let access = Access {
            servers: &settings.servers,
            credentials: settings.credentials.as_deref(),
            token_file: settings.token_file.as_deref(),
            ca_file: settings.ca_file.as_deref(),
        };
        for (key, text) in [("stream", &settings.stream), ("consumer", &settings.consumer)] {
            if text.is_empty() || text.contains(['.', '*', '>', '/', '\\', ' ', '\t']) {
                return Err(format!("{key}: {text:?} is not a valid name of a {key}"));
            }
        }
        if settings.in_flight_messages == 0 {
            return Err("in_flight_messages: must be at least 1".into());
        }
        if settings.acknowledge == Some(Acknowledge::Delivered) && !outputs {
            return Err(
                "acknowledge: there is no [[output]] to deliver messages; add one, or set \"stored\"".into(),
            );
        }
        let acknowledge =
            settings.acknowledge.unwrap_or_else(|| Acknowledge::default_of(only_streams, outputs));
        let servers = Servers::new(&access)?;
        let rules = settings.rules()?;
        Ok(Nats { name: name.into(), servers, settings: settings.clone(), rules, acknowledge })
    }

    /// Receives the messages after `position` until the gateway stops, or until their order may have changed, which is an error. Uses the
    /// client in `context`, or a new one if the credentials have changed.
    async fn session(
        &self,
        env: &Arc<Environment>,
        context: &mut Option<(u64, Context)>,
        position: &mut Position,
    ) -> Result<(), OpenError> {
        let changes = self.servers.changes();
        if context.as_ref().is_none_or(|(of, _)| *of != changes) {
            let client = self.servers.connect(&self.name).await?;
            *context = Some((changes, ContextBuilder::new().timeout(TIMEOUT).build(client)));
        }
        let Some((_, context)) = context.as_ref() else { return Ok(()) };
        let (consumer, mut next) = tokio::select! {
            opened = self.open(context, position) => opened?,
            () = env.stopping.cancelled() => return Ok(()),
        };
        let mut batches = self.batches(consumer).await?;
        let mut waiting = VecDeque::new();
        let mut taken = position.acknowledged.unwrap_or_default();
        loop {
            let batch = tokio::select! {
                batch = batches.next() => batch.ok_or_else(|| "the consumer ended".to_owned())?,
                () = tokio::time::sleep(POLL_INTERVAL), if !waiting.is_empty() => Vec::new(),
                () = env.stopping.cancelled() => return Ok(()),
            };
            let (batch, trouble) = in_order(batch, &mut next, taken);
            if let Some((last, message)) = batch.last() {
                let acker = Acker::new(context.clone(), message.reply.clone());
                taken = *last;
                if !self.store(env, batch, position.stored).await {
                    return Ok(());
                }
                position.stored = position.stored.max(taken);
                let delivered_with = self.delivered_with(env);
                waiting.push_back(Unacknowledged { last: taken, acker, delivered_with });
            }
            self.acknowledge(env, &mut waiting, position).await?;
            if let Some(trouble) = trouble {
                return Err(trouble.into());
            }
        }
    }

    /// Returns the message ID that the outputs must have delivered before the messages that are now in the buffer can be acknowledged.
    fn delivered_with(&self, env: &Environment) -> i64 {
        match self.acknowledge {
            Acknowledge::Stored => i64::MIN,
            Acknowledge::Delivered => env.ingest.buffer.stats.totals().last_message_id,
        }
    }

    /// Acknowledges those of the `waiting` messages that the outputs have delivered, if that is required.
    async fn acknowledge(
        &self,
        env: &Environment,
        waiting: &mut VecDeque<Unacknowledged>,
        position: &mut Position,
    ) -> Result<(), String> {
        if waiting.is_empty() {
            return Ok(());
        }
        let delivered = (env.delivered)();
        let done = waiting.iter().take_while(|messages| messages.delivered_with <= delivered).count();
        // The acknowledgement of the last one includes those before it.
        if let Some(messages) = waiting.drain(..done).last() {
            position.acknowledged = Some(messages.last);
            messages.acker.ack_with(AckKind::Ack).await.map_err(|e| e.to_string())?;
        }
        Ok(())
    }

    /// Returns the batches that `consumer` delivers.
    async fn batches(&self, consumer: PullConsumer) -> Result<ReadyChunks<pull::Stream>, String> {
        let batch = self.settings.in_flight_messages;
        let messages = consumer.stream().max_messages_per_batch(batch).heartbeat(HEARTBEAT).messages().await;
        Ok(messages.map_err(|e| e.to_string())?.ready_chunks(batch))
    }

    /// Stores a batch: the messages of each device in their order, and devices concurrently. Messages up to number `stored` are on disk
    /// already. Returns false if the gateway stops first.
    async fn store(&self, env: &Arc<Environment>, batch: Vec<(u64, Message)>, stored: u64) -> bool {
        let mut partitions: Vec<Vec<RawMessage<'static>>> = Vec::new();
        let mut partition_of: HashMap<String, usize> = HashMap::new();
        for (_, message) in batch.into_iter().filter(|(sequence, _)| *sequence > stored) {
            let messages = match &self.rules {
                None => {
                    let pointer = self.settings.device_at.as_deref();
                    vec![message::read(&env.ingest, &self.name, pointer, message)]
                }
                Some(rules) => message::open(env, rules, &self.name, &message),
            };
            for message in messages {
                let partition =
                    *partition_of.entry(message.provenance.device.clone()).or_insert(partitions.len());
                match partitions.get_mut(partition) {
                    Some(messages) => messages.push(message),
                    None => partitions.push(vec![message]),
                }
            }
        }
        let partitions = partitions.into_iter().map(|messages| async move {
            for message in messages {
                // The only temporary error is that the gateway is stopping.
                if env
                    .ingest
                    .store_retrying(message, &env.stopping)
                    .await
                    .is_err_and(|rejected| rejected.is_temporary())
                {
                    return false;
                }
            }
            true
        });
        future::join_all(partitions).await.into_iter().all(|stored| stored)
    }
}

#[async_trait::async_trait]
impl Input for Nats {
    fn secrets(&self) -> Vec<Arc<SecretFile>> {
        self.servers.secrets()
    }

    async fn run(self: Box<Self>, env: Arc<Environment>) {
        let mut position = Position::default();
        let (mut context, mut pause) = (None, MIN_RETRY_DELAY);
        while !env.stopping.is_cancelled() {
            let before = position.stored;
            match self.session(&env, &mut context, &mut position).await {
                Ok(()) => break,
                Err(OpenError::Refused(reason)) => {
                    env.ingest.metrics.inputs.of(&self.name).failed(&reason);
                    tracing::error!(input = %self.name, reason, "cannot use the consumer; receives nothing");
                    pause = MAX_RETRY_DELAY;
                }
                Err(OpenError::Again(reason)) => {
                    env.ingest.metrics.inputs.of(&self.name).failed(&reason);
                    tracing::warn!(input = %self.name, reason, "session failed; retrying");
                    pause = if position.stored > before {
                        MIN_RETRY_DELAY
                    } else {
                        MAX_RETRY_DELAY.min(pause * 2)
                    };
                }
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = env.stopping.cancelled() => {}
            }
        }
        if let Some((_, context)) = context {
            let _ = tokio::time::timeout(TIMEOUT, context.client().flush()).await;
        }
    }
}

/// Returns the messages of `batch` with their numbers in the stream, up to the first that is out of order, and what is wrong with that.
fn in_order(
    batch: Vec<Result<Message, pull::MessagesError>>,
    next: &mut u64,
    done: u64,
) -> (Vec<(u64, Message)>, Option<String>) {
    let mut messages = Vec::with_capacity(batch.len());
    for message in batch {
        let message = match message {
            Ok(message) => message,
            Err(e) => return (messages, Some(e.to_string())),
        };
        let (delivery, sequence) = match message.info() {
            Ok(info) => (info.consumer_sequence, info.stream_sequence),
            Err(e) => return (messages, Some(format!("a message is not of this consumer: {e}"))),
        };
        let after = messages.last().map_or(done, |(last, _)| *last);
        if delivery != *next || sequence <= after {
            return (messages, Some(format!("expected delivery {next}, got {delivery}, message {sequence}")));
        }
        *next += 1;
        messages.push((sequence, message));
    }
    (messages, None)
}
