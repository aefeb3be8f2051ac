//! Bytes to types that implement serde's `Deserialize`.

mod access;
mod deserializer;
mod key;
mod state;

use crate::{Error, Options, decode::Decoder};
use serde::Deserialize;
use state::Deserializer;

/// The message in `bytes`, all of them. `&str` and `&[u8]` borrow from them.
///
/// # Errors
/// Those of `spec/pson.md`: `truncated`, `malformed`, `type`, `range` and `limit`, at an offset. A field that is missing and
/// the like is a `type` error at its map.
pub fn from_slice<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, Error> {
    Options::new().from_slice(bytes)
}

impl Options {
    /// [`from_slice`] with these options.
    #[allow(clippy::wrong_self_convention)] // it is called as the function is
    pub fn from_slice<'de, T: Deserialize<'de>>(self, bytes: &'de [u8]) -> Result<T, Error> {
        let mut deserializer = Deserializer { decoder: Decoder::new(bytes, self)? };
        let value = T::deserialize(&mut deserializer).map_err(|error| error.or_at(0))?;
        deserializer.decoder.end()?;
        Ok(value)
    }
}
