//! What an object contains: its metadata in the store, and the manifest that is made of it.

use super::place::Place;
use crate::records::FileFormat;
use object_store::{Attribute, Attributes, path::Path};
use serde::Serialize;

/// The content of an object. It is stored with the object, so that whoever finds an object of an earlier attempt knows what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// The number of messages.
    pub rows: u64,
    /// The IDs of the first and the last message.
    pub first: i64,
    pub last: i64,
    pub bytes: u64,
    /// In hexadecimal.
    pub sha256: String,
}

#[derive(Serialize)]
struct Manifest<'a> {
    object: &'a str,
    kind: FileFormat,
    buffer: &'a str,
    schema: Option<&'a str>,
    date: &'a str,
    rows: u64,
    first: i64,
    last: i64,
    bytes: u64,
    sha256: &'a str,
}

impl About {
    /// Returns the metadata of the object.
    pub fn attributes(&self, kind: FileFormat) -> Attributes {
        let media_type = match kind {
            FileFormat::Ndjson => "application/x-ndjson",
            FileFormat::Csv => "text/csv; charset=utf-8",
            FileFormat::Parquet => "application/vnd.apache.parquet",
        };
        let numbers = [
            ("rows", self.rows.to_string()),
            ("first", self.first.to_string()),
            ("last", self.last.to_string()),
            ("bytes", self.bytes.to_string()),
            ("sha256", self.sha256.clone()),
        ];
        let metadata = numbers.map(|(name, value)| (Attribute::Metadata(name.into()), value));
        let mut attributes: Attributes = metadata.into_iter().collect();
        attributes.insert(Attribute::ContentType, media_type.into());
        attributes
    }

    /// Reads the metadata of an object; `None` if this output did not write it.
    pub fn read(attributes: &Attributes) -> Option<About> {
        let text = |name: &'static str| Some(attributes.get(&Attribute::Metadata(name.into()))?.as_ref());
        Some(About {
            rows: text("rows")?.parse().ok()?,
            first: text("first")?.parse().ok()?,
            last: text("last")?.parse().ok()?,
            bytes: text("bytes")?.parse().ok()?,
            sha256: text("sha256")?.to_owned(),
        })
    }

    /// Returns the manifest of the object with the key `key`. It is the same for every attempt.
    pub fn manifest(&self, place: &Place, kind: FileFormat, key: &Path) -> serde_json::Result<Vec<u8>> {
        let manifest = Manifest {
            object: key.as_ref(),
            kind,
            buffer: &place.buffer,
            schema: place.schema.as_deref(),
            date: &place.day,
            rows: self.rows,
            first: self.first,
            last: self.last,
            bytes: self.bytes,
            sha256: &self.sha256,
        };
        serde_json::to_vec(&manifest)
    }
}
