//! The keys of objects.

use crate::{Message, records::FileFormat};
use dunnage_base::clock;
use object_store::path::{Path, PathPart};

/// The value of `schema=` for messages without a schema. Hive, Spark and DuckDB read it as NULL.
const NO_SCHEMA: &str = "__HIVE_DEFAULT_PARTITION__";
/// The folder of a schema that is called so.
const SCHEMA_OF_THAT_NAME: &str = "schema=%5F_HIVE_DEFAULT_PARTITION__";
/// The folder of manifests below the prefix. Readers of Hive partitions ignore names that begin with `_`.
const MANIFESTS: &str = "_manifests";

/// A partition, and the buffer whose messages are in it: what the objects of one sequence have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    pub buffer: String,
    pub schema: Option<String>,
    /// The day of receipt in UTC, as `2026-01-31`.
    pub day: String,
}

impl Place {
    pub fn of(message: &Message) -> Place {
        Place {
            buffer: message.buffer.to_string(),
            schema: message.schema.clone(),
            day: clock::day(message.received_at),
        }
    }

    /// Returns the folder of the partition below `prefix`. Different partitions have different folders.
    pub fn folder(&self, prefix: &Path) -> Path {
        let schema = match self.schema.as_deref() {
            None => format!("schema={NO_SCHEMA}").into(),
            // A schema may have the name of the missing one. `%` is escaped in all others.
            Some(NO_SCHEMA) => PathPart::parse(SCHEMA_OF_THAT_NAME).unwrap_or_default(),
            Some(schema) => format!("schema={schema}").into(),
        };
        prefix.clone().join(schema).join(format!("date={}", self.day))
    }

    /// Returns the key of the object whose first message has the ID `first`.
    pub fn key(&self, prefix: &Path, kind: FileFormat, first: i64) -> Path {
        self.folder(prefix).join(format!("{}-{first}.{}", self.buffer, kind.extension()))
    }

    /// Returns the key of the manifest of that object.
    pub fn manifest(&self, prefix: &Path, kind: FileFormat, first: i64) -> Path {
        let name = format!("{}-{first}.{}.json", self.buffer, kind.extension());
        self.folder(&prefix.clone().join(MANIFESTS)).join(name)
    }

    /// Returns the ID of the first message of the object with the key `key`, if it is one of this sequence.
    pub fn first_of(&self, kind: FileFormat, key: &Path) -> Option<i64> {
        let buffer = PathPart::from(format!("{}-", self.buffer));
        let id = key.filename()?.strip_prefix(buffer.as_ref())?.strip_suffix(kind.extension())?;
        id.strip_suffix('.')?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn odd_names_have_keys_of_their_own_and_are_found_by_them() {
        let long = "x".repeat(200);
        let names =
            ["a", "a-1", "a/b", "..", ".", "%", "%2F", "#", "+", "é", "\0", "a=b", "a b", NO_SCHEMA, &long];
        let places = names.iter().flat_map(|schema| {
            let place = |buffer: &&str| {
                let (buffer, schema) = ((*buffer).to_owned(), Some((*schema).to_owned()));
                Place { buffer, schema, day: "2026-01-31".into() }
            };
            names.iter().map(place)
        });
        let untyped = Place { buffer: "a".into(), schema: None, day: "2026-01-31".into() };
        let places: Vec<_> = places.chain([untyped]).collect();
        let (prefix, kind) = (Path::from("p"), FileFormat::Parquet);
        let mut keys = HashSet::new();
        for place in &places {
            let key = place.key(&prefix, kind, 17);
            assert_eq!(Path::parse(key.as_ref()).unwrap(), key);
            assert_eq!(key.parts_count(), 4, "{key}");
            assert_eq!(place.first_of(kind, &key), Some(17));
            assert_eq!(place.first_of(FileFormat::Csv, &key), None);
            assert_ne!(place.manifest(&prefix, kind, 17), key);
            assert!(keys.insert(key.clone()), "{key}");
            let others = places
                .iter()
                .filter(|other| other.folder(&prefix) == place.folder(&prefix) && other != &place);
            for other in others {
                assert_eq!(other.first_of(kind, &key), None, "{other:?} {key}");
            }
        }
        let place = places.last().unwrap();
        assert_eq!(
            place.manifest(&prefix, kind, 17).as_ref(),
            "p/_manifests/schema=__HIVE_DEFAULT_PARTITION__/date=2026-01-31/a-17.parquet.json"
        );
    }
}
