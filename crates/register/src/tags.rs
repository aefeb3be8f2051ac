//! The tags of a device.

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, MapAccess, Visitor},
};
use std::fmt;

/// Keys with their values, in ascending order of keys. In JSON an object. A list takes a fifth of the memory of a map.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tags(Vec<(String, String)>);

impl Tags {
    /// Returns the value of `key`.
    pub fn get(&self, key: &str) -> Option<&str> {
        let at = self.0.binary_search_by(|(known, _)| (**known).cmp(key)).ok()?;
        Some(&self.0[at].1)
    }

    /// Sets the value of `key`. Returns whether it had none before.
    pub fn insert(&mut self, key: String, value: String) -> bool {
        match self.0.binary_search_by(|(known, _)| known.cmp(&key)) {
            Ok(at) => {
                self.0[at].1 = value;
                false
            }
            Err(at) => {
                self.0.insert(at, (key, value));
                true
            }
        }
    }

    /// Iterates over keys and values, in ascending order of keys.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (&**key, &**value))
    }

    /// Gives back memory that no tag uses.
    pub(crate) fn shrink(&mut self) {
        self.0.shrink_to_fit();
    }

    /// Returns whether there is no tag.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of tags.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl Serialize for Tags {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Tags {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Tags, D::Error> {
        struct OfMap;

        impl<'de> Visitor<'de> for OfMap {
            type Value = Tags;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of texts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tags, A::Error> {
                let mut tags = Tags::default();
                while let Some((key, value)) = map.next_entry::<String, String>()? {
                    if tags.get(&key).is_some() {
                        return Err(A::Error::custom(format!("duplicate key {key:?}")));
                    }
                    tags.insert(key, value);
                }
                Ok(tags)
            }
        }

        deserializer.deserialize_map(OfMap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_an_object_with_sorted_keys() {
        let tags: Tags = serde_json::from_str(r#"{"site":"pisa","kind":"soil"}"#).unwrap();
        assert_eq!((tags.get("site"), tags.get("x"), tags.len()), (Some("pisa"), None, 2));
        assert_eq!(serde_json::to_string(&tags).unwrap(), r#"{"kind":"soil","site":"pisa"}"#);
        for wrong in [r#"{"a":"1","a":"2"}"#, r#"{"a":1}"#, "[]"] {
            assert!(serde_json::from_str::<Tags>(wrong).is_err(), "{wrong}");
        }
    }
}
