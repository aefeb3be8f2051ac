//! The forwarder: reads messages after an output's cursor and delivers them until each is resolved.
//!
//! One task owns the state. Calls, reads and writes are tasks that it spawns, and their results are its events. The saved position never
//! passes a message that is not resolved, so that a restart loses nothing, and has what is resolved beyond messages that are retried, so that
//! a restart repeats little.

mod backoff;
mod breaker;
mod call;
mod calls;
mod failures;
mod held;
mod limiter;
mod load;
mod memory;
mod pace;
mod partition;
mod reader;
mod replay;
mod resume;
mod retries;
mod saver;
mod stop;
mod suspects;
#[cfg(test)]
mod tests;
mod window;

use super::{
    Command, Meter, Named, Outputs, Partitions, Progress, Which,
    selection::{Choice, Selection},
};
use breaker::Breaker;
use call::{Called, Target};
use calls::Calls;
use dunnage_buffer::{Change, Position};
use futures_util::FutureExt;
use pace::{Load, Pace};
use reader::{Found, Reader};
use replay::Replays;
use saver::Saver;
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::mpsc,
    task::{AbortHandle, Id, JoinError, JoinSet},
    time::Instant,
};
use tokio_util::sync::CancellationToken;
use window::Window;

/// Bounds of the backoff after the first failure of a partition, and after many.
const MIN_BACKOFF: Duration = Duration::from_millis(200);
const MAX_BACKOFF: Duration = Duration::from_secs(60);
/// Shortest time between two log lines about failed calls.
const QUIET: Duration = Duration::from_secs(5);
/// How long saving the position and closing the output may take at the stop, after the calls in progress.
pub const CLOSING: Duration = Duration::from_secs(10);

/// Largest number of characters of the reason for a failure that is kept.
const REASON: usize = 200;
/// The log's line.
const UNSAVED: &str = "the position could not be saved; messages may be delivered again";

/// Moves messages from the buffer to one output.
pub struct Forwarder {
    target: Arc<Target>,
    window: Window,
    breaker: Breaker,
    pace: Pace,
    replays: Replays,
    commands: mpsc::Receiver<Command>,
    stopping: CancellationToken,
    tasks: JoinSet<Event>,
    calls: Calls,
    /// When a call last succeeded.
    succeeded: Instant,
    reader: Reader,
    saver: Saver,
    duplicates: u64,
    quiet: Option<Instant>,
}

/// The result of a task.
enum Event {
    Called(Called),
    /// What needs no call of these partitions is durable.
    Settled(Vec<Arc<str>>),
    Read(Found),
    Saved(Position, bool),
    /// A part of the replay.
    Part(replay::Part),
    /// Whether the state of the replay is durable.
    ReplaySaved(bool),
}

impl Forwarder {
    /// Creates a forwarder that begins at `position`, and follows `commands`.
    pub fn new(
        Named { name, concurrency, expressions, output }: Named,
        position: Position,
        outputs: Arc<Outputs>,
        meter: Arc<Meter>,
        commands: mpsc::Receiver<Command>,
        stopping: CancellationToken,
    ) -> Forwarder {
        let (shape, now) = (output.shape(), Instant::now());
        // An output of another kind may have had its name, and have delivered devices independently of each other.
        let position = match shape.partitions {
            Partitions::One => Position::at(position.cursor()),
            Partitions::PerDevice | Partitions::Together => position,
        };
        let pace = Pace::new(outputs.source().buffer.stats.totals().stored, now);
        let (selection, window) = (
            Selection::new(&expressions, shape.partitions == Partitions::One),
            Window::new(shape, output.memory()),
        );
        let target = Arc::new(Target { name, output, selection, outputs, meter });
        Forwarder {
            reader: Reader::new(Arc::clone(&target), position.resolved_to),
            saver: Saver::new(position, now),
            target,
            window,
            breaker: Breaker::default(),
            pace,
            replays: Replays::new(now),
            commands,
            stopping,
            tasks: JoinSet::new(),
            calls: Calls::new(shape.partitions, concurrency, now),
            succeeded: now,
            duplicates: 0,
            quiet: None,
        }
    }

