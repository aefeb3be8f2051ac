//! Tests of the forwarder, with the real buffer and a simulated receiver that fails at random.

use crate::source::NoCatalog;
use crate::{
    Breaker, Catalog, Failed, Families, Message, Named, Output, Outputs, Partitions, Shape, Source, Status,
    Which,
};
use dunnage_buffer::{
    BufferSettings, BufferStats, NewMessage, Options, Provenance, QuarantineSettings, Queue, Readers, Shares,
    Writer,
};
use dunnage_schema::Model;
use fastrand::Rng;
use prometheus_client::registry::Registry;
use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

const NAME: &str = "sim";

/// Decides how the simulated receiver answers a call.
type Behaviour = dyn Fn(&[Message]) -> Answer + Send + Sync;

enum Answer {
    Take,
    /// Accepts this many messages, then fails.
    Fail(usize, Failed),
    /// Accepts all messages, but reports a failure.
    Lie,
    Hang,
    Panic,
}

struct System {
    shape: Shape,
    behaviour: Box<Behaviour>,
    took: Mutex<Vec<(String, i64)>>,
    busy: Mutex<HashSet<String>>,
    calls: Mutex<Vec<usize>>,
    at_once: AtomicUsize,
    closed: AtomicBool,
    broken: Mutex<Vec<&'static str>>,
}

/// Marks a device's call as in progress until this is dropped, also when the call is canceled.
struct Busy<'a>(&'a System, String);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.busy.lock().unwrap().remove(&self.1);
    }
}

impl System {
    fn new(shape: Shape, behaviour: impl Fn(&[Message]) -> Answer + Send + Sync + 'static) -> Arc<System> {
        Arc::new(System {
            shape,
            behaviour: Box::new(behaviour),
            took: Mutex::default(),
            busy: Mutex::default(),
            calls: Mutex::default(),
            at_once: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
            broken: Mutex::default(),
        })
    }

    fn take(&self, messages: &[Message]) {
        let took = messages.iter().map(|message| (message.device.clone(), message.id));
        self.took.lock().unwrap().extend(took);
    }

    fn check(&self, holds: bool, what: &'static str) {
        if !holds {
            self.broken.lock().unwrap().push(what);
        }
    }

    fn took(&self) -> Vec<(String, i64)> {
        self.took.lock().unwrap().clone()
    }
}

#[async_trait::async_trait]
impl Output for System {
    fn shape(&self) -> Shape {
        self.shape
    }

    async fn deliver(&self, messages: &[Message]) -> Result<(), Failed> {
        let partition = match self.shape.partitions {
            Partitions::PerDevice => messages[0].device.clone(),
            Partitions::One => String::new(),
        };
        // A panic here would count as a failure of the output.
        self.check(messages.len() <= self.shape.batch, "a batch is too large");
        self.check(messages.is_sorted_by_key(|message| message.id), "a batch is not in order");
        let alone = self.shape.partitions == Partitions::One
            || messages.iter().all(|message| message.device == partition);
        self.check(alone, "a batch has messages of two devices");
        self.check(self.busy.lock().unwrap().insert(partition.clone()), "two calls at a time for a device");
        let _busy = Busy(self, partition);
        self.at_once.fetch_max(self.busy.lock().unwrap().len(), Ordering::Relaxed);
        self.calls.lock().unwrap().push(messages.len());
        tokio::time::sleep(Duration::from_micros(fastrand::u64(0..2000))).await;
        match (self.behaviour)(messages) {
            Answer::Take => self.take(messages),
            Answer::Fail(count, failed) => {
                self.take(&messages[..count]);
                return Err(failed.after(count));
            }
            Answer::Lie => {
                self.take(messages);
                return Err(Failed::retry("lies"));
            }
            Answer::Hang => std::future::pending().await,
            Answer::Panic => panic!("this panic is part of a test"),
        }
        Ok(())
    }

    fn deadline(&self) -> Duration {
        Duration::from_millis(300)
    }

    async fn close(&self) {
        self.check(!self.closed.swap(true, Ordering::Relaxed), "closed twice");
    }
}

fn one_by_one() -> Shape {
    Shape { partitions: Partitions::PerDevice, batch: 1, linger: Duration::ZERO }
}

struct Bench {
    source: Source,
    outputs: Arc<Outputs>,
    writer: std::thread::JoinHandle<()>,
    _folder: tempfile::TempDir,
}

struct Running {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Bench {
    fn new() -> Bench {
        Bench::with(|| Arc::new(NoCatalog))
    }

    fn with(catalog: impl Fn() -> Arc<dyn Catalog> + Send + Sync + 'static) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let settings =
            BufferSettings { path: folder.path().join("buffer.sqlite3"), ..BufferSettings::default() };
        let options = Options {
            buffer: &settings,
            quarantine: &QuarantineSettings::default(),
            formats: &["json"],
            outputs: vec![NAME.into()],
        };
        let opened = dunnage_buffer::open(options, &|_| false).unwrap();
        let (queue, receiver) = Queue::new(8192, Shares::of(64 << 20, 1 << 20));
        let readers = Readers::new(&opened, queue.clone());
        let stats = Arc::new(BufferStats::new(opened.totals().clone()));
        let writer = Writer::new(opened, receiver, readers.clone(), Arc::clone(&stats), ());
        let writer = std::thread::spawn(move || writer.run());
        let source = Source { queue, readers, stats, catalog: Arc::new(catalog) };
        let families = Families::new(&mut Registry::default());
        let outputs = Arc::new(Outputs::new(source.clone(), families, Duration::from_secs(1)));
        Bench { source, outputs, writer, _folder: folder }
    }

