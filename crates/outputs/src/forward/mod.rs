//! The forwarder: reads messages after an output's cursor and delivers them until each is resolved.
//!
//! One task owns the state. Calls, reads and writes are tasks that it spawns, and their results are its events. The saved cursor never
//! passes a message that is not resolved, so that a restart loses nothing.

mod backoff;
mod breaker;
mod call;
mod limiter;
mod pace;
mod partition;
#[cfg(test)]
mod tests;
mod window;

use super::{Catalog, Class, Message, Meter, Named, Outputs, Partitions, Progress};
use breaker::Breaker;
use call::{Called, Target};
use dunnage_buffer::{Change, ReadError, Use};
use limiter::Limiter;
use pace::{Load, Pace};
use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    sync::mpsc,
    task::{AbortHandle, Id, JoinError, JoinSet},
    time::timeout_at,
};
use tokio_util::sync::CancellationToken;
use window::{Wait, Wanted, Window};

/// Largest number of messages to read at a time. SQLite cannot shorten the log during a long read.
const READ: u32 = 256;
/// Delay after a failed read.
const PAUSE: Duration = Duration::from_millis(500);
/// How often the cursor is saved and the progress is published, while they change.
const TICK: Duration = Duration::from_millis(200);
/// Bounds of the backoff after the first failure of a partition, and after many.
const FIRST: Duration = Duration::from_millis(200);
const MOST: Duration = Duration::from_secs(60);
/// Shortest time between two log lines about failed calls.
const QUIET: Duration = Duration::from_secs(5);
/// How long saving the cursor and closing the output may take at the stop, after the calls in progress.
pub const CLOSING: Duration = Duration::from_secs(10);

/// Moves messages from the buffer to one output.
pub struct Forwarder {
    target: Arc<Target>,
    window: Window,
    limiter: Limiter,
    breaker: Breaker,
    pace: Pace,
    again: mpsc::Receiver<Vec<i64>>,
    stopping: CancellationToken,
    tasks: JoinSet<Event>,
    /// For each call in progress: its partition, its serial number, and whether it began alone.
    calls: HashMap<Id, (Arc<str>, u64, bool)>,
    begun: u64,
    /// The last message ID that was read from the buffer, and whether there may be more messages.
    taken: i64,
    more: bool,
    /// Dead letters to retry.
    aside: VecDeque<i64>,
    reading: bool,
    loaded_last: bool,
    read_not_before: Option<Instant>,
    /// The cursor in the buffer.
    saved: i64,
    saving: bool,
    /// Whether something has changed since the last tick.
    moved: bool,
    ticked_at: Instant,
    duplicates: u64,
    quiet: Option<Instant>,
}

/// Messages that were read by their IDs; `None` for those that are no longer in the buffer.
type Loaded = Result<Vec<Option<Message>>, ReadError>;

/// The result of a task.
enum Event {
    Called(Called),
    Taken(Result<Vec<Message>, ReadError>),
    Loaded(Wanted, Loaded),
    Aside(Vec<i64>, Loaded),
    Saved(i64, bool),
}

impl Forwarder {
    /// Creates a forwarder that begins after the message ID `cursor`, and retries the dead letters that it receives from `again`.
    pub fn new(
        Named { name, concurrency, output }: Named,
        cursor: i64,
        outputs: Arc<Outputs>,
        meter: Arc<Meter>,
        again: mpsc::Receiver<Vec<i64>>,
        stopping: CancellationToken,
    ) -> Forwarder {
        let (shape, now) = (output.shape(), Instant::now());
        let most = if shape.partitions == Partitions::One { 1 } else { concurrency };
        let pace = Pace::new(outputs.source().stats.totals().stored, now);
        Forwarder {
            target: Arc::new(Target { name, output, outputs, meter }),
            window: Window::new(shape),
            limiter: Limiter::new(most, now),
            breaker: Breaker::default(),
            pace,
            again,
            stopping,
            tasks: JoinSet::new(),
            calls: HashMap::new(),
            begun: 0,
            taken: cursor,
            more: true,
            aside: VecDeque::new(),
            reading: false,
            loaded_last: false,
            read_not_before: None,
            saved: cursor,
            saving: false,
            moved: true,
            ticked_at: now,
            duplicates: 0,
            quiet: None,
        }
    }

