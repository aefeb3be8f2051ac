//! The unresolved messages of one partition.

use crate::Message;
use std::{collections::VecDeque, time::Instant};

/// A message that is not resolved.
#[derive(Debug, Clone, Copy)]
pub struct Item {
    pub id: i64,
    /// In microseconds since 1970.
    pub received_at: i64,
    /// Whether it is a dead letter that is retried. The cursor may have passed it.
    pub dead_letter: bool,
}

/// The messages of a partition: first those in a call, then those in memory, then those of which only the ID is kept. Each group is in
/// ascending order of IDs, except that retried dead letters precede all others that are not in a call.
#[derive(Default)]
pub struct Partition {
    pub calling: Vec<Item>,
    pub calling_bytes: usize,
    pub loaded: VecDeque<(Message, bool)>,
    pub ids: VecDeque<Item>,
    /// Failed calls since the last success.
    pub failures: u32,
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
        256 + self.raw.len() + self.json.len()
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
        self.calling.is_empty() && self.loaded.is_empty() && self.ids.is_empty()
    }

    pub fn load(&mut self, message: Message, dead_letter: bool, now: Instant) {
        self.since.get_or_insert(now);
        self.loaded.push_back((message, dead_letter));
    }

    /// Drops the messages in memory and keeps their IDs. Returns how many bytes that frees.
    pub fn unload(&mut self) -> usize {
        self.since = None;
        let mut bytes = 0;
        while let Some((message, dead_letter)) = self.loaded.pop_back() {
            bytes += message.bytes();
            self.ids.push_front(Item::of(&message, dead_letter));
        }
        bytes
    }

    /// Takes the messages of the next call.
    pub fn take(&mut self, batch: usize) -> (Vec<Message>, Vec<bool>) {
        let count = batch.min(self.loaded.len());
        let (messages, dead_letters): (Vec<_>, Vec<_>) = self.loaded.drain(..count).unzip();
        self.calling = messages
            .iter()
            .zip(&dead_letters)
            .map(|(message, dead_letter)| Item::of(message, *dead_letter))
            .collect();
        self.calling_bytes = messages.iter().map(Message::bytes).sum();
        self.queued = false;
        self.due = None;
        self.alarm = None;
        self.since = self.since.filter(|_| !self.loaded.is_empty());
        (messages, dead_letters)
    }

    /// Returns how many of the first `done` messages of the call were not retried dead letters.
    pub fn waiting_of(&self, done: usize) -> u64 {
        self.calling.iter().take(done).filter(|item| !item.dead_letter).count() as u64
    }

    /// Ends the call, and keeps the IDs of all but its first `done` messages. Returns how many.
    pub fn put_back(&mut self, done: usize) -> usize {
        let left = self.calling.split_off(done.min(self.calling.len()));
        self.calling.clear();
        self.calling_bytes = 0;
        for item in left.iter().rev() {
            self.ids.push_front(*item);
        }
        left.len()
    }

    /// Returns the first message that the cursor must not pass.
    pub fn oldest(&self) -> Option<Item> {
        let loaded = self.loaded.iter().map(|(message, dead_letter)| Item::of(message, *dead_letter));
        self.calling
            .iter()
            .copied()
            .chain(loaded)
            .chain(self.ids.iter().copied())
            .find(|item| !item.dead_letter)
    }
}
