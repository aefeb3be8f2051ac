//! Messages as publications to a real MQTT broker.

use crate::support::{JSON, mosquitto::Mosquitto, start_with, subscriber::Subscriber, wait::wait_for};
use dunnage_gateway::{OutputKind, OutputSettings};
use std::{collections::HashSet, fs};
use tempfile::TempDir;

const SOIL: &str = r#"{"type": "object", "required": ["moisture"], "properties": {
    "moisture": {"type": "number", "multipleOf": 0.1, "minimum": 0, "maximum": 100, "x-dunnage-unit": "%"},
    "note": {"type": "string"}}}"#;

#[test]
fn devices_are_announced_before_their_messages_and_a_refused_one_is_a_dead_letter() {
    let (folder, schemas) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let limits = "allow_anonymous true\nmax_queued_messages 100000\nmessage_size_limit 1000";
    let broker = Mosquitto::start_in(folder.path(), limits);
    fs::write(schemas.path().join("soil.json"), SOIL).unwrap();
    let subscriber = Subscriber::new(broker.port);
    let gateway = start_with(|config| {
        config.schemas.path = schemas.path().into();
        let text = format!("url = 'mqtt://127.0.0.1:{}'\ndiscovery = 'home-assistant'", broker.port);
        let kind = OutputKind::Mqtt(toml::from_str(&text).unwrap());
        config.outputs.push(OutputSettings::new("home", kind));
    });
    let post = |device: usize, body: &str| {
        let answer = gateway.post(&format!("/ingest/d{device}?schema=soil"), JSON, body.as_bytes());
        assert_eq!(answer.status, 204, "{body}");
    };
    for n in 0..50 {
        post(n % 5, &format!(r#"{{"moisture":{n}.5}}"#));
    }
    post(0, &format!(r#"{{"moisture":1,"note":"{}"}}"#, "x".repeat(2000)));
    post(0, r#"{"moisture":99.9,"note":"after"}"#);
    let received = subscriber.wait(5 * 2 + 51);
    let (mut announced, mut numbers) = (HashSet::new(), Vec::new());
    for publish in received {
        match publish.topic.strip_prefix("dunnage/") {
            None => drop(announced.insert(publish.topic.split('/').nth(2).unwrap().to_owned())),
            Some(device) => {
                assert!(announced.contains(device), "{device} was not announced first");
                let value: serde_json::Value = serde_json::from_slice(&publish.payload).unwrap();
                numbers.push((device.to_owned(), value["moisture"].as_f64().unwrap()));
            }
        }
    }
    for device in 0..5 {
        let of = numbers.iter().filter(|(of, _)| *of == format!("d{device}")).map(|(_, number)| *number);
        let mut expected: Vec<f64> = (0..10).map(|n| f64::from(device + 5 * n) + 0.5).collect();
        expected.extend((device == 0).then_some(99.9));
        assert_eq!(of.collect::<Vec<_>>(), expected);
    }
    wait_for(|| {
        let stats = gateway.get_json("/api/stats");
        let output = &stats["outputs"][0];
        let done = output["refused"] == 1 && output["lag_messages"] == 0;
        if done && output["last_failure"].to_string().contains("PacketTooLarge") {
            Ok(())
        } else {
            Err(stats.to_string())
        }
    });
    gateway.stop();
}

#[test]
fn a_sparkplug_node_is_born_without_messages_and_dies_with_the_gateway() {
    let broker = Mosquitto::start();
    let subscriber = Subscriber::new(broker.port);
    let gateway = start_with(|config| {
        let text = format!("url = 'mqtt://127.0.0.1:{}'\n[sparkplug]\ngroup = 'g'\nnode = 'n'", broker.port);
        let kind = OutputKind::Mqtt(toml::from_str(&text).unwrap());
        config.outputs.push(OutputSettings::new("scada", kind));
    });
    assert_eq!(subscriber.wait(1)[0].topic, "spBv1.0/g/NBIRTH/n");
    for body in [r#"{"t":1}"#, r#"{"t":2}"#] {
        assert_eq!(gateway.post("/ingest/d%2F1", JSON, body.as_bytes()).status, 204);
    }
    subscriber.wait(3);
    gateway.stop();
    let topics: Vec<_> = subscriber.wait(4).iter().map(|publish| publish.topic.clone()).collect();
    let expected = ["NBIRTH/n", "DBIRTH/n/d%2F1", "DDATA/n/d%2F1", "NDEATH/n"];
    assert_eq!(topics[..4], expected.map(|end| format!("spBv1.0/g/{end}")));
}
