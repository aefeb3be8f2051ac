//! The memory for messages: how many bytes all of them take, and who may hold how much of it before a message is there.
//!
//! A message that is whole leaves the memory in milliseconds. One that has not arrived stays for as long as its sender likes, up to a
//! timeout, so a few senders that never finish could take all of it. Therefore:
//!
//! - incomplete messages get a part of the memory only, an address a part of that, and a device a smaller one,
//! - a transfer that makes no progress gives way when another needs its room,
//! - whoever holds the most of what is used up, and more than a message, gives way to who would hold less.
//!
//! Only transfers that have to wait for bytes are looked at in this way. Most messages arrive in one piece and cost two atomic
//! additions.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::sync::Notify;

/// How long a transfer may pause before it can be made to give way, ...
const GRACE: Duration = Duration::from_secs(2);
/// ... and how many bytes earn it a second of that.
const BYTES_PER_SECOND: u32 = 1024;

/// Bytes of messages in memory. Clones are the same memory.
#[derive(Clone)]
pub struct Memory(Arc<Inner>);

struct Inner {
    used: AtomicUsize,
    shares: Shares,
    arriving: Mutex<Arriving>,
}

/// How much of the memory may be held, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shares {
    /// By all messages.
    pub all: usize,
    /// By those that have not arrived whole.
    pub incomplete: usize,
    /// By those of an address (of IPv6, a /64).
    pub address: usize,
    /// By those of a device.
    pub device: usize,
    /// Largest message: whoever holds no more gives way to nobody, as long as it makes progress.
    pub message: usize,
}

impl Shares {
    /// The shares in `all`, where a message has at most `largest` bytes: whatever the memory, one message fits.
    pub fn of(all: usize, largest: usize) -> Shares {
        let part = |part: usize| part.max(largest).min(all);
        let (incomplete, address, device) = (part(all / 2), part(all / 4), part(all / 8));
        Shares { all, incomplete, address, device, message: largest.min(all) }
    }
}

/// Why there is no memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoRoom {
    /// All of it is in use.
    All,
    /// Incomplete messages hold as much as they may.
    Incomplete,
    /// Incomplete messages of this address do.
    Address,
    /// Incomplete messages of this device do.
    Device,
    /// The message made no progress, and another needed its room.
    GaveWay,
}

/// Who sends a message that has not arrived whole.
#[derive(Debug, Clone, Copy)]
pub struct Sender<'a> {
    /// From where.
    pub address: IpAddr,
    /// As which device, if that is known.
    pub device: Option<&'a str>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Owner {
    Address(IpAddr),
    Device(Arc<str>),
}

/// The transfers under way that wait for bytes.
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
    /// From when on it has to give way; `None` once the message is whole.
    good_until: Option<Instant>,
    signal: Arc<Signal>,
}

/// Tells a transfer that it has given way.
#[derive(Default)]
struct Signal {
    given_way: AtomicBool,
    notify: Notify,
}

/// Bytes that count against the memory until this is dropped.
pub struct Reservation {
    bytes: usize,
    memory: Memory,
    transfer: Option<(u64, Arc<Signal>)>,
}

impl Memory {
    /// Memory of which nothing is in use.
    pub fn new(shares: Shares) -> Memory {
        Memory(Arc::new(Inner { used: AtomicUsize::new(0), shares, arriving: Mutex::default() }))
    }

    /// A reservation of nothing; it grows as bytes arrive.
    pub fn reserve(&self) -> Reservation {
        Reservation { bytes: 0, memory: self.clone(), transfer: None }
    }

    /// Bytes in use.
    pub fn used(&self) -> usize {
        self.0.used.load(Ordering::Relaxed)
    }

    /// How much may be held.
    pub fn shares(&self) -> Shares {
        self.0.shares
    }

    fn arriving(&self) -> MutexGuard<'_, Arriving> {
        self.0.arriving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes `bytes`, if there are so many.
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

    /// Takes `bytes`, for which transfers may have to give way.
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
    /// Has transfers give way that make no progress, those first that have made none for longest, until `bytes` are free; of all
    /// of them or of `owner`. Answers how many bytes that are.
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

    /// Has the one that holds the most of what `owner` has, or of all, give way to `by` with `bytes` more, if it holds more than that, and
    /// more than a `message`: its transfers that have made the least progress, until so many bytes are free. In what an address has, these
    /// are devices, and else addresses. Answers how many bytes that are.
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

    /// Tells the transfer `id` to give way. Answers how many bytes it had.
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

