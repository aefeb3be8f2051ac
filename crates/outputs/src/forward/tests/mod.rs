//! Tests of the forwarder, with the real buffer and a simulated receiver that fails at random.

mod delivery;
mod failures;
mod poisoned;
mod skipping;

use crate::{
    Catalog, Failed, Families, Message, Named, Output, Outputs, Partitions, Shape, Source, Status,
    source::NoCatalog,
};
use dunnage_buffer::{BufferSettings, NewMessage, Options, Position, Provenance, QuarantineSettings, Queue};
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

/// Marks the devices of a call as in progress until this is dropped, also when the call is canceled.
struct Busy<'a>(&'a System, BTreeSet<String>);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.busy.lock().unwrap().retain(|device| !self.1.contains(device));
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
        let devices: BTreeSet<_> = match self.shape.partitions {
            Partitions::PerDevice | Partitions::Together => {
                messages.iter().map(|message| message.device.clone()).collect()
            }
            Partitions::One => [String::new()].into(),
        };
        // A panic here would count as a failure of the output.
        self.check(messages.len() <= self.shape.batch, "a batch is too large");
        self.check(messages.is_sorted_by_key(|message| message.id), "a batch is not in order");
        let alone = self.shape.partitions != Partitions::PerDevice || devices.len() == 1;
        self.check(alone, "a batch has messages of two devices");
        let others = devices.iter().all(|device| self.busy.lock().unwrap().insert(device.clone()));
        self.check(others, "two calls at a time for a device");
        let _busy = Busy(self, devices);
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

const fn one_by_one() -> Shape {
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
        // In memory: while tasks wait for a slow disk, a simulated clock runs ahead.
        let memory = std::path::Path::new("/dev/shm");
        let folder =
            if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
        let settings =
            BufferSettings { path: folder.path().join("buffer.sqlite3"), ..BufferSettings::default() };
        let options = Options {
            buffer: &settings,
            quarantine: &QuarantineSettings::default(),
            formats: &["json"],
            outputs: vec![NAME.into()],
        };
        let (buffer, writer) = dunnage_buffer::open(options, &|_| false).unwrap().start(1 << 20);
        let writer = writer.spawn(()).unwrap();
        let source = Source { buffer, catalog: Arc::new(catalog) };
        let families = Families::new(&mut Registry::default());
        let outputs = Arc::new(Outputs::new(source.clone(), families, Duration::from_secs(1)));
        Bench { source, outputs, writer, _folder: folder }
    }

    async fn close(self) {
        self.source.buffer.close().await;
        self.writer.join().unwrap();
    }

    /// Stores messages. `device` returns the device of each number.
    async fn store(&self, range: std::ops::Range<usize>, device: impl Fn(usize) -> String) {
        let mut storing = tokio::task::JoinSet::new();
        for n in range {
            let (queue, device): (Queue, _) = (self.source.buffer.queue.clone(), device(n));
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
        let position = self.position().await;
        let named = Named {
            name: NAME.into(),
            concurrency: 16,
            expressions: Default::default(),
            output: Arc::clone(system) as Arc<dyn Output>,
        };
        let forwarder = self.outputs.forwarder(named, position, stop.clone());
        Running { stop, task: tokio::spawn(forwarder.run()) }
    }

    async fn position(&self) -> Position {
        self.source.buffer.readers.position(NAME.into()).await.unwrap().unwrap_or_default()
    }

    async fn cursor(&self) -> i64 {
        self.position().await.cursor()
    }

    async fn dead_letters(&self) -> Vec<i64> {
        self.source.buffer.readers.dead_letter_ids(NAME.into(), None, 10_000).await.unwrap()
    }

    fn status(&self) -> Status {
        self.outputs.statuses(self.source.buffer.stats.totals().last_message_id).remove(0)
    }

    async fn until(&self, what: &str, condition: impl Fn(&Status) -> bool) {
        let begun = Instant::now();
        while !condition(&self.status()) {
            assert!(begun.elapsed() < Duration::from_secs(60), "not in time: {what}; {:?}", self.status());
            // The buffer works in real time. Without this, a simulated clock runs ahead of it by seconds.
            std::thread::sleep(Duration::from_micros(250));
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
        provenance: Provenance::new(device, dunnage_base::clock::now(), format!("r{n}")),
        format: "json",
        raw: n.to_string().into_bytes().into(),
        json: n.to_string(),
        layout: None,
        reference: None,
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

/// Runs `test` with a clock that jumps to the next event whenever all tasks wait.
fn simulated(test: impl Future<Output = ()>) {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_time().start_paused(true).build().unwrap().block_on(test);
}
