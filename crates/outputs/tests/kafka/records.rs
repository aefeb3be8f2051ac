//! What is in a record, and in which partition it is.

use super::{Bench, message, retried};
use dunnage_outputs::{Class, FailureKind, Message};
use dunnage_test_support::{kafka::Protocol, wait::wait_for};
use std::{collections::BTreeMap, sync::Arc};

const DEVICES: [&str; 8] = ["", "d", "a/b+#", "..", "ü", "nul\u{0}", "buoy-7", "urn:imei:356938035643809"];

/// librdkafka chooses the partitions of Java's clients, too.
#[test]
fn a_device_is_the_key_and_chooses_the_partition_as_with_other_clients() {
    let bench = Bench::new(Protocol::Plaintext, "");
    bench.kafka.create("t", 7, 1, "");
    let output = bench.output("");
    let long = "x".repeat(200);
    // A NUL cannot be an argument of a program.
    let devices: Vec<&str> =
        DEVICES.into_iter().filter(|device| !device.contains('\0')).chain([&*long]).collect();
    let messages: Vec<Message> =
        devices.iter().zip(0..).map(|(device, id)| message(id, device, "1")).collect();
    assert_eq!(bench.deliver(&output, &messages), Ok(()));
    bench.kafka.client(&[&["write", "t"], &devices[..]].concat()).unwrap();
    let mut partitions: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for record in bench.kafka.wait("t", 2 * devices.len()) {
        partitions.entry(record.key).or_default().push(record.partition);
    }
    assert_eq!(partitions.len(), devices.len());
    for (device, partitions) in &partitions {
        assert_eq!((partitions.len(), partitions[0]), (2, partitions[1]), "{device:?}");
    }
}

#[test]
fn a_record_has_the_json_and_says_in_headers_where_it_came_from() {
    let bench = Bench::new(Protocol::Plaintext, "");
    let output = bench.output("");
    let mut messages: Vec<Message> =
        DEVICES.iter().zip(0..).map(|(d, id)| message(id, d, "{\"t\":21.50}")).collect();
    messages[1].stored.schema = Some("room".into());
    messages[1].stored.link = Some("lorawan".into());
    messages[1].stored.origin = Some("{\"topic\":\"é\"}".into());
    assert_eq!(bench.deliver(&output, &messages), Ok(()));
    let records = bench.kafka.wait("t", DEVICES.len());
    for device in DEVICES {
        let record = records.iter().find(|record| record.key == device).unwrap();
        assert_eq!(record.text(), "{\"t\":21.50}");
        assert_eq!(record.headers["Dunnage-Device"], device);
    }
    let record = records.iter().find(|record| record.name == "id-1").unwrap();
    let expected = serde_json::json!({
        "Dunnage-Name": "id-1", "Dunnage-Device": "d", "Dunnage-Received-At": messages[1].received_at.to_string(),
        "Dunnage-Format": "json", "Dunnage-Schema": "room", "Dunnage-Link": "lorawan", "X-Request-Id": "r1",
        "Dunnage-Origin": "{\"topic\":\"é\"}"
    });
    assert_eq!(record.headers, expected);
}

#[test]
fn a_record_that_is_too_large_is_refused_alone_and_the_others_are_written_once() {
    let bench = Bench::new(Protocol::Plaintext, "message.max.bytes=20000");
    let output = bench.output("");
    let large = format!("\"{}\"", "x".repeat(50_000));
    let mut messages: Vec<Message> = (0..200).map(|id| message(id, "d", &id.to_string())).collect();
    messages[57].stored.json = large.as_str().into();
    messages[130].stored.json = large.as_str().into();
    let first = bench.deliver(&output, &messages).unwrap_err();
    assert_eq!((first.kind, first.delivered), (FailureKind::Refused, 57), "{}", first.reason);
    assert!(first.reason.contains("MessageTooLarge"), "{}", first.reason);
    // The forwarder continues behind the one that was refused.
    let second = bench.deliver(&output, &messages[58..]).unwrap_err();
    assert_eq!((second.kind, second.delivered), (FailureKind::Refused, 130 - 58));
    assert_eq!(bench.deliver(&output, &messages[131..]), Ok(()));
    let values: Vec<String> =
        bench.kafka.wait("t", 198).iter().map(|record| record.text().to_owned()).collect();
    let expected: Vec<String> =
        (0..200).filter(|id| ![57, 130].contains(id)).map(|id| id.to_string()).collect();
    assert_eq!(values, expected);
}