    /// Forwards messages until the gateway stops.
    pub async fn run(mut self) {
        let mut commits = self.target.outputs.source().stats.commits();
        let tending = self.tend();
        while !self.stopping.is_cancelled() {
            let now = self.look().await;
            self.window.wake(now);
            self.call(now);
            self.read(now);
            self.tick(now);
            let wake = self.next(now);
            tokio::select! {
                () = self.stopping.cancelled() => {}
                Some(ids) = self.again.recv() => self.aside.extend(ids),
                Ok(()) = commits.changed() => self.more = true,
                Some(ended) = self.tasks.join_next_with_id() => {
                    self.event(ended);
                    while let Some(ended) = self.tasks.try_join_next_with_id() {
                        self.event(ended);
                    }
                }
                () = tokio::time::sleep_until(wake.into()) => {}
            }
        }
        tending.iter().for_each(AbortHandle::abort);
        self.stop().await;
    }

    /// Starts the output's periodic work, if it has any.
    fn tend(&self) -> Option<AbortHandle> {
        let target = Arc::clone(&self.target);
        let every = target.output.tends_every()?;
        let tending = tokio::spawn(async move {
            loop {
                tokio::time::sleep(every).await;
                let buffer = target.outputs.source().stats.totals().name;
                target.output.tend(&buffer, (target.outputs.source().catalog)()).await;
            }
        });
        Some(tending.abort_handle())
    }

    /// Measures the load of the gateway. Returns the current time.
    async fn look(&mut self) -> Instant {
        let before = Instant::now();
        // Let all ready tasks run first, so that the delay measures how busy the processor is.
        tokio::task::yield_now().await;
        let (now, source) = (Instant::now(), self.target.outputs.source());
        let load = Load {
            depth: source.queue.depth(),
            delay: now - before,
            stored: source.stats.totals().stored,
            outputs: self.target.outputs.count(),
        };
        self.pace.look(&load, now);
        now
    }

    /// Returns when to continue if there is no event until then.
    fn next(&self, now: Instant) -> Instant {
        let tick = self.moved.then_some(self.ticked_at + TICK);
        let pause = (!self.pace.allows() && !self.window.is_idle()).then_some(now + pace::PAUSE);
        let all = [self.window.next_alarm(), self.breaker.until(), self.read_not_before, tick, pause];
        all.into_iter().flatten().filter(|at| *at > now).min().unwrap_or(now + MOST)
    }

    /// Starts as many calls as the breaker, the limiter and the pace allow.
    fn call(&mut self, now: Instant) {
        while self.breaker.allows(self.calls.len(), now) && self.calls.len() < self.limiter.limit() {
            if self.breaker.state() != super::Breaker::Closed {
                self.window.release_one(now);
            }
            if !self.pace.allows() {
                break;
            }
            let Some(taken) = self.window.take(now) else { break };
            self.pace.spend(taken.messages.len());
            let (target, partition) = (Arc::clone(&self.target), Arc::clone(&taken.partition));
            let task = self.tasks.spawn(async move { Event::Called(target.call(taken).await) });
            self.begun += 1;
            self.breaker.begun();
            let alone = self.limiter.begun(self.calls.len() + 1);
            self.calls.insert(task.id(), (partition, self.begun, alone));
            self.moved = true;
        }
    }

    /// Starts the next read, if there is something to read and no read is in progress.
    fn read(&mut self, now: Instant) {
        if self.reading || self.read_not_before.is_some_and(|at| at > now) {
            return;
        }
        let calls = self.limiter.limit();
        let calling = self.breaker.state() == super::Breaker::Closed;
        let takes = self.more && (calling || self.window.waiting() == 0) && self.window.wants_more(calls);
        // Alternate between new messages and reads by ID, so that neither holds up the other.
        if takes && self.loaded_last {
            return self.take();
        }
        let wanted = if calling || self.window.is_idle() { self.window.want() } else { Wanted::new() };
        if !wanted.is_empty() {
            let ids: Vec<_> = wanted.iter().flat_map(|(_, ids)| ids).copied().collect();
            let read = self.load(ids);
            self.tasks.spawn(async move { Event::Loaded(wanted, read.await) });
            (self.reading, self.loaded_last) = (true, true);
        } else if !self.aside.is_empty() && self.window.wants_more(calls) {
            let ids: Vec<_> = self.aside.drain(..self.aside.len().min(READ as usize)).collect();
            let read = self.load(ids.clone());
            self.tasks.spawn(async move { Event::Aside(ids, read.await) });
            (self.reading, self.loaded_last) = (true, true);
        } else if takes {
            self.take();
        }
    }