    /// Forwards messages until the gateway stops.
    pub async fn run(mut self) {
        let mut commits = self.target.outputs.source().buffer.stats.commits();
        let buffer = self.target.outputs.source().buffer.stats.totals().name;
        self.target.output.resume(&buffer, self.saver.saved().cursor());
        let tending = self.tend();
        self.resume_alarms().await;
        self.resume_replay().await;
        self.restore().await;
        while !self.stopping.is_cancelled() {
            let now = self.look().await;
            self.window.wake(now);
            self.call(now);
            self.read(now);
            self.replay(now);
            self.tick(now);
            let wake = self.next(now);
            tokio::select! {
                () = self.stopping.cancelled() => {}
                Some(command) = self.commands.recv() => self.follow(command),
                Ok(()) = commits.changed() => self.reader.notify(),
                Some(ended) = self.tasks.join_next_with_id() => {
                    self.event(ended);
                    while let Some(ended) = self.tasks.try_join_next_with_id() {
                        self.event(ended);
                    }
                }
                () = tokio::time::sleep_until(wake) => {}
            }
        }
        tending.iter().for_each(AbortHandle::abort);
        self.stop().await;
    }

    /// Follows a command of an operator.
    fn follow(&mut self, command: Command) {
        // An error means that the operator no longer waits for the answer.
        match command {
            Command::Retry(ids) => self.reader.retry(ids),
            Command::Replay(command, answer) => {
                let dropped = self.replays.follow(&self.target.name, command, answer);
                self.give_up(&Which::Ids(dropped));
            }
            Command::Retried(limit, answer) => drop(answer.send(self.window.retried(limit))),
            Command::Discard(which, answer) => {
                let _ = answer.send(self.give_up(&which));
                if which == Which::All {
                    // All dead letters are meant, and no messages of a replay.
                    self.reader.retry(self.replays.open());
                }
            }
        }
        self.saver.changed();
    }

