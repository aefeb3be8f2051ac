//! Detects duplicates: remembers a hash of each message of the last window.
//!
//! The hash covers the device and the sender's key, or the raw bytes where the profile asks for it. Only messages that have such an
//! identity are remembered.

use crate::message::{NewMessage, Provenance, Sent};
use rusqlite::Connection;
use sha2::{Digest, Sha256};
use std::{
    collections::{HashSet, VecDeque},
    time::{Duration, Instant},
};

/// Shortest time between two warnings that messages were forgotten early.
const WARN_AGAIN: Duration = Duration::from_secs(60);
/// After this many consecutive messages that are older than the window, the scan at the start ends. They may only look old, because the
/// clock was set or because another gateway received them long before. Therefore their keys are remembered for another window.
const OLD: usize = 4096;

/// Identifies a message: the first 16 bytes of a SHA-256.
type Hash = [u8; 16];

/// The messages of the window. Those of a batch are added while it is written, and removed if the write fails.
pub struct Duplicates {
    window: Duration,
    known: HashSet<Hash>,
    /// Oldest first.
    order: VecDeque<(Hash, Instant)>,
    /// How many of the newest entries belong to the batch that is being written.
    unsettled: usize,
    /// Largest number of messages to remember.
    most: usize,
    /// How many messages were forgotten before the window ended, and when that was last logged.
    forgotten: u64,
    warned: Option<Instant>,
    /// The time from which on all messages are known, if retention has dropped messages that may belong to the window.
    since: Option<Instant>,
}

impl Duplicates {
    /// Creates an empty set that remembers at most `most` messages for `window`.
    pub fn new(window: Duration, most: usize) -> Duplicates {
        let (known, order) = Default::default();
        Duplicates { window, known, order, unsettled: 0, most, forgotten: 0, warned: None, since: None }
    }

