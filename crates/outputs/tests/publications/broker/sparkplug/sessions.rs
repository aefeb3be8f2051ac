//! The beginning and the end of connections.

use super::{NODE, Seen, all_seen, assert_numbered, at, deliver, titles, wait};
use crate::broker::{Bench, open_at, refused, retried};
use dunnage_outputs::{Class, FailureKind, Output};
use dunnage_test_support::{
    proxy::{Mode, Proxy},
    subscriber::Subscriber,
    wait::wait_for,
};
use serde_json::json;
use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

const DEVICES: usize = 8;
const MESSAGES: usize = 250;

#[test]
fn a_broken_connection_publishes_the_death_of_its_birth() {
    for version in ["5", "3.1.1"] {
        let bench = Bench::new("");
        let subscriber = Subscriber::new(bench.broker.port);
        let proxy = Proxy::start(SocketAddr::from(([127, 0, 0, 1], bench.broker.port)));
        let settings = format!("version = '{version}'\n{NODE}");
        let output = open_at(&format!("mqtt://{}", proxy.address), &settings).unwrap();
        for (number, seconds) in [(0, 0), (1, 10)] {
            wait_for(|| deliver(&bench, &output, &at(seconds, "d", "{\"t\":1}")));
            proxy.set(Mode::Refuse);
            let all = wait_for(|| {
                let all = all_seen(&subscriber);
                let dead = all.last().is_some_and(|seen| seen.kind == "NDEATH" && seen.bd_seq() == number);
                if dead { Ok(all) } else { Err(titles(&all)) }
            });
            let death = &all.last().unwrap().payload;
            assert!(death.get("seq").is_none() && death["metrics"].as_array().unwrap().len() == 1, "{death}");
            proxy.set(Mode::Pass);
        }
        let all = all_seen(&subscriber);
        let births: Vec<_> = all.iter().filter(|seen| seen.kind == "NBIRTH").map(Seen::bd_seq).collect();
        assert_eq!(births, [0, 1], "{version}");
        // The device is born again with the node, before its next data.
        assert_eq!(titles(&all), ["NBIRTH", "DBIRTH d", "NDEATH", "NBIRTH", "DBIRTH d", "DDATA d", "NDEATH"]);
        assert_numbered(&all);
    }
}

#[test]
fn an_output_that_is_closed_publishes_its_death_and_begins_anew_at_the_restart() {
    for version in ["5", "3.1.1"] {
        let bench = Bench::new("");
        let subscriber = Subscriber::new(bench.broker.port);
        let mut expected = Vec::new();
        for _ in 0..2 {
            let output = bench.output(&format!("version = '{version}'\n{NODE}"));
            output.resume("buffer-1", 0);
            assert_eq!(deliver(&bench, &output, &at(0, "d", "{\"t\":1}")), Ok(()));
            bench.runtime.block_on(output.close());
            expected.extend(["NBIRTH", "DBIRTH d", "NDEATH"]);
            wait_for(|| {
                let all = all_seen(&subscriber);
                assert!(all.iter().filter(|seen| seen.kind == "NDEATH").all(|seen| seen.bd_seq() == 0));
                let mut titles = titles(&all);
                // With version 5, the broker repeats it as the will.
                titles.dedup();
                if titles == expected { Ok(()) } else { Err(titles) }
            });
        }
    }
}

#[test]
fn an_attempt_that_sends_no_connect_does_not_count() {
    let mut bench = Bench::new("");
    let output = bench.output(NODE);
    bench.broker.kill();
    for _ in 0..2 {
        retried(deliver(&bench, &output, &at(0, "d", "1")), Class::Connection);
    }
    bench.broker.restart();
    let subscriber = Subscriber::new(bench.broker.port);
    assert_eq!(deliver(&bench, &output, &at(0, "d", "1")), Ok(()));
    assert_eq!(wait(&subscriber, 2)[0].bd_seq(), 0);
}

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
        let message = at(number as i64, &format!("d{device}"), &format!("{{\"n\":{number}}}"));
        match output.deliver(&[message]).await {
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

/// Returns the values of a device in the order in which they came, without repetitions.
fn numbers(all: &[Seen], device: usize) -> Vec<u64> {
    let of = all.iter().filter(|seen| seen.device == Some(format!("d{device}")));
    let mut numbers: Vec<_> = of.map(|seen| seen.metric("n")["long_value"].as_u64().unwrap()).collect();
    numbers.dedup();
    numbers
}

/// mosquitto writes a message to a subscriber before it answers a ping that follows it.
#[test]
fn a_broker_that_is_killed_loses_none_and_breaks_no_order() {
    let mut bench = Bench::new("");
    let output = bench.output(NODE);
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
        bench.broker.restart();
    }
    let failures: usize = tasks.into_iter().map(|task| bench.runtime.block_on(task).unwrap()).sum();
    assert!(failures >= 1, "no call failed");
    let expected: Vec<_> = (0..MESSAGES as u64).collect();
    for device in 0..DEVICES {
        wait_for(|| {
            let numbers = numbers(&all_seen(&subscriber), device);
            if numbers.last() == expected.last() { Ok(()) } else { Err(numbers) }
        });
        assert_eq!(numbers(&all_seen(&subscriber), device), expected);
    }
    assert_numbered(&all_seen(&subscriber));
}

