//! The output `[output.nats]`: publishes to a NATS JetStream, on a subject for each device. A message is delivered when the stream has
//! acknowledged it.

use super::{Failed, Message, Output, Partitions, Shape, origin};
use async_nats::{
    connection::State,
    header::HeaderMap,
    jetstream::{
        self, Context, ErrorCode,
        context::{GetStreamErrorKind, PublishError, PublishErrorKind},
        message::PublishMessage,
        stream,
    },
};
use bytes::Bytes;
use dunnage_clients::{
    nats::{Access, Servers, header, header_of, partition_of, token_of},
    secret::SecretFile,
};
use serde::{Deserialize, Serialize};
use std::{
    error::Error,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::sync::Mutex;

/// Example for the default configuration, commented out.
pub const EXAMPLE: &str = "\
# A NATS JetStream, with a subject per device. A message is delivered when the stream has acknowledged it.
# [[output]]
# name = \"stream\"
# [output.nats]
# servers = [\"nats://127.0.0.1:4222\"]
# stream = \"DUNNAGE\"
# subject = \"dunnage.{device}\"   # or dunnage.{partition}.{device}, to share the devices among several forwarders
# partitions = 16
# payload = \"json\"               # or raw: the bytes as they arrived, for an input.nats
# ack_timeout_seconds = 5
# Files, if the servers require them: credentials or token_file; ca_file enables TLS.
# [output.nats.create]           # creates the stream if it is missing
# replicas = 3
# max_age_seconds = 604800       # older messages are removed, delivered or not
# max_bytes = 8589934592         # must suffice for the messages of max_age_seconds: a full stream rejects new ones
# duplicate_window_seconds = 120
";

/// The settings in `[output.nats]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// URLs of servers of one cluster.
    pub servers: Vec<String>,
    /// The stream. Messages are never stored in another stream, regardless of their subject.
    pub stream: String,
    /// The subject. `{device}` must be one of its tokens, and `{partition}` may be another.
    #[serde(default = "subject")]
    pub subject: String,
    /// The number of partitions.
    #[serde(default = "partitions")]
    pub partitions: u64,
    /// The payload of a NATS message.
    #[serde(default)]
    pub payload: Payload,
    /// Longest time to wait for the stream's acknowledgement.
    #[serde(default = "ack_timeout_seconds")]
    pub ack_timeout_seconds: u64,
    /// A credentials file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<PathBuf>,
    /// A file with a token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_file: Option<PathBuf>,
    /// CA certificates, as PEM. With them, the connection uses TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
    /// How to create the stream if it is missing. Otherwise the output waits for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub create: Option<Create>,
}

/// The payload of a NATS message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Payload {
    /// The value, as compact JSON.
    #[default]
    Json,
    /// The raw bytes.
    Raw,
}

/// The settings in `[output.nats.create]`. The stream rejects messages when it is full, and deletes old ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Create {
    /// The number of replicas.
    pub replicas: usize,
    /// How long the stream keeps messages; 0 for no limit.
    pub max_age_seconds: u64,
    /// Largest number of bytes of messages on each server; 0 for the servers' limit. A full stream rejects messages.
    pub max_bytes: u64,
    /// How long the stream detects duplicates.
    pub duplicate_window_seconds: u64,
}

impl Default for Create {
    fn default() -> Self {
        Create { replicas: 3, max_age_seconds: 7 * 86400, max_bytes: 8 << 30, duplicate_window_seconds: 120 }
    }
}

fn subject() -> String {
    "dunnage.{device}".into()
}

fn partitions() -> u64 {
    16
}

fn ack_timeout_seconds() -> u64 {
    5
}

/// The output.
pub struct Nats {
    servers: Servers,
    settings: Settings,
    /// The connection, and the count of credential changes with which it was made.
    context: Mutex<Option<(u64, Context)>>,
    /// Whether the stream was found since the last failure.
    there: AtomicBool,
    looking: Mutex<()>,
}

impl Nats {
    /// Creates the output. Returns an error for invalid settings.
    pub fn new(settings: &Settings) -> Result<Nats, String> {
        let access = Access {
            servers: &settings.servers,
            credentials: settings.credentials.as_deref(),
            token_file: settings.token_file.as_deref(),
            ca_file: settings.ca_file.as_deref(),
        };
        check_subject(&settings.subject)?;
        if settings.partitions == 0 {
            return Err("partitions: must be at least 1".into());
        }
        if settings.ack_timeout_seconds == 0 {
            return Err("ack_timeout_seconds: must be at least 1".into());
        }
        if settings.stream.is_empty() || settings.stream.contains(['.', '*', '>', '/', '\\', ' ', '\t']) {
            return Err(format!("stream: {:?} is not a valid stream name", settings.stream));
        }
        Ok(Nats {
            servers: Servers::new(&access)?,
            settings: settings.clone(),
            context: Mutex::default(),
            there: AtomicBool::new(false),
            looking: Mutex::new(()),
        })
    }

