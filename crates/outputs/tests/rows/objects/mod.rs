//! The output to object stores with a real S3 server, and a proxy in front of it that makes faults.

mod faults;
mod once;
mod settings;

use dunnage_outputs::{
    Catalog, Failed, Message, Output,
    objects::{Objects, Settings},
};
use dunnage_register::Record;
use dunnage_schema::Model;
use dunnage_test_support::{
    faulty::Faulty,
    runtime,
    s3::{KEY, S3, SECRET},
};
use parquet::{
    file::reader::{FileReader, SerializedFileReader},
    record::RowAccessor,
};
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};
use tokio::runtime::Runtime;

/// A day in microseconds.
const DAY: i64 = 86_400_000_000;

/// A bucket of its own, and a proxy to its server.
pub struct Bucket {
    pub server: Arc<S3>,
    pub name: String,
    pub proxy: Faulty,
    pub runtime: Runtime,
}

/// A catalog of one schema, `s`.
struct Schema(Model);

impl Bucket {
    /// Makes a bucket in a server that all tests share while any of them runs.
    pub fn new() -> Bucket {
        static SERVER: Mutex<Weak<S3>> = Mutex::new(Weak::new());
        let mut shared = SERVER.lock().unwrap();
        let server = shared.upgrade().unwrap_or_else(|| Arc::new(S3::start()));
        *shared = Arc::downgrade(&server);
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("bucket{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        server.make(&name);
        let proxy = Faulty::start(server.address);
        Bucket { server, name, proxy, runtime: runtime() }
    }

    /// Opens the output with the kind `kind`, as a process that begins after the message `resumed`.
    pub fn output(&self, kind: &str, resumed: i64) -> Objects {
        self.output_with(&format!("kind = '{kind}'"), resumed)
    }

    /// Opens the output with `settings` in addition to URL and endpoint.
    pub fn output_with(&self, settings: &str, resumed: i64) -> Objects {
        let text = format!(
            "url = 's3://{}/pre/fix'\nendpoint = 'http://{}'\n{settings}",
            self.name, self.proxy.address
        );
        let settings: Settings = toml::from_str(&text).unwrap();
        let output = Objects::with(&settings, environment(), Duration::from_secs(3)).unwrap();
        output.resume("", resumed);
        let schema =
            r#"{"type": "object", "properties": {"n": {"type": "integer"}, "note": {"type": "string"}}}"#;
        output.learn(Arc::new(Schema(Model::compile(schema).unwrap())));
        output
    }

    pub fn deliver(&self, output: &Objects, messages: &[Message]) -> Result<(), Failed> {
        self.runtime.block_on(output.deliver(messages))
    }

    /// Returns the objects below the prefix, without manifests, by key.
    pub fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        let is_object = |key: &str| !key.starts_with("_manifests/");
        self.below().into_iter().filter(|(key, _)| is_object(key)).collect()
    }

    fn below(&self) -> BTreeMap<String, Vec<u8>> {
        let all = self.server.objects(&self.name).into_iter();
        all.map(|(key, bytes)| (key.strip_prefix("pre/fix/").unwrap().to_owned(), bytes)).collect()
    }

    /// Returns the IDs of the messages in each object. Checks the manifests against the objects.
    pub fn ids(&self) -> BTreeMap<String, Vec<i64>> {
        let all = self.below();
        let objects = self.objects();
        assert_eq!(all.len(), 2 * objects.len(), "{:?}", all.keys());
        let with_ids = objects.into_iter().map(|(key, bytes)| {
            let ids = ids_in(&key, &bytes);
            let manifest: serde_json::Value =
                serde_json::from_slice(&all[&format!("_manifests/{key}.json")]).unwrap();
            let sha256: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
            let told = ["object", "rows", "first", "last", "bytes", "sha256"].map(|name| &manifest[name]);
            let found: [serde_json::Value; 6] = [
                format!("pre/fix/{key}").into(),
                ids.len().into(),
                ids[0].into(),
                ids[ids.len() - 1].into(),
                bytes.len().into(),
                sha256.into(),
            ];
            assert_eq!(told, found.each_ref(), "{key}");
            (key, ids)
        });
        with_ids.collect()
    }

    /// Returns all IDs in all objects, in ascending order.
    pub fn all_ids(&self) -> Vec<i64> {
        let mut ids: Vec<_> = self.ids().into_values().flatten().collect();
        ids.sort_unstable();
        ids
    }
}

pub fn environment() -> impl Iterator<Item = (String, String)> {
    [("AWS_ACCESS_KEY_ID", KEY), ("AWS_SECRET_ACCESS_KEY", SECRET)]
        .map(|(name, value)| (name.into(), value.into()))
        .into_iter()
}

fn ids_in(key: &str, bytes: &[u8]) -> Vec<i64> {
    if key.ends_with(".parquet") {
        let reader = SerializedFileReader::new(bytes::Bytes::copy_from_slice(bytes)).unwrap();
        return reader.get_row_iter(None).unwrap().map(|row| row.unwrap().get_long(1).unwrap()).collect();
    }
    if key.ends_with(".csv") {
        let mut reader = csv::Reader::from_reader(bytes);
        return reader.records().map(|record| record.unwrap()[1].parse().unwrap()).collect();
    }
    let id = |line: &[u8]| serde_json::from_slice::<serde_json::Value>(line).unwrap()["id"].as_i64().unwrap();
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(id).collect()
}

/// A message of the buffer `b`, received on the first of January 2026 or `days` later.
pub fn message(id: i64, schema: &str, days: i64) -> Message {
    let mut message = Message::default();
    message.stored.id = id;
    message.stored.buffer = "b".into();
    message.stored.stable_id = format!("mb-{id}");
    message.stored.device = format!("d{}", id % 7);
    message.stored.received_at = 1_767_225_600_000_000 + id * 1000 + days * DAY;
    message.stored.schema = Some(schema.to_owned()).filter(|schema| !schema.is_empty());
    message.stored.json = format!("{{\"n\":{id},\"note\":\"é\"}}").into();
    message
}

/// Messages without a schema.
pub fn messages(ids: std::ops::RangeInclusive<i64>) -> Vec<Message> {
    ids.map(|id| message(id, "", 0)).collect()
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
        Box::new((schema == "s").then_some(&self.0).into_iter())
    }
}
