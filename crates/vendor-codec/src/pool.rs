//! Threads that run codecs. Codecs take turns, so that a slow one delays the messages of others by a message at a time.

use crate::{
    codec::Codec,
    engine::Engine,
    error::Error,
    exchange::{Input, Output},
    limits,
};
use dunnage_pson::Kind;
use std::{
    collections::{HashMap, VecDeque},
    mem,
    num::NonZero,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// The maximum number of threads; the minimum is 2, so that a slow codec leaves one.
const THREADS: usize = 8;
/// How many engines each thread keeps; the one that was unused for longest gives way.
const ENGINES: usize = 32;
/// How many threads of one codec, and of all, may be given up. As long as so many of them have not ended, messages fail at once.
const LOST_OF_CODEC: usize = 2;
const LOST: usize = 8;
/// How often the threads are watched.
const WATCH: Duration = Duration::from_millis(500);
/// The stack of a thread: that of the engine, and what calls it.
const THREAD_STACK: usize = limits::STACK + (1 << 20);

/// What is called with the result. It must not block.
type Done = Box<dyn FnOnce(Result<Output, Error>) + Send>;

/// An uplink for a codec.
pub struct Job {
    /// The codec.
    pub codec: Arc<Codec>,
    /// The bytes of the message.
    pub bytes: Vec<u8>,
    /// The port of the link, if it is known.
    pub port: Option<u8>,
    /// When the message was received, in microseconds since 1970.
    pub received_at: i64,
    /// As [`Input::lenient`].
    pub lenient: bool,
}

/// The threads. They start with the first message, and end when the pool is dropped.
#[derive(Default)]
pub struct Pool(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    waiting: Condvar,
    closing: Condvar,
}

#[derive(Default)]
struct State {
    started: bool,
    closed: bool,
    /// The codecs that have jobs, in their turn.
    turns: VecDeque<usize>,
    /// The jobs of each codec, by its address.
    jobs: HashMap<usize, VecDeque<(Job, Done)>>,
    /// What each thread runs.
    running: HashMap<usize, Running>,
    /// The threads that were given up, and their codecs.
    lost: HashMap<usize, usize>,
    next_thread: usize,
}

struct Running {
    codec: Arc<Codec>,
    since: Instant,
    done: Done,
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.waiting.notify_all();
        self.0.closing.notify_all();
    }
}

impl Pool {
    /// Decodes an uplink, and calls `done` with the result on a thread of the pool.
    pub fn decode(&self, job: Job, done: impl FnOnce(Result<Output, Error>) + Send + 'static) {
        let mut state = self.0.lock();
        let codec = address(&job.codec);
        let of_codec = state.lost.values().filter(|lost| **lost == codec).count();
        if of_codec >= LOST_OF_CODEC || state.lost.len() >= LOST {
            drop(state);
            return done(Err(stuck(&job.codec)));
        }
        if !state.started {
            state.started = true;
            start(&self.0, &mut state);
        }
        let jobs = state.jobs.entry(codec).or_default();
        jobs.push_back((job, Box::new(done)));
        if jobs.len() == 1 {
            state.turns.push_back(codec);
        }
        drop(state);
        self.0.waiting.notify_one();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next job; `None` when the pool is closed.
    fn next(&self, thread: usize) -> Option<Job> {
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some((job, done)) = state.next() {
                let running = Running { codec: Arc::clone(&job.codec), since: Instant::now(), done };
                state.running.insert(thread, running);
                return Some(job);
            }
            state = self.waiting.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl State {
    /// Takes the next job of the codec whose turn it is.
    fn next(&mut self) -> Option<(Job, Done)> {
        let codec = self.turns.pop_front()?;
        let jobs = self.jobs.get_mut(&codec)?;
        let job = jobs.pop_front();
        match jobs.is_empty() {
            true => drop(self.jobs.remove(&codec)),
            false => self.turns.push_back(codec),
        }
        job
    }
}

/// Identifies a codec. It stays alive as long as it has jobs or threads.
fn address(codec: &Arc<Codec>) -> usize {
    Arc::as_ptr(codec).addr()
}

fn stuck(codec: &Arc<Codec>) -> Error {
    let message = "the codec does not end: it was given up, and its thread still runs";
    Error::new(Kind::Limit, &codec.file, None, message)
}

fn start(shared: &Arc<Shared>, state: &mut State) {
    let threads = thread::available_parallelism().map_or(2, NonZero::get).clamp(2, THREADS);
    (0..threads).for_each(|_| spawn(shared, state));
    let shared = Arc::clone(shared);
    let watch = thread::Builder::new().name("codec-watch".into());
    // Without a watch, a codec that does not end keeps its thread; all others run.
    let _ = watch.spawn(move || watch_threads(&shared));
}

fn spawn(shared: &Arc<Shared>, state: &mut State) {
    let thread = state.next_thread;
    state.next_thread += 1;
    let shared = Arc::clone(shared);
    let builder = thread::Builder::new().name("codec".into()).stack_size(THREAD_STACK);
    // A machine without a thread left cannot decode; jobs then wait for one that runs.
    let _ = builder.spawn(move || run(&shared, thread));
}

fn run(shared: &Shared, thread: usize) {
    let mut engines = VecDeque::new();
    while let Some(job) = shared.next(thread) {
        let mut engine = engine_of(&mut engines, &job.codec);
        let input =
            Input { bytes: &job.bytes, port: job.port, received_at: job.received_at, lenient: job.lenient };
        // A fault of the engine costs its message only.
        let result = match catch_unwind(AssertUnwindSafe(|| engine.decode_uplink(&input))) {
            Ok(result) => {
                engines.push_back((job.codec, engine));
                result
            }
            Err(_) => {
                // After a panic the state of the engine is unknown, so the engine is not even dropped.
                mem::forget(engine);
                Err(Error::new(Kind::Limit, &job.codec.file, None, "the engine of codecs failed"))
            }
        };
        let mut state = shared.lock();
        let running = state.running.remove(&thread);
        let is_lost = state.lost.remove(&thread).is_some();
        drop(state);
        if let Some(running) = running {
            (running.done)(result);
        }
        if is_lost {
            return;
        }
    }
}

/// Takes the engine of `codec` from `engines`, in which the last one was used last, or creates it.
fn engine_of(engines: &mut VecDeque<(Arc<Codec>, Engine)>, codec: &Arc<Codec>) -> Engine {
    let there = engines.iter().position(|(other, _)| Arc::ptr_eq(other, codec));
    match there.and_then(|index| engines.remove(index)) {
        Some((_, engine)) => engine,
        None => {
            // Codecs of an earlier configuration have no other owner.
            engines.retain(|(codec, _)| Arc::strong_count(codec) > 1);
            if engines.len() >= ENGINES {
                engines.pop_front();
            }
            Engine::new(Arc::clone(codec))
        }
    }
}

/// Gives up threads whose codec does not end, and starts others in their place.
fn watch_threads(shared: &Arc<Shared>) {
    let mut state = shared.lock();
    while !state.closed {
        let over = |running: &Running| running.since.elapsed() > limits::ABANDON;
        let late: Vec<_> =
            state.running.iter().filter(|(_, one)| over(one)).map(|(thread, _)| *thread).collect();
        for thread in late {
            let Some(running) = state.running.remove(&thread) else { continue };
            state.lost.insert(thread, address(&running.codec));
            spawn(shared, &mut state);
            (running.done)(Err(stuck(&running.codec)));
        }
        let waited = shared.closing.wait_timeout(state, WATCH);
        state = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
}
