//! The messages that were read and are not resolved, by partition: the messages of a device, or all of them for an output with one
//! partition.
//!
//! Of a partition that waits after a failure or has a long backlog, few messages are in memory. The others are read again when it is their
//! turn, so that it does not crowd out others, however long it fails. Partitions that fail have queues and memory of their own.

use super::{
    memory::Memory,
    partition::{Failing, Item, Partition, Rest},
    suspects::Suspects,
};
use crate::{Message, Partitions, Shape};
use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap, HashSet, VecDeque},
    sync::Arc,
};
use tokio::time::Instant;

/// Largest number of partitions.
const PARTITIONS: usize = 100_000;
/// Largest number of messages in memory of one partition among many, unless a batch is larger.
const OF_A_PARTITION: usize = 32;
/// With fewer partitions that can be called, the next messages are read. While they are read and evaluated, calls take these.
const READY: usize = 256;

/// The messages of a call.
pub struct Taken {
    pub partitions: Vec<Arc<str>>,
    pub messages: Vec<Message>,
    /// For each message, whether it is a retried dead letter.
    pub dead_letters: Vec<bool>,
}

/// A failed call of a partition.
#[derive(Debug, Clone)]
pub struct Wait {
    /// When it is called again.
    pub until: Instant,
    /// Whether the receiver asked for this delay.
    pub asked: bool,
    /// When the call failed, in microseconds since 1970, and why.
    pub last: (i64, Arc<str>),
}

/// Partitions of one kind: those that fail, or the others.
#[derive(Default)]
pub(super) struct Queues {
    /// Partitions that can be called.
    pub(super) ready: VecDeque<Arc<str>>,
    /// Partitions that could be called if their messages were in memory.
    pub(super) thin: VecDeque<Arc<str>>,
    /// The messages in memory, including those in calls.
    pub(super) memory: Memory,
}

pub struct Window {
    pub(super) shape: Shape,
    /// Largest number of bytes of messages in memory.
    pub(super) bytes: usize,
    pub(super) partitions: HashMap<Arc<str>, Partition>,
    /// Those that do not fail, and those that do.
    pub(super) queues: [Queues; 2],
    alarms: BinaryHeap<Reverse<(Instant, Arc<str>)>>,
    /// Messages that are not resolved, without retried dead letters.
    pub(super) waiting: u64,
    /// Retried dead letters that are not resolved.
    pub(super) letters: HashSet<i64>,
    /// Messages that an operator has discarded. They are resolved when they are read, or when their call has failed.
    pub(super) discarded: HashSet<i64>,
    /// Partitions of which one is at fault.
    suspects: Suspects,
    /// No call of several partitions is made before this time.
    paused: Option<Instant>,
    /// Since when a partition has been ready, if calls have messages of several.
    ready_since: Option<Instant>,
    /// Whether the next messages to read again are those of failing partitions.
    pub(super) failing_next: bool,
}

impl Window {
    pub fn new(shape: Shape, bytes: usize) -> Window {
        Window {
            shape,
            bytes,
            partitions: HashMap::new(),
            queues: Default::default(),
            alarms: BinaryHeap::new(),
            waiting: 0,
            letters: HashSet::new(),
            discarded: HashSet::new(),
            suspects: Suspects::default(),
            paused: None,
            ready_since: None,
            failing_next: false,
        }
    }

    /// Adds a partition that was behind when the position was saved, and has `messages` from the ID `first` on.
    pub fn restore(&mut self, name: &Arc<str>, first: Item, messages: u64, now: Instant) {
        self.waiting += messages;
        // It has failed before, so once others succeed, it does not count against the receiver if it fails again.
        let last = (0, "not delivered before the restart".into());
        let partition = Partition {
            rest: Some(Rest { first, messages }),
            failing: Some(Failing { calls: 1, since: now, last }),
            behind: true,
            ..Partition::default()
        };
        self.partitions.insert(Arc::clone(name), partition);
        self.look(name, now);
    }

    /// Returns how many messages are not resolved, without retried dead letters.
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Returns whether to read further messages, when `calls` concurrent calls are allowed.
    pub fn wants_more(&self, calls: usize) -> bool {
        let [others, failing] = &self.queues;
        let room = !others.memory.is_full(self.most(), self.bytes) && self.partitions.len() < PARTITIONS;
        room && match self.shape.partitions {
            Partitions::PerDevice => others.ready.len() < READY.max(calls * 2),
            Partitions::Together => true,
            Partitions::One => {
                failing.memory.is_empty() && self.partitions.values().all(|one| one.rest.is_none())
            }
        }
    }

    /// Returns whether no partition can be called.
    pub fn is_idle(&self) -> bool {
        self.queues.iter().all(|queues| queues.ready.is_empty())
    }

    /// Returns whether a partition can be called that fails, or one that does not.
    pub fn is_ready(&self, failing: bool) -> bool {
        !self.queues[usize::from(failing)].ready.is_empty()
    }

