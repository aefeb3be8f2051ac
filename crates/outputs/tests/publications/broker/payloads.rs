//! What subscribers get.

use super::{Bench, message};
use dunnage_clients::nats::device_of;
use dunnage_register::{Record, Tags};
use dunnage_test_support::subscriber::Subscriber;
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};

const VALUE: &str = r#"{"t":21.50,"wind":{"gust":12345678901234567890},"note":"é"}"#;

#[test]
fn each_payload_arrives_with_both_versions() {
    let bench = Bench::new("");
    for version in ["5", "3.1.1"] {
        let subscriber = Subscriber::new(bench.broker.port);
        let mut all = message("d", VALUE);
        all.stored.schema = Some("soil".into());
        all.stored.link = Some("lora".into());
        all.stored.origin = Some(r#"{"input":"hook"}"#.into());
        all.stored.raw = b"\x00\xff\x01".to_vec().into();
        all.media_type = Some("application/x-raw");
        for payload in ["json", "envelope", "raw", "fields"] {
            let settings = format!(
                "version = '{version}'\npayload = '{payload}'\ntopic = '{payload}/{{device}}/{{schema}}'"
            );
            assert_eq!(bench.deliver(&bench.output(&settings), &all), Ok(()));
        }
        let received = subscriber.wait(6);
        let topics: Vec<_> = received.iter().map(|publish| &*publish.topic).collect();
        let fields = ["fields/d/soil/t", "fields/d/soil/wind/gust", "fields/d/soil/note"];
        assert_eq!(topics, [&["json/d/soil", "envelope/d/soil", "raw/d/soil"][..], &fields[..]].concat());
        assert_eq!(received[0].payload, VALUE.as_bytes());
        let envelope: Value = serde_json::from_slice(&received[1].payload).unwrap();
        let expected = json!({"name": all.stable_id, "device": "d", "received_at": "2026-01-01T00:00:00.000Z", "format": "json",
            "schema": "soil", "link": "lora", "request": "r1", "origin": {"input": "hook"}});
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(envelope[key], *value, "{key}");
        }
        assert!(received[1].payload.ends_with(format!("\"value\":{VALUE}}}").as_bytes()));
        assert_eq!(&received[2].payload[..], b"\x00\xff\x01");
        assert_eq!(received[3].payload, "21.50");
        assert_eq!(received[4].payload, "12345678901234567890");
        assert_eq!(received[5].payload, "é");
        let kinds: Vec<_> = received.iter().map(|publish| publish.content_type.as_deref()).collect();
        let json = Some("application/json");
        match version {
            "5" => {
                let text = Some("text/plain;charset=utf-8");
                assert_eq!(kinds, [json, json, Some("application/x-raw"), json, json, text]);
                let user: BTreeMap<_, _> = received[3].user.iter().map(|(k, v)| (&**k, &**v)).collect();
                let expected = [
                    ("Dunnage-Device", "d"),
                    ("Dunnage-Format", "json"),
                    ("Dunnage-Link", "lora"),
                    ("Dunnage-Name", &*all.stable_id),
                    ("Dunnage-Origin", r#"{"input":"hook"}"#),
                    ("Dunnage-Received-At", "1767225600000001"),
                    ("Dunnage-Schema", "soil"),
                    ("X-Request-Id", "r1"),
                ];
                assert_eq!(user, BTreeMap::from(expected));
            }
            _ => assert!(kinds.iter().all(Option::is_none) && received.iter().all(|one| one.user.is_empty())),
        }
    }
}

#[test]
fn the_last_value_is_retained_for_later_subscribers() {
    let bench = Bench::new("");
    let output = bench.output("retain = true");
    for json in ["1", "2"] {
        assert_eq!(bench.deliver(&output, &message("d", json)), Ok(()));
    }
    assert_eq!(bench.deliver(&bench.output("topic = 'live/{device}'"), &message("d", "3")), Ok(()));
    let subscriber = Subscriber::new(bench.broker.port);
    assert_eq!(bench.deliver(&bench.output("topic = 'end/{device}'"), &message("d", "4")), Ok(()));
    let received: Vec<_> =
        subscriber.wait(2).iter().map(|one| (one.topic.clone(), one.payload.to_vec(), one.retain)).collect();
    assert_eq!(received, [("dunnage/d".into(), b"2".to_vec(), true), ("end/d".into(), b"4".to_vec(), false)]);
}

#[test]
fn odd_device_ids_have_topics_of_their_own() {
    let bench = Bench::new("");
    let long = "x/".repeat(100);
    let ids = [
        "a/b",
        "a%2Fb",
        "+",
        "#",
        "..",
        "$SYS",
        "$share/g/t",
        "\0",
        "a\u{7f}",
        "\u{ffff}",
        "Käse 1",
        "{device}",
        &long,
    ];
    for version in ["5", "3.1.1"] {
        let subscriber = Subscriber::new(bench.broker.port);
        let output = bench.output(&format!("version = '{version}'\ntopic = '{{device}}/{{tag:place}}/x'"));
        for id in ids {
            let mut message = message(id, "1");
            let mut tags = Tags::default();
            tags.insert("place".into(), id.into());
            let record = Record { name: Some(id.into()), tags, ..Record::default() };
            message.record = Some(Arc::new(record));
            message.stored.origin = Some(json!({"topic": id}).to_string());
            assert_eq!(bench.deliver(&output, &message), Ok(()), "{id:?}");
        }
        let received = subscriber.wait(ids.len());
        for (publish, id) in received.iter().zip(ids) {
            let levels: Vec<_> = publish.topic.split('/').map(device_of).collect();
            assert_eq!(levels, [id, id, "x"]);
            if version == "5" {
                let value = |key| &publish.user.iter().find(|(known, _)| known == key).unwrap().1;
                assert_eq!(device_of(value("Dunnage-Device")), id);
                assert_eq!(device_of(value("Dunnage-Device-Name")), id);
                let json = |key| serde_json::from_str::<Value>(value(key)).unwrap();
                assert_eq!(
                    (&json("Dunnage-Origin")["topic"], &json("Dunnage-Tags")["place"]),
                    (&json!(id), &json!(id))
                );
            }
        }
    }
}
