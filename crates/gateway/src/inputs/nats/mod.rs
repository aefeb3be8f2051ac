//! `[input.nats]`: takes messages out of a NATS stream, each acknowledged to the stream after its commit.
//!
//! The durable consumer acknowledges all messages up to one (`AckPolicy::All`), and delivers in the order of the stream. After
//! anything that may have changed that order (a start, a lost connection, another leader, a redelivery) it is set back
//! to the last message that is done (consumer reset, NATS server 2.14), and goes on in order from there. Within a batch,
//! a device's message waits for the commit of the one before it. So a device's messages are stored in their order, whatever fails.

mod message;

use crate::{
    inputs::{Input, incoming::Incoming},
    nats::{Access, Servers},
    shared::{Shared, said},
};
use async_nats::jetstream::{
    AckKind, Context, Message,
    consumer::{AckPolicy, PullConsumer, pull},
    context::ContextBuilder,
    stream::Stream,
};
use futures_util::{StreamExt, future};
use serde::{Deserialize, Serialize};
use std::{collections::HashMap, path::PathBuf, sync::Arc, time::Duration};
use tokio::sync::watch;

/// What the commented default configuration says.
pub const EXAMPLE: &str = "\
# What other gateways put into a NATS stream, with payload = \"raw\". The servers have to be 2.14 or newer. One gateway to a consumer.
# [[input]]
# name = \"fleet\"
# [input.nats]
# servers = [\"nats://127.0.0.1:4222\"]
# stream = \"DUNNAGE\"
# consumer = \"forwarder-1\"       # made when it is missing
# subjects = [\"dunnage.0.>\", \"dunnage.1.>\"]   # empty: all of the stream
# in_flight_messages = 1024
# Files, if the servers want them: credentials, or token_file; ca_file makes the connection TLS.
";

/// Longest wait for an answer of the servers.
const TIMEOUT: Duration = Duration::from_secs(5);
/// How often a consumer without messages says that it is there.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// When a message that was not acknowledged is delivered again.
const ACK_WAIT: Duration = Duration::from_secs(60);
/// Shortest and longest wait before it is tried again.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// `[input.nats]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// URLs of servers of one cluster.
    pub servers: Vec<String>,
    /// The stream.
    pub stream: String,
    /// The durable consumer, of this gateway alone.
    pub consumer: String,
    /// Which of the stream's subjects it has; empty for all.
    #[serde(default)]
    pub subjects: Vec<String>,
    /// Most messages that are taken at a time and not yet acknowledged.
    #[serde(default = "in_flight_messages")]
    pub in_flight_messages: usize,
    /// A credentials file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<PathBuf>,
    /// A file that holds a token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_file: Option<PathBuf>,
    /// Certificates to trust, as PEM. The connection is TLS then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
}

fn in_flight_messages() -> usize {
    1024
}

/// An input that takes from a stream.
pub struct Nats {
    name: Arc<str>,
    servers: Servers,
    settings: Settings,
}

/// How far the input is in the stream.
#[derive(Default)]
struct Position {
    /// When the stream was made, in nanoseconds since 1970: numbers of another one mean nothing.
    stream: i128,
    /// Every message up to this one is durable here; `None` until the consumer has said what it knows.
    done: Option<u64>,
}

impl Nats {
    /// The input `name` that `settings` describe. An error says what is wrong with them.
    pub fn new(name: &str, settings: &Settings) -> Result<Nats, String> {
        let access = Access {
            servers: &settings.servers,
            credentials: settings.credentials.as_deref(),
            token_file: settings.token_file.as_deref(),
            ca_file: settings.ca_file.as_deref(),
        };
        for (key, text) in [("stream", &settings.stream), ("consumer", &settings.consumer)] {
            if text.is_empty() || text.contains(['.', '*', '>', '/', '\\', ' ', '\t']) {
                return Err(format!("{key}: {text:?} is no {key}'s name"));
            }
        }
        if settings.in_flight_messages == 0 {
            return Err("in_flight_messages: must be at least 1".into());
        }
        Ok(Nats { name: name.into(), servers: Servers::new(&access)?, settings: settings.clone() })
    }

    /// Takes messages from behind `position` until the gateway stops, or until the order may be another: then it says why.
    async fn session(
        &self,
        shared: &Arc<Shared>,
        context: &mut Option<Context>,
        position: &mut Position,
        stopping: &mut watch::Receiver<bool>,
    ) -> Result<(), String> {
        if context.is_none() {
            let client = self.servers.connect(&self.name).await?;
            *context = Some(ContextBuilder::new().timeout(TIMEOUT).build(client));
        }
        let Some(context) = context.as_ref() else { return Err("no connection".into()) };
        let (consumer, mut next) = tokio::select! {
            opened = self.open(context, position) => opened?,
            () = said(stopping) => return Ok(()),
        };
        let batch = self.settings.in_flight_messages;
        let messages = consumer.stream().max_messages_per_batch(batch).heartbeat(HEARTBEAT).messages().await;
        let mut batches = messages.map_err(|e| e.to_string())?.ready_chunks(batch);
        loop {
            let batch = tokio::select! {
                batch = batches.next() => batch.ok_or("the consumer ended")?,
                () = said(stopping) => return Ok(()),
            };
            let (batch, trouble) = in_order(batch, &mut next, position.done.unwrap_or_default());
            if let Some((last, message)) = batch.last() {
                let (last, acknowledgement) = (*last, message.clone());
                if !self.store(shared, batch, stopping).await {
                    return Ok(());
                }
                position.done = Some(last);
                acknowledgement.ack_with(AckKind::Ack).await.map_err(|e| e.to_string())?;
            }
            if let Some(trouble) = trouble {
                return Err(trouble);
            }
        }
    }

