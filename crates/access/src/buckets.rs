//! Token buckets in bounded memory: limits how often something may happen in a minute, per key.
//!
//! The generic cell rate algorithm (ITU-T I.371) stores one number per key: the time at which its bucket will be full again.

use std::{
    collections::{HashMap, hash_map::RandomState},
    hash::{BuildHasher, Hash},
    marker::PhantomData,
    sync::{Mutex, PoisonError},
    time::Instant,
};

const MINUTE: u64 = 60_000_000_000;
/// Number of parts, each with a lock of its own.
const SHARDS: usize = 16;
/// Most keys of a part; all parts together take some 4 MiB.
const KEYS: usize = 8192;

/// A bucket for each key. It holds one minute's worth and fills evenly.
pub struct Buckets<K: ?Sized> {
    /// Nanoseconds in which a bucket gains one.
    interval: u64,
    hasher: RandomState,
    /// When each bucket is full again, in nanoseconds since `start`, by the hash of its key. A bucket without an entry is full.
    shards: Vec<Mutex<HashMap<u64, u64>>>,
    start: Instant,
    key: PhantomData<fn(&K)>,
}

impl<K: Hash + ?Sized> Buckets<K> {
    /// Creates buckets of `per_minute`; 0 counts as 1.
    pub fn new(per_minute: u32) -> Buckets<K> {
        Buckets {
            interval: MINUTE / u64::from(per_minute.max(1)),
            hasher: RandomState::new(),
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            start: Instant::now(),
            key: PhantomData,
        }
    }

    /// Takes one from the bucket of `key`. If it is empty, takes nothing and returns the seconds until there is one.
    pub fn take(&self, key: &K) -> Result<(), u32> {
        let now = u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX / 2);
        self.take_at(key, now)
    }

    fn take_at(&self, key: &K, now: u64) -> Result<(), u32> {
        let hash = self.hasher.hash_one(key);
        let shard = &self.shards[hash as usize % SHARDS];
        let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
        let full_again = shard.get(&hash).copied().unwrap_or(0).max(now) + self.interval;
        let early = full_again.saturating_sub(now + MINUTE);
        if early > 0 {
            return Err(u32::try_from(early.div_ceil(1_000_000_000)).unwrap_or(u32::MAX));
        }
        if shard.len() >= KEYS && !shard.contains_key(&hash) {
            make_room(&mut shard, now);
        }
        shard.insert(hash, full_again);
        Ok(())
    }
}

/// Removes the full buckets. If more than half of the entries remain, also removes the half that is nearest to full.
fn make_room(shard: &mut HashMap<u64, u64>, now: u64) {
    shard.retain(|_, full_again| *full_again > now);
    if shard.len() <= KEYS / 2 {
        return;
    }
    // The fullest buckets go first, so that a flood of new keys does not reset the limit of a heavy user.
    let mut times: Vec<_> = shard.values().copied().collect();
    let (_, median, _) = times.select_nth_unstable(KEYS / 2);
    let median = *median;
    let mut forgotten = 0;
    shard.retain(|_, full_again| {
        let stays = *full_again > median || forgotten >= KEYS / 2;
        forgotten += usize::from(!stays);
        stays
    });
    tracing::warn!(forgotten, "the table of limits is full; some limits were reset");
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_bucket_holds_a_minutes_worth_and_fills_evenly() {
        let buckets = Buckets::new(6);
        let take = |now| buckets.take_at(&"a", now);
        assert!((0..6).all(|_| take(0).is_ok()));
        assert_eq!(take(0), Err(10));
        assert_eq!(take(9 * SECOND), Err(1));
        assert_eq!(take(10 * SECOND), Ok(()));
        assert_eq!(take(10 * SECOND), Err(10));
        assert!((0..6).all(|_| take(200 * SECOND).is_ok()));
        assert!(buckets.take_at(&"b", 0).is_ok());
    }

    #[test]
    fn a_refusal_takes_nothing() {
        let buckets = Buckets::new(1);
        assert!(buckets.take_at(&(), 0).is_ok());
        assert!((1..60).all(|second| buckets.take_at(&(), second * SECOND).is_err()));
        assert!(buckets.take_at(&(), 60 * SECOND).is_ok());
    }

    #[test]
    fn memory_is_bounded_and_those_who_take_most_are_remembered_longest() {
        let buckets = Buckets::<u32>::new(100);
        assert!((0..100).all(|_| buckets.take_at(&u32::MAX, 0).is_ok()));
        for key in 0..400_000 {
            assert!(buckets.take_at(&key, 1).is_ok());
        }
        let keys: usize = buckets.shards.iter().map(|shard| shard.lock().unwrap().len()).sum();
        assert!(keys <= SHARDS * KEYS, "{keys}");
        assert_eq!(buckets.take_at(&u32::MAX, 1), Err(1));
    }
}
