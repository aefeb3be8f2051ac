//! The last messages of devices that send deltas, in memory. A delta refers to one of them.
//!
//! The buffer has them all: this is a cache, so that a delta does not wait for the disk. It is filled from the buffer with the first delta of
//! a device, and then follows the commits.

use crate::profiles::slots::Slots;
use dunnage_buffer::LayoutKey;
use dunnage_packed::{Reference, Window};
use lru::LruCache;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Most references of a device, as many as the buffer returns.
const OF_A_DEVICE: usize = 16;
/// How many references are kept that are older than the one that was last used. Only a message that was overtaken refers to them.
const LATE: usize = 4;
/// The memory of the cache in bytes. The least recently used devices leave it.
const MEMORY: usize = 32 << 20;
/// The approximate memory of the cache for a device without references.
const OF_AN_ENTRY: usize = 256;

/// A message to which deltas may refer.
#[derive(Debug)]
pub struct Candidate {
    /// The layout of the message.
    pub layout: Arc<LayoutKey>,
    /// Its content and name.
    pub reference: Reference,
    /// The name of the message that it refers to itself, if it is a delta.
    pub used: Option<u16>,
    memory: usize,
}

impl Candidate {
    /// Creates a candidate of the layout `layout` that refers to `used` itself.
    pub fn new(layout: Arc<LayoutKey>, reference: Reference, used: Option<u16>) -> Candidate {
        Candidate { layout, memory: reference.memory(), reference, used }
    }

    /// Whether it is a repetition of the other one.
    fn is_same(&self, other: &Candidate) -> bool {
        self.layout == other.layout && self.reference.plain() == other.reference.plain()
    }
}

/// Those references of a device that a message may refer to, each list from the newest to the oldest.
#[derive(Debug, Default)]
pub struct Candidates {
    /// The messages from the last used reference onwards, or all if none was used.
    pub likely: Vec<Arc<Candidate>>,
    /// The older ones.
    pub late: Vec<Arc<Candidate>>,
}

/// A message and its ID in the buffer.
pub type Identified = (i64, Arc<Candidate>);

/// The cache.
pub struct References(Mutex<Cache>);

struct Cache {
    devices: LruCache<Arc<str>, Held>,
    memory: usize,
}

/// The references of a device.
struct Held {
    window: Window<Entry>,
    /// The memory of the window in bytes.
    memory: usize,
    /// The layouts for which the window has those that were in the buffer before its first. Another schema, or the same one after
    /// a reload, has other references there.
    whole_for: Option<Weak<Slots>>,
}

/// A reference of a device. It has the name, too, because the other references of a device are rarely in the processor's caches.
struct Entry {
    id: i64,
    name: u16,
    candidate: Arc<Candidate>,
}

impl From<Identified> for Entry {
    fn from((id, candidate): Identified) -> Entry {
        Entry { id, name: candidate.reference.name(), candidate }
    }
}

impl Default for References {
    fn default() -> References {
        References(Mutex::new(Cache { devices: LruCache::unbounded(), memory: 0 }))
    }
}

impl References {
    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the references of `device` with the layouts `slots` whose names `may_be` accepts, or `None` if they have to be
    /// [loaded](References::loaded) from the buffer. From then on, the cache follows the commits of the device.
    pub fn of(&self, device: &str, slots: &Arc<Slots>, may_be: impl Fn(u16) -> bool) -> Option<Candidates> {
        let mut cache = self.cache();
        if let Some(held) = cache.devices.get(device) {
            let is_whole = held.whole_for.as_ref().is_some_and(|of| of.as_ptr() == Arc::as_ptr(slots));
            return is_whole.then(|| held.candidates(may_be));
        }
        cache.put(device.into(), Held::default());
        None
    }

    /// Adds the references that the buffer has of `device` with the layouts `slots`, newest first, and returns those of all whose
    /// names `may_be` accepts.
    pub fn loaded(
        &self,
        device: &str,
        slots: &Arc<Slots>,
        found: Vec<Identified>,
        may_be: impl Fn(u16) -> bool,
    ) -> Candidates {
        let mut cache = self.cache();
        let (name, mut held) = cache.take(device).unwrap_or_else(|| (device.into(), Held::default()));
        held.load(found.into_iter().map(Entry::from));
        held.whole_for = Some(Arc::downgrade(slots));
        let candidates = held.candidates(may_be);
        // A device without messages is not worth the place of another one.
        if held.window.iter().len() > 0 {
            cache.put(name, held);
        }
        candidates
    }

