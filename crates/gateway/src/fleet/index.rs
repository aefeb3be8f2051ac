//! The devices in memory: the data by which a list of them is shown, filtered and sorted.

use super::{cadence::Cadence, position::Position};
use dunnage_buffer::InQuarantine;
use dunnage_ingest::profiles::{Profiles, Subject};
use std::{
    collections::{BTreeMap, HashMap},
    mem,
    sync::Arc,
};

/// Most devices. Each takes some 300 bytes.
pub const CAPACITY: usize = 100_000;

/// The data of a stored message that the list of devices needs.
pub struct Seen<'a> {
    /// The device, and its counts with this message.
    pub device: &'a str,
    pub messages: u64,
    pub bytes: u64,
    /// The ID of its last message. It may be one after this message.
    pub last_id: i64,
    /// When the first message of the device was received, if that is known, and this message, in microseconds since 1970.
    pub first_at: Option<i64>,
    pub received_at: i64,
    pub message_bytes: u32,
    pub link: Option<&'a str>,
    pub format: &'a str,
    pub schema: Option<&'a str>,
    /// Its origin, by which its profile may be chosen.
    pub origin: Option<&'a str>,
    pub position: Option<Position>,
}

/// A device.
#[derive(Debug, Clone)]
pub struct Entry {
    pub device: Arc<str>,
    pub messages: u64,
    pub bytes: u64,
    /// The ID of its last message; 0 for a device of which there are messages in the quarantine alone.
    pub last_id: i64,
    /// When the first message was received, if that is known, in microseconds since 1970.
    pub first_at: Option<i64>,
    /// When the last message was received, in microseconds since 1970, and its raw bytes.
    pub received_at: i64,
    pub message_bytes: u32,
    /// The names in the order of [`Kind`].
    pub names: [Option<Arc<str>>; 4],
    pub position: Option<Position>,
    pub cadence: Cadence,
}

/// A property by whose name devices are filtered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Link,
    Format,
    Schema,
    /// The label of the last message's profile.
    Profile,
}

impl Kind {
    pub const ALL: [Kind; 4] = [Kind::Link, Kind::Format, Kind::Schema, Kind::Profile];
}

/// The devices, each at a place that it keeps.
pub struct Index {
    places: HashMap<Arc<str>, usize>,
    entries: Vec<Option<Entry>>,
    free: Vec<usize>,
    capacity: usize,
    names: [Names; 4],
    /// The quarantine counts of each device.
    quarantined: HashMap<String, InQuarantine>,
    /// The profiles by which the devices were classified.
    profiles: Arc<Profiles>,
    /// Counts how often the index was cleared, or needed to be read again.
    pub generation: u64,
}

impl Index {
    pub fn new(
        capacity: usize,
        profiles: Arc<Profiles>,
        quarantined: HashMap<String, InQuarantine>,
    ) -> Index {
        Index {
            places: HashMap::new(),
            entries: Vec::new(),
            free: Vec::new(),
            capacity,
            names: Default::default(),
            quarantined,
            profiles,
            generation: 0,
        }
    }

    /// Removes all devices, because the buffer may have lost some.
    pub fn clear(&mut self, quarantined: HashMap<String, InQuarantine>) {
        let generation = self.generation + 1;
        *self = Index::new(self.capacity, Arc::clone(&self.profiles), quarantined);
        self.generation = generation;
    }

    pub fn profiles(&self) -> &Arc<Profiles> {
        &self.profiles
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns the entries at `places`, some of which may be free; fewer at the end.
    pub fn at(&self, places: std::ops::Range<usize>) -> Option<&[Option<Entry>]> {
        let end = places.end.min(self.entries.len());
        (places.start < end).then(|| &self.entries[places.start..end])
    }

    pub fn get(&self, device: &str) -> Option<&Entry> {
        self.entries[*self.places.get(device)?].as_ref()
    }

    pub fn get_mut(&mut self, device: &str) -> Option<&mut Entry> {
        self.entries[*self.places.get(device)?].as_mut()
    }

    /// Applies new records of the register to devices, if they are in the list. Returns whether the last messages of the devices must be read
    /// again.
    pub fn registered<'d>(&mut self, devices: impl Iterator<Item = &'d str>) -> bool {
        for device in devices {
            let Some(place) = self.places.get(device) else { continue };
            let Some(entry) = &mut self.entries[*place] else { continue };
            match self.profiles.need_origin() {
                true => expect(entry, &self.profiles),
                false => classify(entry, None, &self.profiles, &mut self.names[Kind::Profile as usize]),
            }
        }
        self.profiles.need_record() && self.read_origins_again()
    }

    fn read_origins_again(&mut self) -> bool {
        let again = self.profiles.need_origin();
        self.generation += u64::from(again);
        again
    }

