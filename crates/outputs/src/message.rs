//! The message that outputs deliver.

use crate::Catalog;
use dunnage_expression::Verdict;
use dunnage_register::{Record, Tags};
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
    /// The record of the device, if it is registered.
    pub record: Option<Arc<Record>>,
    /// What the expressions of the output say about it; `None` if it has none.
    pub verdict: Option<Verdict>,
    /// Whether it is a dead letter that is retried. Later messages may have been delivered.
    pub is_dead_letter: bool,
}

impl Message {
    /// Adds what `catalog` knows to a stored message.
    pub(crate) fn with(stored: dunnage_buffer::Message, catalog: &dyn Catalog) -> Message {
        let path = catalog.path(&stored.device, stored.origin.as_deref());
        let media_type = catalog.media_type(&stored.format);
        Message {
            path,
            media_type,
            record: catalog.record(&stored.device),
            verdict: None,
            is_dead_letter: false,
            stored,
        }
    }

    /// Returns what the output delivers instead of the message: the result of its `map`, as JSON.
    pub fn mapped(&self) -> Option<&str> {
        match &self.verdict {
            Some(Verdict::Holds(mapped)) => mapped.as_deref(),
            _ => None,
        }
    }

    /// Returns the JSON that an output without provenance delivers: the result of its `map`, else the value.
    pub fn payload(&self) -> &str {
        self.mapped().unwrap_or(&self.json)
    }

    /// Returns the name of the device in the register.
    pub fn device_name(&self) -> Option<&str> {
        self.record.as_ref()?.name.as_deref()
    }

    /// Returns the tags of the device in the register, if it has any.
    pub fn tags(&self) -> Option<&Tags> {
        self.record.as_ref().map(|record| &record.tags).filter(|tags| !tags.is_empty())
    }

    /// Returns the tags of the device in the register as a JSON object, if it has any.
    pub fn tags_json(&self) -> Option<String> {
        serde_json::to_string(self.tags()?).ok()
    }
}

impl Deref for Message {
    type Target = dunnage_buffer::Message;

    fn deref(&self) -> &dunnage_buffer::Message {
        &self.stored
    }
}
