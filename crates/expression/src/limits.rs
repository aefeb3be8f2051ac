//! The limits of expressions. `docs/outputs.md` states them.

use std::time::Duration;

/// The maximum length of an expression, in bytes. It bounds how deep an expression nests, and so what reading it takes of [`STACK`].
pub const EXPRESSION: usize = 4 << 10;
/// The processor time for one message.
pub const TIME: Duration = Duration::from_millis(100);
/// The maximum memory of the process, in bytes, without the stack.
pub const MEMORY: u64 = 128 << 20;
/// The stack on which expressions are read and evaluated, in bytes. Untouched pages of it take no memory.
pub const STACK: usize = 64 << 20;
/// The maximum size of a result, in bytes of JSON.
pub const RESULT: usize = 1 << 20;
/// The maximum nesting of a result.
pub const NESTING: usize = 128;
/// The maximum number of characters of an error that is kept.
pub const TEXT: usize = 200;
/// How long the process may take to start or to answer, whatever else the machine does.
pub const ANSWER: Duration = Duration::from_secs(20);
/// The buffers of the pipes to and from the process, in bytes: what Linux keeps of a pipe. With less, the process waits for each few messages.
pub const PIPE: usize = 64 << 10;
