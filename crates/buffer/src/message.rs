//! Messages in three forms: submitted by an input, quarantined, and read from the buffer.

use bytes::Bytes;
use sha2::{Digest, Sha256};
use std::{
    any::Any,
    fmt::{self, Write},
    sync::Arc,
};

/// The largest reference that retention keeps, in bytes as they arrived.
const KEPT_BYTES: usize = 256;

/// A device, and the origin of its message.
pub type Sent<'m> = (&'m str, Option<&'m str>);

/// Where a message came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Provenance {
    /// The device's ID.
    pub device: String,
    /// When its last byte arrived, in microseconds since 1970 (UTC).
    pub received_at: i64,
    /// The schema that the sender or the device's profile names.
    pub schema: Option<Arc<str>>,
    /// The link that carried it, as the sender says.
    pub link: Option<String>,
    /// The sender's idempotency key: a message of the same device with the same key is a duplicate.
    pub key: Option<String>,
    /// Whether a message without a key is a duplicate of an earlier one of its device with the same bytes.
    pub dedup_by_payload: bool,
    /// The request ID, given by the sender or else by the gateway. Outputs and the log repeat it.
    pub request: String,
    /// Further data from the input, such as a provider's time and position: an object, as compact JSON.
    pub origin: Option<Arc<str>>,
    /// Whether the sender is told when its message goes into the quarantine. It may then have sent another message instead.
    pub is_answered: bool,
}

impl Provenance {
    /// Creates the provenance of a message of `device` that was received at `received_at`, in the request `request`, without the rest.
    pub fn new(device: impl Into<String>, received_at: i64, request: impl Into<String>) -> Provenance {
        Provenance {
            device: device.into(),
            received_at,
            schema: None,
            link: None,
            key: None,
            dedup_by_payload: false,
            request: request.into(),
            origin: None,
            is_answered: false,
        }
    }
}

/// A decoded message that is to be stored.
#[derive(Debug)]
pub struct NewMessage {
    /// Where it came from.
    pub provenance: Provenance,
    /// The name of its format; one of those that the buffer was opened with.
    pub format: &'static str,
    /// Its bytes as they arrived.
    pub raw: Bytes,
    /// Its value, as compact JSON.
    pub json: String,
    /// The layout that it was decoded with, if its format is packed.
    pub layout: Option<Arc<LayoutKey>>,
    /// The name and content with which later messages can refer to this one.
    pub reference: Option<NewReference>,
}

/// The data that makes a new message a reference.
#[derive(Clone)]
pub struct NewReference {
    /// Its name.
    pub name: u16,
    /// Data for the [observer](crate::Observer) of the commit. The buffer does not read it.
    pub content: Arc<dyn Any + Send + Sync>,
}

impl fmt::Debug for NewReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewReference").field("name", &self.name).finish_non_exhaustive()
    }
}

impl NewReference {
    /// Returns the place to store with a message of the bytes `raw`, the `nth` one of its device, if retention is to keep it.
    pub(crate) fn place(&self, raw: &[u8], nth: u64) -> Option<i64> {
        (raw.len() <= KEPT_BYTES).then_some(i64::try_from(nth).unwrap_or(i64::MAX))
    }
}

/// A message that could not be decoded, or breaks its schema, and is to be kept in the quarantine.
#[derive(Debug)]
pub struct NewQuarantined {
    /// Where it came from.
    pub provenance: Provenance,
    /// Its `Content-Type`, as much of it as is kept.
    pub content_type: String,
    /// Its bytes as they arrived.
    pub raw: Bytes,
    /// The cause: a kind of error such as `truncated`, or a code such as `unknown-schema`.
    pub kind: &'static str,
    /// Where the decoder stopped, in bytes.
    pub offset: Option<usize>,
    /// The reason, for people.
    pub reason: String,
}

/// Identifies the layout that a packed message was decoded with. The buffer remembers all of them, so that a changed schema is
/// noticed before it misreads messages.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LayoutKey {
    /// The schema's name.
    pub schema: Arc<str>,
    /// The slot, 1 to 63.
    pub slot: u8,
    /// SHA-256 of the layout.
    pub fingerprint: [u8; 32],
}

/// A stored message.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Message {
    /// The message ID, which ascends over all devices of this buffer.
    pub id: i64,
    /// The buffer ID. No other message has the same pair of IDs.
    pub buffer: Arc<str>,
    /// The ID that the message has in every delivery, by whichever gateway: letters, digits and hyphens. See [`stable_id`].
    pub stable_id: String,
    /// Its device.
    pub device: String,
    /// When its last byte arrived, in microseconds since 1970 (UTC).
    pub received_at: i64,
    /// The name of its format.
    pub format: String,
    /// The name of its schema.
    pub schema: Option<String>,
    /// The link that carried it.
    pub link: Option<String>,
    /// Its request ID; empty for messages of buffers before version 3.
    pub request: String,
    /// Its bytes as they arrived. Clones share them, and the JSON: both can be megabytes.
    pub raw: Bytes,
    /// Its value, as compact JSON.
    pub json: Arc<str>,
    /// The origin as reported by the input, as compact JSON.
    pub origin: Option<String>,
    /// Its name, if later messages may refer to it.
    pub name: Option<u16>,
}