    /// Adds a message of `device` that was committed.
    pub fn committed(&self, device: &str, (id, candidate): Identified) {
        let mut cache = self.cache();
        let Some(held) = cache.devices.get_mut(device) else { return };
        let before = held.memory();
        held.add(id, candidate);
        let after = held.memory();
        cache.memory = cache.memory - before + after;
        cache.keep_within_memory();
    }
}

impl Cache {
    /// Removes a device, to change its references.
    fn take(&mut self, device: &str) -> Option<(Arc<str>, Held)> {
        let (name, held) = self.devices.pop_entry(device)?;
        self.memory -= held.memory();
        Some((name, held))
    }

    fn put(&mut self, device: Arc<str>, held: Held) {
        self.memory += held.memory();
        self.devices.put(device, held);
        self.keep_within_memory();
    }

    fn keep_within_memory(&mut self) {
        while self.memory > MEMORY
            && let Some((_, left)) = self.devices.pop_lru()
        {
            self.memory -= left.memory();
        }
    }
}

impl Default for Held {
    fn default() -> Held {
        Held { window: Window::new(OF_A_DEVICE, LATE), memory: 0, whole_for: None }
    }
}

impl Held {
    fn memory(&self) -> usize {
        OF_AN_ENTRY + self.memory
    }

    /// Adds the references in the buffer. Commits may have been faster than this read.
    fn load(&mut self, found: impl Iterator<Item = Entry>) {
        let used = self.window.used().map(|entry| entry.id);
        let before = std::mem::take(self);
        let mut all: Vec<Entry> = before.window.into_iter().chain(found).collect();
        all.sort_unstable_by_key(|entry| -entry.id);
        all.dedup_by_key(|entry| entry.id);
        all.truncate(OF_A_DEVICE);
        all.into_iter().rev().for_each(|entry| self.push(entry));
        self.window.refer(|entry| Some(entry.id) == used);
    }

    fn add(&mut self, id: i64, candidate: Arc<Candidate>) {
        if self.window.iter().any(|entry| entry.id == id) {
            return;
        }
        if let Some(used) = candidate.used {
            self.window.refer(|entry| entry.name == used);
        }
        self.push(Entry::from((id, candidate)));
    }

    fn push(&mut self, entry: Entry) {
        self.memory += entry.candidate.memory;
        let (name, same) = (entry.name, Arc::clone(&entry.candidate));
        let left = self.window.push(entry, |kept| kept.name == name && kept.candidate.is_same(&same));
        self.memory -= left.map(|left| left.candidate.memory).sum::<usize>();
    }

