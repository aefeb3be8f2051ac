//! Expressions about messages: whether an output delivers a message (`when`, `until`), and what it delivers (`map`).
//!
//! The language is jq, by the crates `jaq-core`, `jaq-std` and `jaq-json`. It is what people already use to select and reshape JSON, an
//! expression can be tried with any `jq`, and jaq keeps integers of any size and the digits of decimals. CEL always ends, but it cannot build
//! an object with keys that it does not know, merge two objects, or add an integer to a decimal.
//!
//! Nothing in jaq bounds what an expression takes: it may loop, nest, or build a text of a gigabyte within one step. A [`Worker`] therefore
//! evaluates in a process of its own, whose memory the kernel bounds, and which ends itself when a message takes too long. The process is
//! started again for the next message.
//!
//! An expression has no clock, no randomness, no environment and no input but its message: the same message always has the same result.

mod evaluate;
mod json;
pub mod limits;
mod process;
mod program;
mod verdict;
mod worker;

pub use process::work_if_asked;
pub use program::{Expressions, Mistake};
pub use verdict::Verdict;
pub use worker::{PROGRAM, Worker};
