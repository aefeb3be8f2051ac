//! Failures of a device, a receiver and a read, and the retry of dead letters.

use super::{Answer, Bench, NAME, System, assert_in_order, one_by_one};
use crate::{Breaker, Catalog, Failed, Partitions, Shape, Which};
use dunnage_register::Record;
use dunnage_schema::Model;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

/// A backlog of one failing device that does not fit into memory does not hold up other devices.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failing_device_does_not_hold_up_others() {
    let bench = Bench::new();
    let works = Arc::new(AtomicBool::new(false));
    let bad = Arc::clone(&works);
    let system = System::new(one_by_one(), move |messages| {
        match messages[0].device == "bad" && !bad.load(Ordering::Relaxed) {
            true => Answer::Fail(0, Failed::retry("bad")),
            false => Answer::Take,
        }
    });
    bench.store(0..5000, |_| "bad".into()).await;
    bench.store(0..200, |n| format!("good{}", n % 20)).await;
    let running = bench.forward(&system).await;
    bench.until("the good ones arrive", |status| status.delivered == 200).await;
    bench
        .until("only the failing device has messages left", |status| {
            status.lag_messages == 5000 && status.calls == 0
        })
        .await;
    let status = bench.status();
    assert_eq!((status.cursor, status.breaker), (0, Breaker::Closed), "{status:?}");
    assert!(status.age_seconds > 0.0);
    works.store(true, Ordering::Relaxed);
    bench.until("the rest arrives", |status| status.cursor == 5200).await;
    let status = bench.status();
    assert_eq!((status.delivered, status.lag_messages, status.age_seconds), (5200, 0, 0.0));
    assert_in_order(&system.took());
    running.stop().await;
}

/// A receiver that is down gets a few calls, not one from every device. When it works again, everything arrives soon.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receiver_that_is_down_gets_few_calls() {
    let bench = Bench::new();
    let works = Arc::new(AtomicBool::new(false));
    let up = Arc::clone(&works);
    let system = System::new(one_by_one(), move |_| match up.load(Ordering::Relaxed) {
        true => Answer::Take,
        false => Answer::Fail(0, Failed::retry("down")),
    });
    bench.store(0..1000, |n| format!("d{n}")).await;
    let running = bench.forward(&system).await;
    bench.until("the breaker opens", |status| status.breaker == Breaker::Open).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let calls = system.calls.lock().unwrap().len();
    assert!((5..30).contains(&calls), "{calls}");
    works.store(true, Ordering::Relaxed);
    bench.until("all arrive", |status| status.delivered == 1000 && status.breaker == Breaker::Closed).await;
    assert!(system.at_once.load(Ordering::Relaxed) > 1);
    running.stop().await;
}

/// After a restart, every device has failed before; the receiver is still recognized as down.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receiver_that_is_down_is_recognized_after_a_restart() {
    for shape in [one_by_one(), Shape { partitions: Partitions::Together, batch: 100, ..one_by_one() }] {
        let bench = Bench::new();
        let works = Arc::new(AtomicBool::new(false));
        let up = Arc::clone(&works);
        let system = System::new(shape, move |_| match up.load(Ordering::Relaxed) {
            true => Answer::Take,
            false => Answer::Fail(0, Failed::retry("down")),
        });
        bench.store(0..200, |n| format!("d{}", n % 40)).await;
        let running = bench.forward(&system).await;
        bench.until("several devices fail", |status| status.failing >= 5).await;
        running.stop().await;
        let before = system.calls.lock().unwrap().len();
        let running = bench.forward(&system).await;
        bench.until("the breaker opens", |status| status.breaker == Breaker::Open).await;
        let calls = system.calls.lock().unwrap().len() - before;
        assert!(calls < 60, "{calls}");
        works.store(true, Ordering::Relaxed);
        bench
            .until("all arrive", |status| status.delivered == 200 && status.breaker == Breaker::Closed)
            .await;
        running.stop().await;
    }
}

/// A catalog that panics in the first reads.
struct Panics(Arc<AtomicUsize>);

impl Catalog for Panics {
    fn path(&self, _: &str, _: Option<&str>) -> Arc<str> {
        let left = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        assert!(left.is_err(), "as a library may");
        "".into()
    }

    fn record(&self, _: &str) -> Option<Arc<Record>> {
        None
    }

    fn media_type(&self, _: &str) -> Option<&'static str> {
        None
    }

    fn versions<'a>(&'a self, _: &str) -> Box<dyn Iterator<Item = &'a Model> + 'a> {
        Box::new(std::iter::empty())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_that_panics_is_repeated() {
    let panics = Arc::new(AtomicUsize::new(2));
    let bench = Bench::with(move || Arc::new(Panics(Arc::clone(&panics))));
    let system = System::new(one_by_one(), |_| Answer::Take);
    bench.store(0..100, |n| format!("d{n}")).await;
    let running = bench.forward(&system).await;
    bench.until("all arrive", |status| status.delivered == 100).await;
    running.stop().await;
    bench.close().await;
}

/// Dead letters are delivered again on request, in order, together with new messages.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dead_letters_are_delivered_when_they_are_retried() {
    let bench = Bench::new();
    let takes = Arc::new(AtomicBool::new(false));
    let all = Arc::clone(&takes);
    let system = System::new(Shape { batch: 4, ..one_by_one() }, move |messages| {
        let poison = messages.iter().position(|message| message.id % 3 == 0);
        match poison.filter(|_| !all.load(Ordering::Relaxed)) {
            Some(at) => Answer::Fail(at, Failed::refused("not divisible")),
            None => Answer::Take,
        }
    });
    bench.store(0..900, |n| format!("d{}", n % 7)).await;
    let running = bench.forward(&system).await;
    bench.until("all are resolved", |status| status.cursor == 900).await;
    assert_eq!(bench.dead_letters().await, (1..=300).map(|n| n * 3).collect::<Vec<_>>());
    // Rejected again: nothing changes.
    let outputs = &bench.outputs;
    assert_eq!(outputs.retry(NAME, Which::Ids(vec![3, 4, 6])).await.unwrap(), 2);
    bench.until("two are refused again", |status| status.refused == 302).await;
    assert_eq!(bench.dead_letters().await.len(), 300);
    takes.store(true, Ordering::Relaxed);
    system.took.lock().unwrap().clear();
    assert_eq!(outputs.retry(NAME, Which::All).await.unwrap(), 300);
    bench.store(900..1000, |n| format!("d{}", n % 7)).await;
    bench.until("all arrive", |status| status.delivered == 1000 && status.cursor == 1000).await;
    let aside: Vec<_> = system.took().into_iter().filter(|(_, id)| *id <= 900).collect();
    assert_eq!(aside.len(), 300);
    assert_in_order(&aside);
    assert_eq!(bench.dead_letters().await, Vec::<i64>::new());
    running.stop().await;
}
