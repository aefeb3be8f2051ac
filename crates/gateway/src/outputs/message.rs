//! A message as outputs see it.

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
    /// Its bytes as they arrived.
    pub raw: Vec<u8>,
    /// What they say, as compact JSON.
    pub json: String,
}

/// The name of a message. One that its sender gave a key is called by it, whichever gateway it came to; any other by its
/// place in the buffer `buffer`.
pub fn name(buffer: &str, id: i64, device: &str, key: Option<&str>) -> String {
    let Some(key) = key else { return format!("m{buffer}-{id}") };
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
    use super::name;

    #[test]
    fn a_key_names_the_message_of_its_device_and_else_the_buffer_does() {
        assert_eq!(name("0a1b2c3d", 7, "d", None), "m0a1b2c3d-7");
        let named = name("0a1b2c3d", 7, "d", Some("x"));
        assert_eq!(named, name("ffffffff", 9, "d", Some("x")));
        assert_ne!(named, name("0a1b2c3d", 7, "e", Some("x")));
        assert_ne!(named, name("0a1b2c3d", 7, "d", Some("y")));
        assert_eq!(named.len(), 33);
    }
}
