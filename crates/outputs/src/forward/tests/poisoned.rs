//! A device that always fails costs only itself: in every shape, in quiet periods, for hours and over a restart.

use super::{Answer, Bench, NAME, Running, System, assert_in_order, one_by_one, simulated};
use crate::{Breaker, Class, Failed, Message, Named, Output, Partitions, Shape, Which};
use dunnage_buffer::Position;
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

const HOUR: Duration = Duration::from_secs(3600);

/// The shapes of the outputs that need not keep the order of different devices: oneM2M, NATS and HTTP; HTTP with batches and Kafka; and
/// downlinks.
const SHAPES: [Shape; 3] = [
    one_by_one(),
    Shape { partitions: Partitions::Together, batch: 100, linger: Duration::from_millis(200) },
    Shape { partitions: Partitions::PerDevice, batch: 8, linger: Duration::ZERO },
];

fn is_bad(message: &Message) -> bool {
    message.device.starts_with("bad")
}

/// A receiver that has an internal error as soon as a call has a message of a bad device.
fn poisoned(shape: Shape) -> Arc<System> {
    System::new(shape, |messages| match messages.iter().any(is_bad) {
        true => Answer::Fail(0, Failed::retry("error 500").because(Class::Failing)),
        false => Answer::Take,
    })
}

impl Bench {
    /// Waits until `messages` messages are delivered, and returns how long that took by the simulated clock.
    async fn delivered(&self, messages: u64) -> Duration {
        let begun = tokio::time::Instant::now();
        self.until("messages of healthy devices arrive", |status| status.delivered >= messages).await;
        begun.elapsed()
    }

