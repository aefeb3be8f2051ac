//! Tests of packed messages.

#![allow(clippy::unwrap_used)]

mod check;
mod coded;
mod drafts;
mod expected;
mod explain;
mod exported;
mod fit;
mod hostile;
mod messages;
mod series;
mod sizes;
mod slot_from;
mod vectors;
