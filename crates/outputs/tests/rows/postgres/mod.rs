//! The output to PostgreSQL with a real server.

mod faults;
mod storage;
mod tables;
mod values;

use dunnage_outputs::{Catalog, Failed, Message, Output, OutputKind, OutputSettings, open};
use dunnage_register::Record;
use dunnage_schema::Model;
use dunnage_test_support::{postgres::Postgres, runtime};
use std::sync::{
    Arc, Mutex, Weak,
    atomic::{AtomicU32, Ordering},
};
use tokio::runtime::Runtime;

/// A database of its own, and an output to it.
pub struct Database {
    pub server: Arc<Postgres>,
    pub name: String,
    runtime: Runtime,
}

/// A schema of a configuration.
struct Schema {
    name: String,
    versions: Vec<Model>,
    units: Vec<(String, String)>,
}

impl Database {
    /// Makes a database in a server that all tests share while any of them runs.
    pub fn new() -> Database {
        static SERVER: Mutex<Weak<Postgres>> = Mutex::new(Weak::new());
        let mut shared = SERVER.lock().unwrap();
        let server = shared.upgrade().unwrap_or_else(|| Arc::new(Postgres::start_with(&["fsync=on"])));
        *shared = Arc::downgrade(&server);
        Database::of(server)
    }

    /// Makes a database in `server`.
    pub fn of(server: Arc<Postgres>) -> Database {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("test{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        server.query("postgres", &format!("CREATE DATABASE {name}"));
        Database { server, name, runtime: runtime() }
    }

    /// Opens the output with `settings` in addition to the URL.
    pub fn output(&self, settings: &str) -> Arc<dyn Output> {
        open_at(&self.server.url(&self.name), settings)
    }

    pub fn query(&self, sql: &str) -> String {
        self.server.query(&self.name, sql)
    }

    pub fn deliver(&self, output: &Arc<dyn Output>, messages: &[Message]) -> Result<(), Failed> {
        self.runtime.block_on(output.deliver(messages))
    }

    /// Delivers as the forwarder does: a refused message is skipped. Returns the reasons.
    pub fn deliver_all(&self, output: &Arc<dyn Output>, mut messages: &[Message]) -> Vec<String> {
        let mut refused = Vec::new();
        while !messages.is_empty() {
            match self.deliver(output, messages) {
                Ok(()) => break,
                Err(failed) => {
                    assert_eq!(failed.kind, dunnage_outputs::FailureKind::Refused, "{failed:?}");
                    messages = &messages[failed.delivered + 1..];
                    refused.push(failed.reason);
                }
            }
        }
        refused
    }
}

pub fn open_at(url: &str, settings: &str) -> Arc<dyn Output> {
    let text = format!("url = '{url}'\n{settings}");
    open(&OutputSettings::new("database", OutputKind::Postgres(toml::from_str(&text).unwrap()))).unwrap()
}

/// Gives `output` a schema, with these versions.
pub fn learn(output: &Arc<dyn Output>, name: &str, versions: &[&str]) {
    let units = dunnage_schema::units(versions[0]);
    let versions = versions.iter().map(|text| Model::compile(text).unwrap()).collect();
    output.learn(Arc::new(Schema { name: name.to_owned(), versions, units }));
}

/// A message of the schema `schema`, if that is not empty.
pub fn message(n: usize, schema: &str, json: &str) -> Message {
    let mut message = Message::default();
    message.stored.id = i64::try_from(n).unwrap();
    message.stored.stable_id = format!("m{n}");
    message.stored.device = format!("d{}", n % 7);
    message.stored.received_at = 1_767_225_600_000_001 + i64::try_from(n).unwrap() * 1000;
    message.stored.schema = Some(schema.to_owned()).filter(|schema| !schema.is_empty());
    message.stored.json = json.into();
    message
}

impl Catalog for Schema {
    fn path(&self, _: &str, _: Option<&str>) -> Arc<str> {
        "".into()
    }

    fn record(&self, _: &str) -> Option<Arc<Record>> {
        None
    }

    fn media_type(&self, _: &str) -> Option<&'static str> {
        None
    }

    fn versions<'a>(&'a self, schema: &str) -> Box<dyn Iterator<Item = &'a Model> + 'a> {
        let is_known = schema == self.name;
        Box::new(self.versions.iter().filter(move |_| is_known))
    }

    fn units(&self, schema: &str) -> &[(String, String)] {
        if schema == self.name { &self.units } else { &[] }
    }
}