    /// The consumer, set back to what is done, and the number of its next delivery.
    async fn open(&self, context: &Context, position: &mut Position) -> Result<(PullConsumer, u64), String> {
        let name = &self.settings.stream;
        let stream = context.get_stream(name).await.map_err(|e| format!("stream {name}: {e}"))?;
        let created = stream.cached_info().created.unix_timestamp_nanos();
        if position.stream != created {
            *position = Position { stream: created, done: None };
        }
        let mut consumer = self.consumer(&stream).await?;
        let answer = consumer.reset(position.done.map(|done| done + 1)).await;
        let answer =
            answer.map_err(|e| format!("the consumer is not reset (NATS 2.14 or newer can): {e}"))?;
        let done = answer.reset_seq.saturating_sub(1);
        position.done = Some(done);
        let first = stream.cached_info().state.first_sequence;
        if done > 0 && first > done + 1 {
            let (input, up_to) = (&self.name, first - done - 1);
            tracing::error!(%input, stream = name, up_to, "the stream has forgotten messages before they were taken");
        }
        tracing::info!(input = %self.name, stream = name, after = done, waiting = answer.info.num_pending, "takes messages");
        Ok((consumer, answer.info.delivered.consumer_sequence + 1))
    }

    async fn consumer(&self, stream: &Stream) -> Result<PullConsumer, String> {
        let name = &self.settings.consumer;
        let config = pull::Config {
            durable_name: Some(name.clone()),
            ack_policy: AckPolicy::All,
            ack_wait: ACK_WAIT,
            filter_subjects: self.settings.subjects.clone(),
            max_ack_pending: i64::try_from(self.settings.in_flight_messages).unwrap_or(i64::MAX),
            ..Default::default()
        };
        stream.create_consumer(config).await.map_err(|e| format!("consumer {name}: {e}"))
    }

    /// Makes a batch durable: devices beside one another, the messages of each in their order. False if the gateway stops
    /// before that is done.
    async fn store(
        &self,
        shared: &Arc<Shared>,
        batch: Vec<(u64, Message)>,
        stopping: &watch::Receiver<bool>,
    ) -> bool {
        let mut lanes: Vec<Vec<Incoming>> = Vec::new();
        let mut lane_of: HashMap<String, usize> = HashMap::new();
        for (_, message) in batch {
            let incoming = message::read(shared, &self.name, message);
            let lane = *lane_of.entry(incoming.device().to_owned()).or_insert(lanes.len());
            match lanes.get_mut(lane) {
                Some(messages) => messages.push(incoming),
                None => lanes.push(vec![incoming]),
            }
        }
        let lanes = lanes.into_iter().map(|messages| async move {
            for message in messages {
                // There is no other temporary error than the gateway's end.
                if message.store(shared, stopping).await.is_err_and(|problem| problem.is_temporary()) {
                    return false;
                }
            }
            true
        });
        future::join_all(lanes).await.into_iter().all(|stored| stored)
    }
}

#[async_trait::async_trait]
impl Input for Nats {
    async fn run(self: Box<Self>, shared: Arc<Shared>, mut stopping: watch::Receiver<bool>) {
        let mut position = Position::default();
        let (mut context, mut pause) = (None, PAUSES.0);
        while !*stopping.borrow() {
            let before = position.done;
            let Err(reason) = self.session(&shared, &mut context, &mut position, &mut stopping).await else {
                break;
            };
            tracing::warn!(input = %self.name, reason, "taken up again");
            pause = if position.done > before { PAUSES.0 } else { PAUSES.1.min(pause * 2) };
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = said(&mut stopping) => {}
            }
        }
        if let Some(context) = context {
            let _ = tokio::time::timeout(TIMEOUT, context.client().flush()).await;
        }
    }
}

/// The messages of `batch`, by their numbers in the stream, up to the first that is not the next one, and what is wrong with that.
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
            Err(e) => return (messages, Some(format!("a message that is not the consumer's: {e}"))),
        };
        let after = messages.last().map_or(done, |(last, _)| *last);
        if delivery != *next || sequence <= after {
            return (messages, Some(format!("delivery {delivery} in place of {next}, message {sequence}")));
        }
        *next += 1;
        messages.push((sequence, message));
    }
    (messages, None)
}
