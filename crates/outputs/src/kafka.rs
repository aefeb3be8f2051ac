//! The output `[output.kafka]`: writes records to a topic, in order for each device.
//!
//! The producer is idempotent, so what it repeats after a network error is stored once. A record that is delivered again after a restart is
//! stored twice, with the same stable ID in its header.

use super::{Class, Failed, Message, Output, Partitions, Shape};
use dunnage_clients::nats::header;
use rdkafka::{
    ClientConfig,
    error::{KafkaError, RDKafkaErrorCode},
    message::{Header, OwnedHeaders},
    producer::{DeliveryFuture, FutureProducer, FutureRecord, Producer},
};
use serde::{Deserialize, Serialize};
use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// Example for the default configuration, commented out.
pub const EXAMPLE: &str = "\
# A topic of Kafka; the key of a record is its device. Connections are not encrypted.
# [[output]]
# name = \"log\"
# [output.kafka]
# brokers = \"127.0.0.1:9092\"
# topic = \"telemetry\"
# timeout_seconds = 30
";

/// The header with the stable ID. The other headers are those of the NATS output.
const NAME: &str = "Dunnage-Name";
/// Delay before a message is offered again to a producer whose queue is full.
const RETRY_DELAY: Duration = Duration::from_millis(20);

/// The settings in `[output.kafka]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Bootstrap brokers: `HOST:PORT`, separated by commas.
    pub brokers: String,
    /// The topic.
    pub topic: String,
    /// Longest time until all in-sync replicas acknowledge a record, in seconds.
    #[serde(default = "timeout_seconds")]
    pub timeout_seconds: u64,
}

fn timeout_seconds() -> u64 {
    30
}

/// The output.
pub struct Kafka {
    config: ClientConfig,
    topic: String,
    producer: Mutex<FutureProducer>,
    /// IDs of messages that were delivered although an earlier one failed. They are not sent again.
    ahead: Mutex<HashSet<i64>>,
}

type Sent = Result<(), KafkaError>;

impl Kafka {
    /// Creates the output. Returns an error for invalid settings.
    pub fn new(settings: &Settings) -> Result<Kafka, String> {
        for (key, text) in [("brokers", &settings.brokers), ("topic", &settings.topic)] {
            if text.is_empty() {
                return Err(format!("{key}: must not be empty"));
            }
        }
        if settings.timeout_seconds == 0 {
            return Err("timeout_seconds: must be at least 1".into());
        }
        let mut config = ClientConfig::new();
        config
            .set("bootstrap.servers", &settings.brokers)
            .set("client.id", "dunnage")
            .set("enable.idempotence", "true")
            .set("acks", "all")
            .set("message.timeout.ms", (settings.timeout_seconds * 1000).to_string())
            // A broker with a lower limit rejects the record itself.
            .set("message.max.bytes", "16777216")
            .set("queue.buffering.max.kbytes", "65536")
            .set("linger.ms", "0")
            // The default of Java's clients, so that a device's records are in one partition whichever client writes them.
            .set("partitioner", "murmur2_random");
        let producer = config.create().map_err(|e| e.to_string())?;
        let topic = settings.topic.clone();
        Ok(Kafka { config, topic, producer: Mutex::new(producer), ahead: Mutex::default() })
    }

    /// Returns the producer, or a new one after a fatal error.
    fn producer(&self) -> Result<FutureProducer, Failed> {
        let mut producer = self.producer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((code, reason)) = producer.client().fatal_error() {
            tracing::warn!(%code, reason, "the Kafka producer failed; creating a new one");
            *producer = self.config.create().map_err(|e| Failed::retry(e.to_string()))?;
        }
        Ok(producer.clone())
    }

    /// Sends `messages` in order, and waits for the result of each.
    async fn send(&self, producer: &FutureProducer, messages: &[&Message]) -> Vec<Sent> {
        let mut reports = Vec::with_capacity(messages.len());
        for message in messages {
            reports.push(self.enqueue(producer, message).await);
        }
        let mut sent = Vec::with_capacity(messages.len());
        for report in reports {
            sent.push(match report {
                Err(e) => Err(e),
                Ok(report) => match report.await {
                    Ok(Ok(_)) => Ok(()),
                    Ok(Err((e, _))) => Err(e),
                    Err(_) => Err(KafkaError::Canceled),
                },
            });
        }
        sent
    }

    async fn enqueue(
        &self,
        producer: &FutureProducer,
        message: &Message,
    ) -> Result<DeliveryFuture, KafkaError> {
        loop {
            let record = FutureRecord::to(&self.topic)
                .key(&message.device)
                .payload(message.payload())
                .timestamp(message.received_at / 1000)
                .headers(headers(message));
            match producer.send_result(record) {
                Ok(report) => return Ok(report),
                Err((e, _)) if e.rdkafka_error_code() == Some(RDKafkaErrorCode::QueueFull) => {
                    tokio::time::sleep(RETRY_DELAY).await;
                }
                Err((e, _)) => return Err(e),
            }
        }
    }
}

