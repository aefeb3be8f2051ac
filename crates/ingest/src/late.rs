//! Deltas that arrived before the message to which they refer. They are in the quarantine, and are decoded again once it is committed. Those
//! whose sender was told do not wait: it has sent the reading again.

use crate::{Ingest, references::Candidate};
use dunnage_buffer::{Filter, NewMessage, NewQuarantined, Quarantined, Totals, Use, WriteOp};
use dunnage_formats::Kind;
use dunnage_packed::is_delta;
use lru::LruCache;
use std::{
    collections::{BTreeMap, VecDeque},
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::Notify;

/// Maximum number of waiting deltas of a device: the newest. A device sends at most 16 messages with one reference.
const OF_A_DEVICE: usize = 16;
/// Maximum number of devices with waiting deltas: those that sent last. Deltas of other devices stay in the quarantine until an operator
/// retries them.
const DEVICES: NonZeroUsize = NonZeroUsize::new(4096).unwrap();
/// The bits of a name that a delta has of its reference, in its first byte.
const TAG: u16 = 0x3f;
/// How often a delta is decoded again at most. Another message has its tag by chance once in 64 times, but a device can send messages with
/// any tag, and each of them would have all its deltas decoded.
const MAX_TRIALS: u8 = 4;

/// The deltas in the quarantine whose reference is missing.
#[derive(Default)]
pub struct LateDeltas {
    waiting: Mutex<Waiting>,
    due: Notify,
}

struct Waiting {
    /// The deltas of each device, the oldest first.
    devices: LruCache<String, VecDeque<Late>>,
    /// Those whose reference may have been committed since: how often each was decoded again, by its ID in the quarantine.
    due: BTreeMap<i64, u8>,
}

/// A delta in the quarantine.
struct Late {
    /// Its ID there.
    id: i64,
    tag: u16,
    /// How often it was decoded again.
    trials: u8,
}

impl Default for Waiting {
    fn default() -> Waiting {
        Waiting { devices: LruCache::new(DEVICES), due: BTreeMap::new() }
    }
}

impl LateDeltas {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a delta of `device` that has the ID `id` in the quarantine, and was decoded again `trials` times.
    fn add(&self, device: &str, id: i64, raw: &[u8], trials: u8) {
        let Some(first) = raw.first().filter(|_| trials < MAX_TRIALS) else { return };
        let mut waiting = self.waiting();
        let deltas = waiting.devices.get_or_insert_mut(device.to_owned(), VecDeque::new);
        deltas.push_back(Late { id, tag: u16::from(*first) & TAG, trials });
        if deltas.len() > OF_A_DEVICE {
            deltas.pop_front();
        }
    }

    /// Makes those deltas due that may refer to the message `name` of `device`, which was committed.
    fn committed(&self, device: &str, name: u16) {
        let mut waiting = self.waiting();
        let Some(mut deltas) = waiting.devices.pop(device) else { return };
        let before = waiting.due.len();
        deltas.retain(|late| {
            let is_due = late.tag == name & TAG;
            if is_due {
                waiting.due.insert(late.id, late.trials);
            }
            !is_due
        });
        if waiting.due.len() > before {
            self.due.notify_one();
        }
        if !deltas.is_empty() {
            waiting.devices.put(device.to_owned(), deltas);
        }
    }

    /// Waits until deltas are due, and returns their IDs in the quarantine and how often they were decoded again.
    async fn due(&self) -> Vec<(i64, u8)> {
        loop {
            let due = std::mem::take(&mut self.waiting().due);
            if !due.is_empty() {
                return due.into_iter().collect();
            }
            self.due.notified().await;
        }
    }
}

impl Ingest {
    /// Takes note of a batch that was committed: its messages may be references. `before` are the totals without it.
    pub fn committed(&self, batch: &[WriteOp], before: &Totals) {
        let (mut id, mut quarantine_id) = (before.last_message_id, before.last_quarantine_id);
        for entry in batch {
            match entry {
                WriteOp::Message(NewMessage { provenance, reference, .. }, _) => {
                    id += 1;
                    let content =
                        reference.as_ref().map(|reference| Arc::clone(&reference.content).downcast());
                    if let Some(Ok(candidate)) = content {
                        let candidate: Arc<Candidate> = candidate;
                        let name = candidate.reference.name();
                        self.references.committed(&provenance.device, (id, candidate));
                        self.late_deltas.committed(&provenance.device, name);
                    }
                }
                WriteOp::Quarantine(NewQuarantined { provenance, kind, raw, .. }, _) => {
                    quarantine_id += 1;
                    // A device that learnt it sends the reading again, without a reference.
                    if *kind == Kind::Reference.as_str() && !provenance.is_answered {
                        self.late_deltas.add(&provenance.device, quarantine_id, raw, 0);
                    }
                }
                _ => {}
            }
        }
    }

    /// Remembers the deltas that are in the quarantine at the start.
    pub async fn find_late_deltas(&self) {
        let filter = Filter { kind: Some(Kind::Reference.as_str().to_owned()), ..Filter::default() };
        let (mut after, last) = (0, self.buffer.stats.totals().last_quarantine_id);
        loop {
            let find = self.quarantined(filter.clone(), (after, last)).await;
            let Some(newest) = find.last() else { return };
            after = newest.id;
            find.iter().for_each(|kept| self.late_deltas.add(&kept.device, kept.id, &kept.raw, 0));
        }
    }

    /// Waits for late deltas whose reference was committed, and decodes them again. Returns how many were stored. The others wait for
    /// another reference.
    pub async fn store_late_deltas(&self) -> u64 {
        let mut durable = Vec::new();
        for (id, trials) in self.late_deltas.due().await {
            // One row at a time: the rows between two of them may have many megabytes.
            let Some(kept) = self.quarantined(Filter::default(), (id - 1, id)).await.pop() else { continue };
            let (device, raw) = (kept.device.clone(), kept.raw.clone());
            match self.decode_again(kept, None).await {
                Ok(message) => match self.requeue(message, id).await {
                    Ok(stored) => durable.push(stored),
                    // A full queue does not count as an attempt.
                    Err(_) => self.late_deltas.add(&device, id, &raw, trials),
                },
                Err(_) => self.late_deltas.add(&device, id, &raw, trials + 1),
            }
        }
        let mut stored = 0;
        for durable in durable {
            stored += u64::from(durable.await == Ok(true));
        }
        if stored > 0 {
            tracing::info!(stored, "deltas whose reference arrived later were decoded");
        }
        stored
    }

    /// Returns deltas of the quarantine. If it cannot be read, which the log says, they stay where they are.
    async fn quarantined(&self, filter: Filter, range: (i64, i64)) -> Vec<Quarantined> {
        let all = |kept: &Quarantined| is_delta(&kept.raw) && !kept.is_answered;
        let readers = self.buffer.readers.of(Use::Ingest);
        readers.find_quarantined(filter, all, range, usize::MAX).await.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn deltas_are_due_when_a_message_with_their_tag_is_committed() {
        let late = LateDeltas::default();
        late.add("a", 1, &[0x85], 0);
        late.add("a", 2, &[0x86], 1);
        late.add("b", 3, &[0x85], 0);
        late.committed("a", 0xff05);
        late.committed("c", 0xff06);
        assert_eq!(late.due().await, [(1, 0)]);
        late.committed("b", 0x0045);
        late.committed("a", 0x0006);
        assert_eq!(late.due().await, [(2, 1), (3, 0)]);
        assert!(late.waiting().devices.is_empty());
    }

    #[tokio::test]
    async fn the_newest_deltas_of_some_devices_wait() {
        let late = LateDeltas::default();
        for device in 0..2 * DEVICES.get() {
            late.add(&format!("d{device}"), 1000, &[0x80], 0);
        }
        for id in 0..100 {
            late.add("a", id, &[0x80], 0);
        }
        assert_eq!(late.waiting().devices.len(), DEVICES.get());
        late.committed("d0", 0);
        late.committed("a", 0);
        assert_eq!(late.due().await, (84..100).map(|id| (id, 0)).collect::<Vec<_>>());
    }

    #[test]
    fn a_delta_that_no_message_fits_stops_waiting() {
        let late = LateDeltas::default();
        (0..=MAX_TRIALS).for_each(|trials| late.add("a", trials.into(), &[0x80], trials));
        late.committed("a", 0);
        let due: Vec<_> = late.waiting().due.values().copied().collect();
        assert_eq!(due, (0..MAX_TRIALS).collect::<Vec<_>>());
        assert!(late.waiting().devices.is_empty());
    }
}