    /// Reads the messages with these IDs.
    fn load(&self, ids: Vec<i64>) -> impl Future<Output = Loaded> + Send + use<> {
        let source = self.target.outputs.source();
        let catalog = (source.catalog)();
        let read = source.readers.of(Use::Outputs).by_ids(ids);
        async move {
            let found = read.await?.into_iter();
            Ok(found.map(|found| found.map(|stored| with_catalog(stored, &*catalog))).collect())
        }
    }

    /// Reads the next messages.
    fn take(&mut self) {
        let source = self.target.outputs.source();
        let catalog = (source.catalog)();
        let read = source.readers.of(Use::Outputs).after(self.taken, READ);
        self.tasks.spawn(async move {
            let found = read.await;
            Event::Taken(
                found.map(|found| found.into_iter().map(|stored| with_catalog(stored, &*catalog)).collect()),
            )
        });
        (self.reading, self.loaded_last, self.more) = (true, false, false);
    }

    fn event(&mut self, ended: Result<(Id, Event), JoinError>) {
        let now = Instant::now();
        match ended {
            Ok((id, Event::Called(called))) => self.called(id, called, now),
            Ok((_, Event::Saved(cursor, durable))) => {
                self.saving = false;
                // If the cursor was not saved, messages are only delivered again after a restart.
                if durable {
                    self.saved = cursor;
                } else {
                    tracing::warn!(output = %self.target.name, "the cursor could not be saved");
                }
            }
            Ok((_, read)) => {
                self.reading = false;
                self.read_not_before = None;
                self.was_read(read, now);
            }
            Err(e) => self.panicked(&e, now),
        }
        self.moved = true;
    }

    fn was_read(&mut self, read: Event, now: Instant) {
        let failed = match read {
            Event::Taken(Ok(messages)) => {
                self.more |= !messages.is_empty();
                for message in messages {
                    self.taken = message.id;
                    self.window.add(message, now);
                }
                false
            }
            Event::Loaded(wanted, found) => {
                let failed = found.is_err();
                let gone = self.window.load(wanted, found.unwrap_or_default(), now);
                if gone > 0 {
                    tracing::warn!(output = %self.target.name, messages = gone, "messages left the buffer before they were delivered");
                }
                failed
            }
            Event::Aside(ids, found) => {
                let failed = found.is_err();
                let found = found.unwrap_or_default();
                // Request those again that did not fit into the answer.
                for id in ids[found.len()..].iter().rev() {
                    self.aside.push_front(*id);
                }
                let gone = ids.iter().zip(&found).filter(|(_, found)| found.is_none());
                self.gone(gone.map(|(id, _)| *id).collect());
                found.iter().flatten().for_each(|message| self.window.add_aside(message, now));
                failed
            }
            _ => {
                self.more = true;
                true
            }
        };
        self.read_not_before = failed.then_some(now + PAUSE);
    }

    /// Resolves dead letters that are no longer in the buffer.
    fn gone(&self, ids: Vec<i64>) {
        if ids.is_empty() {
            return;
        }
        let output = Arc::clone(&self.target.name);
        tracing::warn!(%output, messages = ids.len(), "dead letters are no longer in the buffer");
        self.target.meter.dropped(ids.len() as u64);
        let queue = self.target.outputs.source().queue.clone();
        tokio::spawn(async move { queue.change(Change::Resolved { output, message_ids: Some(ids) }).await });
    }

    fn called(&mut self, id: Id, called: Called, now: Instant) {
        let Some((partition, serial, alone)) = self.calls.remove(&id) else { return };
        let Called { messages, done, failed, took } = called;
        let succeeded = failed.is_none();
        self.limiter.ended(messages, succeeded.then_some(took), alone && serial == self.begun, now);
        let Some((class, asked, reason)) = failed else {
            self.window.ended(&partition, done, None, now);
            if self.breaker.succeeded() {
                tracing::info!(output = %self.target.name, "the output delivers again");
                self.window.release_all(now);
            }
            return;
        };
        self.failed(&partition, done, class, asked, &reason, now);
    }

