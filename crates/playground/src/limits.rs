//! How much a request may ask for, and how long the answer may take. A thread that computes cannot be stopped from outside, so each step
//! is bounded by these sizes and by the limits of schemas (`spec/schema.md`), and the time is checked between the steps.

use std::time::{Duration, Instant};

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
/// After this, no further step of an answer is begun.
pub const WORK: Duration = Duration::from_secs(10);
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

/// Measures how long an answer takes.
#[derive(Clone, Copy)]
pub struct Clock(Instant);

/// The answer takes too long.
#[derive(Debug)]
pub struct TooLong;

impl Clock {
    pub fn start() -> Clock {
        Clock(Instant::now())
    }

    pub fn has_time(self) -> bool {
        self.0.elapsed() < WORK
    }

    pub fn check(self) -> Result<(), TooLong> {
        if self.has_time() { Ok(()) } else { Err(TooLong) }
    }
}
