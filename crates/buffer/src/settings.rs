//! `[buffer]` and `[quarantine]`: what an operator can set.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// `[buffer]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BufferSettings {
    /// The SQLite file.
    pub path: PathBuf,
    /// Most messages that wait to be written.
    pub queue_messages: usize,
    /// Most bytes of messages in memory: bodies that are arriving, and messages that wait.
    pub queue_bytes: usize,
    /// Most messages in one transaction.
    pub batch_messages: usize,
    /// How long a message is known if it comes again; 0 for not at all.
    pub duplicate_window_seconds: u64,
    /// How many messages are remembered at most; each takes some 56 bytes. When more come within the window, the oldest are
    /// forgotten early.
    pub duplicate_limit_messages: usize,
    /// Most bytes of the file that are in use; 0 for no limit.
    pub limit_bytes: u64,
    /// What happens at the limit.
    pub when_full: WhenFull,
    /// How long a message is kept after it arrived, once every output is done with it; 0 until there is no room.
    pub keep_delivered_hours: u64,
}

/// What happens to new messages when the buffer is at its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhenFull {
    /// Messages that every output is done with make room, the oldest first. Without such, new messages are refused.
    DropDelivered,
    /// New messages are refused.
    Refuse,
}

/// `[quarantine]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct QuarantineSettings {
    /// Most messages kept; the oldest give way.
    pub messages: usize,
    /// Most bytes of them kept; the oldest give way.
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
            // 7/8 of a power of two, which a hash table fills.
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
