//! Request IDs, which name a request from the first log line to the output.

use axum::http::{HeaderMap, HeaderName};
use std::{
    fmt::Write,
    sync::atomic::{AtomicU64, Ordering},
};

/// The header with the request ID, in requests and answers.
pub static HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Creates IDs for requests without one. No two of them are equal, on any gateway.
pub struct Requests {
    prefix: String,
    next: AtomicU64,
}

impl Requests {
    /// Creates IDs for a gateway with the buffer ID `buffer` that was started at `started_at`, in microseconds since 1970.
    pub fn new(buffer: &str, started_at: i64) -> Requests {
        Requests { prefix: format!("{buffer}-{started_at:x}"), next: AtomicU64::new(0) }
    }

    /// Returns a new request ID.
    pub fn name(&self) -> String {
        let mut name = String::with_capacity(self.prefix.len() + 17);
        name.push_str(&self.prefix);
        // Writing to a String does not fail.
        let _ = write!(name, "-{:x}", self.next.fetch_add(1, Ordering::Relaxed));
        name
    }

    /// Returns the sender's request ID if it is valid, or else a new one.
    pub fn of(&self, headers: &HeaderMap) -> String {
        let given = headers.get(&HEADER).and_then(|value| value.to_str().ok());
        given.filter(|name| dunnage_base::name::is_name(name)).map_or_else(|| self.name(), str::to_owned)
    }
}
