//! The message that outputs deliver.

use std::{ops::Deref, sync::Arc};

/// A stored message, with the data that the configuration adds for outputs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Message {
    /// The message in the buffer.
    pub stored: dunnage_buffer::Message,
    /// The value of `{path}` in templates, from the profile of the device; empty without a path.
    pub path: Arc<str>,
    /// The media type of its raw bytes; `None` for a format that this version does not know.
    pub media_type: Option<&'static str>,
}

impl Deref for Message {
    type Target = dunnage_buffer::Message;

    fn deref(&self) -> &dunnage_buffer::Message {
        &self.stored
    }
}