    async fn close(self) {
        self.source.readers.close().await;
        self.source.queue.stop().await;
        self.writer.join().unwrap();
    }

    /// Stores messages. `device` returns the device of each number.
    async fn store(&self, range: std::ops::Range<usize>, device: impl Fn(usize) -> String) {
        let mut storing = tokio::task::JoinSet::new();
        for n in range {
            let (queue, device): (Queue, _) = (self.source.queue.clone(), device(n));
            storing.spawn(async move {
                let room = queue.reserve();
                queue.store(message(device, n), room, || ()).unwrap().commit().await.unwrap();
            });
        }
        storing.join_all().await;
    }

    /// Starts a forwarder to `system` where the previous one ended.
    async fn forward(&self, system: &Arc<System>) -> Running {
        let stop = CancellationToken::new();
        let cursor = self.cursor().await;
        let named =
            Named { name: NAME.into(), concurrency: 16, output: Arc::clone(system) as Arc<dyn Output> };
        let forwarder = self.outputs.forwarder(named, cursor, stop.clone());
        Running { stop, task: tokio::spawn(forwarder.run()) }
    }

    async fn cursor(&self) -> i64 {
        self.source.readers.cursor(NAME.into()).await.unwrap().unwrap_or_default()
    }

    async fn dead_letters(&self) -> Vec<i64> {
        self.source.readers.dead_letter_ids(NAME.into(), None, 10_000).await.unwrap()
    }

    fn status(&self) -> Status {
        self.outputs.statuses(self.source.stats.totals().last_message_id).remove(0)
    }

    async fn until(&self, what: &str, condition: impl Fn(&Status) -> bool) {
        let begun = Instant::now();
        while !condition(&self.status()) {
            assert!(begun.elapsed() < Duration::from_secs(60), "not in time: {what}; {:?}", self.status());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

impl Running {
    async fn stop(self) {
        self.stop.cancel();
        self.task.await.unwrap();
    }

    /// Simulates a crash of the process. A call in progress continues to its next await point.
    async fn crash(self, system: &System) {
        self.task.abort();
        assert!(self.task.await.unwrap_err().is_cancelled());
        while !system.busy.lock().unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

fn message(device: String, n: usize) -> NewMessage {
    NewMessage {
        provenance: Provenance {
            device,
            received_at: dunnage_base::clock::now(),
            schema: None,
            link: None,
            key: None,
            dedup_by_payload: false,
            request: format!("r{n}"),
            origin: None,
        },
        format: "json",
        raw: n.to_string().into_bytes().into(),
        json: n.to_string(),
        layout: None,
    }
}

/// Asserts that the first deliveries of each device's messages were in ascending order.
fn assert_in_order(took: &[(String, i64)]) {
    let mut last: BTreeMap<&str, i64> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for (device, id) in took {
        if seen.insert(id) {
            let before = last.insert(device, *id).unwrap_or_default();
            assert!(before < *id, "{device}: {id} came after {before}");
        }
    }
}

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

/// Whatever fails and whenever the forwarder is killed: every message arrives or becomes a dead letter, those of a device in order and with
/// one call at a time, and the cursor never passes an unresolved message.
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
async fn everything_arrives_in_order_in_one_partition() {
    let linger = Duration::from_millis(5);
    everything_arrives(8, Shape { partitions: Partitions::One, batch: 20, linger }).await;
}

/// A backlog of one failing device that does not fit into memory does not hold up other devices.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_device_that_fails_holds_up_no_other() {
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
        .until("nothing else is waited for", |status| status.lag_messages == 5000 && status.calls == 0)
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
    bench.until("it is left alone", |status| status.breaker == Breaker::Open).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let calls = system.calls.lock().unwrap().len();
    assert!((5..30).contains(&calls), "{calls}");
    works.store(true, Ordering::Relaxed);
    bench.until("all arrive", |status| status.delivered == 1000 && status.breaker == Breaker::Closed).await;
    assert!(system.at_once.load(Ordering::Relaxed) > 1);
    running.stop().await;
}

/// A catalog that panics in the first reads.
struct Panics(Arc<AtomicUsize>);

impl Catalog for Panics {
    fn path(&self, _: &str) -> Arc<str> {
        let left = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        assert!(left.is_err(), "as a library may");
        "".into()
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_waits_until_it_is_full_or_its_time_is_over() {
    let bench = Bench::new();
    let shape = Shape { partitions: Partitions::One, batch: 100, linger: Duration::from_millis(400) };
    let system = System::new(shape, |_| Answer::Take);
    bench.store(0..250, |n| format!("d{n}")).await;
    let running = bench.forward(&system).await;
    bench.until("all arrive", |status| status.delivered == 250).await;
    assert_eq!(*system.calls.lock().unwrap(), [100, 100, 50]);
    running.stop().await;
}

/// At the stop, calls in progress may end, hanging calls are canceled, no calls are started, and the cursor stays correct.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_waits_for_calls_and_begins_none() {
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
        let named = Named { name: NAME.into(), concurrency: 16, output };
        let task = tokio::spawn(bench.outputs.forwarder(named, i64::from(second), stop.clone()).run());
        bench.until("a call is made", |status| status.calls == 1).await;
        stop.cancel();
        let begun = Instant::now();
        bench.store(1..2, |_| "second".into()).await;
        task.await.unwrap();
        assert!(begun.elapsed() < Duration::from_secs(11) && closed.swap(false, Ordering::Relaxed));
        assert_eq!((calls.swap(0, Ordering::Relaxed), bench.cursor().await), (1, 1));
    }
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
    bench.until("all are done with", |status| status.cursor == 900).await;
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
