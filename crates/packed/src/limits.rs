//! What bounds the work and the memory that one message can ask for.

use crate::Error;
use dunnage_pson::{Kind, Value};

/// Most arrays and objects inside one another.
const MAX_NESTING: u32 = 32;
/// Most values of a message.
const MAX_VALUES: u32 = 1 << 20;
/// Most bytes of a message.
pub(crate) const MAX_BYTES: usize = 1 << 20;
/// Bytes of text without bits that count as a value.
const TEXT: usize = 32;

/// How many arrays and objects a value stands in.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Nesting(u32);

impl Nesting {
    /// Inside one more of them, which begins at `offset`.
    pub(crate) fn inside(self, offset: usize) -> Result<Nesting, Error> {
        if self.0 == MAX_NESTING {
            let message = format!("arrays and objects are nested more than {MAX_NESTING} deep");
            return Err(Error::new(Kind::Limit, offset, message));
        }
        Ok(Nesting(self.0 + 1))
    }
}

/// How many values are left, as the format counts them on both sides.
#[derive(Debug)]
pub(crate) struct Values(u32);

impl Values {
    pub(crate) fn new() -> Values {
        Values(MAX_VALUES)
    }

    /// Takes `values` of them for what begins at `offset`.
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

    /// The same for text that takes no bits.
    #[inline]
    pub(crate) fn take_text(&mut self, text: &str, offset: usize) -> Result<(), Error> {
        self.take(u32::try_from(text.len() / TEXT).unwrap_or(u32::MAX), offset)
    }

    /// The same for a value that takes no bits, or only an index. It has been counted as one value already.
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
