//! Bounds the memory for messages, and shares it between senders.
//!
//! A complete message leaves the memory within milliseconds. An incomplete one stays until its sender finishes or times out, so a few slow
//! senders could occupy all of it. Therefore:
//!
//! - Incomplete messages may use only a part of the memory, those of one address a part of that, and those of one device a smaller one.
//! - A transfer that makes no progress is evicted when another needs its memory.
//! - When a share is used up, the sender that holds the most of it, and more than one message, loses transfers to a sender that would hold
//!   less.
//!
//! These rules apply only to transfers that have to wait for bytes. Most messages arrive in one piece and cost two atomic additions.

use crate::shares::{NoRoom, Sender, Shares};
use dunnage_base::network;
use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::sync::Notify;

/// How long a transfer may pause before it can be evicted.
const GRACE: Duration = Duration::from_secs(2);
/// How many bytes earn a transfer one second of [`GRACE`], up to all of it.
const BYTES_PER_SECOND: u32 = 1024;

/// Counts the bytes of messages in memory. Clones share the count.
#[derive(Clone)]
pub struct Memory(Arc<Inner>);

struct Inner {
    used: AtomicUsize,
    shares: Shares,
    arriving: Mutex<Arriving>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Owner {
    Address(IpAddr),
    Device(Arc<str>),
}

/// The transfers in progress that wait for bytes.
#[derive(Default)]
struct Arriving {
    bytes: usize,
    owners: HashMap<Owner, usize>,
    transfers: HashMap<u64, Transfer>,
    next: u64,
}

struct Transfer {
    bytes: usize,
    owners: Vec<Owner>,
    /// When the transfer can be evicted; `None` once the message is complete.
    good_until: Option<Instant>,
    signal: Arc<Signal>,
}

/// Tells a transfer that it was evicted.
#[derive(Default)]
struct Signal {
    given_way: AtomicBool,
    notify: Notify,
}

/// Bytes that are counted until this is dropped.
pub struct Reservation {
    bytes: usize,
    /// The count of failed batches above which the message is refused ([`Queue::reserve_in_order`](crate::Queue::reserve_in_order)).
    pub(super) failed_batches: Option<u64>,
    memory: Memory,
    transfer: Option<(u64, Arc<Signal>)>,
}

impl Memory {
    /// Creates the count, at zero.
    pub fn new(shares: Shares) -> Memory {
        Memory(Arc::new(Inner { used: AtomicUsize::new(0), shares, arriving: Mutex::default() }))
    }

    /// Returns an empty reservation. It grows as bytes arrive.
    pub fn reserve(&self) -> Reservation {
        Reservation { bytes: 0, failed_batches: None, memory: self.clone(), transfer: None }
    }

    /// Returns how many bytes are in use.
    pub fn used(&self) -> usize {
        self.0.used.load(Ordering::Relaxed)
    }

    /// Returns the limits.
    pub fn shares(&self) -> Shares {
        self.0.shares
    }

    fn arriving(&self) -> MutexGuard<'_, Arriving> {
        self.0.arriving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts `bytes` more if they are within the limit on all messages. Returns whether they are.
    fn take(&self, bytes: usize) -> bool {
        let before = self.0.used.fetch_add(bytes, Ordering::Relaxed);
        let fits = before.saturating_add(bytes) <= self.0.shares.all;
        if !fits {
            self.give_back(bytes);
        }
        fits
    }

    fn give_back(&self, bytes: usize) {
        self.0.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Counts `bytes` more, after evicting idle transfers if necessary.
    fn take_from(&self, arriving: &mut Arriving, bytes: usize, now: Instant) -> Result<(), NoRoom> {
        if self.take(bytes) {
            return Ok(());
        }
        let over = self.used().saturating_add(bytes).saturating_sub(self.0.shares.all);
        self.give_back(arriving.make_way(over, None, now));
        if self.take(bytes) { Ok(()) } else { Err(NoRoom::All) }
    }
}

impl Arriving {
    /// Evicts transfers that make no progress, the longest idle first, until `bytes` are free. Considers only transfers of `owner` if there
    /// is one. Returns how many bytes were freed.
    fn make_way(&mut self, bytes: usize, owner: Option<&Owner>, now: Instant) -> usize {
        let is_of = |transfer: &Transfer| owner.is_none_or(|owner| transfer.owners.contains(owner));
        let idle = self.transfers.iter().filter(|(_, transfer)| is_of(transfer));
        let idle = idle.filter_map(|(id, transfer)| Some((transfer.good_until.filter(|at| *at < now)?, *id)));
        let mut idle: Vec<_> = idle.collect();
        idle.sort_unstable();
        let mut freed = 0;
        for (_, id) in idle {
            if freed >= bytes {
                break;
            }
            freed += self.end(id);
        }
        freed
    }

