//! Outputs that publish, with real servers.

#![allow(clippy::unwrap_used)]

mod broker;
