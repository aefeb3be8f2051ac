//! The state of the buffer, the queue and the quarantine.

use crate::state::GatewayState;
use dunnage_buffer::{ReadError, Readers};
use serde::Serialize;
use std::{path::Path, sync::Arc};
use utoipa::ToSchema;

/// The buffer.
#[derive(Serialize, ToSchema)]
pub struct Buffer {
    /// The buffer ID.
    #[schema(value_type = String)]
    pub name: Arc<str>,
    /// Size of its file and the write-ahead log.
    pub bytes: u64,
    /// The part of these that is the write-ahead log.
    pub log_bytes: u64,
    /// Limit of the used part of its file; 0 for no limit.
    pub limit_bytes: u64,
    /// Bytes that its file system has left for the gateway; `null` if the system does not tell.
    #[schema(required)]
    pub free_bytes: Option<u64>,
    /// Whether messages are refused because of the limit.
    pub full: bool,
    /// Whether the last transaction could be written.
    pub writable: bool,
}

/// Messages in memory.
#[derive(Serialize, ToSchema)]
pub struct Queue {
    /// Messages that wait to be written.
    pub messages: usize,
    /// Most of them.
    pub limit_messages: usize,
    /// Bytes of messages in memory.
    pub bytes: usize,
    /// Most of them.
    pub limit_bytes: usize,
}

/// The quarantine.
#[derive(Serialize, ToSchema)]
pub struct Quarantine {
    /// Its messages.
    pub messages: u64,
    /// Most of them.
    pub limit_messages: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Most of them.
    pub limit_bytes: usize,
}

/// Returns the state of the buffer of a gateway.
pub fn buffer(state: &GatewayState) -> Buffer {
    let (file, log) = state.buffer().readers.bytes();
    Buffer {
        name: state.buffer().stats.totals().name,
        bytes: file + log,
        log_bytes: log,
        limit_bytes: state.config.buffer.limit_bytes,
        free_bytes: free(&state.config.buffer.path),
        full: state.buffer().queue.is_buffer_full(),
        writable: state.buffer().stats.is_writable(),
    }
}

/// Returns the state of the queue of a gateway.
pub fn queue(state: &GatewayState) -> Queue {
    let queue = &state.buffer().queue;
    Queue {
        messages: queue.depth(),
        limit_messages: queue.capacity(),
        bytes: queue.bytes(),
        limit_bytes: state.config.buffer.queue_bytes,
    }
}

/// Returns the size of the quarantine of a gateway, which `readers` read.
pub async fn quarantine(state: &GatewayState, readers: &Readers) -> Result<Quarantine, ReadError> {
    let (messages, bytes) = readers.quarantine_size().await?;
    let limits = &state.config.quarantine;
    Ok(Quarantine { messages, limit_messages: limits.messages, bytes, limit_bytes: limits.bytes })
}

/// Returns the bytes that the file system of `file` has left for users other than root.
#[cfg(unix)]
fn free(file: &Path) -> Option<u64> {
    let about = rustix::fs::statvfs(file).ok()?;
    about.f_frsize.checked_mul(about.f_bavail)
}

#[cfg(not(unix))]
fn free(_: &Path) -> Option<u64> {
    None
}
