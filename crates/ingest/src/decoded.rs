//! The result of decoding.

use crate::{
    references::Candidate,
    rejected::{Code, Rejected},
};
use dunnage_buffer::LayoutKey;
use dunnage_formats::{Value, json_view};
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
    /// The paths of the properties that the sender left out.
    pub left_out: Vec<String>,
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
    json_view(message).map_err(|error| Rejected {
        kind: Some(error.kind().as_str()),
        ..Rejected::new(Code::Unwritable, error.message())
    })
}
