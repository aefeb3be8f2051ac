//! A position in a message.

use dunnage_formats::{Error, Kind, MAX_DEPTH};

/// The bytes of a message and the current read position.
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Cursor { bytes, at: 0 }
    }

    /// The offset of the next byte.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The bytes from `start` to the current position.
    pub fn since(&self, start: usize) -> &'a [u8] {
        &self.bytes[start..self.at]
    }

    /// The next byte, without advancing. Returns a `truncated` error at the end.
    pub fn peek(&self) -> Result<u8, Error> {
        self.bytes.get(self.at).copied().ok_or_else(|| self.truncated("the message ends here"))
    }

    /// Reads the next byte.
    pub fn byte(&mut self) -> Result<u8, Error> {
        let byte = self.peek()?;
        self.at += 1;
        Ok(byte)
    }

    /// Reads the next `length` bytes. Returns a `truncated` error if fewer are left.
    pub fn take(&mut self, length: u64) -> Result<&'a [u8], Error> {
        let rest = &self.bytes[self.at..];
        match usize::try_from(length).ok().and_then(|length| rest.get(..length)) {
            Some(bytes) => {
                self.at += bytes.len();
                Ok(bytes)
            }
            None => Err(self.truncated(format!("needs {length} bytes, has {}", rest.len()))),
        }
    }

    /// Reads the next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N as u64)?);
        Ok(array)
    }

    /// The number of bytes left.
    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Reads a varint of up to 64 bits: 7 bits per byte, lowest first.
    pub fn varint(&mut self) -> Result<u64, Error> {
        let (start, mut n) = (self.at, 0u64);
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            if shift == 63 && byte > 1 {
                break;
            }
            n |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(n);
            }
        }
        Err(Error::new(Kind::Malformed, start, "a varint of more than 64 bits"))
    }

    /// Reads the next `length` bytes as UTF-8. `start` is the offset of their item, for errors.
    pub fn text(&mut self, length: u64, start: usize) -> Result<&'a str, Error> {
        std::str::from_utf8(self.take(length)?)
            .map_err(|_| Error::new(Kind::Malformed, start, "the text is not UTF-8"))
    }

    /// Returns the nesting inside a container at `start`, or a `limit` error if the container is already inside [`MAX_DEPTH`]
    /// others.
    pub fn enter(&self, nesting: usize, start: usize) -> Result<usize, Error> {
        if nesting == MAX_DEPTH {
            return Err(Error::new(Kind::Limit, start, "maps and arrays are nested deeper than 32"));
        }
        Ok(nesting + 1)
    }

    /// Returns an error if there are bytes after the message.
    pub fn end(&self) -> Result<(), Error> {
        match self.bytes.len() - self.at {
            0 => Ok(()),
            n => Err(Error::new(Kind::Malformed, self.at, format!("{n} bytes after the message"))),
        }
    }

    fn truncated(&self, reason: impl Into<String>) -> Error {
        Error::new(Kind::Truncated, self.bytes.len(), reason)
    }
}