    /// Returns the connection. Connects on the first call, and again after the credentials have changed. Returns an error while there is no
    /// connection, so that the client queues no messages.
    async fn connected(&self) -> Result<Context, Failed> {
        let connect = || async {
            let client = self.servers.connect(&self.settings.stream).await?;
            let timeout = Duration::from_secs(self.settings.ack_timeout_seconds);
            // Wait for the connection. Its state is checked below.
            let _ = tokio::time::timeout(timeout, client.flush()).await;
            Ok(jetstream::context::ContextBuilder::new().timeout(timeout).build(client))
        };
        let mut made = self.context.lock().await;
        let changes = self.servers.changes();
        let context = match &*made {
            Some((of, context)) if *of == changes => context.clone(),
            _ => {
                let context = connect().await.map_err(|e: String| Failed::retry(e))?;
                made.insert((changes, context)).1.clone()
            }
        };
        drop(made);
        match context.client().connection_state() {
            State::Connected => Ok(context),
            _ => Err(Failed::retry(format!("no connection to {}", self.settings.servers.join(", ")))),
        }
    }

    /// Checks that the stream exists, and creates it if the settings say so.
    async fn find_stream(&self, context: &Context) -> Result<(), Failed> {
        let _one_at_a_time = self.looking.lock().await;
        if self.there.load(Ordering::Acquire) {
            return Ok(());
        }
        let name = &self.settings.stream;
        match context.get_stream(name).await {
            Ok(stream) => warn_of_discards(&stream.cached_info().config),
            Err(e) => {
                let missing = |e: &jetstream::Error| e.error_code() == ErrorCode::STREAM_NOT_FOUND;
                if !matches!(e.kind(), GetStreamErrorKind::JetStream(answer) if missing(&answer)) {
                    return Err(Failed::retry(format!("stream {name}: {e}")));
                }
                self.create(context).await?;
            }
        }
        self.there.store(true, Ordering::Release);
        Ok(())
    }

    /// Creates the stream if the settings say so.
    async fn create(&self, context: &Context) -> Result<(), Failed> {
        let name = &self.settings.stream;
        let Some(create) = &self.settings.create else {
            let hint = "create it, or set [output.nats.create]";
            return Err(Failed::retry(format!("stream {name} does not exist: {hint}")));
        };
        let made = context.create_stream(self.stream(create)).await;
        made.map_err(|e| {
            let bytes = create.max_bytes;
            Failed::retry(format!(
                "stream {name} cannot be created: {e}; the servers must have room for max_bytes = {bytes}"
            ))
        })?;
        tracing::info!(stream = name, replicas = create.replicas, "the stream was created");
        Ok(())
    }

    fn stream(&self, create: &Create) -> stream::Config {
        stream::Config {
            name: self.settings.stream.clone(),
            subjects: vec![self.settings.subject.replace("{device}", "*").replace("{partition}", "*")],
            num_replicas: create.replicas,
            max_age: Duration::from_secs(create.max_age_seconds),
            max_bytes: match create.max_bytes {
                0 => -1,
                bytes => i64::try_from(bytes).unwrap_or(i64::MAX),
            },
            duplicate_window: Duration::from_secs(create.duplicate_window_seconds),
            discard: stream::DiscardPolicy::New,
            ..Default::default()
        }
    }

    fn subject_of(&self, device: &str) -> String {
        let partition = partition_of(device, self.settings.partitions).to_string();
        self.settings.subject.replace("{partition}", &partition).replace("{device}", &token_of(device))
    }

    /// Returns the payload of `message`. Raw bytes that a network server decoded are not in the format of the message, so their receiver
    /// could not decode them.
    fn payload_of(&self, message: &Message) -> Payload {
        match origin::is_decoded(message.origin.as_deref()) {
            true => Payload::Json,
            false => self.settings.payload,
        }
    }