    fn candidates(&self, may_be: impl Fn(u16) -> bool) -> Candidates {
        let of = |entry: &Entry| may_be(entry.name).then(|| Arc::clone(&entry.candidate));
        Candidates {
            likely: self.window.likely().filter_map(of).collect(),
            late: self.window.late().filter_map(of).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dunnage_formats::Value;
    use dunnage_packed::{Layout, Training};
    use dunnage_schema::Model;

    fn layout() -> Layout {
        let text = r#"{"type": "integer", "minimum": 0, "maximum": 999999}"#;
        let model = Model::compile(text).unwrap();
        let untrained = Layout::untrained(&model);
        let mut training = Training::new(&untrained).unwrap();
        training.add(&training.example(&Value::U64(7)).unwrap());
        Layout::new(&model.with_statistics(Some(&training.finish().statistics))).unwrap()
    }

    fn slots() -> Arc<Slots> {
        Arc::new(Slots::new("s", false))
    }

    /// Returns the message `id`, whose value is its ID, and which refers to the message `used`.
    fn message(layout: &Layout, id: i64, used: Option<u64>) -> Identified {
        let reference = |value| layout.reference(&Value::U64(value)).unwrap();
        let key = LayoutKey { schema: "s".into(), slot: 1, fingerprint: layout.fingerprint() };
        let used = used.map(|value| reference(value).name());
        (id, Arc::new(Candidate::new(Arc::new(key), reference(id as u64), used)))
    }

    /// Returns the IDs in `found`, which are the values of the messages.
    fn ids(layout: &Layout, found: &[Arc<Candidate>]) -> Vec<i64> {
        let ids = 0..200;
        let is =
            |id: i64, one: &Candidate| message(layout, id, None).1.reference.name() == one.reference.name();
        found.iter().map(|one| ids.clone().find(|id| is(*id, one)).unwrap()).collect()
    }

    #[test]
    fn a_device_is_loaded_once_and_then_follows_its_commits() {
        let (references, layout, slots) = (References::default(), layout(), slots());
        // Before a delta was received, commits are not followed.
        references.committed("d", message(&layout, 1, None));
        assert!(references.of("d", &slots, |_| true).is_none());
        references.committed("d", message(&layout, 4, None));
        // The references read from the buffer may overlap with commits.
        let found = [4, 3, 1].map(|id| message(&layout, id, None)).to_vec();
        assert_eq!(ids(&layout, &references.loaded("d", &slots, found, |_| true).likely), [4, 3, 1]);
        references.committed("d", message(&layout, 4, None));
        references.committed("d", message(&layout, 6, Some(3)));
        let known = references.of("d", &slots, |_| true).unwrap();
        assert_eq!((ids(&layout, &known.likely), ids(&layout, &known.late)), (vec![6, 4, 3], vec![1]));
    }

    #[test]
    fn the_references_of_other_layouts_are_loaded_too() {
        let (references, layout, [before, after]) = (References::default(), layout(), [slots(), slots()]);
        assert!(references.of("d", &before, |_| true).is_none());
        references.loaded("d", &before, vec![message(&layout, 3, None)], |_| true);
        assert!(
            references.of("d", &after, |_| true).is_none(),
            "the buffer may have some of the other layouts"
        );
        references.committed("d", message(&layout, 4, None));
        let found = [3, 2].map(|id| message(&layout, id, None)).to_vec();
        assert_eq!(ids(&layout, &references.loaded("d", &after, found, |_| true).likely), [4, 3, 2]);
        assert!(references.of("d", &after, |_| true).is_some());
    }

    #[test]
    fn a_device_has_few_references_and_few_late_ones() {
        let (references, layout, slots) = (References::default(), layout(), slots());
        assert!(references.of("d", &slots, |_| true).is_none());
        references.loaded("d", &slots, vec![], |_| true);
        assert!(references.of("d", &slots, |_| true).is_none(), "an unknown device takes no memory");
        references.loaded("d", &slots, vec![message(&layout, 1, None)], |_| true);
        for id in 2..100 {
            references.committed("d", message(&layout, id, None));
        }
        assert_eq!(references.of("d", &slots, |_| true).unwrap().likely.len(), OF_A_DEVICE);
        references.committed("d", message(&layout, 100, Some(98)));
        let known = references.of("d", &slots, |_| true).unwrap();
        assert_eq!(ids(&layout, &known.likely), [100, 99, 98]);
        assert_eq!(ids(&layout, &known.late), [97, 96, 95, 94]);
    }

    #[test]
    fn a_repeated_message_displaces_no_other() {
        let (references, layout, slots) = (References::default(), layout(), slots());
        assert!(references.of("d", &slots, |_| true).is_none());
        references.loaded("d", &slots, vec![message(&layout, 1, None)], |_| true);
        let memory = |references: &References| references.cache().memory;
        references.committed("d", message(&layout, 2, None));
        let before = memory(&references);
        for id in 3..40 {
            references.committed("d", (id, message(&layout, 2, None).1));
        }
        let known = references.of("d", &slots, |_| true).unwrap();
        assert_eq!((ids(&layout, &known.likely), memory(&references)), (vec![2, 1], before));
    }

    #[test]
    fn the_least_recently_used_devices_leave() {
        let (references, layout, slots) = (References::default(), layout(), slots());
        let most = MEMORY / OF_AN_ENTRY;
        for device in 0..most {
            let device = device.to_string();
            assert!(references.of(&device, &slots, |_| true).is_none());
            references.loaded(&device, &slots, vec![message(&layout, 1, None)], |_| true);
        }
        assert!(references.of(&(most - 1).to_string(), &slots, |_| true).is_some());
        assert!(references.of("0", &slots, |_| true).is_none());
        let cache = references.cache();
        assert!(cache.memory <= MEMORY && cache.memory > MEMORY / 2, "{}", cache.memory);
        assert_eq!(cache.memory, cache.devices.iter().map(|(_, held)| held.memory()).sum::<usize>());
    }
}
