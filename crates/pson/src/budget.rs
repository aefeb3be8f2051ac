//! Limits the memory of a decoded message.

use crate::{Error, Kind, Value};
use core::cell::Cell;

/// The memory that a decoder may still use for a message. All formats count in the same way, regardless of the bytes:
///
/// | part of the message | counted as |
/// |---|--:|
/// | every value | 32 bytes |
/// | the content of a text or byte string | 32 bytes and its length |
/// | every key | 32 bytes and its length |
/// | an array or map, without its elements | 32 bytes |
///
/// A decoder asks for the memory of each value before it reads the next one, so a message above the limit costs little more
/// than one at the limit.
#[derive(Debug)]
pub struct Budget {
    left: Cell<usize>,
}

impl Budget {
    /// The size of a value in bytes, and the overhead of its content.
    pub const UNIT: usize = 32;

    /// Creates a budget of `bytes` bytes. `usize::MAX` means no limit.
    pub const fn new(bytes: usize) -> Self {
        Budget { left: Cell::new(bytes) }
    }

    /// Takes the memory of a value without content.
    ///
    /// # Errors
    /// `limit` at `offset` when the budget is spent.
    #[inline]
    pub fn value(&self, offset: usize) -> Result<(), Error> {
        self.take(Self::UNIT, offset)
    }

    /// Takes the memory of `count` values at once.
    ///
    /// # Errors
    /// `limit` at `offset` when the budget is spent.
    pub fn values(&self, count: usize, offset: usize) -> Result<(), Error> {
        self.take(count.saturating_mul(Self::UNIT), offset)
    }

    /// Takes the memory of a key, or of the content of a text or byte string, of `length` bytes.
    ///
    /// # Errors
    /// `limit` at `offset` when the budget is spent.
    #[inline]
    pub fn content(&self, length: usize, offset: usize) -> Result<(), Error> {
        self.take(length.saturating_add(Self::UNIT), offset)
    }

    /// Takes the memory of an array or map without its elements.
    ///
    /// # Errors
    /// `limit` at `offset` when the budget is spent.
    #[inline]
    pub fn container(&self, offset: usize) -> Result<(), Error> {
        self.take(Self::UNIT, offset)
    }

    /// Takes the memory of a copy of `value`, including keys.
    ///
    /// # Errors
    /// `limit` at `offset` when the budget is spent.
    pub fn copy_of(&self, value: &Value, offset: usize) -> Result<(), Error> {
        self.value(offset)?;
        self.parts_of(value, offset)
    }

    /// Does the same without the memory of the value itself, which has been taken already.
    ///
    /// # Errors
    /// `limit` at `offset` when the budget is spent.
    pub fn parts_of(&self, value: &Value, offset: usize) -> Result<(), Error> {
        match value {
            Value::Text(text) => self.content(text.len(), offset),
            Value::Bytes(bytes) => self.content(bytes.len(), offset),
            Value::Array(items) => {
                self.container(offset)?;
                items.iter().try_for_each(|item| self.copy_of(item, offset))
            }
            Value::Map(entries) => {
                self.container(offset)?;
                entries.iter().try_for_each(|(key, value)| {
                    self.content(key.len(), offset)?;
                    self.copy_of(value, offset)
                })
            }
            _ => Ok(()),
        }
    }

    #[inline]
    fn take(&self, bytes: usize, offset: usize) -> Result<(), Error> {
        let Some(left) = self.left.get().checked_sub(bytes) else { return Err(spent(offset)) };
        // Without a limit there is nothing to count.
        if self.left.get() != usize::MAX {
            self.left.set(left);
        }
        Ok(())
    }
}

impl Default for Budget {
    /// Returns a budget without a limit.
    fn default() -> Self {
        Budget::new(usize::MAX)
    }
}

#[cold]
fn spent(offset: usize) -> Error {
    Error::new(Kind::Limit, offset, "the message takes more memory than it may once it is decoded")
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{vec, vec::Vec};

    fn cost(value: &Value) -> usize {
        (0..).find(|bytes| Budget::new(*bytes).copy_of(value, 0).is_ok()).unwrap()
    }

    #[test]
    fn values_keys_and_contents_are_counted_as_documented() {
        let array = |items| Value::Array(items);
        for (value, bytes) in [
            (Value::Null, 32),
            (Value::from("abc"), 67),
            (Value::Bytes(vec![0; 5]), 69),
            (array(Vec::new()), 64),
            (array(vec![Value::Null, Value::F64(0.5)]), 128),
            (Value::Map(vec![("key".into(), Value::Null)]), 131),
        ] {
            assert_eq!(cost(&value), bytes, "{value:?}");
        }
    }

    #[test]
    fn a_spent_budget_is_a_limit_error_at_the_offset_and_none_has_no_end() {
        let budget = Budget::new(40);
        budget.value(0).unwrap();
        let error = budget.value(7).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (Kind::Limit, 7));
        let unlimited = Budget::default();
        (0..4).for_each(|_| unlimited.content(usize::MAX / 2, 0).unwrap());
    }
}
