//! The settings in `[buffer]` and `[quarantine]`.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The section `[buffer]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BufferSettings {
    /// The SQLite file.
    pub path: PathBuf,
    /// Largest number of messages that wait to be written.
    pub queue_messages: usize,
    /// Largest number of bytes of messages in memory, both arriving and waiting to be written.
    pub queue_bytes: usize,
    /// Largest number of messages in one transaction.
    pub batch_messages: usize,
    /// How long a message is remembered to detect duplicates; 0 disables it.
    pub duplicate_window_seconds: u64,
    /// How many messages are remembered at most, at about 56 bytes each. When more arrive within the window, the oldest are forgotten
    /// early.
    pub duplicate_limit_messages: usize,
    /// Largest number of bytes of the file that may be in use; 0 for no limit.
    pub limit_bytes: u64,
    /// What happens to new messages at that limit.
    pub when_full: WhenFull,
    /// How long a message is kept after its arrival, once every output has resolved it; 0 keeps it until the file is at its limit.
    pub keep_delivered_hours: u64,
}

/// What happens to new messages when the buffer is at its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhenFull {
    /// Messages that every output has resolved are dropped, the oldest first. If there are none, new messages are refused.
    DropDelivered,
    /// New messages are refused.
    Refuse,
}

/// The section `[quarantine]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct QuarantineSettings {
    /// Largest number of messages; the oldest are discarded.
    pub messages: usize,
    /// Largest number of bytes; the oldest messages are discarded.
    pub bytes: usize,
}

impl Default for BufferSettings {
    fn default() -> Self {
        BufferSettings {
            path: "data/buffer.sqlite3".into(),
            queue_messages: 8192,
            queue_bytes: 64 << 20,
            batch_messages: 1024,
            duplicate_window_seconds: 3600,
            // A hash table is full at 7/8 of a power of two.
            duplicate_limit_messages: (1 << 19) / 8 * 7,
            limit_bytes: 8 << 30,
            when_full: WhenFull::DropDelivered,
            keep_delivered_hours: 0,
        }
    }
}

impl Default for QuarantineSettings {
    fn default() -> Self {
        QuarantineSettings { messages: 10_000, bytes: 64 << 20 }
    }
}
