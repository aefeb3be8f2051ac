//! The messages that were read and are not resolved, by partition: the messages of a device, or all of them for an output with one
//! partition.
//!
//! For a partition that waits after a failure or has a long backlog, only the IDs are kept in memory, so that it does not crowd out others.

use super::partition::{Item, Partition};
use crate::{Message, Partitions, Shape};
use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap, VecDeque},
    sync::Arc,
    time::Instant,
};

/// Largest number of messages in memory, and of their bytes.
const MESSAGES: usize = 4096;
const BYTES: usize = 4 << 20;
/// Largest number of messages of which only the ID is kept.
const IDS: usize = 200_000;
/// Largest number of messages in memory of one partition among many, unless a batch is larger.
const OF_A_PARTITION: usize = 32;
/// Largest number of messages to read by ID at a time.
const LOAD: usize = 256;

/// The messages of a call.
pub struct Taken {
    pub partition: Arc<str>,
    pub messages: Vec<Message>,
    /// Which of them are retried dead letters.
    pub dead_letters: Vec<bool>,
}

/// The delay of a partition after a failure.
#[derive(Debug, Clone, Copy)]
pub struct Wait {
    pub until: Instant,
    /// Whether the receiver asked for it.
    pub asked: bool,
}

/// The message IDs to read, by partition.
pub type Wanted = Vec<(Arc<str>, Vec<i64>)>;

pub struct Window {
    shape: Shape,
    partitions: HashMap<Arc<str>, Partition>,
    /// Partitions that can be called.
    ready: VecDeque<Arc<str>>,
    /// Partitions that could be called if their messages were in memory.
    thin: VecDeque<Arc<str>>,
    alarms: BinaryHeap<Reverse<(Instant, Arc<str>)>>,
    /// Messages in memory, including those in calls, and their bytes.
    messages: usize,
    bytes: usize,
    /// Messages of which only the ID is kept.
    ids: usize,
    /// Messages that are not resolved, without retried dead letters.
    waiting: u64,
}

impl Window {
    pub fn new(shape: Shape) -> Window {
        Window {
            shape,
            partitions: HashMap::new(),
            ready: VecDeque::new(),
            thin: VecDeque::new(),
            alarms: BinaryHeap::new(),
            messages: 0,
            bytes: 0,
            ids: 0,
            waiting: 0,
        }
    }

    /// Returns how many messages are not resolved, without retried dead letters.
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Returns whether to read further messages, when `calls` concurrent calls are allowed.
    pub fn wants_more(&self, calls: usize) -> bool {
        let room = self.messages < self.most() && self.bytes < BYTES && self.ids < IDS;
        room && match self.shape.partitions {
            Partitions::PerDevice => self.ready.len() < calls.max(1) * 2,
            Partitions::One => self.ids == 0,
        }
    }

    /// Returns whether no partition can be called.
    pub fn is_idle(&self) -> bool {
        self.ready.is_empty()
    }

    fn most(&self) -> usize {
        match self.shape.partitions {
            Partitions::PerDevice => MESSAGES,
            Partitions::One => MESSAGES.max(self.shape.batch * 2),
        }
    }

    fn of_a_partition(&self) -> usize {
        match self.shape.partitions {
            Partitions::PerDevice => OF_A_PARTITION.max(self.shape.batch),
            Partitions::One => usize::MAX,
        }
    }

    fn partition_of(&self, message: &Message) -> Arc<str> {
        match self.shape.partitions {
            Partitions::PerDevice => message.device.as_str().into(),
            Partitions::One => "".into(),
        }
    }

    /// Adds a new message, after all others.
    pub fn add(&mut self, message: Message, now: Instant) {
        let name = self.partition_of(&message);
        let of_a_partition = self.of_a_partition();
        let partition = self.partitions.entry(Arc::clone(&name)).or_default();
        self.waiting += 1;
        if partition.ids.is_empty() && !partition.is_blocked() && partition.loaded.len() < of_a_partition {
            self.messages += 1;
            self.bytes += message.bytes();
            partition.load(message, false, now);
        } else {
            self.ids += 1;
            partition.ids.push_back(Item::of(&message, false));
        }
        self.look(&name, now);
    }

