//! Gives outputs the paths, media types and schemas of the profiles.

use dunnage_formats::Id;
use dunnage_ingest::profiles::{Profiles, Subject};
use dunnage_outputs::Catalog;
use dunnage_packed::Layout;
use dunnage_register::Record;
use dunnage_schema::Model;
use std::sync::Arc;

/// The current profiles, as a catalogue for outputs.
pub struct ProfileCatalog(pub Arc<Profiles>);

impl Catalog for ProfileCatalog {
    fn path(&self, device: &str, origin: Option<&str>) -> Arc<str> {
        self.0.output_path(&Subject::new(device, origin))
    }

    fn record(&self, device: &str) -> Option<Arc<Record>> {
        self.0.record(device)
    }

    fn media_type(&self, format: &str) -> Option<&'static str> {
        format.parse().ok().map(Id::media_type)
    }

    fn versions<'a>(&'a self, schema: &str) -> Box<dyn Iterator<Item = &'a Model> + 'a> {
        Box::new(self.0.versions(schema))
    }

    fn layout(&self, device: &str, schema: &str, slot: u8) -> Option<&Layout> {
        let of_profile = self.0.schema_of(&Subject::new(device, None), None);
        self.0.layout(schema, slot).filter(|_| of_profile == Some(schema))
    }

    fn units(&self, schema: &str) -> &[(String, String)] {
        self.0.units(schema)
    }
}