#[test]
fn a_record_whose_time_the_broker_refuses_is_refused_alone() {
    let bench = Bench::new(Protocol::Plaintext, "log.message.timestamp.before.max.ms=1000000000000");
    let output = bench.output("");
    let mut messages: Vec<Message> = (0..3).map(|id| message(id, "d", "1")).collect();
    messages[1].stored.received_at = 0;
    let failed = bench.deliver(&output, &messages).unwrap_err();
    assert_eq!((failed.kind, failed.delivered), (FailureKind::Refused, 1), "{}", failed.reason);
    assert!(failed.reason.contains("InvalidTimestamp"), "{}", failed.reason);
    assert_eq!(bench.deliver(&output, &messages[2..]), Ok(()));
    assert_eq!(bench.kafka.records("t").len(), 2);
}

#[test]
fn a_topic_that_is_missing_is_retried_until_somebody_creates_it() {
    let bench = Bench::new(Protocol::Plaintext, "auto.create.topics.enable=false");
    let output = bench.output("timeout_seconds = 2");
    let messages = [message(1, "d", "1")];
    let reason = retried(bench.deliver(&output, &messages), Class::Missing);
    assert!(reason.contains("topic t"), "{reason}");
    bench.kafka.create("t", 1, 1, "");
    wait_for(|| bench.deliver(&output, &messages));
    assert_eq!(bench.kafka.wait("t", 1).len(), 1);
}

#[test]
fn partitions_that_are_added_are_written_to() {
    let bench = Bench::new(Protocol::Plaintext, "");
    bench.kafka.create("t", 1, 1, "");
    let output = bench.output("");
    let messages: Vec<Message> = (0..20).map(|id| message(id, &format!("d{id}"), "1")).collect();
    assert_eq!(bench.deliver(&output, &messages), Ok(()));
    bench.kafka.client(&["grow", "t", "5"]).unwrap();
    let records = wait_for(|| {
        assert_eq!(bench.deliver(&output, &messages), Ok(()));
        std::thread::sleep(std::time::Duration::from_millis(500));
        let records = bench.kafka.records("t");
        if records.iter().any(|record| record.partition > 0) { Ok(records) } else { Err("one partition") }
    });
    let used: std::collections::BTreeSet<u64> = records.iter().map(|record| record.partition).collect();
    assert_eq!(used.len(), 5, "{used:?}");
}

/// Each call holds the partitions that it writes to.
#[test]
fn calls_at_the_same_time_write_each_record_once() {
    let bench = Bench::new(Protocol::Plaintext, "");
    let output = bench.output("");
    let calls: Vec<_> = (0i64..8)
        .map(|call| {
            let output = Arc::clone(&output);
            bench.runtime.spawn(async move {
                for n in 0..20i64 {
                    let of = |at: i64| message(call * 1000 + n * 10 + at, &format!("d{at}"), "1");
                    let messages: Vec<Message> = (0..10).map(of).collect();
                    assert_eq!(output.deliver(&messages).await, Ok(()));
                }
            })
        })
        .collect();
    for call in calls {
        bench.runtime.block_on(call).unwrap();
    }
    let records = bench.kafka.records("t");
    let names: std::collections::BTreeSet<_> = records.iter().map(|record| &record.name).collect();
    assert_eq!((records.len(), names.len()), (1600, 1600));
}