    /// Evicts transfers of the sender that holds the most, in favor of `by`, which needs `bytes` more, until these are free. Evicts only
    /// while that sender holds more than `by` would and more than a `message`; those that have made the least progress go first. Within an
    /// address the senders are devices, otherwise addresses. Returns how many bytes were freed.
    fn share_out(&mut self, bytes: usize, owner: Option<&Owner>, by: &[Owner], message: usize) -> usize {
        let of_address = matches!(owner, Some(Owner::Address(_)));
        let is_rival = |rival: &&Owner| matches!(rival, Owner::Device(_)) == of_address;
        let rival = |owners: &[Owner]| owners.iter().find(is_rival).cloned();
        let mut held: HashMap<Owner, (usize, Vec<(Instant, u64)>)> = HashMap::new();
        for (id, transfer) in &self.transfers {
            if owner.is_none_or(|owner| transfer.owners.contains(owner))
                && let (Some(rival), Some(good_until)) = (rival(&transfer.owners), transfer.good_until)
            {
                let (sum, transfers) = held.entry(rival).or_default();
                *sum += transfer.bytes;
                transfers.push((good_until, *id));
            }
        }
        let own = rival(by).and_then(|own| held.remove(&own)).map_or(0, |(sum, _)| sum);
        let Some((mut sum, mut transfers)) = held.into_values().max_by_key(|(sum, _)| *sum) else { return 0 };
        transfers.sort_unstable();
        let mut freed = 0;
        for (_, id) in transfers {
            if freed >= bytes || sum <= message.max(own + bytes) {
                break;
            }
            let bytes = self.end(id);
            (freed, sum) = (freed + bytes, sum - bytes);
        }
        freed
    }

    /// Evicts the transfer `id`. Returns how many bytes it held.
    fn end(&mut self, id: u64) -> usize {
        let Some(transfer) = self.remove(id) else { return 0 };
        transfer.signal.given_way.store(true, Ordering::Release);
        transfer.signal.notify.notify_one();
        transfer.bytes
    }

    fn remove(&mut self, id: u64) -> Option<Transfer> {
        let transfer = self.transfers.remove(&id)?;
        self.bytes -= transfer.bytes;
        for owner in &transfer.owners {
            if let Some(held) = self.owners.get_mut(owner) {
                *held -= transfer.bytes;
                if *held == 0 {
                    self.owners.remove(owner);
                }
            }
        }
        Some(transfer)
    }

    /// Adds `bytes` to the transfer `id`, and the grace that they earn.
    fn add(&mut self, id: u64, bytes: usize, now: Instant) {
        let Some(transfer) = self.transfers.get_mut(&id) else { return };
        transfer.bytes += bytes;
        let earned = Duration::from_secs(1) * u32::try_from(bytes).unwrap_or(u32::MAX) / BYTES_PER_SECOND;
        transfer.good_until = transfer.good_until.map(|until| (until.max(now) + earned).min(now + GRACE));
        self.bytes += bytes;
        for owner in &transfer.owners {
            match self.owners.get_mut(owner) {
                Some(held) => *held += bytes,
                None => drop(self.owners.insert(owner.clone(), bytes)),
            }
        }
    }
}

impl Reservation {
    /// Reserves `bytes` more, or none if there is no room.
    pub fn grow(&mut self, bytes: usize) -> Result<(), NoRoom> {
        // Most messages arrive in one piece and need no lock.
        if self.transfer.is_none() && self.memory.take(bytes) {
            self.bytes += bytes;
            return Ok(());
        }
        self.grow_at(bytes, Instant::now())
    }

    fn grow_at(&mut self, bytes: usize, now: Instant) -> Result<(), NoRoom> {
        let memory = self.memory.clone();
        let mut arriving = memory.arriving();
        let Some((id, _)) = self.transfer else {
            memory.take_from(&mut arriving, bytes, now)?;
            self.bytes += bytes;
            return Ok(());
        };
        let transfer = arriving.transfers.get(&id).ok_or(NoRoom::GaveWay)?;
        let is_whole = transfer.good_until.is_none();
        if !is_whole {
            let owners = transfer.owners.clone();
            self.check_shares(&mut arriving, &owners, bytes, now)?;
        }
        memory.take_from(&mut arriving, bytes, now)?;
        self.bytes += bytes;
        if !is_whole {
            arriving.add(id, bytes, now);
        }
        Ok(())
    }

