//! Request IDs, which name a request from the first log line to the output.

use std::{
    fmt::Write,
    sync::atomic::{AtomicU64, Ordering},
};

/// Creates IDs for requests without one. No two of them are equal, on any gateway.
pub struct RequestIds {
    prefix: String,
    next: AtomicU64,
}

impl RequestIds {
    /// Creates IDs for a gateway with the buffer ID `buffer` that was started at `started_at`, in microseconds since 1970.
    pub fn new(buffer: &str, started_at: i64) -> RequestIds {
        RequestIds { prefix: format!("{buffer}-{started_at:x}"), next: AtomicU64::new(0) }
    }

    /// Returns a new request ID.
    pub fn next(&self) -> String {
        let mut id = String::with_capacity(self.prefix.len() + 17);
        id.push_str(&self.prefix);
        // Writing to a String does not fail.
        let _ = write!(id, "-{:x}", self.next.fetch_add(1, Ordering::Relaxed));
        id
    }
}