#[test]
fn a_broker_that_stops_answering_is_noticed_in_time() {
    let bench = Bench::new("");
    let proxy = Proxy::start(SocketAddr::from(([127, 0, 0, 1], bench.broker.port)));
    let output = open_at(&format!("mqtt://{}", proxy.address), NODE).unwrap();
    assert_eq!(deliver(&bench, &output, &at(0, "d", "1")), Ok(()));
    proxy.set(Mode::Stall);
    let reason = retried(deliver(&bench, &output, &at(1, "d", "2")), Class::Timeout);
    assert!(reason.contains("did not acknowledge"), "{reason}");
    proxy.set(Mode::Pass);
    wait_for(|| deliver(&bench, &output, &at(1, "d", "2")));
}

/// With MQTT 3.1.1, a broker can refuse a message only by the end of the connection.
#[test]
fn a_message_at_which_the_broker_ends_the_connection_does_not_hold_up_others() {
    let bench = Bench::new("max_packet_size 1000");
    let subscriber = Subscriber::new(bench.broker.port);
    let output = bench.output(&format!("version = '3.1.1'\n{NODE}"));
    let large = |key: &str, bytes: usize| format!("{{\"{key}\":\"{}\"}}", "x".repeat(bytes));
    for seconds in 0..5 {
        retried(deliver(&bench, &output, &at(seconds, "large", &large("a", 2000))), Class::Connection);
        assert_eq!(deliver(&bench, &output, &at(seconds, "d", "1")), Ok(()));
    }
    // The birth with both fields is too large, that of the message alone is not.
    assert_eq!(deliver(&bench, &output, &at(5, "both", &large("a", 600))), Ok(()));
    retried(deliver(&bench, &output, &at(6, "both", &large("b", 600))), Class::Connection);
    assert_eq!(deliver(&bench, &output, &at(6, "both", &large("b", 600))), Ok(()));
    let all = wait_for(|| {
        let all = all_seen(&subscriber);
        if all.last().is_some_and(|seen| seen.is("DBIRTH", "both")) { Ok(all) } else { Err(titles(&all)) }
    });
    assert_numbered(&all);
}

#[test]
fn a_message_that_is_too_large_is_refused_and_leaves_no_number_out() {
    let bench = Bench::new("max_packet_size 1000");
    let subscriber = Subscriber::new(bench.broker.port);
    let output = bench.output(NODE);
    let large = |key: &str, bytes: usize| format!("{{\"{key}\":\"{}\"}}", "x".repeat(bytes));
    let reason = refused(deliver(&bench, &output, &at(0, "d", &large("a", 2000))));
    assert!(reason.contains("the broker accepts packets of 1000 at most"), "{reason}");
    assert_eq!(deliver(&bench, &output, &at(1, "d", &large("a", 500))), Ok(()));
    refused(deliver(&bench, &output, &at(2, "d", &large("a", 2000))));
    // Both fields do not fit into one birth, so that of the message before is left out.
    assert_eq!(deliver(&bench, &output, &at(3, "d", &large("b", 500))), Ok(()));
    assert_eq!(deliver(&bench, &output, &at(4, "d", &large("b", 7))), Ok(()));
    let all = wait(&subscriber, 4);
    assert_eq!(titles(&all), ["NBIRTH", "DBIRTH d", "DBIRTH d", "DDATA d"]);
    assert_eq!(all[2].payload["metrics"].as_array().unwrap().len(), 1);
    assert_eq!(all[3].metric("b")["string_value"], json!("xxxxxxx"));
    assert_numbered(&all);
}
