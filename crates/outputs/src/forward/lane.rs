//! What waits for one call after the other.

use crate::Message;
use std::{collections::VecDeque, time::Instant};

/// A message that is not done with.
#[derive(Debug, Clone, Copy)]
pub struct Item {
    pub id: i64,
    /// In microseconds since 1970.
    pub received_at: i64,
    /// Whether it had been set aside, and counts as done with in the buffer.
    pub aside: bool,
}

/// Messages in ascending order: first those under way, then those in memory, then those of which only the id is kept. Those
/// that had been set aside go before all others that are not under way.
#[derive(Default)]
pub struct Lane {
    pub calling: Vec<Item>,
    pub calling_bytes: usize,
    pub loaded: VecDeque<(Message, bool)>,
    pub ids: VecDeque<Item>,
    /// Calls that failed since the last one that did not.
    pub failures: u32,
    /// No call before.
    pub due: Option<Instant>,
    /// Whether it was the other side that said so.
    pub asked: bool,
    /// Since when messages in memory wait.
    pub since: Option<Instant>,
    /// When it is looked at again.
    pub alarm: Option<Instant>,
    /// It is in line for a call, or its messages are being read.
    pub queued: bool,
}

impl Item {
    pub fn of(message: &Message, aside: bool) -> Item {
        Item { id: message.id, received_at: message.received_at, aside }
    }
}

impl Message {
    /// About what it takes in memory.
    pub fn bytes(&self) -> usize {
        256 + self.raw.len() + self.json.len()
    }
}

impl Lane {
    /// Whether it waits after a failure.
    pub fn is_blocked(&self) -> bool {
        self.due.is_some()
    }

    /// Whether something is being done with it.
    pub fn is_busy(&self) -> bool {
        self.queued || !self.calling.is_empty()
    }

    pub fn is_empty(&self) -> bool {
        self.calling.is_empty() && self.loaded.is_empty() && self.ids.is_empty()
    }

    pub fn load(&mut self, message: Message, aside: bool, now: Instant) {
        self.since.get_or_insert(now);
        self.loaded.push_back((message, aside));
    }

    /// Keeps only ids. Answers how many bytes that frees.
    pub fn unload(&mut self) -> usize {
        self.since = None;
        let mut bytes = 0;
        while let Some((message, aside)) = self.loaded.pop_back() {
            bytes += message.bytes();
            self.ids.push_front(Item::of(&message, aside));
        }
        bytes
    }

    /// The messages of the next call.
    pub fn take(&mut self, batch: usize) -> (Vec<Message>, Vec<bool>) {
        let count = batch.min(self.loaded.len());
        let (messages, aside): (Vec<_>, Vec<_>) = self.loaded.drain(..count).unzip();
        self.calling =
            messages.iter().zip(&aside).map(|(message, aside)| Item::of(message, *aside)).collect();
        self.calling_bytes = messages.iter().map(Message::bytes).sum();
        self.queued = false;
        self.due = None;
        self.alarm = None;
        self.since = self.since.filter(|_| !self.loaded.is_empty());
        (messages, aside)
    }

    /// How many of the first `done` messages of a call had not been set aside.
    pub fn waiting_of(&self, done: usize) -> u64 {
        self.calling.iter().take(done).filter(|item| !item.aside).count() as u64
    }

    /// Keeps the ids of what is left of a call. Answers how many.
    pub fn put_back(&mut self, done: usize) -> usize {
        let left = self.calling.split_off(done.min(self.calling.len()));
        self.calling.clear();
        self.calling_bytes = 0;
        for item in left.iter().rev() {
            self.ids.push_front(*item);
        }
        left.len()
    }

    /// The first message that counts as not done with in the buffer.
    pub fn oldest(&self) -> Option<Item> {
        let loaded = self.loaded.iter().map(|(message, aside)| Item::of(message, *aside));
        self.calling.iter().copied().chain(loaded).chain(self.ids.iter().copied()).find(|item| !item.aside)
    }
}
