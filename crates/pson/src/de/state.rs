//! The state of a deserializer. Apart from what serde's traits need of it, so that maps and arrays being read can hold it.

use crate::decode::Decoder;

/// Reads a message as serde asks for its parts.
pub(crate) struct Deserializer<'de> {
    pub decoder: Decoder<'de>,
}
