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
mod reader;
mod retries;
mod saver;
#[cfg(test)]
mod tests;
mod window;

use super::{Class, Meter, Named, Outputs, Partitions, Progress};
use breaker::Breaker;
use call::{Called, Target};
use dunnage_buffer::Change;
use futures_util::FutureExt;
use limiter::Limiter;
use pace::{Load, Pace};
use reader::{Found, Reader};
use saver::Saver;
use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    sync::mpsc,
    task::{AbortHandle, Id, JoinError, JoinSet},
    time::timeout_at,
};
use tokio_util::sync::CancellationToken;
use window::{Wait, Window};

/// Bounds of the backoff after the first failure of a partition, and after many.
const MIN_BACKOFF: Duration = Duration::from_millis(200);
const MAX_BACKOFF: Duration = Duration::from_secs(60);
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
    reader: Reader,
    saver: Saver,
    duplicates: u64,
    quiet: Option<Instant>,
}

/// The result of a task.
enum Event {
    Called(Called),
    Read(Found),
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
        let target = Arc::new(Target { name, output, outputs, meter });
        Forwarder {
            reader: Reader::new(Arc::clone(&target), cursor),
            saver: Saver::new(cursor, now),
            target,
            window: Window::new(shape),
            limiter: Limiter::new(most, now),
            breaker: Breaker::default(),
            pace,
            again,
            stopping,
            tasks: JoinSet::new(),
            calls: HashMap::new(),
            begun: 0,
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
                Some(ids) = self.again.recv() => self.reader.retry(ids),
                Ok(()) = commits.changed() => self.reader.notify(),
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
        let pause = (!self.pace.allows() && !self.window.is_idle()).then_some(now + pace::THROTTLE_DELAY);
        let all = [
            self.window.next_alarm(),
            self.breaker.until(),
            self.reader.not_before(),
            self.saver.next_tick(),
            pause,
        ];
        all.into_iter().flatten().filter(|at| *at > now).min().unwrap_or(now + MAX_BACKOFF)
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
            // A dead letter leaves its list in the call.
            if !taken.dead_letters.contains(&true) && self.target.output.skip(&taken.messages) {
                self.target.meter.skipped(taken.messages.len());
                self.window.ended(&taken.partition, taken.messages.len(), None, now);
                self.saver.changed();
                continue;
            }
            let (target, partition) = (Arc::clone(&self.target), Arc::clone(&taken.partition));
            let task = self.tasks.spawn(async move { Event::Called(target.call(taken).await) });
            self.begun += 1;
            self.breaker.begun();
            let alone = self.limiter.begun(self.calls.len() + 1);
            self.calls.insert(task.id(), (partition, self.begun, alone));
            self.saver.changed();
        }
    }

    /// Starts the next read, if there is something to read and no read is in progress.
    fn read(&mut self, now: Instant) {
        let calling = self.breaker.state() == super::Breaker::Closed;
        let Some(read) = self.reader.next(&mut self.window, (calling, self.limiter.limit()), now) else {
            return;
        };
        let task = self.tasks.spawn(read.map(Event::Read));
        self.reader.started(task.id());
    }

    fn event(&mut self, ended: Result<(Id, Event), JoinError>) {
        let now = Instant::now();
        match ended {
            Ok((id, Event::Called(called))) => self.called(id, called, now),
            Ok((_, Event::Saved(cursor, durable))) => {
                self.saver.ended(cursor, durable);
                // If the cursor was not saved, messages are only delivered again after a restart.
                if !durable {
                    tracing::warn!(output = %self.target.name, "the cursor could not be saved");
                }
            }
            Ok((_, Event::Read(found))) => self.reader.ended(found, &mut self.window, now),
            Err(e) => self.panicked(&e, now),
        }
        self.saver.changed();
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
        let wait = backoff::asked(asked, backoff::wait(MIN_BACKOFF, MAX_BACKOFF, failures));
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
        self.reader.panicked(error.id(), &mut self.window, now);
        self.saver.panicked(error.id());
        if let Some((partition, ..)) = self.calls.remove(&error.id()) {
            self.target.meter.retried(Class::Other, "the output failed");
            self.limiter.ended(1, None, false, now);
            self.failed(&partition, 0, Class::Other, None, "the output failed", now);
        }
    }

    /// Publishes the progress and saves the cursor, if it is time.
    fn tick(&mut self, now: Instant) {
        if !self.saver.ticks(now) {
            return;
        }
        let cursor = self.show();
        if self.saver.wants(cursor) {
            let (queue, output) = (self.target.outputs.source().queue.clone(), Arc::clone(&self.target.name));
            let task = self.tasks.spawn(async move {
                let saved = queue.change(Change::Cursor { output, message_id: cursor }).await;
                Event::Saved(cursor, saved.is_ok())
            });
            self.saver.started(task.id());
        }
    }

    /// Publishes the progress. Returns the cursor.
    fn show(&mut self) -> i64 {
        let duplicates = self.target.output.duplicates();
        self.target.meter.duplicates(duplicates.saturating_sub(self.duplicates));
        self.duplicates = duplicates;
        let oldest = self.window.oldest();
        let cursor = oldest.map_or(self.reader.last(), |oldest| oldest.id - 1);
        self.target.meter.show(Progress {
            cursor,
            taken: self.reader.last(),
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