    /// Returns an error if `bytes` more would exceed a share of incomplete messages, after evicting other transfers if necessary.
    fn check_shares(
        &self,
        arriving: &mut Arriving,
        owners: &[Owner],
        bytes: usize,
        now: Instant,
    ) -> Result<(), NoRoom> {
        let shares = self.memory.0.shares;
        for owner in owners {
            let (share, refusal) = match owner {
                Owner::Address(_) => (shares.address, NoRoom::Address),
                Owner::Device(_) => (shares.device, NoRoom::Device),
            };
            let held = |arriving: &Arriving| arriving.owners.get(owner).copied().unwrap_or_default();
            let over = |arriving: &Arriving| (held(arriving) + bytes).saturating_sub(share);
            if over(arriving) > 0 {
                self.memory.give_back(arriving.make_way(over(arriving), Some(owner), now));
            }
            if over(arriving) > 0 {
                let freed = arriving.share_out(over(arriving), Some(owner), owners, shares.message);
                self.memory.give_back(freed);
            }
            if over(arriving) > 0 {
                return Err(refusal);
            }
        }
        let over = |arriving: &Arriving| (arriving.bytes + bytes).saturating_sub(shares.incomplete);
        if over(arriving) > 0 {
            self.memory.give_back(arriving.make_way(over(arriving), None, now));
        }
        if over(arriving) > 0 {
            self.memory.give_back(arriving.share_out(over(arriving), None, owners, shares.message));
        }
        if over(arriving) > 0 { Err(NoRoom::Incomplete) } else { Ok(()) }
    }

    /// Registers the message as incomplete, because it has to wait for bytes. From here on the shares apply.
    pub fn wait_for(&mut self, sender: Sender<'_>) -> Result<(), NoRoom> {
        self.wait_at(sender, Instant::now())
    }

    fn wait_at(&mut self, sender: Sender<'_>, now: Instant) -> Result<(), NoRoom> {
        if self.transfer.is_some() {
            return Ok(());
        }
        let mut owners = vec![Owner::Address(network(sender.address))];
        owners.extend(sender.device.map(|device| Owner::Device(device.into())));
        let memory = self.memory.clone();
        let mut arriving = memory.arriving();
        self.check_shares(&mut arriving, &owners, self.bytes, now)?;
        let (id, signal) = (arriving.next, Arc::new(Signal::default()));
        arriving.next += 1;
        let transfer = Transfer { bytes: 0, owners, good_until: Some(now), signal: Arc::clone(&signal) };
        arriving.transfers.insert(id, transfer);
        // Bytes that arrived before this call earn no grace. Each transfer begins with all of it.
        arriving.add(id, self.bytes, now);
        if let Some(transfer) = arriving.transfers.get_mut(&id) {
            transfer.good_until = Some(now + GRACE);
        }
        self.transfer = Some((id, signal));
        Ok(())
    }

    /// Marks the message as complete: it can no longer be evicted. Its bytes count for its sender until it is written.
    pub fn whole(&mut self) -> Result<(), NoRoom> {
        if let Some((id, _)) = &self.transfer {
            let mut arriving = self.memory.arriving();
            arriving.transfers.get_mut(id).ok_or(NoRoom::GaveWay)?.good_until = None;
        }
        Ok(())
    }

    /// Releases all bytes of a message that is refused.
    pub fn clear(&mut self) {
        *self = self.memory.reserve();
    }

    /// Returns a future that resolves when the transfer is evicted. It never resolves for a message that is not registered as incomplete.
    pub fn give_way(&self) -> impl Future<Output = ()> + Send + use<> {
        let signal = self.transfer.as_ref().map(|(_, signal)| Arc::clone(signal));
        async move {
            match signal {
                Some(signal) => {
                    while !signal.given_way.load(Ordering::Acquire) {
                        signal.notify.notified().await;
                    }
                }
                None => std::future::pending().await,
            }
        }
    }

    /// Returns whether the transfer was evicted.
    pub fn has_given_way(&self) -> bool {
        self.transfer.as_ref().is_some_and(|(_, signal)| signal.given_way.load(Ordering::Acquire))
    }

    /// Returns how many bytes are reserved.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut bytes = self.bytes;
        if let Some((id, signal)) = &self.transfer {
            let mut arriving = self.memory.arriving();
            let held = arriving.remove(*id).map_or(0, |transfer| transfer.bytes);
            // The bytes of an evicted transfer were released when it was evicted.
            if held == 0 && signal.given_way.load(Ordering::Acquire) {
                bytes = 0;
            }
        }
        self.memory.give_back(bytes);
    }
}

#[cfg(test)]
mod tests;
