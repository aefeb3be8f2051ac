//! The unresolved messages of one partition.

use crate::Message;
use std::{
    collections::{HashSet, VecDeque},
    sync::Arc,
};
use tokio::time::Instant;

/// A message that is not resolved.
#[derive(Debug, Clone, Copy)]
pub struct Item {
    pub id: i64,
    /// In microseconds since 1970.
    pub received_at: i64,
    /// Whether it is a dead letter that is retried. The cursor may have passed it.
    pub dead_letter: bool,
}

/// Messages that are in the buffer alone. They follow all others of their partition.
#[derive(Debug, Clone, Copy)]
pub struct Rest {
    /// The first of them, or a message with an ID below its.
    pub first: Item,
    /// How many there are.
    pub messages: u64,
}

/// The failures of a partition since its last success.
#[derive(Debug, Clone)]
pub struct Failing {
    /// How many calls have failed.
    pub calls: u32,
    /// When the first one failed.
    pub since: Instant,
    /// When the first message failed last, in microseconds since 1970, and why. The time is 0 if another one did.
    pub last: (i64, Arc<str>),
}

/// Messages of a partition that were read again, and whether there are more of them.
pub type Part = (Vec<Message>, bool);

/// The messages of a partition: first those in a call, then those in memory, then retried dead letters of which only the ID is kept, then
/// those in the buffer. Each group is in ascending order of IDs, except that retried dead letters precede all others that are not in a call.
#[derive(Default)]
pub struct Partition {
    pub calling: Vec<Item>,
    pub calling_bytes: usize,
    pub loaded: VecDeque<(Message, bool)>,
    pub dead_letters: VecDeque<i64>,
    pub rest: Option<Rest>,
    pub failing: Option<Failing>,
    /// Whether its messages in memory count apart, because it was failing when they were read.
    pub apart: bool,
    /// Whether it has held up the cursor since it was last empty.
    pub behind: bool,
    /// No call is made before this time.
    pub due: Option<Instant>,
    /// Whether the receiver asked for the delay.
    pub asked: bool,
    /// Since when messages in memory have waited.
    pub since: Option<Instant>,
    /// When the partition is examined again.
    pub alarm: Option<Instant>,
    /// Whether it waits for a call, or its messages are being read.
    pub queued: bool,
}

impl Item {
    pub fn of(message: &Message, dead_letter: bool) -> Item {
        Item { id: message.id, received_at: message.received_at, dead_letter }
    }
}

impl Message {
    /// Returns about how many bytes of memory it takes.
    pub fn bytes(&self) -> usize {
        256 + self.raw.len() + self.json.len() + self.mapped().map_or(0, str::len)
    }
}

impl Partition {
    /// Returns whether it waits after a failure.
    pub fn is_blocked(&self) -> bool {
        self.due.is_some()
    }

    /// Returns whether it is queued or in a call.
    pub fn is_busy(&self) -> bool {
        self.queued || !self.calling.is_empty()
    }

    pub fn is_empty(&self) -> bool {
        self.calling.is_empty()
            && self.loaded.is_empty()
            && self.dead_letters.is_empty()
            && self.rest.is_none()
    }

    /// Returns whether a new message may be kept in memory: it must not overtake others, and `limit` messages may be there.
    pub fn has_room(&self, limit: usize) -> bool {
        let waits = self.rest.is_some() || !self.dead_letters.is_empty() || self.failing.is_some();
        !waits && !self.is_blocked() && self.loaded.len() < limit
    }

    pub fn load(&mut self, message: Message, dead_letter: bool, now: Instant) {
        self.since.get_or_insert(now);
        self.loaded.push_back((message, dead_letter));
    }

    /// Adds a new message that stays in the buffer.
    pub fn leave(&mut self, item: Item) {
        self.behind = true;
        let rest = self.rest.get_or_insert(Rest { first: item, messages: 0 });
        rest.messages += 1;
    }

    /// Drops a message from memory, before all others that are not in memory.
    fn drop_first(&mut self, item: Item) {
        if item.dead_letter {
            self.dead_letters.push_front(item.id);
            return;
        }
        let messages = self.rest.map_or(0, |rest| rest.messages) + 1;
        self.behind = true;
        self.rest = Some(Rest { first: item, messages });
    }

    /// Drops the messages in memory. Returns how many bytes that frees.
    pub fn unload(&mut self) -> usize {
        self.since = None;
        let mut bytes = 0;
        while let Some((message, dead_letter)) = self.loaded.pop_back() {
            bytes += message.bytes();
            self.drop_first(Item::of(&message, dead_letter));
        }
        bytes
    }

    /// Takes the messages of the next call.
    pub fn take(&mut self, batch: usize) -> Vec<(Message, bool)> {
        let count = batch.min(self.loaded.len());
        let taken: Vec<_> = self.loaded.drain(..count).collect();
        self.calling = taken.iter().map(|(message, dead_letter)| Item::of(message, *dead_letter)).collect();
        self.calling_bytes = taken.iter().map(|(message, _)| message.bytes()).sum();
        self.queued = false;
        self.due = None;
        self.alarm = None;
        self.since = self.since.filter(|_| !self.loaded.is_empty());
        taken
    }

    /// Ends the call, in which the messages up to the ID `done_to` were resolved, and those in `discarded`. Drops the others from memory.
    /// Returns what was resolved.
    pub fn end_call(&mut self, done_to: i64, discarded: &mut HashSet<i64>) -> Vec<Item> {
        let calling = std::mem::take(&mut self.calling);
        self.calling_bytes = 0;
        let is_done = |item: &Item| discarded.remove(&item.id) || item.id <= done_to;
        let (done, left): (Vec<_>, Vec<_>) = calling.into_iter().partition(is_done);
        left.into_iter().rev().for_each(|item| self.drop_first(item));
        done
    }

    /// Returns the IDs of the dead letters that are retried.
    pub fn dead_letters(&self) -> impl Iterator<Item = i64> {
        let calling = self.calling.iter().filter(|item| item.dead_letter).map(|item| item.id);
        let loaded = self.loaded.iter().filter(|(_, dead_letter)| *dead_letter);
        let loaded = loaded.map(|(message, _)| message.id);
        calling.chain(loaded).chain(self.dead_letters.iter().copied())
    }

    /// Marks the first message as one that has not failed itself.
    pub fn forget_failure(&mut self) {
        if let Some(failing) = &mut self.failing {
            failing.last.0 = 0;
        }
    }

    /// Returns the message that is or was called first.
    pub fn head(&self) -> Option<Item> {
        let loaded = self.loaded.front().map(|(message, dead_letter)| Item::of(message, *dead_letter));
        let letter = self.dead_letters.front();
        let letter = letter.map(|id| Item { id: *id, received_at: 0, dead_letter: true });
        let first = self.calling.first().copied();
        first.or(loaded).or(letter).or(self.rest.map(|rest| rest.first))
    }

    /// Returns the first message that the cursor must not pass.
    pub fn oldest(&self) -> Option<Item> {
        let loaded = self.loaded.iter().map(|(message, dead_letter)| Item::of(message, *dead_letter));
        let rest = self.rest.map(|rest| rest.first);
        self.calling.iter().copied().chain(loaded).chain(rest).find(|item| !item.dead_letter)
    }
}
