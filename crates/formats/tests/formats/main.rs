//! What holds for all formats.

#![allow(clippy::unwrap_used)]

mod facts;
mod messages;
mod properties;
