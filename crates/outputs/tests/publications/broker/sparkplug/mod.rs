//! What a Sparkplug host gets. The reader and writer of payloads are prost-reflect's, by a definition of the tests' own.

mod hosts;
mod sessions;
mod values;

use super::{Bench, message, open_at};
use dunnage_clients::mqtt::{Client, Event, Options, Publication, Publish, Version};
use dunnage_outputs::{Failed, Message, Output};
use dunnage_test_support::{subscriber::Subscriber, wait::wait_for};
use mqtt_protocol_core::mqtt::packet::Qos;
use prost_reflect::{
    DescriptorPool, DynamicMessage, MessageDescriptor, SerializeOptions, prost::Message as _,
};
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};

const NODE: &str = "timeout_seconds = 2\n[sparkplug]\ngroup = 'Plant 1'\nnode = 'dunnage'\n";

/// A message of the node.
#[derive(Debug, Clone)]
struct Seen {
    /// `NBIRTH`, ...
    kind: String,
    device: Option<String>,
    /// The payload, by prost-reflect.
    payload: Value,
}

impl Seen {
    /// Returns the metric with a name, without what no test looks at.
    fn metric(&self, name: &str) -> Value {
        let all = self.payload["metrics"].as_array().unwrap();
        let found = all.iter().find(|metric| metric["name"] == name);
        found.unwrap_or_else(|| panic!("no {name} in {}", self.payload)).clone()
    }

    fn bd_seq(&self) -> u64 {
        self.metric("bdSeq")["long_value"].as_u64().unwrap()
    }

    fn is(&self, kind: &str, device: &str) -> bool {
        self.kind == kind && self.device.as_deref() == Some(device)
    }

    /// Returns `NBIRTH`, `DDATA d`, ...
    fn title(&self) -> String {
        self.device.as_ref().map_or(self.kind.clone(), |device| format!("{} {device}", self.kind))
    }
}

fn descriptor() -> MessageDescriptor {
    static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/publications/broker/sparkplug");
        let files = protox::compile(["payload.proto"], [folder]).unwrap();
        DescriptorPool::from_file_descriptor_set(files).unwrap()
    });
    POOL.get_message_by_name("Payload").unwrap()
}

/// Returns the node's message in a publication; `None` for another one.
fn seen(publish: &Publish) -> Option<Seen> {
    let levels: Vec<_> = publish.topic.split('/').collect();
    let (kind, device) = match levels[..] {
        ["spBv1.0", "Plant 1", kind, "dunnage"] => (kind, None),
        ["spBv1.0", "Plant 1", kind, "dunnage", device] => (kind, Some(device.to_owned())),
        _ => return None,
    };
    if kind == "NCMD" {
        return None;
    }
    let payload = DynamicMessage::decode(descriptor(), &publish.payload[..]).unwrap();
    assert_eq!(payload.unknown_fields().count(), 0, "{}", publish.topic);
    let options = SerializeOptions::new().stringify_64_bit_integers(false).use_proto_field_name(true);
    let payload = payload.serialize_with_options(serde_json::value::Serializer, &options).unwrap();
    // An NDEATH is a will, whose QoS is 1; all others have QoS 0.
    assert!(!publish.retain && (kind == "NDEATH" || publish.qos == Qos::AtMostOnce), "{publish:?}");
    Some(Seen { kind: kind.to_owned(), device, payload })
}

fn all_seen(subscriber: &Subscriber) -> Vec<Seen> {
    subscriber.received().iter().filter_map(|publish| seen(publish)).collect()
}

/// Waits until the node has sent `count` messages, and returns all.
#[track_caller]
fn wait(subscriber: &Subscriber, count: usize) -> Vec<Seen> {
    wait_for(|| {
        let all = all_seen(subscriber);
        if all.len() >= count { Ok(all) } else { Err(titles(&all)) }
    })
}

fn titles(all: &[Seen]) -> Vec<String> {
    all.iter().map(Seen::title).collect()
}

/// Asserts that numbers ascend from each NBIRTH, which has 0.
#[track_caller]
fn assert_numbered(all: &[Seen]) {
    let mut next = 0;
    for seen in all.iter().filter(|seen| seen.kind != "NDEATH") {
        let number = seen.payload["seq"].as_u64().unwrap();
        assert_eq!(number, if seen.kind == "NBIRTH" { 0 } else { next }, "{:?}", titles(all));
        next = (number + 1) % 256;
    }
}

/// Publishes to the broker as a host does, and waits until the broker has the message.
fn publish(bench: &Bench, topic: &str, payload: Vec<u8>, retain: bool) {
    bench.runtime.block_on(async {
        let id = format!("host-{}", fastrand::u64(..));
        let options = Options::new(Version::V5, id, "127.0.0.1", bench.broker.port);
        let (mut client, _) = Client::connect(&options).await.unwrap();
        let topic = topic.to_owned();
        let sent = Publication { topic, payload: payload.into(), retain, ..Publication::default() };
        let id = client.send(&sent).unwrap().unwrap();
        while !matches!(client.next(true).await.unwrap(), Event::Acknowledged(of, _) if of == id) {}
        client.close().await;
    });
}

