//! A message as outputs see it.

use axum::body::Bytes;
use sha2::{Digest, Sha256};
use std::{fmt::Write, sync::Arc};

/// A message of the buffer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Message {
    /// Ascends over all devices of this buffer.
    pub id: i64,
    /// The name of the buffer, in which no other message has this id.
    pub buffer: String,
    /// What it is called everywhere, however often it is delivered, and by whichever gateway: letters, digits and hyphens.
    pub name: String,
    /// Its device.
    pub device: String,
    /// When its last byte arrived, in microseconds since 1970 (UTC).
    pub received_at: i64,
    /// Its format's name.
    pub format: String,
    /// Its schema's name.
    pub schema: Option<String>,
    /// The link it came over.
    pub link: Option<String>,
    /// Where outputs are to put it, as its device's profile says: what `{path}` stands for in a template. Empty without one.
    pub path: Arc<str>,
    /// What its request is called.
    pub request: String,
    /// Its bytes as they arrived. Clones share them, and the JSON: both can be megabytes.
    pub raw: Bytes,
    /// What they say, as compact JSON.
    pub json: Arc<str>,
    /// What the way it came knows of it, as compact JSON.
    pub origin: Option<String>,
}

/// What the key of a message begins with that has a name already. No sender's key can: they have no spaces.
const NAMED: char = ' ';

/// The key of a message that another gateway has named.
pub fn key_of(name: &str) -> String {
    format!("{NAMED}{name}")
}

/// Whether a gateway makes names like this one.
pub fn is_ours(name: &str) -> bool {
    let hex = |text: &str, digits| text.len() == digits && text.bytes().all(|b| b.is_ascii_hexdigit());
    let place = |text: &str| {
        text.split_once('-').is_some_and(|(buffer, id)| hex(buffer, 8) && id.parse::<u64>().is_ok())
    };
    name.strip_prefix('k').is_some_and(|text| hex(text, 32)) || name.strip_prefix('m').is_some_and(place)
}

/// The name of a message. One that another gateway has named keeps its name. One that its sender gave a key is called by that,
/// whichever gateway it came to; any other by its place in the buffer `buffer`.
pub fn name(buffer: &str, id: i64, device: &str, key: Option<&str>) -> String {
    let Some(key) = key else { return format!("m{buffer}-{id}") };
    if let Some(name) = key.strip_prefix(NAMED) {
        return name.to_owned();
    }
    let mut hash = Sha256::new();
    hash.update(device);
    hash.update([0]);
    hash.update(key);
    hash.finalize().iter().take(16).fold(String::from("k"), |mut name, byte| {
        // Writing to a String does not fail.
        let _ = write!(name, "{byte:02x}");
        name
    })
}

#[cfg(test)]
mod tests {
    use super::{is_ours, key_of, name};

    #[test]
    fn a_key_names_the_message_of_its_device_and_else_the_buffer_does() {
        assert_eq!(name("0a1b2c3d", 7, "d", None), "m0a1b2c3d-7");
        let named = name("0a1b2c3d", 7, "d", Some("x"));
        assert_eq!(named, name("ffffffff", 9, "d", Some("x")));
        assert_ne!(named, name("0a1b2c3d", 7, "e", Some("x")));
        assert_ne!(named, name("0a1b2c3d", 7, "d", Some("y")));
        assert_eq!(named.len(), 33);
    }

    #[test]
    fn a_name_stays_at_the_next_gateway() {
        for name_before in [name("0a1b2c3d", 7, "d", None), name("0a1b2c3d", 7, "d", Some("x"))] {
            assert!(is_ours(&name_before));
            assert_eq!(name("ffffffff", 9, "d", Some(&key_of(&name_before))), name_before);
        }
        for other in ["", "k", "m1", "m0a1b2c3d-x", "m0a1b2c3-7", "k0a1b2c3d", "x0a1b2c3d-7"] {
            assert!(!is_ours(other), "{other}");
        }
    }
}
