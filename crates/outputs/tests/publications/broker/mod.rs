//! The output to MQTT with a real broker.

mod access;
mod discovery;
mod faults;
mod payloads;
mod sparkplug;

use dunnage_outputs::{Class, Failed, FailureKind, Message, Output, OutputKind, OutputSettings, open};
use dunnage_test_support::{mosquitto::Mosquitto, runtime};
use std::{path::Path, sync::Arc};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// A broker of its own, in a folder of its own.
struct Bench {
    folder: TempDir,
    broker: Mosquitto,
    runtime: Runtime,
}

impl Bench {
    /// Starts a broker with `more` lines in its configuration, in which `FOLDER` is its folder.
    fn new(more: &str) -> Bench {
        Bench::with(more, |_| ())
    }

    /// Starts a broker after `prepare` has put files into its folder.
    fn with(more: &str, prepare: impl FnOnce(&Path)) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        prepare(folder.path());
        let more = more.replace("FOLDER", folder.path().to_str().unwrap());
        let anonymous = if more.contains("allow_anonymous") { "" } else { "allow_anonymous true\n" };
        // mosquitto 2.0.11 ends a connection after each refused message if this limit is 0, as `start_in` sets it.
        let queue = "max_queued_messages 100000\n";
        let broker = Mosquitto::start_in(folder.path(), &format!("{anonymous}{queue}{more}"));
        Bench { folder, broker, runtime: runtime() }
    }

    fn output(&self, settings: &str) -> Arc<dyn Output> {
        open_at(&format!("mqtt://127.0.0.1:{}", self.broker.port), settings).unwrap()
    }

    fn deliver(&self, output: &Arc<dyn Output>, message: &Message) -> Result<(), Failed> {
        self.runtime.block_on(output.deliver(std::slice::from_ref(message)))
    }
}

fn open_at(url: &str, settings: &str) -> Result<Arc<dyn Output>, String> {
    let kind = toml::from_str(&format!("url = '{url}'\n{settings}")).map_err(|e| e.to_string())?;
    open(&OutputSettings::new("broker", OutputKind::Mqtt(kind))).map_err(|e| e.to_string())
}

/// A message of `device` with the value `json`.
fn message(device: &str, json: &str) -> Message {
    let mut message = Message { media_type: Some("application/json"), ..Message::default() };
    message.stored.stable_id = format!("id-of-{json}");
    message.stored.device = device.into();
    message.stored.received_at = 1_767_225_600_000_001;
    message.stored.format = "json".into();
    message.stored.request = "r1".into();
    message.stored.raw = json.as_bytes().to_vec().into();
    message.stored.json = json.into();
    message
}

/// Asserts that a call failed for the broker's sake, and returns the reason.
#[track_caller]
fn retried(result: Result<(), Failed>, expected: Class) -> String {
    let failed = result.unwrap_err();
    assert_eq!((failed.kind, failed.class), (FailureKind::Retry(None), expected), "{}", failed.reason);
    failed.reason
}

/// Asserts that a message was refused, and returns the reason.
#[track_caller]
fn refused(result: Result<(), Failed>) -> String {
    let failed = result.unwrap_err();
    assert_eq!(failed.kind, FailureKind::Refused, "{}", failed.reason);
    failed.reason
}
