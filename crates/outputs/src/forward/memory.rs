//! Counts the messages that a window has in memory.

use crate::Message;

/// Largest number of messages in memory, unless a batch is larger.
pub const MESSAGES: usize = 4096;

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

    /// Returns whether the limit of `messages` messages or of `bytes` bytes is reached.
    pub fn is_full(&self, messages: usize, bytes: usize) -> bool {
        self.messages >= messages || self.bytes >= bytes
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
