//! Where outputs take messages from.

use dunnage_buffer::{BufferStats, Queue, Readers};
use dunnage_schema::Model;
use std::sync::Arc;

/// The buffer, and what the configuration says of devices and schemas.
#[derive(Clone)]
pub struct Source {
    /// The way to the writer, for cursors and dead letters.
    pub queue: Queue,
    /// The way to the messages.
    pub readers: Readers,
    /// What the buffer holds.
    pub stats: Arc<BufferStats>,
    /// The catalog in force: a reload replaces it.
    pub catalog: Arc<dyn Fn() -> Arc<dyn Catalog> + Send + Sync>,
}

/// What the configuration says of devices and schemas.
pub trait Catalog: Send + Sync {
    /// What `{path}` stands for in a template for messages of `device`; empty if its profile has none.
    fn path(&self, device: &str) -> Arc<str>;

    /// The media type of a format, by its name; `None` for one that is not known.
    fn media_type(&self, format: &str) -> Option<&'static str>;

    /// All versions of the schema `schema`; none if there is no such schema.
    fn versions<'a>(&'a self, schema: &str) -> Box<dyn Iterator<Item = &'a Model> + 'a>;
}