    async fn publish(&self, message: &Message) -> Result<(), Failed> {
        let context = self.connected().await?;
        if !self.there.load(Ordering::Acquire) {
            self.find_stream(&context).await?;
        }
        let kind = self.payload_of(message);
        let payload = match kind {
            Payload::Json => Bytes::copy_from_slice(message.payload().as_bytes()),
            Payload::Raw => message.raw.clone(),
        };
        let publish = PublishMessage::build()
            .payload(payload)
            .headers(headers(message, kind))
            .message_id(&message.stable_id)
            .expected_stream(&self.settings.stream);
        let acknowledged = match context.send_publish(self.subject_of(&message.device), publish).await {
            Ok(sent) => sent.await,
            Err(e) => Err(e),
        };
        let acknowledged = acknowledged.map_err(|e| self.failed(&e))?;
        if acknowledged.duplicate {
            tracing::debug!(message = message.stable_id, "the stream already had the message");
        }
        Ok(())
    }

    fn failed(&self, error: &PublishError) -> Failed {
        let text = format!("stream {}: {error}", self.settings.stream);
        let answer = error.source().and_then(|source| source.downcast_ref::<jetstream::Error>());
        match (error.kind(), answer.map(jetstream::Error::error_code)) {
            (PublishErrorKind::MaxPayloadExceeded, _)
            | (
                _,
                Some(ErrorCode::STREAM_MESSAGE_EXCEEDS_MAXIMUM | ErrorCode::STREAM_HEADER_EXCEEDS_MAXIMUM),
            ) => Failed::refused(text),
            _ => {
                // The stream may have been deleted, or another stream may have its subjects.
                self.there.store(false, Ordering::Release);
                Failed::retry(text)
            }
        }
    }
}

#[async_trait::async_trait]
impl Output for Nats {
    fn shape(&self) -> Shape {
        Shape { partitions: Partitions::PerDevice, batch: 1, linger: Duration::ZERO }
    }

    async fn deliver(&self, messages: &[Message]) -> Result<(), Failed> {
        for (delivered, message) in messages.iter().enumerate() {
            self.publish(message).await.map_err(|failed| failed.after(delivered))?;
        }
        Ok(())
    }

    fn secrets(&self) -> Vec<Arc<SecretFile>> {
        self.servers.secrets()
    }

    async fn close(&self) {
        if let Some((_, context)) = &*self.context.lock().await {
            // Everything that was delivered is acknowledged. This only closes the connection in order.
            let _ = context.client().drain().await;
        }
    }
}

/// Warns of a stream that discards its oldest messages when it is full, because such a loss goes unnoticed.
fn warn_of_discards(config: &stream::Config) {
    let bounded = config.max_bytes > 0 || config.max_messages > 0 || config.max_messages_per_subject > 0;
    if bounded && config.discard == stream::DiscardPolicy::Old {
        let stream = &config.name;
        tracing::warn!(
            stream,
            "the stream discards its oldest messages when it is full, delivered or not: set its discard policy to new"
        );
    }
}

/// Checks that each placeholder is a whole token, and that no token is a wildcard.
fn check_subject(subject: &str) -> Result<(), String> {
    let tokens: Vec<_> = subject.split('.').collect();
    let fits = |token: &&str| match *token {
        "{device}" | "{partition}" => true,
        text => !text.is_empty() && !text.contains(['*', '>', '{', '}', ' ', '\t', '\r', '\n']),
    };
    if !tokens.iter().all(fits) || !tokens.contains(&"{device}") {
        let rule = "must be tokens separated by dots, one of them {device}; {partition} may be another";
        return Err(format!("subject: {subject:?} {rule}"));
    }
    Ok(())
}

/// Returns the headers that describe the message. All values are names, numbers, media types or compact JSON, so none can break a header.
fn headers(message: &Message, payload: Payload) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(header::DEVICE, header_of(&message.device));
    if let Some(name) = message.device_name() {
        headers.insert(header::DEVICE_NAME, header_of(name));
    }
    if let Some(tags) = message.tags_json() {
        headers.insert(header::TAGS, tags);
    }
    headers.insert(header::RECEIVED_AT, message.received_at.to_string());
    headers.insert(header::FORMAT, message.format.as_str());
    headers.insert(header::REQUEST, message.request.as_str());
    if let Some(schema) = &message.schema {
        headers.insert(header::SCHEMA, schema.as_str());
    }
    if let Some(link) = &message.link {
        headers.insert(header::LINK, link.as_str());
    }
    if let Some(origin) = &message.origin {
        headers.insert(header::ORIGIN, origin.as_str());
    }
    let media_type = match payload {
        Payload::Json => Some("application/json".to_owned()),
        Payload::Raw => {
            message.media_type.map(|media_type| origin::with_slot(media_type, message.origin.as_deref()))
        }
    };
    if let Some(media_type) = media_type {
        headers.insert(header::CONTENT_TYPE, media_type);
    }
    headers
}

#[cfg(test)]
mod tests;