    fn failed(
        &mut self,
        partition: &Arc<str>,
        done: usize,
        class: Class,
        asked: Option<Duration>,
        reason: &str,
        now: Instant,
    ) {
        let output = &self.target.name;
        // A partial delivery shows that the receiver works, so the backoff starts again.
        let failures = if done > 0 { 0 } else { self.window.failures(partition) } + 1;
        let wait = backoff::asked(asked, backoff::wait(FIRST, MOST, failures));
        self.window.ended(partition, done, Some(Wait { until: now + wait, asked: asked.is_some() }), now);
        if self.breaker.failed(partition, asked, now) {
            tracing::error!(%output, ?class, reason, "deliveries fail; the output is paused");
        } else if self.quiet.is_none_or(|until| until <= now) {
            tracing::warn!(%output, partition = %partition, ?class, reason, "a delivery failed and will be retried");
            self.quiet = Some(now + QUIET);
        }
    }

    /// Handles a task that panicked. A call counts as failed.
    fn panicked(&mut self, error: &JoinError, now: Instant) {
        tracing::error!(output = %self.target.name, %error, "a task of the output failed");
        if let Some((partition, ..)) = self.calls.remove(&error.id()) {
            self.target.meter.retried(Class::Other, "the output failed");
            self.limiter.ended(1, None, false, now);
            self.failed(&partition, 0, Class::Other, None, "the output failed", now);
        }
    }

    /// Publishes the progress and saves the cursor, if it is time.
    fn tick(&mut self, now: Instant) {
        if !self.moved || now < self.ticked_at + TICK {
            return;
        }
        self.ticked_at = now;
        let cursor = self.show();
        // Come back at the next tick for a cursor that is not saved yet.
        self.moved = cursor != self.saved;
        if self.moved && !self.saving {
            self.saving = true;
            let (queue, output) = (self.target.outputs.source().queue.clone(), Arc::clone(&self.target.name));
            self.tasks.spawn(async move {
                let saved = queue.change(Change::Cursor { output, message_id: cursor }).await;
                Event::Saved(cursor, saved.is_ok())
            });
        }
    }

    /// Publishes the progress. Returns the cursor.
    fn show(&mut self) -> i64 {
        let duplicates = self.target.output.duplicates();
        self.target.meter.duplicates(duplicates.saturating_sub(self.duplicates));
        self.duplicates = duplicates;
        let oldest = self.window.oldest();
        let cursor = oldest.map_or(self.taken, |oldest| oldest.id - 1);
        self.target.meter.show(Progress {
            cursor,
            taken: self.taken,
            waiting: self.window.waiting(),
            oldest: oldest.map(|oldest| oldest.received_at),
            calls: self.calls.len(),
            limit: self.limiter.limit(),
            breaker: self.breaker.state(),
        });
        cursor
    }

    /// Waits for the calls in progress, saves the cursor, and closes the output.
    async fn stop(mut self) {
        let deadline = tokio::time::Instant::now() + self.target.outputs.drain();
        while !self.calls.is_empty()
            && let Ok(Some(ended)) = timeout_at(deadline, self.tasks.join_next_with_id()).await
        {
            self.event(ended);
        }
        let output = &self.target.name;
        if !self.calls.is_empty() {
            tracing::warn!(%output, calls = self.calls.len(), "calls did not end in time and are cancelled");
        }
        self.tasks.shutdown().await;
        let cursor = self.show();
        let output = &self.target.name;
        let change = Change::Cursor { output: Arc::clone(output), message_id: cursor };
        let end = tokio::time::timeout(CLOSING, async {
            if self.target.outputs.source().queue.change(change).await.is_err() {
                tracing::warn!(%output, "the cursor could not be saved; messages may be delivered again");
            }
            self.target.output.close().await;
        });
        if end.await.is_err() {
            tracing::warn!(%output, "the output did not close in time");
        }
    }
}

fn with_catalog(stored: dunnage_buffer::Message, catalog: &dyn Catalog) -> Message {
    Message { path: catalog.path(&stored.device), media_type: catalog.media_type(&stored.format), stored }
}
