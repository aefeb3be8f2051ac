//! The connections of a listener: total limits, limits per address, and the choice of connections to close when the table is full.
//!
//! A peer occupies a connection before it has authenticated. A connection that waits for its peer is therefore only lent: when the table is
//! full, connections of the address with the most connections are closed, longest wait first. A connection whose request the gateway is
//! processing is never closed.

pub mod accept;
pub mod head_timer;

use dunnage_base::network;
use prometheus_client::metrics::{counter::Counter, gauge::Gauge};
use std::{
    cmp::Reverse,
    collections::HashMap,
    net::IpAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::{sync::Notify, task::AbortHandle};

/// How long a body may be arriving before its connection can be closed to make room.
const STALLED: Duration = Duration::from_secs(2);
/// How often a full table is searched again for connections that can be closed.
const RETRY_INTERVAL: Duration = Duration::from_millis(100);
/// One in this many connections is closed at a time, so that a full table is not searched for each new one.
const BATCH: usize = 64;

/// Bits of the state of an [`Activity`] that hold the phase; the others are milliseconds.
const PHASE_BITS: u32 = 2;

/// The phase of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
enum Phase {
    /// It waits for its peer's next request, or for its peer to authenticate.
    Waiting,
    /// The body of a request is arriving.
    Receiving,
    /// The gateway works on a request, or the peer has authenticated on a connection that stays open.
    Busy,
    /// It has been closed to make room.
    Closed,
}

/// The phase of a connection, and since when.
#[derive(Debug)]
pub struct Activity {
    start: Instant,
    /// The phase and when it began, as milliseconds from `start`.
    state: AtomicU64,
}

impl Activity {
    fn new(start: Instant) -> Activity {
        let activity = Activity { start, state: AtomicU64::new(0) };
        activity.state.store(activity.word(Phase::Waiting), Ordering::Relaxed);
        activity
    }

    /// Begins to receive the body of a request. Returns false if the connection has been closed; nothing of the request may be processed
    /// then.
    pub fn receiving(&self) -> bool {
        self.enter(Phase::Receiving)
    }

    /// The gateway has the complete request, or the peer has authenticated on a connection that stays open. Returns false as `receiving`
    /// does.
    pub fn busy(&self) -> bool {
        self.enter(Phase::Busy)
    }

    /// The connection waits for its peer again.
    pub fn waiting(&self) {
        self.enter(Phase::Waiting);
    }

    fn enter(&self, phase: Phase) -> bool {
        let word = self.word(phase);
        let change = |old| (phase_of(old) != Phase::Closed as u64).then_some(word);
        self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, change).is_ok()
    }

    fn word(&self, phase: Phase) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(0) << PHASE_BITS | phase as u64
    }

    /// Returns for how long it has waited for its peer, if it may be closed for that, and whether it waits for a request.
    fn idle(&self) -> Option<(bool, Duration)> {
        let state = self.state.load(Ordering::Acquire);
        let since = Duration::from_millis(state >> PHASE_BITS);
        let idle = self.start.elapsed().saturating_sub(since);
        match phase_of(state) {
            phase if phase == Phase::Waiting as u64 => Some((true, idle)),
            phase if phase == Phase::Receiving as u64 && idle >= STALLED => Some((false, idle)),
            _ => None,
        }
    }

    /// Closes it, unless its peer has become active in the meantime.
    fn close(&self) -> bool {
        let closed = self.word(Phase::Closed);
        let waits = |old| [Phase::Waiting as u64, Phase::Receiving as u64].contains(&phase_of(old));
        let change = |old| waits(old).then_some(closed);
        self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, change).is_ok()
    }
}

fn phase_of(state: u64) -> u64 {
    state & ((1 << PHASE_BITS) - 1)
}

/// Limits of the connections of a listener.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// In all.
    pub all: usize,
    /// Per address (of IPv6, per /64). The loopback address has no such limit, because a local proxy may carry the connections of all
    /// clients.
    pub of_address: usize,
}

/// Metrics of the connections of a listener.
#[derive(Debug, Clone, Default)]
pub struct Counts {
    /// Open connections.
    pub open: Gauge,
    /// Connections that were closed to make room.
    pub gave_way: Counter,
    /// Connections that were refused because their address had too many.
    pub refused: Counter,
}

/// The table of connections of a listener.
pub struct Connections {
    limits: Limits,
    counts: Counts,
    start: Instant,
    table: Mutex<Table>,
    freed: Notify,
}

#[derive(Default)]
struct Table {
    next: u64,
    all: HashMap<u64, Entry>,
    /// The number of connections of each network.
    networks: HashMap<IpAddr, usize>,
}

