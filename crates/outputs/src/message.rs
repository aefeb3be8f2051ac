//! A message as outputs see it.

use std::{ops::Deref, sync::Arc};

/// A stored message, and where outputs put it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Message {
    /// The message.
    pub stored: dunnage_buffer::Message,
    /// What `{path}` stands for in a template, by the profile of its device; empty without one.
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
