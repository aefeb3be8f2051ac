//! The output to Kafka with real brokers. They take minutes, so `make nightly` runs these tests, and `make test` those of the gateway and of the faults.

#![allow(clippy::unwrap_used)]

mod access;
mod faults;
mod payloads;
mod records;

use dunnage_outputs::{Class, Failed, FailureKind, Message, Output, OutputKind, OutputSettings, open};
use dunnage_test_support::{
    kafka::{Kafka, Protocol},
    runtime,
};
use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};
use tokio::runtime::Runtime;

/// A broker of its own.
struct Bench {
    kafka: Kafka,
    runtime: Runtime,
}

impl Bench {
    /// Starts a broker with further settings.
    fn new(protocol: Protocol, properties: &str) -> Bench {
        Bench { kafka: Kafka::with(protocol, properties), runtime: runtime() }
    }

    /// Opens an output to the topic `t` with further settings, in which `FOLDER` is the broker's folder.
    fn output(&self, settings: &str) -> Arc<dyn Output> {
        let folder = self.kafka.path("");
        let settings = settings.replace("FOLDER", folder.to_str().unwrap());
        open_at(&self.kafka.address(), &settings).unwrap()
    }

    fn deliver(&self, output: &Arc<dyn Output>, messages: &[Message]) -> Result<(), Failed> {
        self.runtime.block_on(output.deliver(messages))
    }
}

fn open_at(brokers: &str, settings: &str) -> Result<Arc<dyn Output>, String> {
    let text = format!("brokers = '{brokers}'\ntopic = 't'\n{settings}");
    let kind = toml::from_str(&text).map_err(|e| e.to_string())?;
    open(&OutputSettings::new("log", OutputKind::Kafka(kind))).map_err(|e| e.to_string())
}

/// A message of `device` with the value `json`, received now: brokers drop old records, and forget the sequences of who wrote them.
fn message(id: i64, device: &str, json: &str) -> Message {
    let mut message = Message { media_type: Some("application/json"), ..Message::default() };
    message.stored.id = id;
    message.stored.stable_id = format!("id-{id}");
    message.stored.device = device.into();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros();
    message.stored.received_at = i64::try_from(now).unwrap();
    message.stored.format = "json".into();
    message.stored.request = "r1".into();
    message.stored.json = json.into();
    message
}

/// Asserts that a call failed for the brokers' sake, and returns the reason.
#[track_caller]
fn retried(result: Result<(), Failed>, expected: Class) -> String {
    let failed = result.unwrap_err();
    assert_eq!((failed.kind, failed.class), (FailureKind::Retry(None), expected), "{}", failed.reason);
    failed.reason
}