    /// Adds a dead letter to retry, before the other messages of its partition.
    pub fn add_dead_letter(&mut self, message: &Message, now: Instant) {
        let name = self.partition_of(message);
        self.unload(&name);
        let partition = self.partitions.entry(Arc::clone(&name)).or_default();
        let before = |item: &Item| item.dead_letter && item.id <= message.id;
        let at = partition.ids.iter().position(|item| !before(item)).unwrap_or(partition.ids.len());
        let there = at.checked_sub(1).is_some_and(|last| partition.ids[last].id == message.id);
        if !there {
            partition.ids.insert(at, Item::of(message, true));
            self.ids += 1;
        }
        self.look(&name, now);
    }

    /// Drops the messages of a partition from memory and keeps their IDs.
    fn unload(&mut self, name: &str) {
        let Some(partition) = self.partitions.get_mut(name) else { return };
        self.messages -= partition.loaded.len();
        self.ids += partition.loaded.len();
        self.bytes -= partition.unload();
    }

    /// Wakes the partitions whose time has come.
    pub fn wake(&mut self, now: Instant) {
        while let Some(Reverse((at, _))) = self.alarms.peek()
            && *at <= now
            && let Some(Reverse((at, name))) = self.alarms.pop()
        {
            if let Some(partition) = self.partitions.get_mut(&name)
                && partition.alarm == Some(at)
            {
                partition.alarm = None;
                self.look(&name, now);
            }
        }
    }

    /// Returns when to wake the next partition.
    pub fn next_alarm(&self) -> Option<Instant> {
        self.alarms.peek().map(|Reverse((at, _))| *at)
    }

    /// Queues a partition if it can be called or read, or sets its alarm, or removes it if it is empty.
    fn look(&mut self, name: &Arc<str>, now: Instant) {
        let full = self.messages >= self.most() || self.bytes >= BYTES;
        let Some(partition) = self.partitions.get_mut(name) else { return };
        if partition.is_busy() {
            return;
        }
        if partition.is_empty() {
            self.partitions.remove(name);
            return;
        }
        let mut alarm = partition.due.filter(|due| *due > now);
        if alarm.is_none() && !partition.loaded.is_empty() {
            let enough = partition.loaded.len() >= self.shape.batch || !partition.ids.is_empty() || full;
            alarm =
                partition.since.map(|since| since + self.shape.linger).filter(|end| !enough && *end > now);
        }
        match alarm {
            Some(alarm) if partition.alarm.is_none_or(|earlier| alarm < earlier) => {
                partition.alarm = Some(alarm);
                self.alarms.push(Reverse((alarm, Arc::clone(name))));
            }
            Some(_) => {}
            None => {
                partition.queued = true;
                let queue = if partition.loaded.is_empty() { &mut self.thin } else { &mut self.ready };
                queue.push_back(Arc::clone(name));
            }
        }
    }

    /// Takes the messages of the next call.
    pub fn take(&mut self, now: Instant) -> Option<Taken> {
        while let Some(name) = self.ready.pop_front() {
            let Some(partition) = self.partitions.get_mut(&name) else { continue };
            let (messages, dead_letters) = partition.take(self.shape.batch);
            if !messages.is_empty() {
                return Some(Taken { partition: name, messages, dead_letters });
            }
            // It was unloaded while it was queued.
            self.look(&name, now);
        }
        None
    }