    /// Returns whether messages of a partition that does not fail are to be read again.
    pub fn is_thin(&self) -> bool {
        !self.queues[0].thin.is_empty()
    }

    pub(super) fn most(&self) -> usize {
        match self.shape.partitions {
            Partitions::PerDevice => super::memory::MESSAGES,
            Partitions::Together | Partitions::One => super::memory::MESSAGES.max(self.shape.batch * 2),
        }
    }

    pub(super) fn of_a_partition(&self) -> usize {
        match self.shape.partitions {
            Partitions::PerDevice | Partitions::Together => OF_A_PARTITION.max(self.shape.batch),
            Partitions::One => usize::MAX,
        }
    }

    fn partition_of(&self, message: &Message) -> Arc<str> {
        match self.shape.partitions {
            Partitions::PerDevice | Partitions::Together => message.device.as_str().into(),
            Partitions::One => "".into(),
        }
    }

    /// Adds a new message, after all others.
    pub fn add(&mut self, message: Message, now: Instant) {
        let name = self.partition_of(&message);
        let of_a_partition = self.of_a_partition();
        let partition = self.partitions.entry(Arc::clone(&name)).or_default();
        self.waiting += 1;
        if partition.has_room(of_a_partition) {
            self.queues[0].memory.add(&message);
            partition.load(message, false, now);
        } else {
            partition.leave(Item::of(&message, false));
        }
        self.look(&name, now);
    }

    /// Adds a dead letter to retry, before the other messages of its partition.
    pub fn add_dead_letter(&mut self, message: &Message, now: Instant) {
        let name = self.partition_of(message);
        self.unload(&name);
        let partition = self.partitions.entry(Arc::clone(&name)).or_default();
        if let Err(at) = partition.dead_letters.binary_search(&message.id) {
            partition.dead_letters.insert(at, message.id);
            self.letters.insert(message.id);
        }
        self.look(&name, now);
    }

