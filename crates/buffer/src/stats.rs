//! What anyone may know of a buffer at any time, without reading it.

use super::Totals;
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering},
};
use tokio::sync::watch;

/// Counts of a buffer, and whether it can be written. The writer keeps them up to date.
pub struct BufferStats {
    totals: Mutex<Totals>,
    received: AtomicU64,
    refused: AtomicU64,
    writable: AtomicBool,
    commits: watch::Sender<()>,
}

impl BufferStats {
    /// The counts of a buffer that holds `totals`.
    pub fn new(totals: Totals) -> BufferStats {
        BufferStats {
            received: AtomicU64::new(0),
            refused: AtomicU64::new(totals.refused),
            writable: AtomicBool::new(true),
            totals: Mutex::new(totals),
            commits: watch::Sender::new(()),
        }
    }

    /// What the buffer holds, with the refusals up to now.
    pub fn totals(&self) -> Totals {
        let mut totals = self.totals.lock().unwrap_or_else(PoisonError::into_inner).clone();
        totals.refused = self.refused();
        totals
    }

    /// Messages that arrived since the start.
    pub fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// Counts a message that arrived.
    pub fn receive(&self) {
        self.received.fetch_add(1, Ordering::Relaxed);
    }

    /// Messages that were neither stored nor quarantined, over the life of the buffer.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Counts `messages` that are neither stored nor quarantined.
    pub fn refuse(&self, messages: u64) {
        self.refused.fetch_add(messages, Ordering::Relaxed);
    }

    /// Whether the last batch could be written.
    pub fn is_writable(&self) -> bool {
        self.writable.load(Ordering::Relaxed)
    }

    /// Changes whenever something has been committed.
    pub fn commits(&self) -> watch::Receiver<()> {
        self.commits.subscribe()
    }

    /// Says whether batches can be written. Returns what was said before.
    pub(super) fn set_writable(&self, writable: bool) -> bool {
        self.writable.swap(writable, Ordering::Relaxed)
    }

    /// Shows what the buffer holds now.
    pub(super) fn show(&self, totals: &Totals) {
        self.totals.lock().unwrap_or_else(PoisonError::into_inner).clone_from(totals);
        self.commits.send_replace(());
    }
}