    /// Ends the call of a partition, whose first `done` messages are resolved. With `wait`, the call has failed, and the rest of the
    /// partition waits.
    pub fn ended(&mut self, name: &Arc<str>, done: usize, wait: Option<Wait>, now: Instant) {
        let Some(partition) = self.partitions.get_mut(name) else { return };
        self.messages -= partition.calling.len();
        self.bytes -= partition.calling_bytes;
        self.waiting -= partition.waiting_of(done);
        if done < partition.calling.len() {
            self.messages -= partition.loaded.len();
            self.ids += partition.loaded.len();
            self.bytes -= partition.unload();
        }
        self.ids += partition.put_back(done);
        partition.due = wait.map(|wait| wait.until);
        partition.asked = wait.is_some_and(|wait| wait.asked);
        partition.failures = if wait.is_some() { partition.failures.saturating_add(1) } else { 0 };
        self.look(name, now);
    }

    /// Returns how many calls of a partition have failed since its last success.
    pub fn failures(&self, name: &str) -> u32 {
        self.partitions.get(name).map_or(0, |partition| partition.failures)
    }

    /// Returns the message IDs to read next.
    pub fn want(&mut self) -> Wanted {
        let (mut wanted, mut count) = (Wanted::new(), 0);
        while count < LOAD
            && self.messages + count < self.most()
            && self.bytes < BYTES
            && let Some(name) = self.thin.pop_front()
        {
            if let Some(partition) = self.partitions.get(&name) {
                let enough = if partition.failures > 0 { 1 } else { OF_A_PARTITION }.max(self.shape.batch);
                let ids: Vec<_> = partition.ids.iter().take(enough.min(LOAD)).map(|item| item.id).collect();
                count += ids.len();
                wanted.push((name, ids));
            }
        }
        wanted
    }

    /// Adds messages that were read by ID. `found` has the messages of `wanted`, in the same order, but may end early. Returns how many are
    /// no longer in the buffer.
    pub fn load(&mut self, wanted: Wanted, found: Vec<Option<Message>>, now: Instant) -> usize {
        let mut found = found.into_iter();
        let mut gone = 0;
        for (name, ids) in wanted {
            let Some(partition) = self.partitions.get_mut(&name) else {
                found.by_ref().take(ids.len()).for_each(drop);
                continue;
            };
            partition.queued = false;
            for (id, message) in ids.into_iter().zip(&mut found) {
                // A dead letter may have been added before it in the meantime.
                let Some(item) = partition.ids.pop_front_if(|item| item.id == id) else { continue };
                self.ids -= 1;
                match message {
                    Some(message) => {
                        self.messages += 1;
                        self.bytes += message.bytes();
                        partition.load(message, item.dead_letter, now);
                    }
                    None => {
                        self.waiting -= u64::from(!item.dead_letter);
                        gone += 1;
                    }
                }
            }
            self.look(&name, now);
        }
        gone
    }

    /// Ends the delay of one partition early, for a probe: of the one with the fewest failures. A delay that the receiver asked for stays.
    pub fn release_one(&mut self, now: Instant) {
        if !self.ready.is_empty() || self.partitions.values().any(|partition| partition.queued) {
            return;
        }
        let blocked = self
            .partitions
            .iter()
            .filter(|(_, partition)| partition.is_blocked() && !partition.asked && !partition.is_busy());
        let least = blocked
            .min_by_key(|(_, partition)| (partition.failures, partition.due))
            .map(|(name, _)| Arc::clone(name));
        if let Some(name) = least {
            self.release(&name, now);
        }
    }

    /// Ends the delays of all partitions early, except those that the receiver asked for.
    pub fn release_all(&mut self, now: Instant) {
        let blocked =
            self.partitions.iter().filter(|(_, partition)| partition.is_blocked() && !partition.asked);
        for name in blocked.map(|(name, _)| Arc::clone(name)).collect::<Vec<_>>() {
            self.release(&name, now);
        }
    }

    fn release(&mut self, name: &Arc<str>, now: Instant) {
        if let Some(partition) = self.partitions.get_mut(name) {
            partition.due = None;
            partition.alarm = None;
            self.look(name, now);
        }
    }

    /// Returns the oldest message that the cursor must not pass.
    pub fn oldest(&self) -> Option<Item> {
        self.partitions.values().filter_map(Partition::oldest).min_by_key(|item| item.id)
    }
}
