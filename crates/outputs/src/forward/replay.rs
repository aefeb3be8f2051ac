//! The replay of a forwarder: which of its messages are handed to the reader, as retried dead letters are, and which of them are resolved.
//!
//! New messages come first: the next part is handed over when the output has nothing else to deliver, or after [`PAUSE`]. Devices that fail do
//! not hold up the others until [`MOST_OPEN`] of their messages wait.

use super::{Event, Forwarder};
use crate::{
    Breaker, Which,
    replay::{Replay, ReplayAction, ReplayAnswer, ReplayCommand, ReplayError, ReplayStatus},
};
use dunnage_buffer::{Change, IdRange, ReadError, Use};
use std::{collections::BTreeSet, sync::Arc, time::Duration};
use tokio::{task::Id, time::Instant};

/// How many messages are handed over at a time.
pub const PART: usize = 1024;
/// Parts are handed over only while fewer messages are unresolved. After a restart, all messages from the first unresolved one on are
/// delivered again.
const MOST_OPEN: usize = 8 * PART;
/// How long new messages come first.
const PAUSE: Duration = Duration::from_secs(1);

/// What a read found: message IDs, and the last ID that it examined.
pub type Part = Result<(Vec<i64>, i64), ReadError>;

/// The replay of an output, and what is known of it that is not in the buffer yet.
pub struct Replays {
    replay: Option<Replay>,
    /// The messages that were handed over and are not resolved.
    open: BTreeSet<i64>,
    /// The last message ID that was examined.
    examined: i64,
    /// The read in progress.
    reading: Option<Id>,
    /// No part is handed over before this time, unless the output has nothing else to deliver.
    after: Instant,
    /// Whether the last read failed. The next one then waits in any case.
    failed: bool,
    /// Whether the buffer has another state.
    changed: bool,
    /// The task that saves the state.
    saving: Option<Id>,
    /// The answers that wait for the next save, and those that wait for the save in progress.
    answers: [Vec<ReplayAnswer>; 2],
}

impl Replays {
    /// Creates the replays of an output that has none.
    pub fn new(now: Instant) -> Replays {
        Replays {
            replay: None,
            open: BTreeSet::new(),
            examined: 0,
            reading: None,
            after: now,
            failed: false,
            changed: false,
            saving: None,
            answers: Default::default(),
        }
    }

    /// Takes over the replay from before the restart.
    pub fn resume(&mut self, replay: Replay) {
        self.examined = replay.done_to;
        self.replay = Some(replay);
    }

    /// Follows a command. The answer is sent once the buffer has the new state. Returns the messages that are no longer to be delivered.
    pub fn follow(&mut self, output: &str, command: ReplayCommand, answer: ReplayAnswer) -> Vec<i64> {
        let mut dropped = Vec::new();
        let running = self.replay.as_mut().filter(|replay| !replay.is_complete());
        let refused = match (command, running) {
            (ReplayCommand::Start(_), Some(_)) => Some(ReplayError::NotComplete(output.into())),
            (ReplayCommand::Start(replay), None) => {
                self.resume(replay);
                None
            }
            (ReplayCommand::Change(_), None) => Some(ReplayError::NoReplay(output.into())),
            (ReplayCommand::Change(ReplayAction::Pause), Some(running)) => {
                running.paused = true;
                None
            }
            (ReplayCommand::Change(ReplayAction::Resume), Some(running)) => {
                running.paused = false;
                None
            }
            (ReplayCommand::Change(ReplayAction::Cancel), Some(_)) => {
                dropped = std::mem::take(&mut self.open).into_iter().collect();
                (self.replay, self.reading) = (None, None);
                None
            }
        };
        match refused {
            // An error means that the operator no longer waits for the answer.
            Some(refused) => drop(answer.send(Err(refused))),
            None => {
                self.changed = true;
                self.answers[0].push(answer);
            }
        }
        dropped
    }

    /// Returns the state of the replay, if there is one.
    pub fn status(&self) -> Option<ReplayStatus> {
        self.replay.as_ref().map(Replay::status)
    }

    /// Returns the messages that were handed over and are not known to be resolved.
    pub fn open(&self) -> Vec<i64> {
        self.open.iter().copied().collect()
    }

    /// Returns whether messages are to be handed over.
    fn goes_on(&self) -> bool {
        let more = |replay: &Replay| !replay.paused && self.examined < replay.up_to;
        self.reading.is_none() && self.open.len() < MOST_OPEN && self.replay.as_ref().is_some_and(more)
    }

    /// Returns when the next part is handed over at the latest.
    pub fn next_at(&self) -> Option<Instant> {
        self.goes_on().then_some(self.after)
    }

    /// Returns the IDs among which the next part is, and the pattern of its devices. `idle` says whether the output has nothing else to deliver.
    pub fn next(&self, idle: bool, now: Instant) -> Option<(IdRange, Option<Arc<str>>)> {
        let is_time = self.after <= now || idle && !self.failed;
        let replay = self.replay.as_ref().filter(|_| self.goes_on() && is_time)?;
        Some((IdRange { after: self.examined, up_to: replay.up_to }, replay.device.clone()))
    }

    /// Records that the task `id` reads the next part.
    pub fn started(&mut self, id: Id) {
        self.reading = Some(id);
    }