struct Entry {
    network: IpAddr,
    activity: Arc<Activity>,
    task: Option<AbortHandle>,
}

/// The place of a connection in the table, which dropping it frees.
pub struct Place {
    connections: Arc<Connections>,
    id: u64,
    activity: Arc<Activity>,
}

impl Connections {
    /// Creates an empty table.
    pub fn new(limits: Limits, counts: Counts) -> Arc<Connections> {
        let (table, freed) = (Mutex::default(), Notify::new());
        Arc::new(Connections { limits, counts, start: Instant::now(), table, freed })
    }

    /// Returns a place for a connection from `address`, and waits while all connections are busy. Returns `None` if the address has too
    /// many that are busy; the connection must then be closed.
    pub async fn enter(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        let network = network(address);
        let is_limited = !address.to_canonical().is_loopback();
        loop {
            // Created before the check: `notify_waiters` wakes only futures that exist already.
            let freed = self.freed.notified();
            {
                let mut table = self.table();
                // The address limit comes first: an address at its limit must make room among its own connections.
                if is_limited && table.of(network) >= self.limits.of_address {
                    let batch = self.limits.of_address.div_ceil(BATCH);
                    if !self.make_room(&mut table, Some(network), batch) {
                        self.counts.refused.inc();
                        tracing::debug!(%address, "a connection is refused: its address has too many");
                        return None;
                    }
                }
                let batch = self.limits.all.div_ceil(BATCH);
                if table.all.len() < self.limits.all || self.make_room(&mut table, None, batch) {
                    return Some(self.place(&mut table, network));
                }
            }
            // A body may become overdue before a place is freed.
            let _ = tokio::time::timeout(RETRY_INTERVAL, freed).await;
        }
    }

    /// Sets the task that serves the connection `id`, which is aborted if the connection is closed.
    pub fn attach(&self, id: u64, task: AbortHandle) {
        if let Some(entry) = self.table().all.get_mut(&id) {
            entry.task = Some(task);
        }
    }

    /// Waits until there are no connections.
    pub async fn drained(&self) {
        loop {
            let freed = self.freed.notified();
            if self.table().all.is_empty() {
                return;
            }
            let _ = tokio::time::timeout(RETRY_INTERVAL, freed).await;
        }
    }

    fn place(self: &Arc<Self>, table: &mut Table, network: IpAddr) -> Place {
        let (id, activity) = (table.next, Arc::new(Activity::new(self.start)));
        table.next += 1;
        table.all.insert(id, Entry { network, activity: Arc::clone(&activity), task: None });
        *table.networks.entry(network).or_default() += 1;
        self.counts.open.inc();
        Place { connections: Arc::clone(self), id, activity }
    }

    /// Closes up to `most` idle connections of one network: of `network`, or else of the one with the most connections. Returns whether it
    /// closed any.
    fn make_room(&self, table: &mut Table, network: Option<IpAddr>, most: usize) -> bool {
        let of_network = |entry: &Entry| network.is_none_or(|network| network == entry.network);
        let mut idle: Vec<_> = table
            .all
            .iter()
            .filter(|(_, entry)| of_network(entry))
            .filter_map(|(id, entry)| {
                let (waits, since) = entry.activity.idle()?;
                Some((table.of(entry.network), waits, since, entry.network, *id))
            })
            .collect();
        // The network with the most connections first, then waiting before stalled ones, then those idle for longest.
        idle.sort_unstable_by_key(|idle| Reverse(*idle));
        let Some(&(_, waits, _, largest, _)) = idle.first() else { return false };
        let mut closed = 0;
        for (.., id) in idle.into_iter().filter(|idle| (idle.1, idle.3) == (waits, largest)).take(most) {
            let Some(entry) = table.all.get(&id) else { continue };
            if entry.activity.close() {
                closed += 1;
                entry.task.iter().for_each(AbortHandle::abort);
                self.remove(table, id);
            }
        }
        self.counts.gave_way.inc_by(closed);
        tracing::debug!(address = %largest, closed, "closed idle connections to make room");
        closed > 0
    }

