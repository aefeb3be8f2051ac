//! Senders of packed messages, each in its shortest form: deltas against messages that the gateway has acknowledged.

use crate::{
    Failure,
    gateway::Gateway,
    sender::{Sender, Senders, agent, status},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use dunnage_formats::{Format, Json};
use dunnage_packed::{Layout, Sender as Packed, Training, is_delta};
use dunnage_schema::Model;
use serde_json::json;
use std::{
    collections::HashMap,
    path::Path,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
};

/// The name of the messages' schema.
const SCHEMA: &str = "numbered";

/// The behaviour of the senders of a row, and counts of their messages.
#[derive(Default)]
pub struct Deltas {
    /// Deltas that were sent.
    pub sent: AtomicU64,
    /// Deltas that the gateway refused, because it did not have their reference.
    pub refused: AtomicU64,
    /// How often the devices were restarted. A restarted device forgets which messages were acknowledged.
    pub restarts: AtomicU64,
    /// Devices are told about every n-th acknowledgement only; 0 for all.
    pub acknowledged_every: u64,
}

impl Deltas {
    /// The number of deltas, and of those that were refused.
    pub fn counts(&self) -> (u64, u64) {
        (self.sent.load(SeqCst), self.refused.load(SeqCst))
    }
}

/// The schema of the fleet's messages, with statistics: the number of a message is hard to guess without a recent message.
static TRAINED: LazyLock<String> = LazyLock::new(|| {
    let mut schema = json!({
        "title": "Numbered", "type": "object", "additionalProperties": false, "required": ["n", "text"],
        "properties": {"n": {"type": "integer", "minimum": 0, "maximum": 1_u64 << 52}, "text": {"const": ""}}
    });
    let layout = Layout::untrained(&Model::compile(&schema.to_string()).unwrap());
    let mut training = Training::new(&layout).unwrap();
    for n in (0..1 << 52).step_by(1 << 43) {
        let example = training.example(&message(n)).unwrap();
        training.add(&example);
        for later in 1..=8 {
            let later = training.example(&message(n + later)).unwrap();
            training.add_change(&later, &example);
        }
    }
    schema["x-dunnage-statistics"] = json!(BASE64_STANDARD.encode(training.finish().statistics));
    schema.to_string()
});

static LAYOUT: LazyLock<Layout> = LazyLock::new(|| Layout::new(&Model::compile(&TRAINED).unwrap()).unwrap());

fn message(n: u64) -> dunnage_packed::Value {
    Json.decode(json!({"n": n, "text": ""}).to_string().as_bytes()).unwrap()
}

/// Writes the schema into `folder`, and returns the configuration of a gateway whose devices send messages of it.
pub fn schema(folder: &Path) -> Result<String, Failure> {
    std::fs::write(folder.join(format!("{SCHEMA}.json")), &*TRAINED)?;
    Ok(format!("[schemas]\npath = {folder:?}\n[[profile]]\ndevice = \"d*\"\nschema = \"{SCHEMA}\"\n"))
}

/// Creates `connections` senders.
pub fn senders(gateway: &Gateway, connections: usize, deltas: &Arc<Deltas>) -> Senders {
    let one = |_| DeltaSender {
        agent: agent(),
        url: format!("{}/ingest", gateway.url()),
        devices: HashMap::new(),
        restarts: 0,
        deltas: Arc::clone(deltas),
    };
    (0..connections).map(|n| Box::new(one(n)) as Box<dyn Sender>).collect()
}

struct DeltaSender {
    agent: ureq::Agent,
    url: String,
    devices: HashMap<String, Packed<&'static Layout>>,
    restarts: u64,
    deltas: Arc<Deltas>,
}

impl DeltaSender {
    /// Encodes the message for the state of `device`, and posts it.
    fn post(&mut self, device: &str, key: &str, body: &str) -> Option<u16> {
        let state = self.devices.entry(device.to_owned()).or_insert_with(|| Packed::new(&*LAYOUT, 1));
        let mut bytes = Vec::new();
        state.encode(&Json.decode(body.as_bytes()).unwrap(), &mut bytes).unwrap();
        self.deltas.sent.fetch_add(is_delta(&bytes).into(), SeqCst);
        let request = self.agent.post(format!("{}/{device}", self.url));
        let request = request.header("content-type", "application/vnd.dunnage.packed");
        status(request.header("idempotency-key", key).send(&bytes[..]))
    }
}

impl Sender for DeltaSender {
    fn send(&mut self, device: &str, key: &str, body: &str) -> Option<u16> {
        let restarts = self.deltas.restarts.load(SeqCst);
        if self.restarts != restarts {
            self.restarts = restarts;
            self.devices.clear();
        }
        let mut answer = self.post(device, key, body);
        if answer == Some(409) {
            self.deltas.refused.fetch_add(1, SeqCst);
            self.devices.get_mut(device)?.forget();
            answer = self.post(device, key, body);
        }
        let number: u64 = key.rsplit('-').next()?.parse().ok()?;
        let every = self.deltas.acknowledged_every;
        if answer == Some(204) && (every == 0 || number.is_multiple_of(every)) {
            let state = self.devices.get_mut(device)?;
            state.last().map(|name| state.acknowledged(name));
        }
        answer
    }
}
