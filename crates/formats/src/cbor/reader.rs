//! Turns bytes into a message.

mod tags;

use super::{Labels, half};
use crate::entries::Entries;
use crate::limits::{self, MAX_RESERVE};
use crate::{Budget, DUPLICATE_KEY, Error, Kind, Numbers, Value};
use minicbor::Decoder;
use minicbor::data::Type;

/// The tag of self-described CBOR (RFC 8949, section 3.4.6).
const SELF_DESCRIBED: u64 = 55799;

pub(super) fn read(
    bytes: &[u8],
    labels: Option<Labels>,
    budget: &Budget,
    numbers: Numbers<'_>,
) -> Result<Value, Error> {
    limits::check_size(bytes)?;
    let mut reader = Reader { decoder: Decoder::new(bytes), labels, budget, numbers };
    reader.skip_self_description()?;
    let value = reader.value(0)?;
    let end = reader.decoder.position();
    if end < bytes.len() {
        return Err(Error::new(Kind::Malformed, end, "bytes after the message"));
    }
    Ok(value)
}

struct Reader<'a> {
    decoder: Decoder<'a>,
    labels: Option<Labels>,
    budget: &'a Budget,
    numbers: Numbers<'a>,
}

impl<'a> Reader<'a> {
    fn skip_self_description(&mut self) -> Result<(), Error> {
        if matches!(self.decoder.datatype(), Ok(Type::Tag)) {
            let tag = self.decoder.tag().map_err(|e| self.error(&e, 0))?;
            if tag.as_u64() != SELF_DESCRIBED {
                self.decoder.set_position(0);
            }
        }
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<Value, Error> {
        let start = self.decoder.position();
        self.budget.value(start)?;
        if let Some(text) = self.short_text() {
            self.budget.content(text.len(), start)?;
            return Ok(Value::Text(text.into()));
        }
        match self.datatype()? {
            Type::Null => self.decoder.null().map(|()| Value::Null),
            Type::Undefined => self.decoder.undefined().map(|()| Value::Null),
            Type::Bool => self.decoder.bool().map(Value::Bool),
            Type::U8 | Type::U16 | Type::U32 | Type::U64 => self.decoder.u64().map(Value::U64),
            Type::I8 | Type::I16 | Type::I32 | Type::I64 | Type::Int => return self.negative(start),
            Type::F16 => return self.half(start),
            Type::F32 | Type::F64 => self.decoder.f64().map(Value::F64),
            kind @ (Type::String | Type::StringIndef) => return self.text(kind, start).map(Value::Text),
            Type::Bytes | Type::BytesIndef => return self.bytes(start).map(Value::Bytes),
            Type::Array | Type::ArrayIndef => return self.array(start, depth),
            Type::Map | Type::MapIndef => return self.map(start, depth),
            Type::Tag => return self.tagged(start),
            Type::Simple => return self.simple(start),
            Type::Break => return Err(malformed(start, "a break where an item should be")),
            Type::Unknown(_) => return Err(malformed(start, "not the first byte of a CBOR item")),
        }
        .map_err(|e| self.error(&e, start))
    }

    fn datatype(&self) -> Result<Type, Error> {
        self.decoder.datatype().map_err(|e| self.error(&e, self.decoder.position()))
    }

    fn negative(&mut self, start: usize) -> Result<Value, Error> {
        let n = self.decoder.int().map_err(|e| self.error(&e, start))?;
        integer(n.into(), start, self.numbers)
    }

    /// Reads the next text if its first byte holds its length, as in most keys and texts. Anything else, including errors, is left to the
    /// decoder, which needs twice as many instructions.
    fn short_text(&mut self) -> Option<&'a str> {
        let (start, input) = (self.decoder.position(), self.decoder.input());
        let length = input.get(start)?.wrapping_sub(0x60);
        if length >= 24 {
            return None;
        }
        let end = start + 1 + usize::from(length);
        let text = str::from_utf8(input.get(start + 1..end)?).ok()?;
        self.decoder.set_position(end);
        Some(text)
    }

    fn text(&mut self, kind: Type, start: usize) -> Result<String, Error> {
        let text = match kind {
            Type::String => self.decoder.str().map(String::from),
            _ => self.decoder.str_iter().and_then(Iterator::collect),
        };
        let text = text.map_err(|e| self.error(&e, start))?;
        self.budget.content(text.len(), start)?;
        Ok(text)
    }

