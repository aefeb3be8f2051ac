//! Delivery in order, in batches, after a crash and at a stop.

use super::{Answer, Bench, NAME, System, assert_in_order, message, one_by_one, simulated};
use crate::{Failed, Message, Named, Output, Partitions, Shape};
use dunnage_buffer::{NewMessage, Position};
use fastrand::Rng;
use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

fn at_random(seed: u64) -> impl Fn(&[Message]) -> Answer {
    let random = Mutex::new(Rng::with_seed(seed));
    move |messages| {
        let mut random = random.lock().unwrap();
        let count = random.usize(..messages.len());
        if let Some(poison) = messages.iter().position(|message| message.id % 41 == 0) {
            return Answer::Fail(poison, Failed::refused("poison"));
        }
        match random.u32(..100) {
            0..4 => Answer::Fail(count, Failed::retry("fails")),
            4..6 => Answer::Lie,
            6 => Answer::Hang,
            7 => Answer::Panic,
            _ => Answer::Take,
        }
    }
}

/// Whatever fails and whenever the forwarder is killed, every message arrives or becomes a dead letter. A device's messages arrive in order,
/// with one call at a time, and the cursor never passes an unresolved message.
async fn everything_arrives(seed: u64, shape: Shape) {
    let bench = Bench::new();
    let mut random = Rng::with_seed(seed);
    let system = System::new(shape, at_random(seed));
    let device = |n: usize| format!("d{}", (n * n) % 13);
    bench.store(0..300, device).await;
    let mut stored = 300;
    let mut starts = 0;
    loop {
        let running = bench.forward(&system).await;
        if stored < 600 {
            bench.store(stored..stored + 60, device).await;
            stored += 60;
        }
        // Each run is a little longer, so that the test ends.
        starts += 1;
        tokio::time::sleep(Duration::from_millis(random.u64(10..300) + starts * 20)).await;
        match random.bool() {
            true => running.crash(&system).await,
            false => {
                running.stop().await;
                assert!(system.closed.swap(false, Ordering::Relaxed));
            }
        }
        assert_eq!(*system.broken.lock().unwrap(), [""; 0], "seed {seed}");
        let cursor = bench.cursor().await;
        let aside = bench.dead_letters().await;
        let took = system.took();
        let done: BTreeSet<_> = took.iter().map(|(_, id)| id).chain(&aside).collect();
        for id in 1..=cursor {
            assert!(done.contains(&id), "seed {seed}: the cursor {cursor} is beyond {id}");
        }
        if cursor == 600 {
            assert_in_order(&took);
            assert!(aside.iter().all(|id| id % 41 == 0) && aside.len() == 600 / 41, "{aside:?}");
            assert!(took.iter().all(|(_, id)| id % 41 != 0));
            break;
        }
    }
    bench.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_arrives_in_order_one_by_one() {
    for seed in 0..2 {
        everything_arrives(seed, one_by_one()).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_arrives_in_order_in_batches_of_a_device() {
    everything_arrives(7, Shape { batch: 5, ..one_by_one() }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_arrives_in_order_in_batches_of_all_devices() {
    let linger = Duration::from_millis(5);
    for seed in 9..11 {
        everything_arrives(seed, Shape { partitions: Partitions::Together, batch: 20, linger }).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_arrives_in_order_in_one_partition() {
    let linger = Duration::from_millis(5);
    everything_arrives(8, Shape { partitions: Partitions::One, batch: 20, linger }).await;
}

/// Both with one order and with calls that have messages of all devices.
#[test]
fn a_batch_waits_until_it_is_full_or_its_time_is_over() {
    for partitions in [Partitions::One, Partitions::Together] {
        simulated(async {
            let bench = Bench::new();
            let system =
                System::new(Shape { partitions, batch: 100, linger: Duration::from_millis(400) }, |_| {
                    Answer::Take
                });
            bench.store(0..250, |n| format!("d{n}")).await;
            let running = bench.forward(&system).await;
            bench.until("all arrive", |status| status.delivered == 250).await;
            assert_eq!(*system.calls.lock().unwrap(), [100, 100, 50]);
            running.stop().await;
            bench.close().await;
        });
    }
}

/// A read from the buffer ends after 1 MiB, and a call may have more.
#[test]
fn a_backlog_in_one_order_comes_in_calls_that_are_full() {
    simulated(async {
        let bench = Bench::new();
        for n in 0..60 {
            let (queue, raw) = (&bench.source.buffer.queue, vec![b'7'; 64 << 10]);
            let message = NewMessage { raw: raw.into(), ..message("d".into(), n) };
            queue.store(message, queue.reserve(), || ()).unwrap().commit().await.unwrap();
        }
        let shape = Shape { partitions: Partitions::One, batch: 1000, linger: Duration::from_secs(5) };
        let calls = AtomicUsize::new(0);
        let system = System::new(shape, move |_| match calls.fetch_add(1, Ordering::Relaxed) {
            0 => Answer::Fail(0, Failed::retry("is down")),
            _ => Answer::Take,
        });
        let running = bench.forward(&system).await;
        bench.until("all arrive", |status| status.delivered == 60).await;
        let calls = system.calls.lock().unwrap().clone();
        let [all, tested, rest] = calls[..] else { panic!("{calls:?}") };
        assert!(all == 60 && tested < 20 && tested + rest == 60, "{calls:?}");
        running.stop().await;
        bench.close().await;
    });
}

/// At the stop, calls in progress may end, hanging calls are canceled, no calls are started, and the cursor stays correct.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_waits_for_calls_and_starts_none() {
    struct Slow(Arc<AtomicUsize>, Arc<AtomicBool>);
    #[async_trait::async_trait]
    impl Output for Slow {
        fn shape(&self) -> Shape {
            one_by_one()
        }
        async fn deliver(&self, messages: &[Message]) -> Result<(), Failed> {
            self.0.fetch_add(1, Ordering::Relaxed);
            let wait = if messages[0].id == 1 { Duration::from_millis(300) } else { Duration::from_secs(50) };
            tokio::time::sleep(wait).await;
            Ok(())
        }
        async fn close(&self) {
            self.1.store(true, Ordering::Relaxed);
        }
    }
    let bench = Bench::new();
    bench.store(0..1, |_| "first".into()).await;
    let (calls, closed) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    for second in [false, true] {
        let output = Arc::new(Slow(Arc::clone(&calls), Arc::clone(&closed)));
        let stop = CancellationToken::new();
        let named = Named { name: NAME.into(), concurrency: 16, expressions: Default::default(), output };
        let task =
            tokio::spawn(bench.outputs.forwarder(named, Position::at(i64::from(second)), stop.clone()).run());
        bench.until("a call is made", |status| status.calls == 1).await;
        stop.cancel();
        let begun = Instant::now();
        bench.store(1..2, |_| "second".into()).await;
        task.await.unwrap();
        assert!(begun.elapsed() < Duration::from_secs(11) && closed.swap(false, Ordering::Relaxed));
        assert_eq!((calls.swap(0, Ordering::Relaxed), bench.cursor().await), (1, 1));
    }
}
