//! The output `[output.kafka]`: writes records to a topic, in order for each device.
//!
//! The producer is idempotent, so what it repeats after a network error is stored once. A record that is delivered again after a restart,
//! or that was not acknowledged in time, may be stored twice, with the same stable ID in its header.

mod payload;
mod record;
mod registry;
mod settings;

pub use dunnage_clients::kafka::Mechanism;
pub use settings::{EXAMPLE, Payload, Registry, Sasl, Settings};

use crate::{Catalog, Class, Failed, Message, Output, Partitions, Shape};
use dunnage_clients::{
    kafka::{Error, Kind, Producer, Record},
    secret::SecretFile,
};
use payload::Values;
use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// How long a call may take beyond `timeout_seconds`, in which the producer gives up by itself.
const MARGIN: Duration = Duration::from_secs(10);

/// The output.
pub struct Kafka {
    producer: Producer,
    values: Values,
    catalog: Mutex<Option<Arc<dyn Catalog>>>,
    timeout: Duration,
    /// IDs of messages that were delivered although an earlier one failed. They are not sent again.
    ahead: Mutex<HashSet<i64>>,
}

impl Kafka {
    /// Creates the output. Returns an error for invalid settings.
    pub fn new(settings: &Settings) -> Result<Kafka, String> {
        let timeout = Duration::from_secs(settings.timeout_seconds);
        let producer = settings.producer()?;
        let registry = settings.registry.as_ref();
        let registry =
            registry.map(|registry| registry::Registry::new(registry, &settings.topic)).transpose();
        let values = Values::new(settings.payload, registry.map_err(|e| format!("registry.{e}"))?)?;
        Ok(Kafka { producer, values, catalog: Mutex::default(), timeout, ahead: Mutex::default() })
    }

    /// Makes the records of the messages up to the first that cannot have one.
    async fn records(&self, messages: &[&Message]) -> (Vec<Record>, Option<Failed>) {
        let catalog = self.catalog.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut records = Vec::with_capacity(messages.len());
        for message in messages {
            match self.values.of(message, catalog.as_ref()).await {
                Ok(value) => records.push(record::of(message, value)),
                Err(failed) => return (records, Some(failed)),
            }
        }
        (records, None)
    }

    /// Takes note of the results of `open`, those of `messages` that were not delivered before. Returns the first failure.
    fn settle(
        &self,
        messages: &[Message],
        open: &[&Message],
        results: Vec<Result<(), Failed>>,
    ) -> Result<(), Failed> {
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(at) = results.iter().position(Result::is_err) else {
            ahead.retain(|id| !messages.iter().any(|message| message.id == *id));
            return Ok(());
        };
        let first = open[at].id;
        ahead.retain(|id| !messages.iter().any(|message| message.id == *id && *id < first));
        let behind = open.iter().zip(&results).skip(at).filter(|(_, result)| result.is_ok());
        ahead.extend(behind.map(|(message, _)| message.id));
        let delivered = messages.iter().position(|message| message.id == first).unwrap_or_default();
        let failure = results.into_iter().find_map(Result::err);
        failure.map_or(Ok(()), |failed| Err(failed.after(delivered)))
    }
}

fn failed(error: Error) -> Failed {
    let class = match error.kind {
        Kind::Refused => return Failed::refused(error.reason),
        Kind::Connection => Class::Connection,
        Kind::Timeout => Class::Timeout,
        Kind::Busy => Class::Busy,
        Kind::Denied => Class::Denied,
        Kind::Missing => Class::Missing,
        Kind::Failing => Class::Failing,
        Kind::Other => Class::Other,
    };
    Failed::retry(error.reason).because(class)
}

#[async_trait::async_trait]
impl Output for Kafka {
    fn shape(&self) -> Shape {
        Shape { partitions: Partitions::Together, batch: 1024, linger: Duration::from_millis(5) }
    }

    fn learn(&self, catalog: Arc<dyn Catalog>) {
        *self.catalog.lock().unwrap_or_else(PoisonError::into_inner) = Some(catalog);
    }

    async fn deliver(&self, messages: &[Message]) -> Result<(), Failed> {
        let open: Vec<&Message> = {
            let ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
            messages.iter().filter(|message| !ahead.contains(&message.id)).collect()
        };
        let (records, end) = self.records(&open).await;
        let mut results = Vec::with_capacity(open.len());
        if !records.is_empty() {
            let sent = self.producer.send(&records).await.into_iter();
            results.extend(sent.map(|result| result.map_err(failed)));
        }
        results.extend(end.map(Err));
        self.settle(messages, &open, results)
    }

    fn deadline(&self) -> Duration {
        self.timeout + MARGIN
    }

    fn secrets(&self) -> Vec<Arc<SecretFile>> {
        let registry = match &self.values {
            Values::Typed(typed) => typed.registry.secrets(),
            Values::Json | Values::Envelope => Vec::new(),
        };
        self.producer.secrets().into_iter().chain(registry).collect()
    }
}