impl Message {
    /// Returns the memory that it occupies, in bytes.
    pub(crate) fn size(&self) -> usize {
        self.raw.len() + self.json.len()
    }
}

/// The last message of a device, without its bytes.
#[derive(Debug)]
pub struct Last {
    /// The sender's idempotency key.
    pub key: Option<String>,
    /// When it arrived, in microseconds since 1970.
    pub received_at: i64,
    /// The origin as reported by the input, as compact JSON.
    pub origin: Option<String>,
}

/// A message of the quarantine, with everything that is needed to decode it again.
#[derive(Debug, Clone, PartialEq)]
pub struct Quarantined {
    /// Ascends over all devices; not a message ID.
    pub id: i64,
    /// Microseconds since 1970.
    pub received_at: i64,
    /// Its device.
    pub device: String,
    /// The schema that its sender asked for.
    pub schema: Option<String>,
    /// The link that carried it.
    pub link: Option<String>,
    /// Its `Content-Type`.
    pub content_type: String,
    /// The cause.
    pub kind: String,
    /// Where, in bytes.
    pub offset: Option<i64>,
    /// The reason, for people.
    pub reason: String,
    /// Its bytes as they arrived.
    pub raw: Vec<u8>,
    /// The sender's idempotency key.
    pub key: Option<String>,
    /// Its request ID; empty for messages of buffers before version 3.
    pub request: String,
    /// The origin as reported by the input, as compact JSON.
    pub origin: Option<String>,
    /// Whether its sender was told that it is in the quarantine.
    pub is_answered: bool,
}

/// A message that the receiver of an output has permanently rejected.
#[derive(Debug, Clone, PartialEq)]
pub struct DeadLetter {
    /// The message ID.
    pub message_id: i64,
    /// Its device; `None` when the message is no longer in the buffer.
    pub device: Option<String>,
    /// The number of its raw bytes; `None` when the message is no longer in the buffer.
    pub bytes: Option<u64>,
    /// When the output refused it, in microseconds since 1970.
    pub refused_at: i64,
    /// The reason, for people.
    pub reason: String,
}

/// The first character of the key of a message that already has a stable ID. No sender's key begins with it: they have no spaces.
const NAMED: char = ' ';

/// The key of a message that another gateway has given the stable ID `id`.
pub fn key_of(id: &str) -> String {
    format!("{NAMED}{id}")
}

/// Whether `id` has the form of a [`stable_id`].
pub fn is_stable_id(id: &str) -> bool {
    let hex = |text: &str, digits| text.len() == digits && text.bytes().all(|b| b.is_ascii_hexdigit());
    let place = |text: &str| {
        text.split_once('-').is_some_and(|(buffer, id)| hex(buffer, 8) && id.parse::<u64>().is_ok())
    };
    id.strip_prefix('k').is_some_and(|text| hex(text, 32)) || id.strip_prefix('m').is_some_and(place)
}

/// The stable ID of a message. One that another gateway has given it stays. If the sender gave it a key, the ID is a hash of the device
/// and the key, the same in every gateway; otherwise it is the message's place in the buffer `buffer`.
pub fn stable_id(buffer: &str, id: i64, device: &str, key: Option<&str>) -> String {
    let Some(key) = key else { return format!("m{buffer}-{id}") };
    if let Some(given) = key.strip_prefix(NAMED) {
        return given.to_owned();
    }
    let mut hash = Sha256::new();
    hash.update(device);
    hash.update([0]);
    hash.update(key);
    hash.finalize().iter().take(16).fold(String::from("k"), |mut id, byte| {
        // Writing to a String does not fail.
        let _ = write!(id, "{byte:02x}");
        id
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_identifies_the_message_of_its_device_and_otherwise_the_buffer_does() {
        assert_eq!(stable_id("0a1b2c3d", 7, "d", None), "m0a1b2c3d-7");
        let keyed = stable_id("0a1b2c3d", 7, "d", Some("x"));
        assert_eq!(keyed, stable_id("ffffffff", 9, "d", Some("x")));
        assert_ne!(keyed, stable_id("0a1b2c3d", 7, "e", Some("x")));
        assert_ne!(keyed, stable_id("0a1b2c3d", 7, "d", Some("y")));
        assert_eq!(keyed.len(), 33);
    }

    #[test]
    fn retention_keeps_no_large_references() {
        let reference = NewReference { name: 1, content: Arc::new(()) };
        assert_eq!(reference.place(&[0; 256], 7), Some(7));
        assert_eq!(reference.place(&[0; 257], 7), None);
    }

    #[test]
    fn a_stable_id_stays_at_the_next_gateway() {
        for before in [stable_id("0a1b2c3d", 7, "d", None), stable_id("0a1b2c3d", 7, "d", Some("x"))] {
            assert!(is_stable_id(&before));
            assert_eq!(stable_id("ffffffff", 9, "d", Some(&key_of(&before))), before);
        }
        for other in ["", "k", "m1", "m0a1b2c3d-x", "m0a1b2c3-7", "k0a1b2c3d", "x0a1b2c3d-7"] {
            assert!(!is_stable_id(other), "{other}");
        }
    }
}