    /// Returns the names of a kind that most devices have, at most `most`, and how many devices have each: in the order of the names.
    pub fn most_used(&self, kind: Kind, most: usize) -> BTreeMap<Arc<str>, u32> {
        most_used(&self.names[kind as usize].0, most)
    }

    pub fn in_quarantine(&self) -> u64 {
        self.quarantined.values().map(|quarantined| quarantined.messages).sum()
    }

    pub fn quarantined(&self, device: &str) -> u64 {
        self.quarantined.get(device).map_or(0, |quarantined| quarantined.messages)
    }

    /// Applies a message that went into the quarantine. A device without stored messages is listed, too.
    pub fn quarantine(&mut self, device: &str, received_at: i64) {
        match self.quarantined.get_mut(device) {
            Some(quarantined) => {
                quarantined.messages += 1;
                quarantined.received_at = quarantined.received_at.max(received_at);
            }
            None => {
                let quarantined = InQuarantine { messages: 1, received_at };
                self.quarantined.insert(device.to_owned(), quarantined);
            }
        }
        match self.places.get(device).copied() {
            Some(place) => {
                if let Some(entry) = self.entries[place].as_mut().filter(|entry| entry.last_id == 0) {
                    entry.received_at = entry.received_at.max(received_at);
                }
            }
            None => {
                if self.len() >= self.capacity {
                    self.make_room();
                }
                self.insert(Index::unstored(device, received_at), None);
            }
        }
    }

    /// Adds the devices of which there are messages in the quarantine alone, if there is room.
    pub fn add_quarantined(&mut self) {
        let unknown = |(device, _): &(&String, &InQuarantine)| !self.places.contains_key(device.as_str());
        let mut unknown: Vec<_> = self
            .quarantined
            .iter()
            .filter(unknown)
            .map(|(device, known)| (known.received_at, device.clone()))
            .collect();
        unknown.sort_unstable_by(|a, b| b.cmp(a));
        for (received_at, device) in unknown.into_iter().take(self.capacity - self.len()) {
            self.insert(Index::unstored(&device, received_at), None);
        }
    }

    pub fn leave_quarantine(&mut self, device: &str) {
        let Some(quarantined) = self.quarantined.get_mut(device) else { return };
        quarantined.messages -= 1;
        if quarantined.messages > 0 {
            return;
        }
        self.quarantined.remove(device);
        // Nothing is left of a device that has stored nothing.
        if self.get(device).is_some_and(|entry| entry.last_id == 0)
            && let Some(place) = self.places.get(device)
        {
            self.remove(*place);
        }
    }

    /// Classifies all devices by `profiles`, unless they are classified by them already. Returns whether the last messages of the devices must
    /// be read again, because their origins count, which are not in memory.
    pub fn classify(&mut self, profiles: &Arc<Profiles>) -> bool {
        if Arc::ptr_eq(&self.profiles, profiles) {
            return false;
        }
        self.profiles = Arc::clone(profiles);
        for entry in self.entries.iter_mut().flatten() {
            classify(entry, None, &self.profiles, &mut self.names[Kind::Profile as usize]);
        }
        self.read_origins_again()
    }

    /// Applies a message that was stored. If the list is full, a new device replaces another one.
    pub fn apply(&mut self, seen: &Seen<'_>) {
        if let Some(place) = self.places.get(seen.device) {
            if let Some(entry) = &mut self.entries[*place]
                && update(entry, seen, &self.profiles, &mut self.names)
                && self.profiles.need_origin()
            {
                classify(entry, seen.origin, &self.profiles, &mut self.names[Kind::Profile as usize]);
            }
            return;
        }
        if self.len() >= self.capacity {
            self.make_room();
        }
        self.insert_seen(seen);
    }

    /// Adds a device as it was read from the buffer, if there is room. One that is there keeps what commits have said of it, and is classified
    /// by its last message.
    pub fn add(&mut self, seen: &Seen<'_>) {
        if let Some(place) = self.places.get(seen.device) {
            if let Some(entry) = self.entries[*place].as_mut().filter(|entry| entry.last_id == seen.last_id)
                && self.profiles.need_origin()
            {
                classify(entry, seen.origin, &self.profiles, &mut self.names[Kind::Profile as usize]);
            }
        } else if self.len() < self.capacity {
            self.insert_seen(seen);
        }
    }

    fn insert_seen(&mut self, seen: &Seen<'_>) {
        let mut entry = Index::unstored(seen.device, i64::MIN);
        update(&mut entry, seen, &self.profiles, &mut self.names);
        self.insert(entry, seen.origin);
    }

    /// A device that has stored nothing.
    fn unstored(device: &str, received_at: i64) -> Entry {
        Entry {
            device: device.into(),
            messages: 0,
            bytes: 0,
            last_id: 0,
            first_at: None,
            received_at,
            message_bytes: 0,
            names: [const { None }; 4],
            position: None,
            cadence: Cadence::default(),
        }
    }

