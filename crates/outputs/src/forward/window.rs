//! The messages that were taken from the buffer and are not done with, by lane: those of a device, or all of them when an output
//! has one lane. Of a lane that waits after a failure, and of one that has much waiting, only ids are kept, so that it does
//! not take the place of others.

use super::lane::{Item, Lane};
use crate::{Lanes, Message, Shape};
use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap, VecDeque},
    sync::Arc,
    time::Instant,
};

/// Most messages in memory, and most bytes of them.
const MESSAGES: usize = 4096;
const BYTES: usize = 4 << 20;
/// Most messages of which only the id is kept.
const IDS: usize = 200_000;
/// Most messages in memory of one lane of many, if not a batch is more.
const OF_A_LANE: usize = 32;
/// Most messages that are asked for by id at a time.
const LOAD: usize = 256;

/// A call to be made.
pub struct Taken {
    pub lane: Arc<str>,
    pub messages: Vec<Message>,
    /// For each, whether it had been set aside.
    pub aside: Vec<bool>,
}

/// How long a lane waits after a failure.
#[derive(Debug, Clone, Copy)]
pub struct Wait {
    pub until: Instant,
    /// Whether it was the other side that said so.
    pub asked: bool,
}

/// What is read by id: for each lane, which messages.
pub type Wanted = Vec<(Arc<str>, Vec<i64>)>;

pub struct Window {
    shape: Shape,
    lanes: HashMap<Arc<str>, Lane>,
    /// Lanes that can be called.
    ready: VecDeque<Arc<str>>,
    /// Lanes that could be called if their messages were in memory.
    thin: VecDeque<Arc<str>>,
    alarms: BinaryHeap<Reverse<(Instant, Arc<str>)>>,
    /// Messages in memory, also those under way, and their bytes.
    messages: usize,
    bytes: usize,
    /// Messages of which only the id is kept.
    ids: usize,
    /// Messages that are not done with, without those that were set aside.
    waiting: u64,
}

impl Window {
    pub fn new(shape: Shape) -> Window {
        Window {
            shape,
            lanes: HashMap::new(),
            ready: VecDeque::new(),
            thin: VecDeque::new(),
            alarms: BinaryHeap::new(),
            messages: 0,
            bytes: 0,
            ids: 0,
            waiting: 0,
        }
    }

    /// Messages that are not done with.
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Whether messages behind those that were taken are of use, when so many more calls may be made.
    pub fn wants_more(&self, calls: usize) -> bool {
        let room = self.messages < self.most() && self.bytes < BYTES && self.ids < IDS;
        room && match self.shape.lanes {
            Lanes::PerDevice => self.ready.len() < calls.max(1) * 2,
            Lanes::One => self.ids == 0,
        }
    }

    /// Whether no lane can be called.
    pub fn is_idle(&self) -> bool {
        self.ready.is_empty()
    }

    fn most(&self) -> usize {
        match self.shape.lanes {
            Lanes::PerDevice => MESSAGES,
            Lanes::One => MESSAGES.max(self.shape.batch * 2),
        }
    }

    fn of_a_lane(&self) -> usize {
        match self.shape.lanes {
            Lanes::PerDevice => OF_A_LANE.max(self.shape.batch),
            Lanes::One => usize::MAX,
        }
    }

    fn lane_of(&self, message: &Message) -> Arc<str> {
        match self.shape.lanes {
            Lanes::PerDevice => message.device.as_str().into(),
            Lanes::One => "".into(),
        }
    }

    /// Takes up a message that comes behind all others.
    pub fn add(&mut self, message: Message, now: Instant) {
        let name = self.lane_of(&message);
        let of_a_lane = self.of_a_lane();
        let lane = self.lanes.entry(Arc::clone(&name)).or_default();
        self.waiting += 1;
        if lane.ids.is_empty() && !lane.is_blocked() && lane.loaded.len() < of_a_lane {
            self.messages += 1;
            self.bytes += message.bytes();
            lane.load(message, false, now);
        } else {
            self.ids += 1;
            lane.ids.push_back(Item::of(&message, false));
        }
        self.look(&name, now);
    }

    /// Takes up a message that was set aside. It goes before the others of its lane.
    pub fn add_aside(&mut self, message: &Message, now: Instant) {
        let name = self.lane_of(message);
        self.unload(&name);
        let lane = self.lanes.entry(Arc::clone(&name)).or_default();
        let before = |item: &Item| item.aside && item.id <= message.id;
        let at = lane.ids.iter().position(|item| !before(item)).unwrap_or(lane.ids.len());
        let there = at.checked_sub(1).is_some_and(|last| lane.ids[last].id == message.id);
        if !there {
            lane.ids.insert(at, Item::of(message, true));
            self.ids += 1;
        }
        self.look(&name, now);
    }

    /// Keeps only the ids of a lane's messages.
    fn unload(&mut self, name: &str) {
        let Some(lane) = self.lanes.get_mut(name) else { return };
        self.messages -= lane.loaded.len();
        self.ids += lane.loaded.len();
        self.bytes -= lane.unload();
    }

    /// Wakes the lanes whose time has come.
    pub fn wake(&mut self, now: Instant) {
        while let Some(Reverse((at, _))) = self.alarms.peek()
            && *at <= now
            && let Some(Reverse((at, name))) = self.alarms.pop()
        {
            if let Some(lane) = self.lanes.get_mut(&name)
                && lane.alarm == Some(at)
            {
                lane.alarm = None;
                self.look(&name, now);
            }
        }
    }

    /// When the next lane is to be woken.
    pub fn next_alarm(&self) -> Option<Instant> {
        self.alarms.peek().map(|Reverse((at, _))| *at)
    }

