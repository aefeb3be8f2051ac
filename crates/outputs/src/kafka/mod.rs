//! The output `[output.kafka]`: writes records to a topic, in order for each device.
//!
//! The producer is idempotent, so what it repeats after a network error is stored once. A record that is delivered again after a restart,
//! or that was not acknowledged in time, may be stored twice, with the same stable ID in its header.

mod record;
mod settings;

pub use dunnage_clients::kafka::Mechanism;
pub use settings::{EXAMPLE, Sasl, Settings};

use crate::{Class, Failed, Message, Output, Partitions, Shape};
use dunnage_clients::{
    kafka::{Error, Kind, Producer, Record},
    secret::SecretFile,
};
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
    timeout: Duration,
    /// IDs of messages that were delivered although an earlier one failed. They are not sent again.
    ahead: Mutex<HashSet<i64>>,
}

impl Kafka {
    /// Creates the output. Returns an error for invalid settings.
    pub fn new(settings: &Settings) -> Result<Kafka, String> {
        let timeout = Duration::from_secs(settings.timeout_seconds);
        Ok(Kafka { producer: settings.producer()?, timeout, ahead: Mutex::default() })
    }

    /// Takes note of the results of `open`, those of `messages` that were not delivered before. Returns the first failure.
    fn settle(
        &self,
        messages: &[Message],
        open: &[&Message],
        results: Vec<Result<(), Error>>,
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
        failure.map_or(Ok(()), |error| Err(failed(error).after(delivered)))
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

    async fn deliver(&self, messages: &[Message]) -> Result<(), Failed> {
        let open: Vec<&Message> = {
            let ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
            messages.iter().filter(|message| !ahead.contains(&message.id)).collect()
        };
        let records: Vec<Record> = open.iter().map(|message| record::of(message)).collect();
        let results = self.producer.send(&records).await;
        self.settle(messages, &open, results)
    }

    fn deadline(&self) -> Duration {
        self.timeout + MARGIN
    }

    fn secrets(&self) -> Vec<Arc<SecretFile>> {
        self.producer.secrets()
    }
}
