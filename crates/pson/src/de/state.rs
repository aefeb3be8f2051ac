//! The state of a deserializer. It is separate from serde's traits so that the accessors of maps and arrays can hold it.

use crate::decode::Decoder;

/// Reads the parts of a message as serde asks for them.
pub(crate) struct Deserializer<'de> {
    pub decoder: Decoder<'de>,
}
