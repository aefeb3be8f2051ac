//! Counts the messages that a window has in memory.

use crate::Message;

/// Largest number of messages in memory, and of their bytes.
pub const MESSAGES: usize = 4096;
const BYTES: usize = 4 << 20;

/// Messages in memory, and their bytes.
#[derive(Default)]
pub struct Memory {
    messages: usize,
    bytes: usize,
}

impl Memory {
    pub fn messages(&self) -> usize {
        self.messages
    }

    pub fn is_empty(&self) -> bool {
        self.messages == 0
    }

    /// Returns whether the limit of `messages` messages or of [`BYTES`] is reached.
    pub fn is_full(&self, messages: usize) -> bool {
        self.messages >= messages || self.bytes >= BYTES
    }

    pub fn add(&mut self, message: &Message) {
        self.messages += 1;
        self.bytes += message.bytes();
    }

    pub fn remove(&mut self, messages: usize, bytes: usize) {
        self.messages -= messages;
        self.bytes -= bytes;
    }
}
