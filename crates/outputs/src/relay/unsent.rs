//! Batches that were not sent.

use crate::Failed;

/// Why a batch was not sent.
pub enum Unsent {
    /// The other gateway does not take so many readings at once.
    TooLarge(Failed),
    /// Any other reason; the batch may be sent later.
    Failed(Failed),
}

impl From<Failed> for Unsent {
    fn from(failed: Failed) -> Unsent {
        Unsent::Failed(failed)
    }
}
