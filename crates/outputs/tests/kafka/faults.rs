//! Brokers that are down, killed or silent, and leaders that move.

use super::{Bench, message, open_at, retried};
use dunnage_outputs::{Class, FailureKind, Message, Output};
use dunnage_test_support::{
    kafka::{Kafka, Protocol, Record},
    runtime,
    wait::wait_for,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

const DEVICES: i64 = 10;
const BATCH: i64 = 50;

fn of(range: std::ops::Range<i64>) -> Vec<Message> {
    range.map(|id| message(id, &format!("d{}", id % DEVICES), &id.to_string())).collect()
}

/// Delivers messages up to the ID `to`, as the forwarder does. Returns how many calls failed.
async fn deliver_to(output: Arc<dyn Output>, delivered: Arc<AtomicI64>, to: i64) -> usize {
    let mut failures = 0;
    while delivered.load(Ordering::Acquire) < to {
        let at = delivered.load(Ordering::Acquire);
        match output.deliver(&of(at..at + BATCH)).await {
            Ok(()) => delivered.store(at + BATCH, Ordering::Release),
            Err(failed) => {
                assert!(matches!(failed.kind, FailureKind::Retry(None)), "{failed:?}");
                failures += 1;
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
    failures
}

/// Asserts that all messages below the ID `to` are there, in the order of their devices, and returns how many are there twice.
#[track_caller]
fn repeated(records: &[Record], to: i64) -> usize {
    let mut names = BTreeSet::new();
    let mut devices: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    for record in records.iter().filter(|record| names.insert(&record.name)) {
        devices.entry(&record.key).or_default().push(record.text().parse().unwrap());
    }
    assert_eq!(names.len(), usize::try_from(to).unwrap(), "messages were lost");
    for (device, numbers) in devices {
        assert!(numbers.is_sorted(), "{device}: {numbers:?}");
    }
    records.len() - names.len()
}

/// A call lasts longer than the broker's restart, so each batch is repeated under its sequence.
#[test]
fn a_broker_that_is_killed_under_load_loses_none_and_has_none_twice() {
    let mut bench = Bench::new(Protocol::Plaintext, "");
    bench.kafka.create("t", 3, 1, "");
    let output = bench.output("timeout_seconds = 90");
    let delivered = Arc::new(AtomicI64::new(0));
    for kill in 1..=3 {
        let to = kill * 6000;
        let calls = bench.runtime.spawn(deliver_to(Arc::clone(&output), Arc::clone(&delivered), to));
        wait_for(|| if delivered.load(Ordering::Acquire) > to - 5500 { Ok(()) } else { Err("few") });
        bench.kafka.kill();
        std::thread::sleep(Duration::from_millis(300));
        bench.kafka.restart();
        assert_eq!(bench.runtime.block_on(calls).unwrap(), 0, "calls failed");
    }
    assert_eq!(repeated(&bench.kafka.records("t"), 18_000), 0);
}

/// A call ends before the broker is back, so what it wrote is not clear. The records have the same names.
#[test]
fn calls_that_end_while_the_broker_is_away_lose_none() {
    let mut bench = Bench::new(Protocol::Plaintext, "");
    let output = bench.output("timeout_seconds = 1");
    let delivered = Arc::new(AtomicI64::new(0));
    assert_eq!(bench.deliver(&output, &of(0..BATCH)), Ok(()));
    delivered.store(BATCH, Ordering::Release);
    let calls = bench.runtime.spawn(deliver_to(Arc::clone(&output), Arc::clone(&delivered), 6000));
    wait_for(|| if delivered.load(Ordering::Acquire) > 500 { Ok(()) } else { Err("few") });
    bench.kafka.kill();
    let begun = Instant::now();
    let reason = retried(bench.deliver(&bench.output("timeout_seconds = 1"), &of(0..1)), Class::Connection);
    assert!(begun.elapsed() < Duration::from_secs(5) && reason.contains("127.0.0.1"), "{reason}");
    bench.kafka.restart();
    assert!(bench.runtime.block_on(calls).unwrap() > 0, "no call failed");
    let twice = repeated(&bench.kafka.records("t"), 6000);
    assert!(twice <= usize::try_from(BATCH).unwrap(), "{twice}");
}

#[test]
fn a_broker_that_does_not_answer_is_left_in_time_and_has_none_twice() {
    let bench = Bench::new(Protocol::Plaintext, "");
    let output = bench.output("timeout_seconds = 20");
    assert_eq!(bench.deliver(&output, &of(0..10)), Ok(()));
    let signal = |name: &str| {
        let pid = bench.kafka.pid().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    };
    signal("-STOP");
    let begun = Instant::now();
    let hasty = bench.output("timeout_seconds = 2");
    retried(bench.deliver(&hasty, &[message(-1, "x", "-1")]), Class::Timeout);
    assert!(begun.elapsed() < Duration::from_secs(6), "{:?}", begun.elapsed());
    // A request that waits in the broker is repeated over another connection.
    let call = bench.runtime.spawn({
        let output = Arc::clone(&output);
        async move { output.deliver(&of(10..20)).await }
    });
    std::thread::sleep(Duration::from_secs(12));
    signal("-CONT");
    assert_eq!(bench.runtime.block_on(call).unwrap(), Ok(()));
    let records = bench.kafka.records("t");
    let records: Vec<Record> = records.into_iter().filter(|record| record.key != "x").collect();
    assert_eq!(repeated(&records, 20), 0);
}

/// A deliver whose caller no longer waits leaves the output usable.
#[test]
fn a_call_that_is_cancelled_breaks_no_other() {
    let bench = Bench::new(Protocol::Plaintext, "");
    let output = bench.output("");
    assert_eq!(bench.deliver(&output, &of(0..10)), Ok(()));
    for wait in 0..40 {
        bench.runtime.block_on(async {
            let _ =
                tokio::time::timeout(Duration::from_micros(wait * 100), output.deliver(&of(10..20))).await;
        });
    }
    assert_eq!(bench.deliver(&output, &of(10..30)), Ok(()));
    repeated(&bench.kafka.records("t"), 30);
}

#[test]
fn a_leader_that_is_gone_is_replaced_by_another_broker() {
    let (kafka, runtime) = (Kafka::start(1 << 20), runtime());
    let mut other = kafka.beside();
    kafka.create("t", 4, 2, "min.insync.replicas=1");
    let leaders = |kafka: &Kafka| -> BTreeSet<i64> {
        let lines = kafka.client(&["leaders", "t"]).unwrap();
        lines[0].as_object().unwrap().values().map(|leader| leader.as_i64().unwrap()).collect()
    };
    wait_for(|| if leaders(&kafka).len() == 2 { Ok(()) } else { Err("one leader") });
    let output =
        open_at(&format!("{}, {}", other.address(), kafka.address()), "timeout_seconds = 60").unwrap();
    let delivered = Arc::new(AtomicI64::new(0));
    let calls = runtime.spawn(deliver_to(Arc::clone(&output), Arc::clone(&delivered), 10_000));
    wait_for(|| if delivered.load(Ordering::Acquire) > 1000 { Ok(()) } else { Err("few") });
    other.kill();
    assert_eq!(runtime.block_on(calls).unwrap(), 0, "calls failed");
    assert_eq!(leaders(&kafka), BTreeSet::from([1]));
    assert_eq!(repeated(&kafka.records("t"), 10_000), 0);
}
