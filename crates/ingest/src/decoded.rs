//! The result of decoding.

use crate::{
    references::Candidate,
    rejected::{Code, Rejected},
    view,
};
use dunnage_buffer::LayoutKey;
use dunnage_formats::Value;
use std::sync::Arc;

/// A decoded body.
pub struct Decoded {
    /// The message as JSON.
    pub json: String,
    /// The layout that it was decoded with, if the format is packed.
    pub layout: Option<Arc<LayoutKey>>,
    /// Whether the slot of that layout is not in the message.
    pub apart: bool,
    /// The message as the reference of later ones, if its layout has deltas.
    pub candidate: Option<Candidate>,
    /// Counts of numbers that changed in decoding.
    pub counts: Counts,
}

/// Counts of the numbers in a message that differ from those that the sender wrote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Those that are the nearest binary64.
    pub rounded: u64,
    /// Those that are null in place of NaN or an infinity.
    pub nulls: u64,
}

/// Returns `message` as JSON.
pub fn json(message: &Value) -> Result<String, Rejected> {
    view::to_json(message).map_err(|e| {
        let kind = e.is_io().then_some("limit");
        Rejected { kind, ..Rejected::new(Code::Unwritable, e.to_string()) }
    })
}