    /// Drops the messages of a partition from memory.
    pub(super) fn unload(&mut self, name: &str) {
        let Some(partition) = self.partitions.get_mut(name) else { return };
        let messages = partition.loaded.len();
        self.queues[usize::from(partition.apart)].memory.remove(messages, partition.unload());
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

    /// Returns when to wake the next partition, or to make the next call of several.
    pub fn next_alarm(&self, now: Instant) -> Option<Instant> {
        let alarm = self.alarms.peek().map(|Reverse((at, _))| *at);
        let linger = self.ready_since.map(|since| since + self.shape.linger);
        [alarm, self.paused, linger].into_iter().flatten().filter(|at| *at > now).min()
    }

    /// Queues a partition if it can be called or read, or sets its alarm, or removes it if it is empty.
    pub(super) fn look(&mut self, name: &Arc<str>, now: Instant) {
        let full = self.queues[0].memory.is_full(self.most(), self.bytes);
        let lingers = self.shape.partitions != Partitions::Together;
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
            let backlog = partition.rest.is_some() || !partition.dead_letters.is_empty();
            let enough = partition.loaded.len() >= self.shape.batch || backlog || full || !lingers;
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
                let queues = &mut self.queues[usize::from(partition.failing.is_some())];
                // A backlog of all devices in one order is read until a batch is complete.
                let gathers = self.shape.partitions == Partitions::One
                    && partition.rest.is_some()
                    && partition.dead_letters.is_empty()
                    && partition.failing.is_none()
                    && partition.loaded.len() < self.shape.batch
                    && !full;
                let is_thin = partition.loaded.is_empty() || gathers;
                if !is_thin && !lingers && partition.failing.is_none() {
                    self.ready_since.get_or_insert(now);
                }
                let queue = if is_thin { &mut queues.thin } else { &mut queues.ready };
                queue.push_back(Arc::clone(name));
            }
        }
    }

    /// Takes the messages of the next call, of partitions that fail or of others.
    pub fn take(&mut self, failing: bool, now: Instant) -> Option<Taken> {
        let mut taken = Vec::new();
        let partitions = match self.shape.partitions == Partitions::Together && !failing {
            true => self.take_together(&mut taken, now),
            false => self.take_one(failing, &mut taken, now),
        };
        // Each partition's own messages are in this order already.
        taken.sort_by_key(|(message, _)| message.id);
        let (messages, dead_letters) = taken.into_iter().unzip();
        (!partitions.is_empty()).then_some(Taken { partitions, messages, dead_letters })
    }

    /// Takes messages of the first partition that is ready.
    fn take_one(&mut self, failing: bool, taken: &mut Vec<(Message, bool)>, now: Instant) -> Vec<Arc<str>> {
        while let Some(name) = self.queues[usize::from(failing)].ready.pop_front() {
            let Some(partition) = self.partitions.get_mut(&name) else { continue };
            taken.extend(partition.take(self.shape.batch));
            if !taken.is_empty() {
                return vec![name];
            }
            // It was unloaded while it was queued.
            self.look(&name, now);
        }
        Vec::new()
    }

    /// Takes messages of several partitions: of a part of the suspects, or of all others while the suspects' messages are being read.
    fn take_together(&mut self, taken: &mut Vec<(Message, bool)>, now: Instant) -> Vec<Arc<str>> {
        let known = &self.partitions;
        let is_open = |name: &str| known.get(name).is_some_and(|partition| partition.failing.is_none());
        self.suspects.clear(&[], is_open);
        if !self.is_due(now) {
            return Vec::new();
        }
        let (suspects, part) = self.suspects.next();
        let is_loaded =
            |name: &Arc<str>| self.partitions.get(name).is_some_and(|partition| !partition.loaded.is_empty());
        let tests = !part.is_empty() && part.iter().all(is_loaded);
        let mut partitions = Vec::new();
        for name in std::mem::take(&mut self.queues[0].ready) {
            let may = if tests { part.contains(&name) } else { !suspects.contains(&name) };
            if !may || taken.len() >= self.shape.batch {
                self.queues[0].ready.push_back(name);
                continue;
            }
            let Some(partition) = self.partitions.get_mut(&name) else { continue };
            let of_partition = partition.take(self.shape.batch - taken.len());
            match of_partition.is_empty() {
                // It was unloaded while it was queued.
                true => self.look(&name, now),
                false => partitions.push(name),
            }
            taken.extend(of_partition);
        }
        self.ready_since = self.is_ready(false).then_some(now);
        partitions
    }

    /// Returns whether a call of several partitions can be made now.
    fn is_due(&self, now: Instant) -> bool {
        let memory = &self.queues[0].memory;
        let full = memory.is_full(self.most(), self.bytes) || memory.messages() >= self.shape.batch;
        let over = self.ready_since.is_some_and(|since| since + self.shape.linger <= now);
        self.paused.is_none_or(|until| until <= now) && (full || over || !self.suspects.is_empty())
    }

    /// Ends a successful call. Messages up to the ID `done_to` were resolved: all, or all before a dead letter.
    pub fn succeeded(&mut self, partitions: &[Arc<str>], done_to: i64, now: Instant) {
        self.suspects.clear(partitions, |_| true);
        for name in partitions {
            let is_left = |partition: &Partition| partition.calling.iter().any(|item| item.id > done_to);
            if self.partitions.get(name).is_some_and(is_left) {
                self.unload(name);
            }
            self.end_call(name, done_to);
            self.unload_apart(name);
            self.look(name, now);
        }
    }

    /// Takes a partition that no longer fails to the others.
    fn unload_apart(&mut self, name: &str) {
        if self.partitions.get(name).is_some_and(|partition| partition.apart) {
            self.unload(name);
        }
        if let Some(partition) = self.partitions.get_mut(name) {
            (partition.failing, partition.apart) = (None, false);
        }
    }

    /// Ends a call that has failed after the messages up to the ID `done_to` were resolved. The rest of the partition waits. If it was of
    /// several partitions, parts of these are called next, until one has failed alone.
    pub fn failed(&mut self, partitions: &[Arc<str>], done_to: Option<i64>, wait: &Wait, now: Instant) {
        for name in partitions {
            self.unload(name);
            self.end_call(name, done_to.unwrap_or_default());
            if let ([_], Some(partition)) = (partitions, self.partitions.get_mut(name)) {
                partition.due = Some(wait.until);
                partition.asked = wait.asked;
                let before = partition.failing.take();
                let (calls, since) = before.map_or((0, now), |failing| (failing.calls, failing.since));
                // A partial delivery shows that the receiver works.
                let calls = if done_to.is_some() { 1 } else { calls.saturating_add(1) };
                partition.failing = Some(Failing { calls, since, last: wait.last.clone() });
                partition.behind = true;
            }
            self.look(name, now);
        }
        if partitions.len() > 1 {
            self.suspects.blame(partitions);
            self.paused = Some(wait.until);
        }
    }

    fn end_call(&mut self, name: &str, done_to: i64) {
        let Some(partition) = self.partitions.get_mut(name) else { return };
        let memory = &mut self.queues[usize::from(partition.apart)].memory;
        memory.remove(partition.calling.len(), partition.calling_bytes);
        let done = partition.end_call(done_to, &mut self.discarded);
        self.waiting -= done.iter().filter(|item| !item.dead_letter).count() as u64;
        for item in done.iter().filter(|item| item.dead_letter) {
            self.letters.remove(&item.id);
        }
    }

    /// Returns how many calls of a partition have failed since its last success.
    pub fn failures(&self, name: &str) -> u32 {
        let failing = self.partitions.get(name).and_then(|partition| partition.failing.as_ref());
        failing.map_or(0, |failing| failing.calls)
    }
}
