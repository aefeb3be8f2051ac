//! Reads single items and checks them in the order of `spec/pson.md`, "Errors".

use crate::{
    Error, Floats, Kind, Options,
    number::{Number, canonical},
    wire,
};

/// An item. For a map or array it is only the header; the entries or elements follow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Item<'de> {
    /// An unsigned integer.
    Unsigned(u64),
    /// A negative integer, given by its magnitude: `Negative(1)` is -1. The magnitude is never 0 and may be above 2^63.
    Negative(u64),
    /// A floating-point number.
    Float(f64),
    /// `true` or `false`.
    Bool(bool),
    /// `null`.
    Null,
    /// A string, borrowed from the message.
    Text(&'de str),
    /// A byte string, borrowed from the message.
    Bytes(&'de [u8]),
    /// A map with this number of entries. The count is not checked against the bytes that follow.
    Map(u64),
    /// An array with this number of elements. The count is not checked against the bytes that follow.
    Array(u64),
}

/// Reads items one after another. The caller checks how they are nested.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decoder<'de> {
    input: &'de [u8],
    /// The offset of the next byte.
    pub at: usize,
    /// The number of maps and arrays that may still be opened here.
    pub room: u8,
    strict: bool,
}

impl<'de> Decoder<'de> {
    /// Creates a decoder. Rejects messages above the size limit.
    pub fn new(input: &'de [u8], options: Options) -> Result<Self, Error> {
        if input.len() > options.size {
            return Err(Error::new(Kind::Limit, options.size, "the message is too large"));
        }
        Ok(Decoder { input, at: 0, room: options.nesting, strict: options.strict })
    }

    /// Returns the number of bytes that are left.
    #[inline]
    pub fn rest(&self) -> usize {
        self.input.len() - self.at
    }

    /// Returns the header byte of the next item without consuming it.
    #[inline]
    pub fn peek(&self) -> Result<u8, Error> {
        match self.input.get(self.at) {
            Some(&header) => Ok(header),
            None => Err(self.truncated()),
        }
    }

    /// Returns whether the next item is a string.
    pub fn at_text(&self) -> Result<bool, Error> {
        Ok(self.peek()? & wire::TYPE_BITS == wire::TEXT)
    }

    /// Checks that the message ends here.
    pub fn end(&self) -> Result<(), Error> {
        if self.at < self.input.len() {
            return Err(malformed(self.at, "bytes follow the message"));
        }
        Ok(())
    }

