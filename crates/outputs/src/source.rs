//! Where outputs read messages.

use dunnage_buffer::Buffer;
use dunnage_packed::Layout;
use dunnage_register::Record;
use dunnage_schema::Model;
use std::sync::Arc;

/// The buffer, and the configuration of devices and schemas.
#[derive(Clone)]
pub struct Source {
    /// Messages are read here, and cursors and dead letters are written.
    pub buffer: Buffer,
    /// Returns the current catalog. A reload of the configuration replaces it.
    pub catalog: Arc<dyn Fn() -> Arc<dyn Catalog> + Send + Sync>,
}

/// The parts of the configuration about devices and schemas.
pub trait Catalog: Send + Sync {
    /// Returns the value of `{path}` in templates for a message of `device` with `origin`; empty if its profile has no path.
    fn path(&self, device: &str, origin: Option<&str>) -> Arc<str>;

    /// Returns the record of a registered device.
    fn record(&self, device: &str) -> Option<Arc<Record>>;

    /// Returns the media type of a format, by its name; `None` for an unknown one.
    fn media_type(&self, format: &str) -> Option<&'static str>;

    /// Returns all versions of a schema; none for an unknown one.
    fn versions<'a>(&'a self, schema: &str) -> Box<dyn Iterator<Item = &'a Model> + 'a>;

    /// Returns the packed layout in `slot` of a schema, if it is the schema of the device's profile.
    fn layout(&self, _device: &str, _schema: &str, _slot: u8) -> Option<&Layout> {
        None
    }

    /// Returns the units of a schema's values, as [`dunnage_schema::units`] does; none for an unknown schema.
    fn units(&self, _schema: &str) -> &[(String, String)] {
        &[]
    }
}

/// A catalog without paths, formats and schemas.
#[cfg(test)]
pub struct NoCatalog;

#[cfg(test)]
impl Catalog for NoCatalog {
    fn path(&self, _: &str, _: Option<&str>) -> Arc<str> {
        "".into()
    }

    fn record(&self, _: &str) -> Option<Arc<Record>> {
        None
    }

    fn media_type(&self, _: &str) -> Option<&'static str> {
        None
    }

    fn versions<'a>(&'a self, _: &str) -> Box<dyn Iterator<Item = &'a Model> + 'a> {
        Box::new(std::iter::empty())
    }
}
