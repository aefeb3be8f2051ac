//! Decodes bytes to types that implement serde's `Deserialize`.

mod access;
mod deserializer;
mod key;
mod state;

use crate::{Error, Options, decode::Decoder};
use serde::Deserialize;
use state::Deserializer;

/// Decodes the message in `bytes`, which must contain nothing else. `&str` and `&[u8]` borrow from `bytes`.
///
/// # Errors
/// Those of [spec/pson.md](https://github.com/dunnage/dunnage/blob/main/spec/pson.md): `truncated`, `malformed`, `type`, `range` and `limit`, with an offset. A field that the type
/// does not find is a `type` error at the offset of its map, and a value that it refuses is `type` or `range` at the value.
#[inline]
pub fn from_slice<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, Error> {
    Options::new().from_slice(bytes)
}

impl Options {
    /// Does the same as [`from_slice`] with these options.
    ///
    /// # Errors
    /// Those of [`from_slice`].
    #[allow(clippy::wrong_self_convention)] // it is called as the function is
    #[inline]
    pub fn from_slice<'de, T: Deserialize<'de>>(self, bytes: &'de [u8]) -> Result<T, Error> {
        let mut deserializer = Deserializer { decoder: Decoder::new(bytes, self)? };
        let value = T::deserialize(&mut deserializer).map_err(|error| error.or_at(0))?;
        deserializer.decoder.end()?;
        Ok(value)
    }
}