/// Sends a command with this metric to the node.
fn command(bench: &Bench, metric: &Value) {
    let payload = json!({"timestamp": 1, "metrics": [metric]});
    let payload = DynamicMessage::deserialize(descriptor(), payload).unwrap().encode_to_vec();
    publish(bench, "spBv1.0/Plant 1/NCMD/dunnage", payload, false);
}

fn rebirth() -> Value {
    json!({"name": "Node Control/Rebirth", "datatype": 11, "boolean_value": true})
}

/// Does what the forwarder does every second.
fn tend(bench: &Bench, output: &Arc<dyn Output>) {
    bench.runtime.block_on(output.tend("buffer", values::catalog("{}")));
}

/// Returns a message that was captured `seconds` after the first.
fn at(seconds: i64, device: &str, json: &str) -> Message {
    let mut message = message(device, json);
    message.stored.received_at += seconds * 1_000_000;
    message
}

fn deliver(bench: &Bench, output: &Arc<dyn Output>, message: &Message) -> Result<(), Failed> {
    bench.deliver(output, message)
}

#[test]
fn births_come_before_data_and_all_are_numbered() {
    let bench = Bench::new("");
    let subscriber = Subscriber::new(bench.broker.port);
    let output = bench.output(NODE);
    for seconds in 0..300 {
        let device = if seconds % 2 == 0 { "even" } else { "odd" };
        assert_eq!(deliver(&bench, &output, &at(seconds, device, &format!("{{\"n\":{seconds}}}"))), Ok(()));
    }
    let all = wait(&subscriber, 301);
    assert_eq!(titles(&all)[..5], ["NBIRTH", "DBIRTH even", "DBIRTH odd", "DDATA even", "DDATA odd"]);
    assert!(all[3..].iter().all(|seen| seen.kind == "DDATA"));
    assert_numbered(&all);
    let (birth, now) = (&all[0], dunnage_base::clock::now() as u64 / 1000);
    assert!(birth.payload["timestamp"].as_u64().unwrap() > now - 300_000);
    assert_eq!((birth.bd_seq(), &birth.metric("bdSeq")["datatype"]), (0, &json!(4)));
    let rebirth = birth.metric("Node Control/Rebirth");
    assert_eq!((&rebirth["datatype"], &rebirth["boolean_value"]), (&json!(11), &json!(false)));
    let captured = 1_767_225_600_000_u64;
    assert_eq!(
        all[1].payload["metrics"],
        json!([{"name": "n", "timestamp": captured, "datatype": 4, "long_value": 0}])
    );
    assert_eq!(
        all[300].payload["metrics"],
        json!([{"name": "n", "timestamp": captured + 299_000, "long_value": 299}])
    );
}

#[test]
fn settings_that_contradict_sparkplug_are_named() {
    for (settings, key) in [
        ("topic = 'a/{device}'", "topic"),
        ("retain = true", "retain"),
        ("payload = 'envelope'", "payload"),
        ("discovery = 'home-assistant'", "discovery"),
        ("timeout_seconds = 0", "timeout_seconds"),
        ("client_id = ''", "client_id"),
    ] {
        let settings = format!("{settings}\n[sparkplug]\ngroup = 'g'\nnode = 'n'");
        let error = open_at("mqtt://127.0.0.1", &settings).err().unwrap();
        assert!(error.contains(&format!(": {key}: ")), "{settings}: {error}");
    }
    let long = "x".repeat(129);
    for (ids, key) in [
        ("group = ''\nnode = 'n'", "sparkplug.group"),
        ("group = 'STATE'\nnode = 'n'", "sparkplug.group"),
        ("group = 'g'\nnode = 'a/b'", "sparkplug.node"),
        ("group = 'g'\nnode = '+'", "sparkplug.node"),
        (&format!("group = 'g'\nnode = '{long}'"), "sparkplug.node"),
        ("group = 'g'\nnode = 'n'\nprimary_host = 'a#'", "sparkplug.primary_host"),
    ] {
        let error = open_at("mqtt://127.0.0.1", &format!("[sparkplug]\n{ids}")).err().unwrap();
        assert!(error.contains(&format!(": {key}: ")), "{ids}: {error}");
    }
    for (ids, missing) in
        [("group = 'g'", "node"), ("node = 'n'", "group"), ("group = 'g'\nnode = 'n'\nx = 1", "x")]
    {
        let error = open_at("mqtt://127.0.0.1", &format!("[sparkplug]\n{ids}")).err().unwrap();
        assert!(error.contains(missing), "{ids}: {error}");
    }
}