    /// Reads the next item of any type.
    pub fn item(&mut self) -> Result<Item<'de>, Error> {
        let at = self.at;
        let header = self.peek()?;
        if header >= wire::MAP && self.room == 0 {
            return Err(too_deep(at));
        }
        Ok(match header & wire::TYPE_BITS {
            wire::UNSIGNED | wire::NEGATIVE | wire::FLOAT => match self.number_at(at, header)? {
                Number::Unsigned(n) => Item::Unsigned(n),
                Number::Negative(n) => Item::Negative(n),
                Number::Float(f) => Item::Float(f),
            },
            wire::DISCRETE => {
                self.at += 1;
                match header {
                    wire::FALSE => Item::Bool(false),
                    wire::TRUE => Item::Bool(true),
                    wire::NULL => Item::Null,
                    _ => return Err(malformed(at, "no such discrete value")),
                }
            }
            wire::TEXT => Item::Text(self.text_at(at, header)?),
            wire::BYTES => Item::Bytes(self.span(at, header)?),
            wire::MAP => Item::Map(self.n(at, header)?),
            _ => Item::Array(self.n(at, header)?),
        })
    }

    /// Reads the next item, which must be a number.
    #[inline]
    pub fn number(&mut self) -> Result<Number, Error> {
        let header = self.peek()?;
        if u64::from(header) <= wire::INLINE {
            self.at += 1;
            return Ok(Number::Unsigned(header.into()));
        }
        self.longer_number(header)
    }

    /// Reads a number whose value is not in the header byte.
    fn longer_number(&mut self, header: u8) -> Result<Number, Error> {
        if header > wire::FLOAT | wire::PAYLOAD_BITS {
            return Err(self.mismatch("not a number"));
        }
        self.number_at(self.at, header)
    }

    /// Reads the next item if it is a valid float. Otherwise, and with checks of the form, consumes nothing.
    #[cfg(feature = "serde")]
    #[inline]
    pub fn take_float(&mut self) -> Option<f64> {
        if self.strict {
            return None;
        }
        match self.input.get(self.at..)? {
            [wire::BINARY64, bytes @ ..] => {
                let f = f64::from_le_bytes(*bytes.first_chunk()?);
                self.at += 9;
                Some(f)
            }
            [wire::BINARY32, bytes @ ..] => {
                let f = f32::from_le_bytes(*bytes.first_chunk()?);
                self.at += 5;
                Some(f.into())
            }
            _ => None,
        }
    }

    /// Reads the next item, which must be a string.
    #[inline]
    pub fn text(&mut self) -> Result<&'de str, Error> {
        let at = self.at;
        let header = self.peek()?;
        if header & wire::TYPE_BITS != wire::TEXT {
            return Err(self.mismatch("not a string"));
        }
        self.text_at(at, header)
    }

    /// Reads the next item as the key of a map.
    #[inline(always)]
    pub fn key(&mut self) -> Result<&'de str, Error> {
        let at = self.at;
        let header = self.peek()?;
        if header & wire::TYPE_BITS != wire::TEXT {
            return Err(self.not_a_key(header));
        }
        self.text_at(at, header)
    }

    /// Reads the next item if it is the key `name` in canonical form. Otherwise consumes nothing. A comparison is faster than the check for
    /// UTF-8 in [`key`](Decoder::key).
    #[cfg(feature = "serde")]
    #[inline]
    pub fn take_key(&mut self, name: &str) -> bool {
        let Some([header, rest @ ..]) = self.input.get(self.at..) else { return false };
        let len = name.len();
        let is_name = u64::from(header ^ wire::TEXT) == len as u64
            && len as u64 <= wire::INLINE
            && rest.get(..len) == Some(name.as_bytes());
        if is_name {
            self.at += 1 + len;
        }
        is_name
    }

    /// Reads the next item, which must be bytes.
    #[inline]
    pub fn bytes(&mut self) -> Result<&'de [u8], Error> {
        let at = self.at;
        let header = self.peek()?;
        if header & wire::TYPE_BITS != wire::BYTES {
            return Err(self.mismatch("not bytes"));
        }
        self.span(at, header)
    }

    /// Reads the next item, which must be `true` or `false`.
    #[inline]
    pub fn bool(&mut self) -> Result<bool, Error> {
        let value = match self.peek()? {
            wire::FALSE => false,
            wire::TRUE => true,
            _ => return Err(self.mismatch("not a boolean")),
        };
        self.at += 1;
        Ok(value)
    }

    /// Reads the next item, which must be `null`.
    #[inline]
    pub fn null(&mut self) -> Result<(), Error> {
        if self.peek()? != wire::NULL {
            return Err(self.mismatch("not null"));
        }
        self.at += 1;
        Ok(())
    }

    /// Reads the header of a map or array, as `wire_type` says, and returns its number of items. An entry of a map is two items.
    /// Each item takes at least one byte, so a count that does not fit the bytes left is reduced to just above what fits.
    #[inline]
    pub fn container(&mut self, wire_type: u8) -> Result<usize, Error> {
        let at = self.at;
        let header = self.peek()?;
        if header & wire::TYPE_BITS != wire_type || self.room == 0 {
            return Err(self.mismatch(if wire_type == wire::MAP { "not a map" } else { "not an array" }));
        }
        let n = self.n(at, header)?;
        Ok(if wire_type == wire::MAP { self.items_of_map(n) } else { self.items_of_array(n) })
    }

    pub fn items_of_map(&self, entries: u64) -> usize {
        // One entry more than can fit, so that the reader reaches the end of the input before the end of the map.
        2 * self.items_of_array(entries).min(self.rest() / 2 + 1)
    }

    pub fn items_of_array(&self, elements: u64) -> usize {
        usize::try_from(elements).unwrap_or(usize::MAX).min(self.rest() + 1)
    }

    /// Returns the error for a next item of the wrong type. If the item itself is invalid, returns that error instead.
    #[cold]
    pub fn mismatch(&mut self, reason: &'static str) -> Error {
        let at = self.at;
        match self.item() {
            Ok(_) => Error::new(Kind::Type, at, reason),
            Err(fault) => fault,
        }
    }

    #[cold]
    fn not_a_key(&mut self, header: u8) -> Error {
        let at = self.at;
        let fault = match header & wire::TYPE_BITS {
            // An invalid payload comes first in the order of errors. Only the reason differs.
            wire::FLOAT if header > wire::BINARY64 => "no such floating-point format",
            wire::DISCRETE if header > wire::NULL => "no such discrete value",
            _ => "a key that is not a string",
        };
        malformed(at, fault)
    }

    /// Reads the number at `at`, whose header is known to be that of a number.
    #[inline]
    pub fn number_at(&mut self, at: usize, header: u8) -> Result<Number, Error> {
        match header & wire::TYPE_BITS {
            wire::UNSIGNED => self.n(at, header).map(Number::Unsigned),
            wire::NEGATIVE => match self.n(at, header)? {
                0 if self.strict => Err(malformed(at, "zero as a negative integer")),
                0 => Ok(Number::Unsigned(0)),
                n => Ok(Number::Negative(n)),
            },
            _ => self.float(at, header),
        }
    }

    #[inline]
    fn float(&mut self, at: usize, header: u8) -> Result<Number, Error> {
        let rest = self.input.get(at + 1..).unwrap_or_default();
        let (value, size) = match header {
            wire::BINARY32 => match rest.first_chunk() {
                Some(bytes) => (f64::from(f32::from_le_bytes(*bytes)), 4),
                None => return Err(self.truncated()),
            },
            wire::BINARY64 => match rest.first_chunk() {
                Some(bytes) => (f64::from_le_bytes(*bytes), 8),
                None => return Err(self.truncated()),
            },
            _ => return Err(malformed(at, "no such floating-point format")),
        };
        if self.strict {
            check_form(at, value, &rest[..size])?;
        }
        self.at = at + 1 + size;
        Ok(Number::Float(value))
    }

    #[inline(always)]
    pub fn text_at(&mut self, at: usize, header: u8) -> Result<&'de str, Error> {
        let bytes = self.span(at, header)?;
        core::str::from_utf8(bytes).map_err(|_| malformed(at, "a string that is not UTF-8"))
    }

    /// Returns the N bytes after the header.
    #[inline(always)]
    pub fn span(&mut self, at: usize, header: u8) -> Result<&'de [u8], Error> {
        let n = self.n(at, header)?;
        let end = usize::try_from(n).ok().and_then(|n| self.at.checked_add(n));
        match end.and_then(|end| self.input.get(self.at..end)) {
            Some(bytes) => {
                self.at += bytes.len();
                Ok(bytes)
            }
            None => Err(self.truncated()),
        }
    }

    /// Returns N of the header at `at`, and moves past the header and its varint.
    #[inline(always)]
    pub fn n(&mut self, at: usize, header: u8) -> Result<u64, Error> {
        self.at = at + 1;
        match header & wire::PAYLOAD_BITS {
            wire::VARINT => self.varint(at),
            n => Ok(u64::from(n)),
        }
    }

    fn varint(&mut self, header: usize) -> Result<u64, Error> {
        const LONGEST: usize = 10;
        let bytes = self.input.get(self.at..).unwrap_or_default();
        let mut n = 0;
        for (i, &byte) in bytes.iter().take(LONGEST).enumerate() {
            n |= u64::from(byte & 0x7f) << (7 * i);
            if byte < 0x80 {
                if i == LONGEST - 1 && byte > 1 {
                    break;
                }
                if self.strict && (n <= wire::INLINE || byte == 0) {
                    return Err(malformed(header, "a needlessly long varint"));
                }
                self.at += i + 1;
                return Ok(n);
            }
        }
        if bytes.len() < LONGEST {
            Err(self.truncated())
        } else {
            Err(malformed(header, "a varint above 2^64-1"))
        }
    }

    #[cold]
    fn truncated(&self) -> Error {
        Error::new(Kind::Truncated, self.input.len(), "the message ends early")
    }
}

#[cold]
pub(crate) fn malformed(at: usize, reason: &'static str) -> Error {
    Error::new(Kind::Malformed, at, reason)
}

#[cold]
pub(crate) fn too_deep(at: usize) -> Error {
    Error::new(Kind::Limit, at, "maps and arrays are nested too deeply")
}

/// Rejects a float that is not in canonical form.
#[cold]
fn check_form(at: usize, value: f64, bytes: &[u8]) -> Result<(), Error> {
    let narrow = value as f32;
    let fault = if value.is_nan() {
        (bytes != &wire::NAN[1..]).then_some("a NaN other than the canonical one")
    } else if canonical(value, Floats::Lossless) != Number::Float(value) {
        Some("a whole number as floating point")
    } else if bytes.len() == 8 && f64::from(narrow) == value {
        Some("binary64 that binary32 holds exactly")
    } else {
        None
    };
    fault.map_or(Ok(()), |reason| Err(malformed(at, reason)))
}

#[cfg(test)]
mod tests;