    /// Counts `bytes` more for the transfer `id`.
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
    /// Takes `bytes` more, or nothing when there is no room.
    pub fn grow(&mut self, bytes: usize) -> Result<(), NoRoom> {
        // Most messages need no look at others.
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

    /// Whether `bytes` more are within the shares of incomplete messages.
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

    /// The message has to wait for bytes: from here it is one of those that have not arrived whole.
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
        // What has come already is no progress that it could have made.
        arriving.add(id, self.bytes, now);
        if let Some(transfer) = arriving.transfers.get_mut(&id) {
            transfer.good_until = Some(now + GRACE);
        }
        self.transfer = Some((id, signal));
        Ok(())
    }

    /// The message is there: it need not give way any more. Until it is written it still counts as its sender's.
    pub fn whole(&mut self) -> Result<(), NoRoom> {
        if let Some((id, _)) = &self.transfer {
            let mut arriving = self.memory.arriving();
            arriving.transfers.get_mut(id).ok_or(NoRoom::GaveWay)?.good_until = None;
        }
        Ok(())
    }

    /// Gives back all that it has: the message is refused, and its bytes are gone.
    pub fn clear(&mut self) {
        *self = self.memory.reserve();
    }

    /// Waits until it has to give way; forever, if it need not.
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

    /// Whether it has given way.
    pub fn has_given_way(&self) -> bool {
        self.transfer.as_ref().is_some_and(|(_, signal)| signal.given_way.load(Ordering::Acquire))
    }

    /// Bytes that it counts.
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
            // What has given way was given back then.
            if held == 0 && signal.given_way.load(Ordering::Acquire) {
                bytes = 0;
            }
        }
        self.memory.give_back(bytes);
    }
}

