//! Formats without a schema that serde writes.

use super::failed;
use dunnage_formats::{Error, Format, Reception, Value};

pub(super) const FLEXBUFFERS_NOTE: &str = "without a schema; a map comes back with its keys sorted";
pub(super) const SMILE_NOTE: &str = "without a schema; shares repeated keys";

/// FlexBuffers: FlatBuffers without a schema.
pub struct Flexbuffers;

impl Format for Flexbuffers {
    fn encode(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        out.extend(flexbuffers::to_vec(message).map_err(failed)?);
        Ok(())
    }

    fn decode_from(&self, bytes: &[u8], _: &Reception<'_>) -> Result<Value, Error> {
        flexbuffers::from_slice(bytes).map_err(failed)
    }
}

/// Smile: Jackson's binary JSON.
pub struct Smile;

impl Format for Smile {
    fn encode(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        serde_smile::to_writer(out, message).map_err(failed)
    }

    fn decode_from(&self, bytes: &[u8], _: &Reception<'_>) -> Result<Value, Error> {
        serde_smile::from_slice(bytes).map_err(failed)
    }
}
