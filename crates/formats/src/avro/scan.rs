//! Checks all lengths of a message before the Avro library allocates by them.
//!
//! The library reads a truncated message as one with nulls, and accepts a length of half a gigabyte. This pass also charges the budget for
//! what the library is about to allocate: its values are larger than ours, and its records hold the names of their fields.

use crate::{Budget, Error, Kind};
use apache_avro::Schema;

/// Rejects bytes that are not exactly one datum of the schema, as far as lengths tell.
pub(super) fn check(schema: &Schema, bytes: &[u8], budget: &Budget) -> Result<(), Error> {
    let mut scan = Scan { bytes, at: 0, budget };
    scan.value(schema)?;
    if scan.at < bytes.len() {
        return Err(scan.malformed(scan.at, "bytes after the message"));
    }
    Ok(())
}

/// The cost of one value of the library in the budget, in values of a message.
const DATUM: usize = 2;

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    budget: &'a Budget,
}

impl<'a> Scan<'a> {
    fn value(&mut self, schema: &Schema) -> Result<(), Error> {
        let start = self.at;
        self.budget.values(DATUM, start)?;
        match schema {
            Schema::Null => Ok(()),
            Schema::Boolean => self.skip(1),
            Schema::Int | Schema::Enum(_) => match i32::try_from(self.long()?) {
                Ok(_) => Ok(()),
                Err(_) => Err(Error::new(Kind::Range, start, "an int of more than 32 bits")),
            },
            Schema::Long => self.long().map(|_| ()),
            Schema::Float => self.skip(4),
            Schema::Double => self.skip(8),
            Schema::Bytes => Ok(self.budget.content(self.length()?.len(), start)?),
            Schema::String => {
                let text = self.length()?;
                self.budget.content(text.len(), start)?;
                let content = self.at - text.len();
                match std::str::from_utf8(text) {
                    Ok(_) => Ok(()),
                    Err(e) => Err(self.malformed(content + e.valid_up_to(), "text that is not UTF-8")),
                }
            }
            Schema::Record(record) => record.fields.iter().try_for_each(|field| {
                self.budget.content(field.name.len(), start)?;
                self.value(&field.schema)
            }),
            Schema::Union(union) => {
                let index = self.long()?;
                let variant = usize::try_from(index).ok().and_then(|index| union.variants().get(index));
                self.value(variant.ok_or_else(|| self.malformed(start, "a union has no such branch"))?)
            }
            Schema::Array(array) => self.blocks(&array.items),
            _ => Err(Error::new(Kind::Type, start, "a type that no derived schema has")),
        }
    }

    fn blocks(&mut self, items: &Schema) -> Result<(), Error> {
        loop {
            let start = self.at;
            let mut count = self.long()?;
            if count == 0 {
                return Ok(());
            }
            if count < 0 {
                self.long()?; // the block's size in bytes
                count = count
                    .checked_neg()
                    .ok_or_else(|| self.malformed(start, "a block of too many elements"))?;
            }
            // No derived schema has elements of zero bytes, so the rest of the message bounds their number.
            if count as u64 > (self.bytes.len() - self.at) as u64 {
                return Err(self.truncated());
            }
            for _ in 0..count {
                self.value(items)?;
            }
        }
    }

    /// Returns the content after a length prefix.
    fn length(&mut self) -> Result<&'a [u8], Error> {
        let start = self.at;
        let length = self.long()?;
        let length = usize::try_from(length).map_err(|_| self.malformed(start, "a negative length"))?;
        let content = self.at;
        self.skip(length)?;
        Ok(&self.bytes[content..self.at])
    }

    /// Reads a zigzag varint.
    fn long(&mut self) -> Result<i64, Error> {
        let start = self.at;
        let mut n = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes.get(self.at).ok_or_else(|| self.truncated())?;
            self.at += 1;
            if shift == 63 && byte > 1 {
                break;
            }
            n |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok((n >> 1) as i64 ^ -((n & 1) as i64));
            }
        }
        Err(self.malformed(start, "a varint of more than 64 bits"))
    }

    fn skip(&mut self, count: usize) -> Result<(), Error> {
        if count > self.bytes.len() - self.at {
            return Err(self.truncated());
        }
        self.at += count;
        Ok(())
    }

    fn truncated(&self) -> Error {
        Error::new(Kind::Truncated, self.bytes.len(), "the bytes end too early")
    }

    fn malformed(&self, offset: usize, reason: &str) -> Error {
        Error::new(Kind::Malformed, offset, reason)
    }
}
