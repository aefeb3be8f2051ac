//! The list of devices. It is in memory, because a device's link, format and schema are in its last message: a list that is filtered by them
//! from the file would read a page of the file for each device.
//!
//! The list follows the commits. At the start and after a recovery it is read from the buffer, the devices that sent last first, while
//! messages are stored. It holds [`CAPACITY`] devices: if there are more, those that sent longest ago are not in it.

mod cadence;
mod index;
mod position;
mod query;
#[cfg(test)]
mod tests;

pub use cadence::Source;
pub use index::{CAPACITY, Entry, Kind};
pub use position::Position;
pub use query::{Direction, Page, Query, Sort};

use dunnage_buffer::{Counted, Devices, InQuarantine, LastMessage, ReadError, Readers, Use, WriteOp};
use dunnage_ingest::profiles::{Profiles, Subject};
use index::{Index, Seen};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::sync::{Notify, Semaphore, watch};

/// How many devices are read from the buffer at a time.
const CHUNK: usize = 1000;
/// How long a query waits for the list to be read. After that it gets what there is.
const LOADING: Duration = Duration::from_secs(10);
/// How long after a failure the list is read again.
const AGAIN: Duration = Duration::from_secs(5);
/// How many queries are computed at the same time. Further ones wait.
const QUERIES: usize = 2;
/// From how many of its newest messages the usual interval of a device is found.
const NEWEST: usize = 17;

/// The devices of a gateway.
pub struct Fleet {
    index: Mutex<Index>,
    is_loaded: watch::Sender<bool>,
    to_load: Notify,
    turns: Semaphore,
}

impl Fleet {
    /// Creates an empty list. `quarantined` has the quarantine counts of each device.
    pub fn new(profiles: Arc<Profiles>, quarantined: HashMap<String, InQuarantine>) -> Fleet {
        let to_load = Notify::new();
        to_load.notify_one();
        Fleet {
            index: Mutex::new(Index::new(CAPACITY, profiles, quarantined)),
            is_loaded: watch::Sender::new(false),
            to_load,
            turns: Semaphore::new(QUERIES),
        }
    }

    fn index(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies a batch that was committed. `left` has the device of each message that has left the quarantine.
    pub fn committed(&self, profiles: &Arc<Profiles>, batch: &[WriteOp], devices: &Devices, left: &[String]) {
        // Positions are found before the lock, because queries wait for it.
        let seen: Vec<_> = batch.iter().filter_map(|op| seen_in(op, devices, profiles)).collect();
        self.classify(profiles);
        let mut index = self.index();
        seen.iter().for_each(|seen| index.apply(seen));
        for op in batch {
            if let WriteOp::Quarantine(new, _) = op {
                index.quarantine(&new.provenance.device, new.provenance.received_at);
            }
        }
        left.iter().for_each(|device| index.leave_quarantine(device));
    }

    /// Applies new records of the register to the devices in the list.
    pub fn registered<'d>(&self, devices: impl Iterator<Item = &'d str>) {
        let again = self.index().registered(devices);
        self.read_again(again);
    }

    /// Returns when the first and the last message of a listed device were received, in microseconds since 1970.
    pub fn seen(&self, device: &str) -> (Option<i64>, Option<i64>) {
        let index = self.index();
        let entry = index.get(device).filter(|entry| entry.last_id > 0);
        (entry.and_then(|entry| entry.first_at), entry.map(|entry| entry.received_at))
    }

    /// Classifies the devices by `profiles`. If that needs their last messages, these are read again.
    fn classify(&self, profiles: &Arc<Profiles>) {
        let again = self.index().classify(profiles);
        self.read_again(again);
    }

    fn read_again(&self, again: bool) {
        if again {
            self.is_loaded.send_replace(false);
            self.to_load.notify_one();
        }
    }

    /// Returns how many messages are in the quarantine.
    pub fn in_quarantine(&self) -> u64 {
        self.index().in_quarantine()
    }

    /// Forgets everything and has it read again, because the buffer may have lost messages.
    pub fn reopened(&self, quarantined: HashMap<String, InQuarantine>) {
        self.index().clear(quarantined);
        self.is_loaded.send_replace(false);
        self.to_load.notify_one();
    }

    /// Reads the list from the buffer whenever that is needed.
    pub async fn keep_loaded(self: Arc<Self>, readers: Readers) {
        let readers = readers.of(Use::Admin);
        loop {
            self.to_load.notified().await;
            let generation = self.index().generation;
            match self.load(&readers).await {
                Ok(()) if self.index().generation == generation => drop(self.is_loaded.send_replace(true)),
                // It was forgotten meanwhile, and is read again.
                Ok(()) => {}
                Err(ReadError) => {
                    // A recovery is a reason to read it at once.
                    let _ = tokio::time::timeout(AGAIN, self.to_load.notified()).await;
                    self.to_load.notify_one();
                }
            }
        }
    }