    fn bytes(&mut self, start: usize) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        let chunks = self.decoder.bytes_iter().and_then(|mut chunks| {
            chunks.try_for_each(|chunk| chunk.map(|chunk| bytes.extend_from_slice(chunk)))
        });
        chunks.map_err(|e| self.error(&e, start))?;
        self.budget.content(bytes.len(), start)?;
        Ok(bytes)
    }

    fn array(&mut self, start: usize, depth: usize) -> Result<Value, Error> {
        let depth = limits::deeper(depth, start)?;
        let mut announced = self.decoder.array().map_err(|e| self.error(&e, start))?;
        self.budget.container(start)?;
        let mut items = Vec::with_capacity(room(announced));
        while self.has_more(&mut announced)? {
            items.push(self.value(depth)?);
        }
        Ok(Value::Array(items))
    }

    fn map(&mut self, start: usize, depth: usize) -> Result<Value, Error> {
        let depth = limits::deeper(depth, start)?;
        let mut announced = self.decoder.map().map_err(|e| self.error(&e, start))?;
        self.budget.container(start)?;
        let mut entries = Entries::with_room(room(announced));
        while self.has_more(&mut announced)? {
            let start = self.decoder.position();
            let key = match self.short_text() {
                Some(key) => {
                    self.budget.content(key.len(), start)?;
                    key.to_owned()
                }
                None => match self.datatype()? {
                    kind @ (Type::String | Type::StringIndef) => self.text(kind, start)?,
                    Type::Break | Type::Unknown(_) => return Err(malformed(start, "not a key")),
                    kind if is_integer(kind) => match self.label(start)? {
                        Some(label) => {
                            self.budget.content(label.len(), start)?;
                            label
                        }
                        None => {
                            self.value(depth)?;
                            continue;
                        }
                    },
                    _ => {
                        let reason = "a key that is neither text nor a whole number";
                        return Err(Error::new(Kind::Type, start, reason));
                    }
                },
            };
            if !entries.is_new(&key) {
                return Err(malformed(start, DUPLICATE_KEY));
            }
            entries.push(key, self.value(depth)?);
        }
        Ok(entries.into_value())
    }

    /// Reads the next item, an integer key, and returns the text that it represents: without labels, its digits.
    fn label(&mut self, start: usize) -> Result<Option<String>, Error> {
        let number: i128 = self.decoder.int().map_err(|e| self.error(&e, start))?.into();
        Ok(match self.labels {
            Some(labels) => labels(number).map(str::to_owned),
            None => Some(number.to_string()),
        })
    }

    /// Returns whether another element follows: one of those announced, or one before the break.
    fn has_more(&mut self, announced: &mut Option<u64>) -> Result<bool, Error> {
        match announced {
            Some(0) => Ok(false),
            Some(n) => {
                *n -= 1;
                Ok(true)
            }
            None => {
                let at_break = self.datatype()? == Type::Break;
                if at_break {
                    self.decoder.set_position(self.decoder.position() + 1);
                }
                Ok(!at_break)
            }
        }
    }

    fn simple(&mut self, start: usize) -> Result<Value, Error> {
        let n = self.decoder.simple().map_err(|e| self.error(&e, start))?;
        if n < 32 && self.decoder.position() - start == 2 {
            return Err(malformed(start, "a simple value below 32 takes one byte"));
        }
        Err(Error::new(Kind::Type, start, format!("simple value {n} is not supported")))
    }

    /// Reads a binary16, whose first byte is at `start`.
    fn half(&mut self, start: usize) -> Result<Value, Error> {
        let input = self.decoder.input();
        let Some(bits) = input[start + 1..].first_chunk() else {
            return Err(Error::new(Kind::Truncated, input.len(), "the bytes end before the message does"));
        };
        self.decoder.set_position(start + 3);
        Ok(Value::F64(half::number(u16::from_be_bytes(*bits)).into()))
    }

    fn error(&self, e: &minicbor::decode::Error, start: usize) -> Error {
        if e.is_end_of_input() {
            let end = self.decoder.input().len();
            return Error::new(Kind::Truncated, end, "the bytes end before the message does");
        }
        Error::new(Kind::Malformed, e.position().unwrap_or(start), e.to_string())
    }
}

fn is_integer(kind: Type) -> bool {
    use Type::*;
    matches!(kind, U8 | U16 | U32 | U64 | I8 | I16 | I32 | I64 | Int)
}

fn malformed(offset: usize, reason: &str) -> Error {
    Error::new(Kind::Malformed, offset, reason)
}

fn room(announced: Option<u64>) -> usize {
    announced.map_or(0, |n| n.min(MAX_RESERVE as u64) as usize)
}

fn integer(n: i128, start: usize, numbers: Numbers<'_>) -> Result<Value, Error> {
    match (u64::try_from(n), i64::try_from(n)) {
        (Ok(n), _) => Ok(Value::U64(n)),
        (_, Ok(n)) => Ok(Value::I64(n)),
        _ => numbers.parse(&n.to_string(), start),
    }
}