    /// Starts the output's periodic work, if it has any.
    fn tend(&self) -> Option<AbortHandle> {
        let target = Arc::clone(&self.target);
        let every = target.output.tends_every()?;
        let tending = tokio::spawn(async move {
            loop {
                tokio::time::sleep(every).await;
                let buffer = target.outputs.source().buffer.stats.totals().name;
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
            depth: source.buffer.queue.depth(),
            delay: now - before,
            stored: source.buffer.stats.totals().stored,
            outputs: self.target.outputs.count(),
        };
        self.pace.look(&load, now);
        now
    }

    /// Returns the latest time to continue, if no event arrives before.
    fn next(&self, now: Instant) -> Instant {
        let pause = (!self.pace.allows() && !self.window.is_idle()).then_some(now + pace::THROTTLE_DELAY);
        let all = [
            self.window.next_alarm(now),
            self.breaker.until(),
            self.reader.not_before(),
            self.saver.next_tick(),
            self.replays.next_at(),
            pause,
        ];
        all.into_iter().flatten().filter(|at| *at > now).min().unwrap_or(now + MAX_BACKOFF)
    }

    /// Starts as many calls as the breaker, the limiter and the pace allow.
    fn call(&mut self, now: Instant) {
        while let Some(failing) = self.next_call(now)
            && self.pace.allows()
            && let Some(taken) = self.window.take(failing, now)
        {
            self.pace.spend(taken.messages.len());
            self.saver.changed();
            let choices = self.target.choose(&taken);
            // A dead letter leaves its list in the call.
            let skips = !taken.dead_letters.contains(&true)
                && (self.target.output.skip(&taken.messages)
                    || !choices.is_empty() && choices.iter().all(Choice::is_nothing));
            if skips {
                self.target.meter.skipped(taken.messages.len());
                self.window.succeeded(&taken.partitions, i64::MAX, now);
                continue;
            }
            let (target, partitions) = (Arc::clone(&self.target), taken.partitions.clone());
            if !choices.is_empty() && !choices.iter().any(|choice| matches!(choice, Choice::Deliver { .. })) {
                self.tasks.spawn(async move {
                    target.settle(&taken.messages, &taken.dead_letters, &choices).await;
                    Event::Settled(taken.partitions)
                });
                continue;
            }
            let task = self.tasks.spawn(async move { Event::Called(target.call(taken, choices).await) });
            self.breaker.begun();
            self.calls.begun(task.id(), partitions, failing);
        }
    }

    /// Returns which call is made next: of a partition that fails, or of another.
    fn next_call(&mut self, now: Instant) -> Option<bool> {
        if self.breaker.state() == super::Breaker::Closed {
            return self.calls.next(|failing| self.window.is_ready(failing));
        }
        if !self.breaker.allows(self.calls.len(), now) {
            return None;
        }
        // Whether the receiver works, a partition shows that has not failed.
        if self.window.is_ready(false) {
            return Some(false);
        }
        if self.reader.may_find_others(&self.window) {
            return None;
        }
        if !self.window.is_ready(true) {
            self.window.release_one(now);
        }
        self.window.is_ready(true).then_some(true)
    }

    /// Starts the next read, if there is something to read and no read is in progress.
    fn read(&mut self, now: Instant) {
        let calling = self.breaker.state() == super::Breaker::Closed;
        let Some(read) = self.reader.next(&mut self.window, (calling, self.calls.limit()), now) else {
            return;
        };
        let task = self.tasks.spawn(read.map(Event::Read));
        self.reader.started(task.id());
    }

    fn event(&mut self, ended: Result<(Id, Event), JoinError>) {
        let now = Instant::now();
        match ended {
            Ok((id, Event::Called(called))) => self.called(id, called, now),
            Ok((_, Event::Settled(partitions))) => self.window.succeeded(&partitions, i64::MAX, now),
            Ok((_, Event::Saved(position, durable))) => {
                let output = &self.target.name;
                match (self.saver.ended(position, durable), durable) {
                    (true, false) => tracing::warn!(%output, "{UNSAVED}"),
                    (true, true) => tracing::info!(%output, "the position is saved again"),
                    (false, _) => {}
                }
            }
            Ok((_, Event::Read(found))) => self.reader.ended(found, &mut self.window, now),
            Ok((id, Event::Part(part))) => self.reader.retry(self.replays.read(id, part, now)),
            Ok((_, Event::ReplaySaved(durable))) => self.replays.saved(durable),
            Err(e) => self.panicked(&e, now),
        }
        self.saver.changed();
    }

    fn called(&mut self, id: Id, called: Called, now: Instant) {
        let Called { messages, done_to, failed, took } = called;
        let took = failed.is_none().then_some(took);
        let Some(call) = self.calls.ended(id, messages, took, now) else { return };
        if let Some(failure) = failed {
            self.failed(&call, done_to, failure, now);
            return;
        }
        self.window.succeeded(&call.partitions, done_to.unwrap_or_default(), now);
        let before = std::mem::replace(&mut self.succeeded, now);
        if self.breaker.has_failures() {
            if self.breaker.succeeded() {
                tracing::info!(output = %self.target.name, "the output delivers again");
            }
            self.window.release_since(before, now);
        }
    }

    /// Publishes the progress and saves the position, if it is time.
    fn tick(&mut self, now: Instant) {
        if !self.saver.ticks(now) {
            return;
        }
        self.save_replay();
        let position = self.show();
        if self.saver.wants(&position) {
            let (queue, output) =
                (self.target.outputs.source().buffer.queue.clone(), Arc::clone(&self.target.name));
            let task = self.tasks.spawn(async move {
                let change = Change::Position { output, position: position.clone() };
                let saved = queue.change(change).await;
                Event::Saved(position, saved.is_ok())
            });
            self.saver.started(task.id());
        }
    }

    /// Publishes the progress. Returns the position.
    fn show(&mut self) -> Position {
        let duplicates = self.target.output.duplicates();
        self.target.meter.duplicates(duplicates.saturating_sub(self.duplicates));
        self.duplicates = duplicates;
        let position = self.window.position(self.reader.last());
        self.target.meter.show(Progress {
            position: position.clone(),
            taken: self.reader.last(),
            waiting: self.window.waiting(),
            oldest: self.window.oldest().map(|oldest| oldest.received_at),
            failing: self.window.failing(),
            calls: self.calls.len(),
            limit: self.calls.limit(),
            breaker: self.breaker.state(),
            replay: self.replays.status(),
        });
        position
    }
}
