//! Where a message that prost refused is at fault: it does not tell.

use super::shape::{MessageShape, Scalar, Shapes};
use crate::{Error, Kind};
use prost_reflect::prost::DecodeError;
use prost_reflect::prost::encoding::WireType;

/// As deep as prost goes.
const MAX_DEPTH: usize = 100;

/// The error with its kind and offset, as far as a walk over the tags finds them.
pub(super) fn locate(shapes: &Shapes, bytes: &[u8], error: &DecodeError) -> Error {
    let found = Walk { shapes, bytes, at: 0 }.message(shapes.root(), bytes.len(), 0);
    let (kind, offset) = found.err().unwrap_or((Kind::Malformed, 0));
    Error::new(kind, offset, error.to_string())
}

struct Walk<'a> {
    shapes: &'a Shapes,
    bytes: &'a [u8],
    at: usize,
}

type Fault = (Kind, usize);

impl Walk<'_> {
    fn message(&mut self, shape: &MessageShape, end: usize, depth: usize) -> Result<(), Fault> {
        while self.at < end {
            self.field(shape, end, depth)?;
        }
        Ok(())
    }

    fn field(&mut self, shape: &MessageShape, end: usize, depth: usize) -> Result<(), Fault> {
        let start = self.at;
        let malformed = (Kind::Malformed, start);
        let tag = u32::try_from(self.varint(end)?).map_err(|_| malformed)?;
        let wire_type = WireType::try_from(u64::from(tag & 7)).map_err(|_| malformed)?;
        if tag >> 3 == 0 {
            return Err(malformed);
        }
        let field = shape.fields.iter().find(|field| field.descriptor.number() == tag >> 3);
        let expected = field.map(|field| (field.descriptor.kind().wire_type(), field.descriptor.is_list()));
        if expected.is_some_and(|(kind, list)| {
            kind != wire_type && !(list && wire_type == WireType::LengthDelimited)
        }) {
            return Err(malformed);
        }
        match wire_type {
            WireType::Varint => self.varint(end).map(|_| ()),
            WireType::ThirtyTwoBit => self.skip(4, end),
            WireType::SixtyFourBit => self.skip(8, end),
            WireType::StartGroup | WireType::EndGroup => Err(malformed),
            WireType::LengthDelimited => {
                let length = self.varint(end)?;
                let content = self.at;
                self.skip(length, end)?;
                match field.map(|field| &field.kind) {
                    Some(Scalar::String) => self.text(content),
                    Some(Scalar::Message(_)) if depth >= MAX_DEPTH => Err((Kind::Limit, start)),
                    Some(Scalar::Message(index)) => {
                        let (shapes, end) = (self.shapes, std::mem::replace(&mut self.at, content));
                        self.message(shapes.message(*index), end, depth + 1)
                    }
                    _ => Ok(()),
                }
            }
        }
    }

    /// The bytes end, or those of the message around do.
    fn short(&self, end: usize) -> Fault {
        if end == self.bytes.len() { (Kind::Truncated, end) } else { (Kind::Malformed, end) }
    }

    fn varint(&mut self, end: usize) -> Result<u64, Fault> {
        let start = self.at;
        let mut n = 0;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes[..end].get(self.at).ok_or_else(|| self.short(end))?;
            self.at += 1;
            n |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(n);
            }
        }
        Err((Kind::Malformed, start))
    }

    fn skip(&mut self, count: u64, end: usize) -> Result<(), Fault> {
        let room = (end - self.at) as u64;
        if count > room {
            return Err(self.short(end));
        }
        self.at += count as usize;
        Ok(())
    }

    fn text(&self, start: usize) -> Result<(), Fault> {
        match std::str::from_utf8(&self.bytes[start..self.at]) {
            Ok(_) => Ok(()),
            Err(e) => Err((Kind::Malformed, start + e.valid_up_to())),
        }
    }
}
