//! The output to InfluxDB and to others with its line protocol: with real servers, and with one that answers as a script says.

mod faults;
mod values;
mod victoria;
mod wire;

use dunnage_outputs::{Failed, FailureKind, Message, Output, OutputKind, OutputSettings, open};
use dunnage_test_support::{influx::Influx, runtime};
use std::sync::{
    Arc, LazyLock, Mutex, Weak,
    atomic::{AtomicU32, Ordering},
};
use tokio::runtime::Runtime;

/// A database of its own.
pub struct Database {
    pub server: Arc<Influx>,
    pub name: String,
}

impl Database {
    /// Makes a database in a server that all tests share while any of them runs.
    pub fn new() -> Database {
        static SERVER: Mutex<Weak<Influx>> = Mutex::new(Weak::new());
        let mut shared = SERVER.lock().unwrap();
        let server = shared.upgrade().unwrap_or_else(|| Arc::new(Influx::start()));
        *shared = Arc::downgrade(&server);
        Database::of(server)
    }

    /// Makes a database in `server`.
    pub fn of(server: Arc<Influx>) -> Database {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("test{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        server.query(&name, &format!("CREATE DATABASE {name}"));
        Database { server, name }
    }

    pub fn url(&self) -> String {
        self.server.url(&format!("/write?db={}", self.name))
    }

    pub fn output(&self) -> Arc<dyn Output> {
        open_at(&self.url(), "").unwrap()
    }

    /// Returns the rows of a query as JSON, one a line.
    pub fn query(&self, query: &str) -> String {
        let rows = self.server.query(&self.name, query).into_iter();
        rows.map(|row| serde_json::Value::from(row).to_string()).collect::<Vec<_>>().join("\n")
    }
}

/// Opens the output with `settings` in addition to the URL.
pub fn open_at(url: &str, settings: &str) -> Result<Arc<dyn Output>, String> {
    let text = format!("url = '{url}'\n{settings}");
    let settings = OutputSettings::new("points", OutputKind::Influx(toml::from_str(&text).unwrap()));
    open(&settings).map_err(|e| e.to_string())
}

pub fn deliver(output: &Arc<dyn Output>, messages: &[Message]) -> Result<(), Failed> {
    static RUNTIME: LazyLock<Runtime> = LazyLock::new(runtime); // one for all, because the client keeps connections
    RUNTIME.block_on(output.deliver(messages))
}

/// Delivers as the forwarder does: a refused message is skipped. Returns the reasons.
pub fn deliver_all(output: &Arc<dyn Output>, mut messages: &[Message]) -> Vec<String> {
    let mut refused = Vec::new();
    while let Err(failed) = deliver(output, messages) {
        assert_eq!(failed.kind, FailureKind::Refused, "{failed:?}");
        messages = &messages[failed.delivered + 1..];
        refused.push(failed.reason);
        if messages.is_empty() {
            break;
        }
    }
    refused
}

/// Asserts that a call failed for the receiver's sake, and returns the reason.
pub fn retried(result: Result<(), Failed>, expected: dunnage_outputs::Class) -> String {
    let failed = result.unwrap_err();
    assert_eq!((failed.kind, failed.class), (FailureKind::Retry(None), expected), "{}", failed.reason);
    failed.reason
}