    /// Puts a lane where it belongs.
    fn look(&mut self, name: &Arc<str>, now: Instant) {
        let full = self.messages >= self.most() || self.bytes >= BYTES;
        let Some(lane) = self.lanes.get_mut(name) else { return };
        if lane.is_busy() {
            return;
        }
        if lane.is_empty() {
            self.lanes.remove(name);
            return;
        }
        let mut alarm = lane.due.filter(|due| *due > now);
        if alarm.is_none() && !lane.loaded.is_empty() {
            let enough = lane.loaded.len() >= self.shape.batch || !lane.ids.is_empty() || full;
            alarm = lane.since.map(|since| since + self.shape.linger).filter(|end| !enough && *end > now);
        }
        match alarm {
            Some(alarm) if lane.alarm.is_none_or(|earlier| alarm < earlier) => {
                lane.alarm = Some(alarm);
                self.alarms.push(Reverse((alarm, Arc::clone(name))));
            }
            Some(_) => {}
            None => {
                lane.queued = true;
                let queue = if lane.loaded.is_empty() { &mut self.thin } else { &mut self.ready };
                queue.push_back(Arc::clone(name));
            }
        }
    }

    /// The messages of the next call.
    pub fn take(&mut self, now: Instant) -> Option<Taken> {
        while let Some(name) = self.ready.pop_front() {
            let Some(lane) = self.lanes.get_mut(&name) else { continue };
            let (messages, aside) = lane.take(self.shape.batch);
            if !messages.is_empty() {
                return Some(Taken { lane: name, messages, aside });
            }
            // It was unloaded while it was in line.
            self.look(&name, now);
        }
        None
    }

    /// A call of a lane ended, and its first `done` messages are done with. The others, and those behind them, wait if it
    /// failed.
    pub fn ended(&mut self, name: &Arc<str>, done: usize, wait: Option<Wait>, now: Instant) {
        let Some(lane) = self.lanes.get_mut(name) else { return };
        self.messages -= lane.calling.len();
        self.bytes -= lane.calling_bytes;
        self.waiting -= lane.waiting_of(done);
        if done < lane.calling.len() {
            self.messages -= lane.loaded.len();
            self.ids += lane.loaded.len();
            self.bytes -= lane.unload();
        }
        self.ids += lane.put_back(done);
        lane.due = wait.map(|wait| wait.until);
        lane.asked = wait.is_some_and(|wait| wait.asked);
        lane.failures = if wait.is_some() { lane.failures.saturating_add(1) } else { 0 };
        self.look(name, now);
    }

    /// How often a lane failed without success between.
    pub fn failures(&self, name: &str) -> u32 {
        self.lanes.get(name).map_or(0, |lane| lane.failures)
    }

    /// Which messages are to be read by id, next.
    pub fn want(&mut self) -> Wanted {
        let (mut wanted, mut count) = (Wanted::new(), 0);
        while count < LOAD
            && self.messages + count < self.most()
            && self.bytes < BYTES
            && let Some(name) = self.thin.pop_front()
        {
            if let Some(lane) = self.lanes.get(&name) {
                let enough = if lane.failures > 0 { 1 } else { OF_A_LANE }.max(self.shape.batch);
                let ids: Vec<_> = lane.ids.iter().take(enough.min(LOAD)).map(|item| item.id).collect();
                count += ids.len();
                wanted.push((name, ids));
            }
        }
        wanted
    }

    /// Takes up what was read by id: as much of `wanted` as `found` has, in its order. Answers how many messages are gone.
    pub fn load(&mut self, wanted: Wanted, found: Vec<Option<Message>>, now: Instant) -> usize {
        let mut found = found.into_iter();
        let mut gone = 0;
        for (name, ids) in wanted {
            let Some(lane) = self.lanes.get_mut(&name) else {
                found.by_ref().take(ids.len()).for_each(drop);
                continue;
            };
            lane.queued = false;
            for (id, message) in ids.into_iter().zip(&mut found) {
                // A message that was set aside may have come before.
                let Some(item) = lane.ids.pop_front_if(|item| item.id == id) else { continue };
                self.ids -= 1;
                match message {
                    Some(message) => {
                        self.messages += 1;
                        self.bytes += message.bytes();
                        lane.load(message, item.aside, now);
                    }
                    None => {
                        self.waiting -= u64::from(!item.aside);
                        gone += 1;
                    }
                }
            }
            self.look(&name, now);
        }
        gone
    }

    /// Lets a lane go on before its time, for a probe: one that failed the least, unless the other side said when.
    pub fn release_one(&mut self, now: Instant) {
        if !self.ready.is_empty() || self.lanes.values().any(|lane| lane.queued) {
            return;
        }
        let blocked =
            self.lanes.iter().filter(|(_, lane)| lane.is_blocked() && !lane.asked && !lane.is_busy());
        let least =
            blocked.min_by_key(|(_, lane)| (lane.failures, lane.due)).map(|(name, _)| Arc::clone(name));
        if let Some(name) = least {
            self.release(&name, now);
        }
    }

    /// Lets all lanes go on before their time, unless the other side said when.
    pub fn release_all(&mut self, now: Instant) {
        let blocked = self.lanes.iter().filter(|(_, lane)| lane.is_blocked() && !lane.asked);
        for name in blocked.map(|(name, _)| Arc::clone(name)).collect::<Vec<_>>() {
            self.release(&name, now);
        }
    }

    fn release(&mut self, name: &Arc<str>, now: Instant) {
        if let Some(lane) = self.lanes.get_mut(name) {
            lane.due = None;
            lane.alarm = None;
            self.look(name, now);
        }
    }

    /// The oldest message that is not done with.
    pub fn oldest(&self) -> Option<Item> {
        self.lanes.values().filter_map(Lane::oldest).min_by_key(|item| item.id)
    }
}
