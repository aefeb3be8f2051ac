//! Counts and state of a buffer that any thread can read without a query.

use super::Totals;
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering},
};
use tokio::sync::watch;

/// Counts of a buffer, and whether it can be written. The writer updates them.
pub struct BufferStats {
    totals: Mutex<Totals>,
    received: AtomicU64,
    refused: AtomicU64,
    writable: AtomicBool,
    commits: watch::Sender<()>,
}

impl BufferStats {
    /// Creates the counts of a buffer that holds `totals`.
    pub fn new(totals: Totals) -> BufferStats {
        BufferStats {
            received: AtomicU64::new(0),
            refused: AtomicU64::new(totals.refused),
            writable: AtomicBool::new(true),
            totals: Mutex::new(totals),
            commits: watch::Sender::new(()),
        }
    }

    /// Returns the totals of the last commit, with all refusals up to now.
    pub fn totals(&self) -> Totals {
        let mut totals = self.totals.lock().unwrap_or_else(PoisonError::into_inner).clone();
        totals.refused = self.refused();
        totals
    }

    /// Returns how many messages have arrived since the start.
    pub fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// Counts a message that arrived.
    pub fn receive(&self) {
        self.received.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns how many messages were neither stored nor quarantined, over the life of the buffer.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Counts `messages` that are neither stored nor quarantined.
    pub fn refuse(&self, messages: u64) {
        self.refused.fetch_add(messages, Ordering::Relaxed);
    }

    /// Returns whether the last batch could be written.
    pub fn is_writable(&self) -> bool {
        self.writable.load(Ordering::Relaxed)
    }

    /// Returns a receiver that is notified of each commit.
    pub fn commits(&self) -> watch::Receiver<()> {
        self.commits.subscribe()
    }

    /// Sets whether batches can be written. Returns the previous value.
    pub(super) fn set_writable(&self, writable: bool) -> bool {
        self.writable.swap(writable, Ordering::Relaxed)
    }

    /// Publishes the totals after a commit, and notifies the receivers.
    pub(super) fn show(&self, totals: &Totals) {
        self.totals.lock().unwrap_or_else(PoisonError::into_inner).clone_from(totals);
        self.commits.send_replace(());
    }
}
