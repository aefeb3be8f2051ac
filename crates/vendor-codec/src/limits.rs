//! The limits of a codec. `docs/codecs.md` and `SECURITY.md` state them.

use std::time::Duration;

/// The maximum size of a codec's file, in bytes; larger ones are data or bundles of a whole library.
pub const FILE: u64 = 1 << 20;
/// The memory of a codec, in bytes: its code, its objects, and the message.
pub const MEMORY: usize = 16 << 20;
/// The stack of a codec, in bytes.
pub const STACK: usize = 256 << 10;
/// The processor time for one message.
pub const TIME: Duration = Duration::from_millis(100);
/// The processor time for loading a codec, once for each thread.
pub const LOAD_TIME: Duration = Duration::from_secs(2);
/// The time after which the thread of a codec is given up. The engine checks [`TIME`] in loops and calls, but a few of its built-in
/// functions run longer between two checks.
pub const ABANDON: Duration = Duration::from_secs(5);
/// The maximum size of the bytes that a codec decodes.
pub const INPUT: usize = 64 << 10;
/// The maximum size of a result: the bytes of its texts and keys, and [`ITEM`] for each value.
pub const RESULT: usize = 1 << 20;
/// What a value counts in [`RESULT`].
pub const ITEM: usize = 8;
/// The maximum nesting of a result.
pub const NESTING: usize = 32;
/// The maximum number of characters of an error or a warning that is kept.
pub const TEXT: usize = 512;
/// The maximum number of warnings that are kept.
pub const WARNINGS: usize = 8;