/// An address, or of IPv6 the network that one subscriber has.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sender(address: &str, device: &'static str) -> Sender<'static> {
        Sender { address: address.parse().unwrap(), device: Some(device) }
    }

    fn memory() -> Memory {
        Memory::new(Shares { all: 100, incomplete: 50, address: 30, device: 20, message: 30 })
    }

    #[test]
    fn reservations_stay_under_the_limit_and_give_back_what_they_took() {
        let memory = memory();
        let (mut a, mut b) = (memory.reserve(), memory.reserve());
        a.grow(60).unwrap();
        a.grow(30).unwrap();
        assert_eq!(b.grow(11), Err(NoRoom::All));
        b.grow(10).unwrap();
        assert_eq!(memory.used(), 100);
        drop(a);
        b.grow(90).unwrap();
        assert_eq!(b.grow(1), Err(NoRoom::All));
        drop(b);
        assert_eq!(memory.used(), 0);
    }

    #[test]
    fn incomplete_messages_have_shares_and_complete_ones_the_rest() {
        let memory = memory();
        let now = Instant::now();
        let mut held = Vec::new();
        let mut wait = |address, device, bytes| {
            let mut reservation = memory.reserve();
            let waits = reservation.wait_at(sender(address, device), now);
            let grown = waits.and_then(|()| reservation.grow_at(bytes, now));
            held.push(reservation);
            grown
        };
        assert_eq!(wait("10.0.0.1", "a", 20), Ok(()));
        assert_eq!(wait("10.0.0.2", "a", 1), Err(NoRoom::Device));
        assert_eq!(wait("10.0.0.1", "b", 11), Err(NoRoom::Address));
        assert_eq!(wait("10.0.0.1", "b", 10), Ok(()));
        assert_eq!(wait("2001:db8::1", "c", 20), Ok(()));
        assert_eq!(wait("2001:db8:0:0:1::", "d", 11), Err(NoRoom::Address));
        assert_eq!(wait("10.0.0.3", "e", 1), Err(NoRoom::Incomplete));
        let mut complete = memory.reserve();
        complete.grow(50).unwrap();
        assert_eq!(complete.grow(1), Err(NoRoom::All));
        held.clear();
        drop(complete);
        assert_eq!(memory.used(), 0);
        assert!(memory.arriving().owners.is_empty() && memory.arriving().transfers.is_empty());
    }

    #[test]
    fn what_makes_no_progress_gives_way_and_what_does_stays() {
        let memory = memory();
        let begun = Instant::now();
        let mut slow = memory.reserve();
        slow.wait_at(sender("10.0.0.1", "slow"), begun).unwrap();
        slow.grow_at(10, begun).unwrap();
        let mut steady = memory.reserve();
        steady.wait_at(sender("10.0.0.2", "steady"), begun).unwrap();
        let later = begun + GRACE + Duration::from_millis(1);
        // A byte now and then is no progress.
        slow.grow_at(1, begun + GRACE / 2).unwrap();
        steady.grow_at(19, later).unwrap();
        let mut complete = memory.reserve();
        complete.grow_at(70, begun).unwrap();
        assert_eq!(complete.grow_at(5, begun + GRACE), Err(NoRoom::All), "nobody gives way yet");
        complete.grow_at(5, later).unwrap();
        assert!(slow.has_given_way() && !steady.has_given_way());
        assert_eq!(slow.grow_at(1, later), Err(NoRoom::GaveWay));
        assert_eq!(slow.whole(), Err(NoRoom::GaveWay));
        // A message that is whole has made all the progress that it can.
        steady.whole().unwrap();
        assert_eq!(complete.grow_at(7, later + GRACE * 2), Err(NoRoom::All));
        assert_eq!(memory.used(), 94);
        drop((slow, steady, complete));
        assert_eq!(memory.used(), 0);
    }

    #[test]
    fn who_holds_the_most_gives_way_to_who_holds_less_though_it_makes_progress() {
        let now = Instant::now();
        /// Transfers of five bytes that are still arriving, by address and device.
        fn begin(
            memory: &Memory,
            all: &[(&str, &'static str)],
            now: Instant,
        ) -> Vec<Result<Reservation, NoRoom>> {
            let begin = |(address, device): &(&str, &'static str)| {
                let mut transfer = memory.reserve();
                transfer.wait_at(sender(address, device), now)?;
                transfer.grow_at(5, now)?;
                Ok(transfer)
            };
            all.iter().map(begin).collect()
        }
        let shares = || Memory::new(Shares::of(80, 5));
        let gave_way = |all: &[Result<Reservation, NoRoom>]| {
            all.iter().filter(|transfer| transfer.as_ref().is_ok_and(Reservation::has_given_way)).count()
        };

        // All of the memory for incomplete messages, by two addresses with many devices.
        let memory = shares();
        let of = |address| ["a", "b", "c", "d"].map(|device| (address, device));
        let two = begin(&memory, &[of("10.0.0.1"), of("10.0.0.2")].concat(), now);
        assert!(two.iter().all(Result::is_ok) && memory.used() == 40);
        let third = begin(&memory, &[("10.0.0.3", "x"), ("10.0.0.3", "x"), ("10.0.0.3", "y")], now);
        assert!(third[0].is_ok() && third[1].is_ok());
        // It gets no more than the others have.
        assert_eq!(third[2].as_ref().err(), Some(&NoRoom::Incomplete));
        assert_eq!((gave_way(&two[..4]), gave_way(&two[4..]), memory.used()), (1, 1, 40));

        // A message each is no more than anybody may have.
        let memory = shares();
        let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
        let addresses: Vec<_> = (0..8).map(|n| format!("10.0.1.{n}")).collect();
        let each: Vec<_> = addresses.iter().map(String::as_str).zip(names).collect();
        let each = begin(&memory, &each, now);
        assert_eq!(begin(&memory, &[("10.0.0.3", "x")], now)[0].as_ref().err(), Some(&NoRoom::Incomplete));
        assert_eq!(gave_way(&each), 0);

        // One address in what a device or a webhook has, and one device in what an address has.
        let memory = shares();
        let hook = begin(&memory, &[("10.0.0.1", "hook"), ("10.0.0.1", "hook")], now);
        let other = begin(&memory, &[("10.0.0.2", "hook")], now);
        assert!(other[0].is_ok() && gave_way(&hook) == 1);
        let memory = shares();
        let busy = begin(
            &memory,
            &[("10.0.0.1", "a"), ("10.0.0.1", "a"), ("10.0.0.1", "b"), ("10.0.0.1", "b")],
            now,
        );
        let other = begin(&memory, &[("10.0.0.1", "c")], now);
        assert!(other[0].is_ok() && gave_way(&busy) == 1);
        drop((busy, other));
        assert_eq!(memory.used(), 0);
    }

    #[test]
    fn one_message_fits_whatever_the_memory() {
        assert_eq!(Shares::of(64, 1), Shares { all: 64, incomplete: 32, address: 16, device: 8, message: 1 });
        assert_eq!(
            Shares::of(64, 40),
            Shares { all: 64, incomplete: 40, address: 40, device: 40, message: 40 }
        );
        assert_eq!(
            Shares::of(64, 100),
            Shares { all: 64, incomplete: 64, address: 64, device: 64, message: 64 }
        );
    }
}