    fn remove(&self, table: &mut Table, id: u64) {
        let Some(entry) = table.all.remove(&id) else { return };
        self.counts.open.dec();
        if let Some(count) = table.networks.get_mut(&entry.network) {
            *count -= 1;
            if *count == 0 {
                table.networks.remove(&entry.network);
            }
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn of(&self, network: IpAddr) -> usize {
        self.networks.get(&network).copied().unwrap_or_default()
    }
}

impl Place {
    /// Returns the ID of the connection.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns the activity of the connection.
    pub fn activity(&self) -> &Arc<Activity> {
        &self.activity
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut table = self.connections.table();
        self.connections.remove(&mut table, self.id);
        drop(table);
        self.connections.freed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::future::poll_immediate;

    fn connections(all: usize, of_address: usize) -> Arc<Connections> {
        Connections::new(Limits { all, of_address }, Counts::default())
    }

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[tokio::test]
    async fn an_address_has_its_share_and_a_network_of_ipv6_counts_as_one() {
        let table = connections(64, 2);
        for (first, same, other) in [
            ("192.0.2.1", "192.0.2.1", "192.0.2.2"),
            ("2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"),
            ("::ffff:198.51.100.1", "198.51.100.1", "198.51.100.2"),
        ] {
            let places =
                [table.enter(address(first)).await.unwrap(), table.enter(address(same)).await.unwrap()];
            assert!(places.iter().all(|place| place.activity().busy()));
            assert!(table.enter(address(same)).await.is_none(), "{same}");
            assert!(table.enter(address(other)).await.is_some(), "{other}");
            // An idle connection is closed for another of its address.
            places[0].activity().waiting();
            assert!(table.enter(address(same)).await.is_some());
            assert!(!places[0].activity().busy() && places[1].activity().busy());
        }
        assert_eq!((table.counts.refused.get(), table.counts.gave_way.get()), (3, 3));
        assert_eq!((table.counts.open.get(), table.table().networks.len()), (0, 0));
        let local: Vec<_> =
            (0..9).map(|_| poll_immediate(Box::pin(table.enter(address("127.0.0.1"))))).collect();
        assert!(
            futures_util::future::join_all(local).await.iter().all(|place| place.as_ref().unwrap().is_some())
        );
    }

    #[tokio::test]
    async fn a_full_table_takes_from_the_address_that_has_the_most() {
        let table = connections(8, 8);
        let guest = table.enter(address("192.0.2.9")).await.unwrap();
        let mut many = Vec::new();
        for _ in 0..7 {
            many.push(table.enter(address("192.0.2.1")).await.unwrap());
        }
        many[0].activity().busy();
        std::thread::sleep(Duration::from_millis(5));
        many[1].activity().waiting();
        let other = table.enter(address("192.0.2.2")).await.unwrap();
        let closed: Vec<_> = many.iter().map(|place| !place.activity().busy()).collect();
        // The busy one stays, and so does the one that was active last.
        assert_eq!(closed.iter().filter(|closed| **closed).count(), 1, "{closed:?}");
        assert!(!closed[0] && !closed[1], "{closed:?}");
        assert!(guest.activity().busy() && other.activity().busy());
        assert_eq!((table.counts.open.get(), table.counts.gave_way.get()), (8, 1));
    }

    #[tokio::test]
    async fn of_addresses_with_as_many_the_one_that_is_idle_for_longest_gives_way() {
        let table = connections(3, 3);
        let first = table.enter(address("192.0.2.1")).await.unwrap();
        std::thread::sleep(Duration::from_millis(5));
        let others = [
            table.enter(address("2001:db8::1")).await.unwrap(),
            table.enter(address("198.51.100.1")).await.unwrap(),
        ];
        // The numeric order of addresses must not decide.
        let _new = table.enter(address("192.0.2.2")).await.unwrap();
        assert!(!first.activity().busy() && others.iter().all(|place| place.activity().busy()));
    }

    #[tokio::test]
    async fn a_table_of_busy_connections_lets_the_next_one_wait() {
        let table = connections(1, 1);
        let first = table.enter(address("127.0.0.1")).await.unwrap();
        assert!(first.activity().receiving());
        let mut second = Box::pin(table.enter(address("127.0.0.1")));
        assert!(poll_immediate(&mut second).await.is_none());
        drop(first);
        assert!(second.await.is_some());
    }

    #[tokio::test]
    async fn a_body_that_does_not_come_gives_way_in_time() {
        let table = connections(1, 1);
        let first = table.enter(address("127.0.0.1")).await.unwrap();
        let task = tokio::spawn(std::future::pending::<()>());
        table.attach(first.id(), task.abort_handle());
        first.activity().receiving();
        let begun = Instant::now();
        assert!(table.enter(address("127.0.0.1")).await.is_some());
        assert!(begun.elapsed() >= STALLED - RETRY_INTERVAL);
        assert!(task.await.unwrap_err().is_cancelled() && !first.activity().busy());
    }
}