fn headers(message: &Message) -> OwnedHeaders {
    let (received_at, tags) = (message.received_at.to_string(), message.tags_json());
    let device_name = message.device_name().map(str::to_owned);
    [
        (NAME, Some(&message.stable_id)),
        (header::DEVICE, Some(&message.device)),
        (header::DEVICE_NAME, device_name.as_ref()),
        (header::TAGS, tags.as_ref()),
        (header::RECEIVED_AT, Some(&received_at)),
        (header::FORMAT, Some(&message.format)),
        (header::SCHEMA, message.schema.as_ref()),
        (header::LINK, message.link.as_ref()),
        (header::REQUEST, Some(&message.request)),
        (header::ORIGIN, message.origin.as_ref()),
    ]
    .into_iter()
    .filter(|(_, value)| value.is_some())
    .fold(OwnedHeaders::new(), |headers, (key, value)| headers.insert(Header { key, value }))
}

/// Returns whether the broker rejected a record as too large. The broker judges a batch by the size of all its records, so the record
/// itself may be small enough.
fn is_too_large(sent: &Sent) -> bool {
    let code = sent.as_ref().err().and_then(KafkaError::rdkafka_error_code);
    matches!(code, Some(RDKafkaErrorCode::MessageSizeTooLarge))
}

/// Returns whether the broker rejected a record for what it is: its size, its content, or a time that is too far from the broker's.
fn is_never_accepted(sent: &Sent) -> bool {
    use RDKafkaErrorCode::{
        InvalidMessage, InvalidMessageSize, InvalidRecord, InvalidTimestamp, PolicyViolation,
    };
    let code = sent.as_ref().err().and_then(KafkaError::rdkafka_error_code);
    let rejected = [InvalidMessage, InvalidMessageSize, InvalidRecord, InvalidTimestamp, PolicyViolation];
    is_too_large(sent) || code.is_some_and(|code| rejected.contains(&code))
}

#[async_trait::async_trait]
impl Output for Kafka {
    fn shape(&self) -> Shape {
        Shape { partitions: Partitions::Together, batch: 1024, linger: Duration::from_millis(5) }
    }

    async fn deliver(&self, messages: &[Message]) -> Result<(), Failed> {
        let producer = self.producer()?;
        let open: Vec<&Message> = {
            let ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
            messages.iter().filter(|message| !ahead.contains(&message.id)).collect()
        };
        let mut sent = self.send(&producer, &open).await;
        for (message, sent) in open.iter().zip(&mut sent) {
            if is_too_large(sent) && open.len() > 1 {
                *sent = self.send(&producer, &[*message]).await.pop().unwrap_or(Err(KafkaError::Canceled));
            }
        }
        let failed = sent.iter().position(Result::is_err);
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(failed) = failed else {
            ahead.retain(|id| !messages.iter().any(|message| message.id == *id));
            return Ok(());
        };
        let first = open[failed].id;
        ahead.retain(|id| !messages.iter().any(|message| message.id == *id && *id < first));
        let behind = open.iter().zip(&sent).skip(failed).filter(|(_, sent)| sent.is_ok());
        ahead.extend(behind.map(|(message, _)| message.id));
        drop(ahead);
        let delivered = messages.iter().position(|message| message.id == open[failed].id).unwrap_or_default();
        let never = is_never_accepted(&sent[failed]);
        let Err(error) = sent.swap_remove(failed) else { return Ok(()) };
        let failed = match never {
            true => Failed::refused(error.to_string()),
            false => Failed::retry(error.to_string()).because(class(&error)),
        };
        Err(failed.after(delivered))
    }
}

fn class(error: &KafkaError) -> Class {
    use RDKafkaErrorCode::{
        AllBrokersDown, BrokerTransportFailure, MessageTimedOut, NotEnoughReplicas, RequestTimedOut,
        TopicAuthorizationFailed, UnknownTopic, UnknownTopicOrPartition,
    };
    match error.rdkafka_error_code() {
        Some(AllBrokersDown | BrokerTransportFailure) => Class::Connection,
        Some(MessageTimedOut | RequestTimedOut) => Class::Timeout,
        Some(TopicAuthorizationFailed) => Class::Denied,
        Some(UnknownTopic | UnknownTopicOrPartition) => Class::Missing,
        Some(NotEnoughReplicas) => Class::Failing,
        _ => Class::Other,
    }
}
