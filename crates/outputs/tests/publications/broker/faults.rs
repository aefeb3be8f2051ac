//! Brokers that are down, stop answering, or are killed.

use super::{Bench, message, open_at, retried};
use dunnage_outputs::{Class, FailureKind, Output};
use dunnage_test_support::{
    mosquitto::Mosquitto,
    proxy::{Mode, Proxy},
    runtime,
    subscriber::Subscriber,
    wait::wait_for,
};
use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

const DEVICES: usize = 8;
const MESSAGES: usize = 250;

/// Delivers all messages of a device, in order, as the forwarder does.
async fn deliver_all(
    output: Arc<dyn Output>,
    device: usize,
    subscriber: Arc<Subscriber>,
    delivered: Arc<AtomicUsize>,
) -> usize {
    let (mut number, mut failures) = (0, 0);
    while number < MESSAGES {
        // A broker does not keep what nobody subscribes to.
        if !subscriber.is_subscribed() {
            tokio::time::sleep(Duration::from_millis(5)).await;
            continue;
        }
        match output.deliver(&[message(&format!("d{device}"), &number.to_string())]).await {
            Ok(()) => {
                number += 1;
                delivered.fetch_add(1, Ordering::Relaxed);
            }
            Err(failed) => {
                assert!(matches!(failed.kind, FailureKind::Retry(None)), "{failed:?}");
                failures += 1;
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
    failures
}

/// mosquitto writes a message to a subscriber with QoS 1 before it acknowledges it, if it has no limit on messages in flight. A message in
/// flight can reach the new broker before the subscriber does: it is retained, one for each device.
#[test]
fn a_broker_that_is_killed_loses_none_and_breaks_no_order() {
    for version in ["5", "3.1.1"] {
        let mut bench = Bench::new("max_inflight_messages 0");
        let output = bench.output(&format!("version = '{version}'\nretain = true\ntimeout_seconds = 5"));
        let subscriber = Arc::new(Subscriber::new(bench.broker.port));
        let delivered = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<_> = (0..DEVICES)
            .map(|device| {
                let (output, subscriber) = (Arc::clone(&output), Arc::clone(&subscriber));
                bench.runtime.spawn(deliver_all(output, device, subscriber, Arc::clone(&delivered)))
            })
            .collect();
        for kill in 1..=3 {
            let enough = DEVICES * MESSAGES * kill / 4;
            wait_for(|| if delivered.load(Ordering::Relaxed) >= enough { Ok(()) } else { Err("stuck") });
            bench.broker.kill();
            wait_for(|| if subscriber.is_subscribed() { Err("connected to a dead broker") } else { Ok(()) });
            bench.broker.restart();
        }
        let failures: usize = tasks.into_iter().map(|task| bench.runtime.block_on(task).unwrap()).sum();
        assert!(failures >= 1, "no call failed");
        let seen = wait_for(|| {
            let seen = numbers(&subscriber);
            let whole = |numbers: &Vec<usize>| numbers.last() == Some(&(MESSAGES - 1));
            if seen.values().filter(|numbers| whole(numbers)).count() == DEVICES {
                Ok(seen)
            } else {
                Err(seen)
            }
        });
        for (topic, numbers) in seen {
            assert_eq!(numbers, (0..MESSAGES).collect::<Vec<_>>(), "{topic}");
        }
    }
}

/// The numbers that arrived, by topic. A message whose acknowledgement was lost is published again.
fn numbers(subscriber: &Subscriber) -> BTreeMap<String, Vec<usize>> {
    let mut seen: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for publish in subscriber.received() {
        let numbers = seen.entry(publish.topic.clone()).or_default();
        let number = std::str::from_utf8(&publish.payload).unwrap().parse().unwrap();
        if numbers.last() != Some(&number) {
            numbers.push(number);
        }
    }
    seen
}

#[test]
fn a_broker_that_was_down_gets_messages_when_it_is_up() {
    let mut bench = Bench::new("");
    let output = bench.output("");
    bench.broker.kill();
    let reason = retried(bench.deliver(&output, &message("d", "1")), Class::Connection);
    assert!(reason.contains("no connection to the broker"), "{reason}");
    bench.broker.restart();
    assert_eq!(bench.deliver(&output, &message("d", "1")), Ok(()));
}

#[test]
fn a_broker_that_stops_answering_is_noticed_in_time() {
    let (broker, runtime) = (Mosquitto::start(), runtime());
    let proxy = Proxy::start(SocketAddr::from(([127, 0, 0, 1], broker.port)));
    let output = open_at(&format!("mqtt://{}", proxy.address), "timeout_seconds = 1").unwrap();
    let deliver = |json: &str| runtime.block_on(output.deliver(&[message("d", json)]));
    assert_eq!(deliver("1"), Ok(()));
    proxy.set(Mode::Stall);
    let begun = Instant::now();
    let reason = retried(deliver("2"), Class::Timeout);
    assert!(reason.contains("did not acknowledge"), "{reason}");
    assert!(begun.elapsed() < output.deadline(), "{:?}", begun.elapsed());
    // The connection is given up, so that what the broker owes does not add up.
    proxy.set(Mode::Pass);
    wait_for(|| deliver("2"));
}

#[test]
fn a_closed_output_leaves_the_broker_in_order() {
    let bench = Bench::new("log_dest file FOLDER/log");
    let output = bench.output("");
    output.resume("buffer-1", 0);
    assert_eq!(bench.deliver(&output, &message("d", "1")), Ok(()));
    bench.runtime.block_on(output.close());
    wait_for(|| {
        let log = std::fs::read_to_string(bench.folder.path().join("log")).unwrap();
        // printf 'buffer-1\0broker' | sha256sum
        let line = "Client dunnage542ed8b50c6c1614 disconnected.";
        if log.contains(line) { Ok(()) } else { Err(log) }
    });
}

/// With MQTT 3.1.1, a broker can refuse a message only by the end of the connection.
#[test]
fn a_message_at_which_the_broker_ends_the_connection_does_not_hold_up_others() {
    let bench = Bench::new("max_packet_size 1000");
    let output = bench.output("version = '3.1.1'");
    let large = format!("\"{}\"", "x".repeat(2000));
    for number in 0..20 {
        retried(bench.deliver(&output, &message("large", &large)), Class::Connection);
        assert_eq!(bench.deliver(&output, &message("d", &number.to_string())), Ok(()));
    }
}
