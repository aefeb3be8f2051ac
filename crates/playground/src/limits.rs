//! The limits of requests, and of the process that computes the answer.

use std::time::Duration;

/// Most messages.
pub const MESSAGES: usize = 1000;
/// Most bytes of all messages together, and of a schema.
pub const MESSAGES_BYTES: usize = 384 << 10;
pub const SCHEMA_BYTES: usize = 128 << 10;
/// Most bytes of a request: both texts as JSON strings.
pub const BODY_BYTES: usize = 1 << 20;
/// How long a request may take to arrive.
pub const ARRIVAL: Duration = Duration::from_secs(10);
/// How many requests may arrive at the same time. Further ones wait.
pub const ARRIVING: usize = 16;
/// Bytes of the stack on which an answer is computed. Schemas nest up to 128 deep, and validation up to 1,000, each level in several calls; an
/// overflow would end the process. Untouched pages of it take no memory.
pub const STACK: usize = 256 << 20;
/// The most that a schema may weigh (`spec/schema.md`, "Limits"). All of the corpus but the two largest weigh less.
pub const SCHEMA_WEIGHT: usize = 10_000;
/// The maximum memory for an answer in bytes, without the stack.
pub const MEMORY: u64 = 256 << 20;
/// How long an answer may take: in all, and while others wait.
pub const WORK: Duration = Duration::from_secs(10);
pub const WORK_WHILE_OTHERS_WAIT: Duration = Duration::from_secs(3);
/// Most mistakes that an answer lists, most notes, and most bytes of a generated file.
pub const MISTAKES: usize = 20;
pub const NOTES: usize = 200;
/// Most characters of a sentence. It may quote a pattern or a value.
pub const SENTENCE: usize = 500;
pub const FILE_BYTES: usize = 128 << 10;
/// Most bytes of a message, and of its JSON, that are explained.
pub const EXPLAINED: usize = 64 << 10;

/// Shortens a sentence that is too long.
pub fn sentence(text: &str) -> String {
    match text.char_indices().nth(SENTENCE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
