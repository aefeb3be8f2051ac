//! Limits the work and the memory that one message can cause.

use crate::Error;
use dunnage_pson::{Kind, Value};

/// The maximum nesting of arrays and objects.
const MAX_NESTING: u32 = 32;
/// The maximum number of values in a message.
const MAX_VALUES: u32 = 1 << 20;
/// The maximum size of a message in bytes.
pub(crate) const MAX_BYTES: usize = 1 << 20;
/// The number of bytes of text that count as one more value, whether it takes bits or not.
const TEXT: usize = 32;

/// The number of arrays and objects around a value.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Nesting(u32);

impl Nesting {
    /// Returns the nesting inside another array or object, which begins at `offset`. The error is of kind `limit`.
    pub(crate) fn inside(self, offset: usize) -> Result<Nesting, Error> {
        if self.0 == MAX_NESTING {
            let message = format!("arrays and objects are nested more than {MAX_NESTING} deep");
            return Err(Error::new(Kind::Limit, offset, message));
        }
        Ok(Nesting(self.0 + 1))
    }
}

/// The number of values that are left. Encoder and decoder count them in the same way.
#[derive(Debug)]
pub(crate) struct Values(u32);

impl Values {
    pub(crate) fn new() -> Values {
        Values(MAX_VALUES)
    }

    /// Takes `values` from what is left, for a part that begins at `offset`. The error is of kind `limit`.
    #[inline]
    pub(crate) fn take(&mut self, values: u32, offset: usize) -> Result<(), Error> {
        match self.0.checked_sub(values) {
            Some(left) => {
                self.0 = left;
                Ok(())
            }
            None => Err(too_many(offset)),
        }
    }

    /// Does the same for text, a value or a key.
    #[inline]
    pub(crate) fn take_text(&mut self, text: &str, offset: usize) -> Result<(), Error> {
        self.take(u32::try_from(text.len() / TEXT).unwrap_or(u32::MAX), offset)
    }

    /// Does the same for a value that takes no bits or only an index. The value itself is already counted.
    pub(crate) fn take_known(&mut self, value: &Value, offset: usize) -> Result<(), Error> {
        match value {
            Value::Text(text) => self.take_text(text, offset),
            Value::Array(items) => items.iter().try_for_each(|item| {
                self.take(1, offset)?;
                self.take_known(item, offset)
            }),
            Value::Map(entries) => entries.iter().try_for_each(|(key, item)| {
                self.take(1, offset)?;
                self.take_text(key, offset)?;
                self.take_known(item, offset)
            }),
            _ => Ok(()),
        }
    }
}

#[cold]
fn too_many(offset: usize) -> Error {
    Error::new(Kind::Limit, offset, format!("more than {MAX_VALUES} values"))
}
