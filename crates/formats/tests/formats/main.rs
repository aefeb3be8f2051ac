//! What holds for all formats.

#![allow(clippy::unwrap_used)]

mod facts;
mod messages;
mod mutations;
mod owed;
mod properties;