    /// Inserts a device. `origin` is that of its last message.
    fn insert(&mut self, mut entry: Entry, origin: Option<&str>) {
        classify(&mut entry, origin, &self.profiles, &mut self.names[Kind::Profile as usize]);
        let place = self.free.pop().unwrap_or(self.entries.len());
        self.places.insert(Arc::clone(&entry.device), place);
        if place == self.entries.len() {
            self.entries.push(Some(entry));
        } else {
            self.entries[place] = Some(entry);
        }
    }

    /// Removes the sixteenth of the devices that sent longest ago, so that a search for them is rare.
    fn make_room(&mut self) {
        let of = |(place, entry): (usize, &Option<Entry>)| Some((entry.as_ref()?.received_at, place));
        let mut all: Vec<_> = self.entries.iter().enumerate().filter_map(of).collect();
        let gone = (self.capacity / 16).max(1).min(all.len());
        all.select_nth_unstable(gone - 1);
        all.into_iter().take(gone).for_each(|(_, place)| self.remove(place));
    }

    fn remove(&mut self, place: usize) {
        let Some(entry) = self.entries[place].take() else { return };
        self.places.remove(&entry.device);
        for (names, name) in self.names.iter_mut().zip(&entry.names) {
            names.release(name.as_ref());
        }
        self.free.push(place);
    }
}

/// Sets the interval that the register says.
fn expect(entry: &mut Entry, profiles: &Profiles) {
    let record = profiles.record(&entry.device);
    let seconds = record.and_then(|record| record.interval_seconds);
    entry.cadence.registered = seconds.map(|seconds| seconds.saturating_mul(1_000_000) as i64);
}

/// Classifies a device by its last message, which has `origin`.
fn classify(entry: &mut Entry, origin: Option<&str>, profiles: &Profiles, names: &mut Names) {
    let subject = Subject::new(&entry.device, origin);
    names.replace(&mut entry.names[Kind::Profile as usize], profiles.label(&subject));
    entry.cadence.silent_after = profiles.silent_after(&subject);
    expect(entry, profiles);
    entry.cadence.every = entry.names[Kind::Schema as usize].as_ref().and_then(|name| profiles.every(name));
}

/// Applies a message to its device. Returns whether it is the last one of the device.
fn update(entry: &mut Entry, seen: &Seen<'_>, profiles: &Profiles, names: &mut [Names; 4]) -> bool {
    (entry.messages, entry.bytes, entry.first_at) = (seen.messages, seen.bytes, seen.first_at);
    // One that was in the quarantine is stored long after it was received.
    let is_first = mem::replace(&mut entry.last_id, seen.last_id) == 0;
    if seen.received_at < entry.received_at && !is_first {
        return false;
    }
    let before = mem::replace(&mut entry.received_at, seen.received_at);
    if !is_first && before < seen.received_at {
        entry.cadence.add(seen.received_at - before);
    }
    entry.message_bytes = seen.message_bytes;
    entry.position = seen.position;
    for (kind, name) in
        [(Kind::Link, seen.link), (Kind::Format, Some(seen.format)), (Kind::Schema, seen.schema)]
    {
        let is_new = names[kind as usize].replace(&mut entry.names[kind as usize], name);
        if is_new && kind == Kind::Schema {
            entry.cadence.every = name.and_then(|name| profiles.every(name));
        }
    }
    true
}

/// Returns at most `most` of the names: those that most devices have.
pub fn most_used(names: &HashMap<Arc<str>, u32>, most: usize) -> BTreeMap<Arc<str>, u32> {
    let mut all: Vec<_> = names.iter().collect();
    if all.len() > most {
        all.select_nth_unstable_by_key(most, |(_, devices)| std::cmp::Reverse(**devices));
        all.truncate(most);
    }
    all.into_iter().map(|(name, devices)| (Arc::clone(name), *devices)).collect()
}

/// The names of a kind, each in memory once, with the number of devices that have it.
#[derive(Default)]
struct Names(HashMap<Arc<str>, u32>);

impl Names {
    /// Makes `name` that of a device. Returns whether it had another one.
    fn replace(&mut self, of_device: &mut Option<Arc<str>>, name: Option<&str>) -> bool {
        if of_device.as_deref() == name {
            return false;
        }
        self.release(of_device.as_ref());
        *of_device = name.map(|name| {
            let known = self.0.get_key_value(name).map(|(known, _)| Arc::clone(known));
            let known = known.unwrap_or_else(|| name.into());
            *self.0.entry(Arc::clone(&known)).or_default() += 1;
            known
        });
        true
    }

    fn release(&mut self, name: Option<&Arc<str>>) {
        let Some(name) = name else { return };
        if let Some(devices) = self.0.get_mut(name) {
            *devices -= 1;
            if *devices == 0 {
                self.0.remove(name);
            }
        }
    }
}