    /// Loads the messages of the window that ends at `now`, in microseconds since 1970. `dedup_by_payload` returns whether messages of a
    /// device and with an origin, but without a key, are duplicates when their bytes are equal.
    pub fn load(
        &mut self,
        connection: &Connection,
        now: i64,
        dedup_by_payload: &dyn Fn(Sent<'_>) -> bool,
    ) -> rusqlite::Result<()> {
        (self.known, self.order, self.unsettled, self.since) = Default::default();
        if self.window.is_zero() {
            return Ok(());
        }
        let begun = Instant::now();
        let sql = "SELECT received_at, device, key, raw, origin FROM messages ORDER BY id DESC";
        let mut statement = connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        let (mut old, mut oldest) = (0, Duration::ZERO);
        while old < OLD && self.order.len() < self.most {
            let Some(row) = rows.next()? else {
                self.since = has_dropped(connection)?.then(|| begun.checked_sub(oldest).unwrap_or(begun));
                break;
            };
            let age = Duration::from_micros(now.saturating_sub(row.get(0)?).try_into().unwrap_or_default());
            oldest = age;
            let is_old = age >= self.window;
            old = if is_old { old + 1 } else { 0 };
            let age = if is_old { Duration::ZERO } else { age };
            let device = row.get_ref(1)?.as_str()?;
            let hash = match row.get_ref(2)?.as_str_or_null()? {
                Some(key) => hash_of(device, b'k', key.as_bytes()),
                None if !is_old && dedup_by_payload((device, row.get_ref(4)?.as_str_or_null()?)) => {
                    hash_of(device, b'b', row.get_ref(3)?.as_blob()?)
                }
                None => continue,
            };
            // The scan runs from new to old, so a hash that is known already belongs to a newer message. An `Instant` may not reach back to
            // the message's arrival.
            if self.known.insert(hash) {
                self.order.push_front((hash, begun.checked_sub(age).unwrap_or(begun)));
            }
        }
        Ok(())
    }

    /// Returns whether `message` is stored already or comes earlier in this batch. If not, it is remembered.
    pub fn is_known(&mut self, message: &NewMessage) -> bool {
        let Provenance { device, key, dedup_by_payload, .. } = &message.provenance;
        let hash = match key {
            _ if self.window.is_zero() => return false,
            Some(key) => hash_of(device, b'k', key.as_bytes()),
            None if *dedup_by_payload => hash_of(device, b'b', &message.raw),
            None => return false,
        };
        if !self.known.insert(hash) {
            return true;
        }
        self.order.push_back((hash, Instant::now()));
        self.unsettled += 1;
        false
    }

    /// Forgets the messages of a batch that could not be written.
    pub fn take_back(&mut self) {
        for (hash, _) in self.order.drain(self.order.len() - self.unsettled..) {
            self.known.remove(&hash);
        }
        self.unsettled = 0;
    }

    /// Begins a batch, after the previous one was written. Forgets messages that are too old or too many.
    pub fn begin(&mut self) {
        self.unsettled = 0;
        let before = self.forgotten;
        while let Some((hash, at)) = self.order.front() {
            let expired = at.elapsed() >= self.window;
            if !expired && self.order.len() <= self.most {
                break;
            }
            self.forgotten += u64::from(!expired);
            self.known.remove(hash);
            self.order.pop_front();
        }
        if self.forgotten > before && self.warned.is_none_or(|last| last.elapsed() >= WARN_AGAIN) {
            self.warned = Some(Instant::now());
            let (most, window, reaches) = (self.most, self.window.as_secs(), self.reaches().as_secs());
            tracing::warn!(
                most,
                window,
                reaches,
                "more messages than [buffer] duplicate_limit_messages arrived within the duplicate window; the oldest are \
                 forgotten early"
            );
        }
    }

    /// Returns how far back messages are remembered at the current rate: the window, or less when messages are forgotten early.
    pub fn reaches(&self) -> Duration {
        let oldest = self.order.front().filter(|_| self.order.len() >= self.most).map(|(_, oldest)| oldest);
        let since = oldest.into_iter().chain(&self.since).max();
        since.map_or(self.window, |since| since.elapsed().min(self.window))
    }

    /// Returns how many messages are remembered.
    pub fn remembered(&self) -> usize {
        self.order.len()
    }

    /// Returns how many messages were forgotten before the window ended, since the start.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }
}

/// Returns whether retention may have dropped messages.
fn has_dropped(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT dropped_to > 0 FROM totals", [], |row| row.get(0))
}

fn hash_of(device: &str, kind: u8, bytes: &[u8]) -> Hash {
    let mut hash = Sha256::new();
    hash.update(device);
    hash.update([0, kind]);
    hash.update(bytes);
    let mut half = Hash::default();
    half.copy_from_slice(&hash.finalize()[..16]);
    half
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(device: &str, key: Option<&str>, dedup_by_payload: bool, raw: &'static [u8]) -> NewMessage {
        let (device, key) = (device.to_owned(), key.map(str::to_owned));
        let provenance = Provenance { key, dedup_by_payload, ..Provenance::new(device, 0, "") };
        NewMessage {
            provenance,
            format: "json",
            raw: raw.into(),
            json: String::new(),
            layout: None,
            reference: None,
        }
    }

    #[test]
    fn a_key_is_its_devices_and_bytes_count_only_where_asked_for() {
        let mut duplicates = Duplicates::new(Duration::from_secs(60), 100);
        for (device, key, dedup_by_payload, raw, known) in [
            ("a", Some("1"), false, &b"x"[..], false),
            ("a", Some("1"), false, b"y", true),
            ("b", Some("1"), false, b"x", false),
            ("a", Some("2"), true, b"x", false),
            ("a", None, true, b"x", false),
            ("a", None, true, b"x", true),
            ("a", None, false, b"x", false),
            ("a", None, true, b"1", false),
        ] {
            let is = duplicates.is_known(&message(device, key, dedup_by_payload, raw));
            assert_eq!(is, known, "{device} {key:?} {dedup_by_payload} {raw:?}");
        }
    }

    #[test]
    fn a_batch_that_fails_takes_back_its_own_and_no_more() {
        let mut duplicates = Duplicates::new(Duration::from_secs(60), 100);
        assert!(!duplicates.is_known(&message("a", Some("1"), false, b"")));
        duplicates.begin();
        assert!(!duplicates.is_known(&message("a", Some("2"), false, b"")));
        assert!(duplicates.is_known(&message("a", Some("1"), false, b"")));
        duplicates.take_back();
        assert!(duplicates.is_known(&message("a", Some("1"), false, b"")));
        assert!(!duplicates.is_known(&message("a", Some("2"), false, b"")));
    }

    #[test]
    fn the_window_ends_and_the_memory_is_bounded() {
        let mut duplicates = Duplicates::new(Duration::from_millis(1), 100);
        assert!(!duplicates.is_known(&message("a", Some("1"), false, b"")));
        std::thread::sleep(Duration::from_millis(2));
        duplicates.begin();
        assert_eq!((duplicates.remembered(), duplicates.forgotten()), (0, 0));

        let window = Duration::from_secs(3600);
        let mut duplicates = Duplicates::new(window, 100);
        assert_eq!(duplicates.reaches(), window);
        for n in 0..103 {
            assert!(!duplicates.is_known(&message("a", Some(&n.to_string()), false, b"")));
        }
        duplicates.begin();
        assert_eq!((duplicates.remembered(), duplicates.forgotten()), (100, 3));
        assert!(duplicates.reaches() < window);
        assert!(!duplicates.is_known(&message("a", Some("2"), false, b"")));
        assert!(duplicates.is_known(&message("a", Some("3"), false, b"")));
    }
}