    /// Takes note of the part that the task `id` has read. Returns what to hand to the reader.
    pub fn read(&mut self, id: Id, part: Part, now: Instant) -> Vec<i64> {
        // The read of a replay that was cancelled in the meantime is not the one in progress.
        if self.reading.take_if(|reading| *reading == id).is_none() {
            return Vec::new();
        }
        (self.after, self.failed) = (now + PAUSE, part.is_err());
        let Ok((ids, examined)) = part else { return Vec::new() };
        self.examined = examined;
        self.open.extend(&ids);
        self.changed = true;
        ids
    }

    /// Takes note of what is resolved: the messages for which `is_open` does not hold.
    pub fn settle(&mut self, is_open: impl Fn(i64) -> bool) {
        let Some(replay) = self.replay.as_mut().filter(|replay| !replay.is_complete()) else { return };
        let before = self.open.len();
        self.open.retain(|id| is_open(*id));
        let done_to = self.open.first().map_or(self.examined, |first| first - 1);
        replay.done += (before - self.open.len()) as u64;
        self.changed |= before != self.open.len() || done_to != replay.done_to;
        replay.done_to = done_to;
    }

    /// Returns what to write into the buffer, if its state is another one and none is being saved.
    pub fn unsaved(&mut self) -> Option<Option<String>> {
        if self.saving.is_some() || !std::mem::take(&mut self.changed) {
            return None;
        }
        let [waiting, saved] = &mut self.answers;
        saved.append(waiting);
        // The state consists of numbers and a text.
        Some(self.replay.as_ref().and_then(|replay| serde_json::to_string(replay).ok()))
    }

    /// Like [`Replays::unsaved`], at the end: no task saves any more.
    pub fn last_state(&mut self) -> Option<Option<String>> {
        self.changed |= self.saving.take().is_some();
        self.unsaved()
    }

    /// Forgets the replay from before the restart.
    pub fn forget(&mut self) {
        self.changed = true;
    }

    /// Records that the task `id` saves the state.
    pub fn saves(&mut self, id: Id) {
        self.saving = Some(id);
    }

    /// Takes note of whether the state was saved. If it was not, it is saved again.
    pub fn saved(&mut self, durable: bool) {
        self.saving = None;
        self.changed |= !durable;
        let status = self.status();
        for answer in std::mem::take(&mut self.answers[1]) {
            let result = if durable { Ok(status.clone()) } else { Err(ReplayError::Buffer) };
            let _ = answer.send(result);
        }
    }

    /// Handles a panic of the task `id`: what it did is done again.
    pub fn panicked(&mut self, id: Id, now: Instant) {
        if self.saving == Some(id) {
            self.saved(false);
        }
        self.read(id, Err(ReadError), now);
    }
}

impl Forwarder {
    /// Hands the next part of the replay to the reader, if it is time.
    pub(super) fn replay(&mut self, now: Instant) {
        if self.breaker.state() != Breaker::Closed {
            return;
        }
        let has_new = self.window.is_ready(false) || self.window.is_thin();
        let idle = self.calls.is_empty() && self.reader.is_idle() && !has_new;
        if idle {
            self.settle_replay();
        }
        let Some((range, device)) = self.replays.next(idle, now) else { return };
        let readers = self.target.outputs.source().buffer.readers.of(Use::Outputs);
        let position = self.window.position(self.reader.last());
        let read = readers.resolved_ids(range, device, position, PART);
        let task = self.tasks.spawn(async move { Event::Part(read.await) });
        self.replays.started(task.id());
    }

    /// Takes note of what the window has resolved.
    pub(super) fn settle_replay(&mut self) {
        let (reader, window) = (&self.reader, &self.window);
        self.replays.settle(|id| reader.retries(id) || window.is_retried(id));
    }

    /// Saves the state of the replay, if it has changed.
    pub(super) fn save_replay(&mut self) {
        self.settle_replay();
        let Some(state) = self.replays.unsaved() else { return };
        let (queue, output) =
            (self.target.outputs.source().buffer.queue.clone(), Arc::clone(&self.target.name));
        let change = Change::Replay { output, state };
        let task = self.tasks.spawn(async move { Event::ReplaySaved(queue.change(change).await.is_ok()) });
        self.replays.saves(task.id());
    }

    /// Gives up messages and dead letters that are retried. Returns how many messages.
    pub(super) fn give_up(&mut self, which: &Which) -> u64 {
        self.reader.discard(which);
        self.window.discard(which, Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise it would be read again at once, as long as the buffer cannot be read.
    #[tokio::test]
    async fn a_read_that_failed_is_repeated_after_a_pause() {
        let now = Instant::now();
        let mut replays = Replays::new(now);
        replays.resume(Replay {
            from: 0,
            until: 1,
            device: None,
            done_to: 0,
            up_to: 9,
            messages: 9,
            done: 0,
            paused: false,
            begun_at: 0,
        });
        let range = Some((IdRange { after: 0, up_to: 9 }, None));
        assert_eq!(replays.next(true, now), range);
        let id = tokio::spawn(async {}).id();
        replays.started(id);
        assert_eq!(replays.next(true, now), None);
        assert!(replays.read(id, Err(ReadError), now).is_empty());
        assert_eq!((replays.next(true, now), replays.next_at()), (None, Some(now + PAUSE)));
        assert_eq!(replays.next(false, now + PAUSE), range);
        replays.started(id);
        assert_eq!(replays.read(id, Ok((vec![3, 5], 7)), now), [3, 5]);
        replays.settle(|id| id == 5);
        assert_eq!(replays.status().map(|status| status.done), Some(1));
        assert_eq!(replays.next(true, now), Some((IdRange { after: 7, up_to: 9 }, None)));
    }
}
