//! The settings in `[buffer]` and `[quarantine]`.

use documented::DocumentedFields;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The section `[buffer]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields, default)]
pub struct BufferSettings {
    /// The SQLite file that holds the messages. Its folder is created if it is missing.
    pub path: PathBuf,
    /// Maximum number of messages that wait to be written; further ones are rejected (503).
    pub queue_messages: usize,
    /// Maximum size of all messages in memory, arriving or waiting, in bytes; further ones are rejected (503).
    pub queue_bytes: usize,
    /// Maximum number of messages in one transaction.
    pub batch_messages: usize,
    /// How long duplicates are recognized (Idempotency-Key) and stored only once; 0: never.
    pub duplicate_window_seconds: u64,
    /// Maximum number of messages that are remembered to recognize duplicates, in about 56 bytes of memory each. If more arrive within
    /// the window, the oldest are forgotten early.
    pub duplicate_limit_messages: usize,
    /// Maximum used size of the file in bytes; 0: no limit. The write-ahead log takes about 64 MiB more.
    pub limit_bytes: u64,
    /// At the limit: drop-delivered removes messages that every output has resolved, except the last of each device, else new ones are rejected (503); refuse removes none.
    pub when_full: WhenFull,
    /// How long messages are kept after their arrival, once every output has resolved them; 0: until their space is needed.
    pub keep_delivered_hours: u64,
}

/// The treatment of new messages while the buffer is at its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhenFull {
    /// Messages that every output has resolved are dropped, the oldest first, except the last one of each device. Without such messages, new messages are refused.
    DropDelivered,
    /// New messages are refused.
    Refuse,
}

/// The section `[quarantine]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields, default)]
pub struct QuarantineSettings {
    /// Maximum number of quarantined messages; beyond it, the oldest are removed.
    pub messages: usize,
    /// Maximum size of all quarantined messages in bytes; beyond it, the oldest are removed.
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