    /// Waits until the position in the buffer is as expected.
    async fn saved(&self, expected: impl Fn(&Position) -> bool) {
        let begun = std::time::Instant::now();
        while !expected(&self.position().await) {
            assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", self.position().await);
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

/// Messages of healthy devices are delivered at once, whenever they come, for hours in which other devices always fail.
#[test]
fn healthy_devices_are_delivered_in_quiet_periods_for_hours() {
    for (shape, bad) in SHAPES.into_iter().zip([1, 3, 8]) {
        simulated(async {
            let bench = Bench::new();
            let system = poisoned(shape);
            bench.store(0..40, |n| format!("good{}", n % 10)).await;
            bench.store(0..bad * 4, |n| format!("bad{}", n % bad)).await;
            let running = bench.forward(&system).await;
            let mut good = 40;
            bench.delivered(good).await;
            for hour in 0..3 {
                tokio::time::sleep(HOUR).await;
                bench.store(0..1, |_| "bad0".into()).await;
                bench.store(0..10, |n| format!("good{n}")).await;
                good += 10;
                let took = bench.delivered(good).await;
                // The breaker opens at most once: when all the bad ones fail for the first time, and nobody else sends.
                let limit = if hour == 0 { 130 } else { 20 };
                assert!(took < Duration::from_secs(limit), "{shape:?} {hour}: {took:?}");
            }
            let left = bad as u64 * 4 + 3;
            bench.until("only the bad ones are left", |status| status.lag_messages == left).await;
            let status = bench.status();
            assert_eq!((status.failing, status.breaker), (bad, Breaker::Closed), "{status:?}");
            assert!(system.took().iter().all(|(device, _)| device.starts_with("good")));
            assert_eq!(system.took().len() as u64, good, "{shape:?}: something was delivered twice");
            assert_eq!(*system.broken.lock().unwrap(), [""; 0]);
            running.stop().await;
            bench.close().await;
        });
    }
}

/// A call to a receiver that answers nothing about a device takes until the deadline. Others must not wait for it.
#[test]
fn a_device_whose_calls_hang_does_not_use_up_the_calls() {
    for shape in SHAPES {
        simulated(async {
            let bench = Bench::new();
            let system = System::new(shape, |messages| match messages.iter().any(is_bad) {
                true => Answer::Hang,
                false => Answer::Take,
            });
            bench.store(0..20, |n| format!("bad{n}")).await;
            let running = bench.forward(&system).await;
            // Each has hung once. The buffer works in real time, so an hour of the simulated clock may be too short for that.
            while bench.status().failing < 20 {
                std::thread::sleep(Duration::from_millis(1));
                tokio::time::sleep(Duration::from_secs(5)).await;
            }
            tokio::time::sleep(HOUR).await;
            bench.store(0..200, |n| format!("good{}", n % 20)).await;
            let took = bench.delivered(200).await;
            // The breaker is open if all 20 hung for the first time while nobody else sent.
            assert!(took < Duration::from_secs(130), "{shape:?}: {took:?}");
            bench.store(0..200, |n| format!("good{}", n % 20)).await;
            let took = bench.delivered(400).await;
            // Calls with messages of several devices must find each of them first, at a timeout for each step.
            let limit = if shape.partitions == Partitions::Together { 60 } else { 5 };
            assert!(took < Duration::from_secs(limit), "{shape:?}: {took:?}");
            running.stop().await;
            bench.close().await;
        });
    }
}

/// A restart delivers nothing again that was delivered before, however long a device has held up the cursor.
#[test]
fn a_restart_repeats_nothing_that_was_delivered_behind_a_failing_device() {
    for shape in SHAPES {
        simulated(async {
            let bench = Bench::new();
            let works = Arc::new(AtomicBool::new(false));
            let all = Arc::clone(&works);
            let system = System::new(shape, move |messages| {
                match messages.iter().any(is_bad) && !all.load(Ordering::Relaxed) {
                    true => Answer::Fail(0, Failed::retry("error 500")),
                    false => Answer::Take,
                }
            });
            let device = |n: usize| match n % 10 {
                0 | 1 => format!("bad{}", n % 10),
                digit => format!("good{digit}"),
            };
            let mut stored = 0;
            for round in 0..4 {
                let running = bench.forward(&system).await;
                bench.store(stored..stored + 500, device).await;
                stored += 500;
                let good = stored / 10 * 8;
                bench.until("the good ones arrive", |_| system.took().len() == good).await;
                tokio::time::sleep(HOUR).await;
                let status = bench.status();
                assert_eq!((status.cursor, status.lag_messages), (0, stored as u64 / 5), "{status:?}");
                match round % 2 {
                    0 => running.stop().await,
                    _ => running.crash(&system).await,
                }
                // The simulated clock does not wait for the writer.
                bench
                    .saved(|position| position.resolved_to == stored as i64 && position.behind.len() == 2)
                    .await;
            }
            works.store(true, Ordering::Relaxed);
            let running = bench.forward(&system).await;
            bench.until("the rest arrives", |status| status.cursor == stored as i64).await;
            assert_eq!(system.took().len(), stored, "{shape:?}: something was delivered twice");
            assert_in_order(&system.took());
            let status = bench.status();
            assert_eq!((status.lag_messages, status.failing), (0, 0));
            running.stop().await;
            bench.saved(|position| *position == Position::at(stored as i64)).await;
            bench.close().await;
        });
    }
}

/// While many devices send all the time, the one at fault is found, and the others do not wait for it.
#[test]
fn the_device_at_fault_is_found_among_many_that_send_all_the_time() {
    simulated(async {
        let bench = Bench::new();
        let system = poisoned(SHAPES[1]);
        let running = bench.forward(&system).await;
        bench.store(0..100, |n| format!("good{n}")).await;
        bench.delivered(100).await;
        bench.store(0..1, |_| "bad".into()).await;
        let mut good = 100;
        while bench.status().failing == 0 {
            bench.store(0..200, |n| format!("good{n}")).await;
            good += 200;
            tokio::time::sleep(Duration::from_millis(100)).await;
            assert!(good < 20_000, "{:?}", bench.status());
        }
        bench.delivered(good).await;
        assert_eq!(system.took().len() as u64, good);
        running.stop().await;
        bench.close().await;
    });
}

/// The backlog of a failing device may be larger than everything that an output keeps of all devices.
#[test]
fn the_backlog_of_a_failing_device_takes_no_memory() {
    simulated(async {
        let bench = Bench::new();
        let system = poisoned(one_by_one());
        bench.store(0..1, |_| "bad".into()).await;
        let running = bench.forward(&system).await;
        bench.until("it fails", |status| status.failing == 1).await;
        for _ in 0..4 {
            bench.store(0..5000, |_| "bad".into()).await;
        }
        bench.store(0..10, |n| format!("good{n}")).await;
        bench.delivered(10).await;
        let retried = bench.outputs.retried(NAME, 10).await;
        assert_eq!((retried.len(), retried[0].id, &*retried[0].reason), (1, 1, "error 500"));
        bench.until("only the bad one is left", |status| status.lag_messages == 20_001).await;
        running.stop().await;
        bench.saved(|position| position.behind == BTreeMap::from([("bad".into(), 1)])).await;
        bench.close().await;
    });
}

/// An operator sees which message of a device is retried, and discards it; the next one follows.
#[test]
fn a_message_that_is_retried_can_be_listed_and_discarded() {
    for shape in SHAPES {
        simulated(async {
            let bench = Bench::new();
            // The first messages of `bad` fail: 1 to 3.
            let system =
                System::new(shape, |messages| match messages.iter().any(|message| message.id <= 3) {
                    true => Answer::Fail(0, Failed::retry("error 500")),
                    false => Answer::Take,
                });
            bench.store(0..5, |_| "bad".into()).await;
            bench.store(0..10, |n| format!("good{n}")).await;
            let mut running = bench.forward(&system).await;
            bench.delivered(10).await;
            for id in 1..=3 {
                let listed = async |running: Running| {
                    bench.until("it fails", |status| status.failing == 1).await;
                    loop {
                        let retried = bench.outputs.retried(NAME, 10).await;
                        if let [retried] = &retried[..] {
                            assert_eq!(
                                (retried.id, &*retried.device, &*retried.reason),
                                (id, "bad", "error 500")
                            );
                            assert!(retried.calls > 0 && !retried.failed_at.is_empty());
                            return running;
                        }
                        tokio::time::sleep(Duration::from_secs(1)).await;
                    }
                };
                running = listed(running).await;
                let discard = |which| bench.outputs.discard(NAME, which);
                for others in [Which::Ids(vec![id + 1, 7, 9000]), Which::All] {
                    assert_eq!(discard(others).await.unwrap(), 0);
                }
                assert_eq!(discard(Which::Ids(vec![id])).await.unwrap(), 1);
                assert_eq!(discard(Which::Ids(vec![id])).await.unwrap(), 0);
            }
            bench.until("the others of the device arrive", |status| status.cursor == 15).await;
            let ids: Vec<_> = system.took().into_iter().map(|(_, id)| id).filter(|id| *id <= 5).collect();
            assert_eq!((ids, bench.status().dropped), (vec![4, 5], 3), "{shape:?}");
            running.stop().await;
            bench.close().await;
        });
    }
}

/// A retried dead letter that fails again and again blocks its device. It can be discarded as well.
#[test]
fn a_dead_letter_that_is_retried_can_be_discarded() {
    simulated(async {
        let bench = Bench::new();
        let retried = Arc::new(AtomicBool::new(false));
        let again = Arc::clone(&retried);
        let system = System::new(one_by_one(), move |messages| match (messages[0].id, &*again) {
            (1, again) if again.load(Ordering::Relaxed) => Answer::Fail(0, Failed::retry("error 500")),
            (1, _) => Answer::Fail(0, Failed::refused("no")),
            _ => Answer::Take,
        });
        bench.store(0..2, |_| "d".into()).await;
        let running = bench.forward(&system).await;
        bench.until("one is rejected", |status| status.cursor == 2).await;
        retried.store(true, Ordering::Relaxed);
        assert_eq!(bench.outputs.retry(NAME, Which::All).await.unwrap(), 1);
        bench.until("it fails", |status| status.failing == 1).await;
        bench.store(0..1, |_| "d".into()).await;
        tokio::time::sleep(HOUR).await;
        assert_eq!((bench.status().cursor, bench.outputs.retried(NAME, 9).await), (2, vec![]));
        assert_eq!(bench.outputs.discard(NAME, Which::Ids(vec![1])).await.unwrap(), 1);
        bench.until("the next one arrives", |status| status.cursor == 3 && status.failing == 0).await;
        assert!(bench.dead_letters().await.is_empty());
        running.stop().await;
        bench.close().await;
    });
}

/// An output that writes in the order of IDs waits, and continues where it was.
#[test]
fn an_output_with_one_order_waits_and_continues() {
    simulated(async {
        let bench = Bench::new();
        let works = Arc::new(AtomicBool::new(false));
        let full = Arc::clone(&works);
        let shape = Shape { partitions: Partitions::One, batch: 50, linger: Duration::from_millis(100) };
        let system = System::new(shape, move |_| match full.load(Ordering::Relaxed) {
            true => Answer::Take,
            false => Answer::Fail(0, Failed::retry("no space left on device")),
        });
        let running = bench.forward(&system).await;
        bench.store(0..3000, |n| format!("d{}", n % 7)).await;
        tokio::time::sleep(HOUR).await;
        let status = bench.status();
        assert_eq!((status.breaker, status.lag_messages, status.cursor), (Breaker::Open, 3000, 0));
        works.store(true, Ordering::Relaxed);
        bench.until("all arrive", |status| status.cursor == 3000).await;
        let ids: Vec<_> = system.took().into_iter().map(|(_, id)| id).collect();
        assert_eq!(ids, (1..=3000).collect::<Vec<_>>());
        running.stop().await;
        bench.close().await;
    });
}

/// An output that writes in the order of IDs may have the name of one that had delivered some devices only. It begins at the cursor.
#[test]
fn an_output_with_one_order_does_not_begin_beyond_the_cursor() {
    simulated(async {
        let bench = Bench::new();
        let running = bench.forward(&poisoned(one_by_one())).await;
        bench.store(0..100, |n| if n % 10 == 3 { "bad".into() } else { format!("good{}", n % 10) }).await;
        bench.delivered(90).await;
        bench.saved(|position| position.resolved_to == 100 && position.cursor() == 3).await;
        running.stop().await;
        let shape = Shape { partitions: Partitions::One, batch: 50, linger: Duration::ZERO };
        let system = System::new(shape, |_| Answer::Take);
        let running = bench.forward(&system).await;
        bench.until("all arrive", |status| status.cursor == 100).await;
        let ids: Vec<_> = system.took().into_iter().map(|(_, id)| id).collect();
        assert_eq!(ids, (4..=100).collect::<Vec<_>>());
        running.stop().await;
        bench.close().await;
    });
}

/// A device that is only slow has a long backlog, and holds the cursor as well.
#[test]
fn a_crash_repeats_little_of_what_was_delivered_beside_a_long_backlog() {
    struct Slow(Arc<System>);
    #[async_trait::async_trait]
    impl Output for Slow {
        fn shape(&self) -> Shape {
            one_by_one()
        }
        async fn deliver(&self, messages: &[Message]) -> Result<(), Failed> {
            if is_bad(&messages[0]) {
                tokio::time::sleep(Duration::from_secs(20)).await;
            }
            self.0.deliver(messages).await
        }
    }
    simulated(async {
        let bench = Bench::new();
        let system = System::new(one_by_one(), |_| Answer::Take);
        let slow = || Arc::new(Slow(Arc::clone(&system)));
        let named =
            || Named { name: NAME.into(), concurrency: 16, expressions: Default::default(), output: slow() };
        bench.store(0..100, |_| "bad".into()).await;
        bench.store(0..900, |n| format!("good{}", n % 9)).await;
        for _ in 0..2 {
            let stop = tokio_util::sync::CancellationToken::new();
            let forwarder = bench.outputs.forwarder(named(), bench.position().await, stop.clone());
            let running = Running { stop, task: tokio::spawn(forwarder.run()) };
            tokio::time::sleep(Duration::from_secs(300)).await;
            bench.saved(|position| position.resolved_to == 1000 && position.behind.len() == 1).await;
            running.crash(&system).await;
        }
        let good = system.took().iter().filter(|(device, _)| device != "bad").count();
        assert_eq!(good, 900);
        bench.close().await;
    });
}
