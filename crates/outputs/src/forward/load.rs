//! Selects the messages that a window reads again, and adds them to their partitions.

use super::{
    partition::{Item, Part, Rest},
    window::Window,
};
use crate::{Message, Partitions};
use std::sync::Arc;
use tokio::time::Instant;

/// Largest number of messages to read again at a time.
const LOAD: usize = 256;
/// Largest number of failing partitions whose messages wait in memory for a call.
const FAILING_READY: usize = 16;

/// The messages to read again, by partition.
pub enum Wanted {
    /// Dead letters, by their IDs.
    DeadLetters(Vec<(Arc<str>, Vec<i64>)>),
    /// Messages after an ID: at most this many of each partition.
    Rest(Vec<(Arc<str>, i64)>, usize),
}

impl Window {
    /// Returns the messages to read again next.
    pub fn want(&mut self) -> Option<Wanted> {
        let room = [
            !self.queues[0].memory.is_full(self.most(), self.bytes),
            self.queues[1].ready.len() < FAILING_READY
                && !self.queues[1].memory.is_full(usize::MAX, self.bytes),
        ];
        let wants = |at: usize| room[at] && !self.queues[at].thin.is_empty();
        let at = match (wants(0), wants(1)) {
            (false, false) => return None,
            (true, true) => usize::from(self.failing_next),
            (_, failing) => usize::from(failing),
        };
        self.failing_next = at == 0;
        let enough = match at {
            0 => self.of_a_partition().min(LOAD.max(self.shape.batch)),
            // One at a time shows which one fails. An output that sends the newest of several needs them together.
            _ if self.shape.partitions == Partitions::Together => 1,
            _ => self.shape.batch,
        };
        let (mut letters, mut rest, mut count) = (Vec::new(), Vec::new(), 0);
        let most = if at == 0 { LOAD } else { enough * (FAILING_READY - self.queues[1].ready.len()) };
        while count < most
            && let Some(name) = self.queues[at].thin.pop_front()
        {
            let Some(partition) = self.partitions.get(&name) else { continue };
            let dead_letters: Vec<_> = partition.dead_letters.iter().take(enough).copied().collect();
            let first = partition.rest.map_or(0, |rest| rest.first.id);
            let is_rest = dead_letters.is_empty();
            if is_rest != letters.is_empty() && !(letters.is_empty() && rest.is_empty()) {
                self.queues[at].thin.push_front(name);
                break;
            }
            let waiting = partition.rest.map_or(0, |rest| rest.messages);
            count += if is_rest { enough.min(waiting.max(1) as usize) } else { dead_letters.len() };
            match is_rest {
                true => rest.push((name, first - 1)),
                false => letters.push((name, dead_letters)),
            }
        }
        match letters.is_empty() {
            true => Some(Wanted::Rest(rest, enough)).filter(|_| count > 0),
            false => Some(Wanted::DeadLetters(letters)),
        }
    }

    /// Adds dead letters that were read by ID. `found` has the messages of `wanted`, in the same order, but may end early. Returns how many are
    /// no longer in the buffer.
    pub fn load_dead_letters(
        &mut self,
        wanted: Vec<(Arc<str>, Vec<i64>)>,
        found: Vec<Option<Message>>,
        now: Instant,
    ) -> usize {
        let mut found = found.into_iter();
        let mut gone = 0;
        for (name, ids) in wanted {
            self.begin_load(&name);
            for (id, message) in ids.into_iter().zip(&mut found) {
                let Some(partition) = self.partitions.get_mut(&name) else { continue };
                // Another one may have been added before it in the meantime.
                if partition.dead_letters.pop_front_if(|first| *first == id).is_none() {
                    continue;
                }
                match message {
                    Some(message) => self.load(&name, message, true, now),
                    None => {
                        self.letters.remove(&id);
                        gone += 1;
                    }
                }
            }
            self.look(&name, now);
        }
        gone
    }

    /// Adds messages that were read again. `found` has those of each partition of `wanted`, and whether there are more, but may end early.
    pub fn load_rest(&mut self, wanted: Vec<(Arc<str>, i64)>, found: Vec<Part>, now: Instant) {
        let mut found = found.into_iter();
        for (name, after) in wanted {
            self.begin_load(&name);
            // Dead letters that were added in the meantime come first.
            if let Some((messages, more)) = found.next()
                && let Some(partition) = self.partitions.get_mut(&name)
                && partition.dead_letters.is_empty()
                && let Some(rest) = partition.rest.take_if(|rest| rest.first.id == after + 1)
            {
                let count = messages.len() as u64;
                // The count is only wrong if the buffer has lost messages.
                let left = rest.messages.saturating_sub(count);
                self.waiting += count.saturating_sub(rest.messages);
                match messages.last().filter(|_| more) {
                    Some(last) => {
                        let first =
                            Item { id: last.id + 1, received_at: last.received_at, dead_letter: false };
                        partition.rest = Some(Rest { first, messages: left });
                    }
                    None if more => partition.rest = Some(rest),
                    None => self.waiting -= left,
                }
                for message in messages {
                    self.load(&name, message, false, now);
                }
            }
            self.look(&name, now);
        }
    }

    fn begin_load(&mut self, name: &str) {
        if let Some(partition) = self.partitions.get_mut(name) {
            partition.queued = false;
            if partition.loaded.is_empty() {
                partition.apart = partition.failing.is_some();
            }
        }
    }

    fn load(&mut self, name: &str, message: Message, dead_letter: bool, now: Instant) {
        let Some(partition) = self.partitions.get_mut(name) else { return };
        if !dead_letter && self.discarded.remove(&message.id) {
            self.waiting -= 1;
            return;
        }
        self.queues[usize::from(partition.apart)].memory.add(&message);
        partition.load(message, dead_letter, now);
    }
}