    async fn load(&self, readers: &Readers) -> Result<(), ReadError> {
        let generation = self.index().generation;
        let counted = readers.counted(CAPACITY).await?;
        for chunk in counted.chunks(CHUNK) {
            // In the order of the file.
            let mut ids: Vec<_> = chunk.iter().map(|counted| counted.last_id).collect();
            ids.reverse();
            let last = readers.last_messages(ids).await?;
            let last: HashMap<i64, LastMessage> = last.into_iter().map(|last| (last.id, last)).collect();
            let profiles = Arc::clone(self.index().profiles());
            let seen: Vec<_> = chunk
                .iter()
                .filter_map(|counted| Some(seen_at(counted, last.get(&counted.last_id)?, &profiles)))
                .collect();
            let mut index = self.index();
            if index.generation != generation {
                break;
            }
            seen.iter().for_each(|seen| index.add(seen));
        }
        self.index().add_quarantined();
        Ok(())
    }

    /// Returns a page of the devices.
    pub async fn page(self: &Arc<Self>, query: Query, profiles: &Arc<Profiles>) -> Option<Page> {
        self.classify(profiles);
        self.wait_until_loaded().await;
        let turn = self.turns.acquire().await.ok()?;
        let fleet = Arc::clone(self);
        let page = tokio::task::spawn_blocking(move || query.run(&fleet.index)).await;
        drop(turn);
        page.ok()
    }

    /// Returns one device, and the number of its messages in the quarantine: from the buffer if it is not in the list.
    pub async fn device(
        &self,
        device: &str,
        profiles: &Arc<Profiles>,
        readers: &Readers,
    ) -> Result<Option<(Entry, u64)>, ReadError> {
        self.classify(profiles);
        self.wait_until_loaded().await;
        let known = self.index().get(device).cloned();
        let entry = match known {
            Some(entry) if entry.cadence.expected().is_some() => Some(entry),
            known => {
                let entry = match known {
                    Some(entry) => Some(entry),
                    None => read(device, profiles, readers).await?,
                };
                self.learn(entry, readers).await?
            }
        };
        Ok(entry.map(|entry| {
            let quarantined = self.index().quarantined(device);
            (entry, quarantined)
        }))
    }

    /// Finds the usual interval of a device that has not sent often enough since the start, and remembers it in the list.
    async fn learn(&self, entry: Option<Entry>, readers: &Readers) -> Result<Option<Entry>, ReadError> {
        let Some(mut entry) = entry else { return Ok(None) };
        let times = readers.newest_times(entry.device.to_string(), NEWEST).await?;
        entry.cadence.learn(&times);
        if let Some(known) = self.index().get_mut(&entry.device)
            && known.cadence.expected().is_none()
        {
            known.cadence.learn(&times);
        }
        Ok(Some(entry))
    }

    async fn wait_until_loaded(&self) {
        let mut is_loaded = self.is_loaded.subscribe();
        // After the time, the list is as far as it is.
        let _ = tokio::time::timeout(LOADING, is_loaded.wait_for(|loaded| *loaded)).await;
    }
}

/// Reads a device that is not in the list.
async fn read(device: &str, profiles: &Arc<Profiles>, readers: &Readers) -> Result<Option<Entry>, ReadError> {
    let Some(counted) = readers.counted_of(device.to_owned()).await? else { return Ok(None) };
    let last = readers.last_messages(vec![counted.last_id]).await?;
    // An index of this device alone.
    let mut index = Index::new(1, Arc::clone(profiles), HashMap::new());
    last.first().into_iter().for_each(|last| index.add(&seen_at(&counted, last, profiles)));
    Ok(index.get(device).cloned())
}

fn seen_in<'a>(op: &'a WriteOp, devices: &Devices, profiles: &Profiles) -> Option<Seen<'a>> {
    let WriteOp::Message(message, _) = op else { return None };
    let from = &message.provenance;
    let tally = devices.of_batch(&from.device)?;
    let origin = from.origin.as_deref();
    Some(Seen {
        device: &from.device,
        messages: tally.messages,
        bytes: tally.bytes,
        last_id: tally.last_id?,
        first_at: tally.first_at,
        received_at: from.received_at,
        message_bytes: u32::try_from(message.raw.len()).unwrap_or(u32::MAX),
        link: from.link.as_deref(),
        format: message.format,
        schema: from.schema.as_deref(),
        origin,
        position: Position::find(profiles.position(&from.into()), &message.json, origin),
    })
}

fn seen_at<'a>(counted: &'a Counted, last: &'a LastMessage, profiles: &Profiles) -> Seen<'a> {
    let (json, origin) = (last.json.as_deref().unwrap_or_default(), last.origin.as_deref());
    let pointer = profiles.position(&Subject::new(&counted.device, origin));
    Seen {
        device: &counted.device,
        messages: counted.messages,
        bytes: counted.bytes,
        last_id: counted.last_id,
        first_at: counted.first_at,
        received_at: last.received_at,
        message_bytes: last.bytes,
        link: last.link.as_deref(),
        format: &last.format,
        schema: last.schema.as_deref(),
        origin,
        position: Position::find(pointer, json, origin),
    }
}
