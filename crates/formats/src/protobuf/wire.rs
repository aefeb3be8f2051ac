//! The wire format of Protocol Buffers: tags, varints, lengths.

use crate::{Error, Kind, limits};
use prost_reflect::prost::encoding::WireType;

/// A cursor over bytes. Every read is bounded by `end`, the offset at which the enclosing message ends.
pub(super) struct Input<'a> {
    bytes: &'a [u8],
    /// The offset of the next byte.
    pub at: usize,
}

impl<'a> Input<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Input { bytes, at: 0 }
    }

    /// Reads the number and the wire type of a field.
    pub(super) fn tag(&mut self, end: usize) -> Result<(u32, WireType), Error> {
        let start = self.at;
        let malformed = || Error::new(Kind::Malformed, start, "not the tag of a field");
        let tag = u32::try_from(self.varint(end)?).map_err(|_| malformed())?;
        let wire_type = WireType::try_from(u64::from(tag & 7)).map_err(|_| malformed())?;
        if tag >> 3 == 0 {
            return Err(malformed());
        }
        Ok((tag >> 3, wire_type))
    }

    pub(super) fn varint(&mut self, end: usize) -> Result<u64, Error> {
        let start = self.at;
        let mut n = 0;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes[..end].get(self.at).ok_or_else(|| self.short(end))?;
            self.at += 1;
            n |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                let overflows = shift == 63 && byte > 1;
                return if overflows { Err(self.overlong(start)) } else { Ok(n) };
            }
        }
        Err(self.overlong(start))
    }

    /// Reads a length and returns the offset at which its content ends.
    pub(super) fn length(&mut self, end: usize) -> Result<usize, Error> {
        let count = self.varint(end)?;
        match usize::try_from(count) {
            Ok(count) if count <= end - self.at => Ok(self.at + count),
            _ => Err(self.short(end)),
        }
    }

    pub(super) fn bytes(&mut self, end: usize) -> Result<&'a [u8], Error> {
        let end = self.length(end)?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    pub(super) fn text(&mut self, end: usize) -> Result<&'a str, Error> {
        let bytes = self.bytes(end)?;
        str::from_utf8(bytes).map_err(|e| {
            let start = self.at - bytes.len();
            Error::new(Kind::Malformed, start + e.valid_up_to(), "text that is not UTF-8")
        })
    }

    pub(super) fn array<const N: usize>(&mut self, end: usize) -> Result<[u8; N], Error> {
        let array = self.bytes[self.at..end].first_chunk().ok_or_else(|| self.short(end))?;
        self.at += N;
        Ok(*array)
    }

    /// Skips the content of an unknown field.
    pub(super) fn pass(
        &mut self,
        number: u32,
        wire_type: WireType,
        end: usize,
        depth: usize,
    ) -> Result<(), Error> {
        match wire_type {
            WireType::Varint => self.varint(end).map(drop),
            WireType::ThirtyTwoBit => self.array::<4>(end).map(drop),
            WireType::SixtyFourBit => self.array::<8>(end).map(drop),
            WireType::LengthDelimited => self.bytes(end).map(drop),
            WireType::EndGroup => Err(Error::new(Kind::Malformed, self.at, "END_GROUP without START_GROUP")),
            WireType::StartGroup => {
                let depth = limits::deeper(depth, self.at)?;
                loop {
                    let (inner, wire_type) = self.tag(end)?;
                    match wire_type {
                        WireType::EndGroup if inner == number => return Ok(()),
                        _ => self.pass(inner, wire_type, end, depth)?,
                    }
                }
            }
        }
    }

    fn overlong(&self, start: usize) -> Error {
        Error::new(Kind::Malformed, start, "a varint of more than 64 bits")
    }

    /// Returns the error for input that ends early, or for a value that exceeds the enclosing message.
    #[cold]
    fn short(&self, end: usize) -> Error {
        if end == self.bytes.len() {
            Error::new(Kind::Truncated, end, "the bytes end before the message does")
        } else {
            Error::new(Kind::Malformed, end, "exceeds the enclosing message")
        }
    }
}
