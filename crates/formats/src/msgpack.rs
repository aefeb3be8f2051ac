//! MessagePack.

use crate::entries::Entries;
use crate::limits::{self, MAX_RESERVE};
use crate::{Budget, DUPLICATE_KEY, Error, Format, Kind, Reception, Value, instant, number};
use rmp::{Marker, decode, encode};
use std::{borrow::Cow, fmt::Display};

/// The extension type of timestamps.
const TIMESTAMP: i8 = -1;

/// MessagePack.
///
/// - Every value is written in its smallest form, as the specification asks of serializers, with binary32 when it is exact. (Many encoders
///   always write binary64.) Floats stay floats: 2.0 is not written as an integer.
/// - Timestamps are read as text ([spec/formats.md](https://github.com/dunnage/dunnage/blob/main/spec/formats.md), "Times and other types"). Other extension types, which have no counterpart in JSON,
///   and keys that are neither text nor whole numbers are `type` errors; a whole number is read as the text of its digits. Text that is not UTF-8, the unused marker `c1` and a duplicate key are `malformed`.
///
/// ```
/// use dunnage_formats::{Format, Msgpack, Value};
///
/// let mut bytes = Vec::new();
/// Msgpack.encode(&Value::Map(vec![("t".into(), Value::F64(23.5))]), &mut bytes)?;
/// assert_eq!(bytes, b"\x81\xa1t\xca\x41\xbc\x00\x00"); // binary32, because that is exact
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Msgpack;

impl Format for Msgpack {
    fn encode(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        limits::bounded(out, |out| write(message, out, 0))
    }

    fn decode_from(&self, bytes: &[u8], reception: &Reception<'_>) -> Result<Value, Error> {
        limits::check_size(bytes)?;
        let mut reader = Reader { rest: bytes, len: bytes.len(), budget: &reception.budget() };
        let value = reader.value(0)?;
        if !reader.rest.is_empty() {
            return Err(Error::new(Kind::Malformed, reader.offset(), "bytes after the message"));
        }
        Ok(value)
    }
}

fn write(value: &Value, out: &mut Vec<u8>, depth: usize) -> Result<(), Error> {
    match value {
        Value::Null => encode::write_nil(out).map_err(unwritable),
        Value::Bool(b) => encode::write_bool(out, *b).map_err(unwritable),
        Value::U64(n) => encode::write_uint(out, *n).map(drop).map_err(unwritable),
        Value::I64(n) => encode::write_sint(out, *n).map(drop).map_err(unwritable),
        Value::F64(f) => match number::single(*f) {
            Some(single) => encode::write_f32(out, single).map_err(unwritable),
            None => encode::write_f64(out, *f).map_err(unwritable),
        },
        Value::Text(text) => write_text(text, out),
        Value::Bytes(bytes) => {
            length(bytes.len())?;
            encode::write_bin(out, bytes).map_err(unwritable)
        }
        Value::Array(items) => {
            let depth = limits::deeper(depth, 0)?;
            encode::write_array_len(out, length(items.len())?).map_err(unwritable)?;
            items.iter().try_for_each(|item| write(item, out, depth))
        }
        Value::Map(entries) => {
            let depth = limits::deeper(depth, 0)?;
            encode::write_map_len(out, length(entries.len())?).map_err(unwritable)?;
            entries.iter().try_for_each(|(key, value)| {
                write_text(key, out)?;
                write(value, out, depth)
            })
        }
    }
}

fn write_text(text: &str, out: &mut Vec<u8>) -> Result<(), Error> {
    length(text.len())?;
    encode::write_str(out, text).map_err(unwritable)
}

fn length(n: usize) -> Result<u32, Error> {
    u32::try_from(n).map_err(|_| Error::new(Kind::Limit, 0, "MessagePack counts to 2^32-1"))
}

fn unwritable(e: impl Display) -> Error {
    Error::new(Kind::Truncated, 0, e.to_string())
}

struct Reader<'a> {
    rest: &'a [u8],
    len: usize,
    budget: &'a Budget,
}

impl<'a> Reader<'a> {
    fn offset(&self) -> usize {
        self.len - self.rest.len()
    }

    fn truncated(&self) -> Error {
        Error::new(Kind::Truncated, self.len, "the bytes end before the message does")
    }

    fn value(&mut self, depth: usize) -> Result<Value, Error> {
        let start = self.offset();
        let first = *self.rest.first().ok_or_else(|| self.truncated())?;
        self.budget.value(start)?;
        match Marker::from_u8(first) {
            Marker::Null => self.constant(Value::Null),
            Marker::True => self.constant(Value::Bool(true)),
            Marker::False => self.constant(Value::Bool(false)),
            Marker::FixPos(_) | Marker::U8 | Marker::U16 | Marker::U32 | Marker::U64 => {
                decode::read_int(&mut self.rest).map(Value::U64).map_err(|_| self.truncated())
            }
            Marker::FixNeg(_) | Marker::I8 | Marker::I16 | Marker::I32 | Marker::I64 => {
                decode::read_int::<i64, _>(&mut self.rest).map(Value::from).map_err(|_| self.truncated())
            }
            Marker::F32 => decode::read_f32(&mut self.rest)
                .map(|f| Value::F64(f64::from(f)))
                .map_err(|_| self.truncated()),
            Marker::F64 => decode::read_f64(&mut self.rest).map(Value::F64).map_err(|_| self.truncated()),
            Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32 => {
                let text = self.text()?;
                self.budget.content(text.len(), start)?;
                Ok(Value::Text(text.into()))
            }
            Marker::Bin8 | Marker::Bin16 | Marker::Bin32 => {
                let n = decode::read_bin_len(&mut self.rest).map_err(|_| self.truncated())?;
                let bytes = self.take(n)?;
                self.budget.content(bytes.len(), start)?;
                Ok(Value::Bytes(bytes.into()))
            }
            Marker::FixArray(_) | Marker::Array16 | Marker::Array32 => self.array(start, depth),
            Marker::FixMap(_) | Marker::Map16 | Marker::Map32 => self.map(start, depth),
            Marker::Reserved => Err(Error::new(Kind::Malformed, start, "c1 is not a MessagePack marker")),
            Marker::Ext8
            | Marker::Ext16
            | Marker::Ext32
            | Marker::FixExt1
            | Marker::FixExt2
            | Marker::FixExt4
            | Marker::FixExt8
            | Marker::FixExt16 => self.extension(start),
        }
    }

    fn constant(&mut self, value: Value) -> Result<Value, Error> {
        self.take(1).map(|_| value)
    }

    /// Consumes the next `n` bytes.
    fn take(&mut self, n: u32) -> Result<&'a [u8], Error> {
        let (taken, rest) = self.rest.split_at_checked(n as usize).ok_or_else(|| self.truncated())?;
        self.rest = rest;
        Ok(taken)
    }

    /// Reads a timestamp in its form of 4, 8 or 12 bytes.
    fn extension(&mut self, start: usize) -> Result<Value, Error> {
        let meta = decode::read_ext_meta(&mut self.rest).map_err(|_| self.truncated())?;
        if meta.typeid != TIMESTAMP {
            let reason = format!("the extension type {} is not supported", meta.typeid);
            return Err(Error::new(Kind::Type, start, reason));
        }
        let (seconds, nanoseconds) = match *self.take(meta.size)? {
            [a, b, c, d] => (i64::from(u32::from_be_bytes([a, b, c, d])), 0),
            [a, b, c, d, e, f, g, h] => {
                let bits = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
                ((bits & ((1 << 34) - 1)) as i64, (bits >> 34) as u32)
            }
            [a, b, c, d, ref seconds @ ..] if seconds.len() == 8 => {
                let seconds = seconds.iter().fold(0, |n, byte| n << 8 | i64::from(*byte));
                (seconds, u32::from_be_bytes([a, b, c, d]))
            }
            _ => return Err(Error::new(Kind::Malformed, start, "a timestamp has 4, 8 or 12 bytes")),
        };
        instant::of_seconds(seconds, nanoseconds, start, self.budget)
    }

    fn text(&mut self) -> Result<&'a str, Error> {
        let start = self.offset();
        let n = decode::read_str_len(&mut self.rest).map_err(|_| self.truncated())?;
        str::from_utf8(self.take(n)?)
            .map_err(|_| Error::new(Kind::Malformed, start, "text that is not UTF-8"))
    }

    /// Reads a key. A whole number is the text of its digits.
    fn key(&mut self) -> Result<Cow<'a, str>, Error> {
        let first = *self.rest.first().ok_or_else(|| self.truncated())?;
        match Marker::from_u8(first) {
            Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32 => {
                self.text().map(Cow::Borrowed)
            }
            Marker::FixPos(_) | Marker::U8 | Marker::U16 | Marker::U32 | Marker::U64 => {
                let n = decode::read_int::<u64, _>(&mut self.rest).map_err(|_| self.truncated())?;
                Ok(Cow::Owned(n.to_string()))
            }
            Marker::FixNeg(_) | Marker::I8 | Marker::I16 | Marker::I32 | Marker::I64 => {
                let n = decode::read_int::<i64, _>(&mut self.rest).map_err(|_| self.truncated())?;
                Ok(Cow::Owned(n.to_string()))
            }
            Marker::Reserved => {
                Err(Error::new(Kind::Malformed, self.offset(), "c1 is not a MessagePack marker"))
            }
            _ => Err(Error::new(Kind::Type, self.offset(), "a key that is neither text nor a whole number")),
        }
    }

    fn array(&mut self, start: usize, depth: usize) -> Result<Value, Error> {
        let depth = limits::deeper(depth, start)?;
        let n = decode::read_array_len(&mut self.rest).map_err(|_| self.truncated())?;
        self.budget.container(start)?;
        let mut items = Vec::with_capacity(MAX_RESERVE.min(n as usize));
        for _ in 0..n {
            items.push(self.value(depth)?);
        }
        Ok(Value::Array(items))
    }

    fn map(&mut self, start: usize, depth: usize) -> Result<Value, Error> {
        let depth = limits::deeper(depth, start)?;
        let n = decode::read_map_len(&mut self.rest).map_err(|_| self.truncated())?;
        self.budget.container(start)?;
        let mut entries = Entries::with_room(n as usize);
        for _ in 0..n {
            let start = self.offset();
            let key = self.key()?;
            self.budget.content(key.len(), start)?;
            if !entries.is_new(&key) {
                return Err(Error::new(Kind::Malformed, start, DUPLICATE_KEY));
            }
            entries.push(key.into_owned(), self.value(depth)?);
        }
        Ok(entries.into_value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(bytes: &[u8]) -> (Kind, usize) {
        let e = Msgpack.decode(bytes).unwrap_err();
        (e.kind(), e.offset().unwrap())
    }

    fn bytes_of(value: &Value) -> Vec<u8> {
        let mut out = Vec::new();
        Msgpack.encode(value, &mut out).unwrap();
        out
    }

    #[test]
    fn values_take_their_smallest_form() {
        assert_eq!(bytes_of(&Value::U64(127)), [0x7f]);
        assert_eq!(bytes_of(&Value::U64(128)), [0xcc, 128]);
        assert_eq!(bytes_of(&Value::I64(-32)), [0xe0]);
        assert_eq!(bytes_of(&Value::F64(23.5)), [0xca, 0x41, 0xbc, 0, 0]);
        assert_eq!(bytes_of(&Value::F64(2.0)), [0xca, 0x40, 0, 0, 0]);
        assert_eq!(bytes_of(&Value::F64(1.03)).len(), 9);
        assert_eq!(bytes_of(&Value::F64(f64::NAN)).len(), 5);
        assert_eq!(bytes_of(&Value::Text("a".repeat(32))).len(), 34);
    }

    #[test]
    fn errors_have_their_kind_and_offset() {
        assert_eq!(error_of(&[]), (Kind::Truncated, 0));
        assert_eq!(error_of(&[0xa5, b'a', 0xff]), (Kind::Truncated, 3));
        assert_eq!(error_of(&[0x92, 1, 0xa1, 0xff]), (Kind::Malformed, 2));
        assert_eq!(error_of(&[0x91, 0xc1]), (Kind::Malformed, 1));
        assert_eq!(error_of(&[0x01, 0x02]), (Kind::Malformed, 1));
        assert_eq!(error_of(&[0x82, 0xa1, b'a', 1, 0xa1, b'a', 2]), (Kind::Malformed, 4));
        assert_eq!(error_of(&[0x81, 0xc3, 0x02]), (Kind::Type, 1));
        assert_eq!(error_of(&[0x82, 0x01, 0x02, 0xa1, b'1', 0x03]), (Kind::Malformed, 3), "1 and \"1\"");
        assert_eq!(error_of(&[0x91, 0xd6, 0x01, 0, 0, 0, 0]), (Kind::Type, 1), "an extension type");
        assert_eq!(error_of(&[0x91, 0xd6, 0xff, 0, 0, 0]), (Kind::Truncated, 6));
        assert_eq!(error_of(&[0x91, 0xd5, 0xff, 0, 0]), (Kind::Malformed, 1), "a timestamp of 2 bytes");
        assert_eq!(
            error_of(&[0xd7, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]),
            (Kind::Malformed, 0),
            "nanoseconds"
        );
        let far = [&[0xc7, 12, 0xff, 0, 0, 0, 0, 0x7f][..], &[0xff; 7]].concat();
        assert_eq!(error_of(&far), (Kind::Range, 0));
        assert_eq!(error_of(&[0x91; 40]), (Kind::Limit, 32));
        assert_eq!(error_of(&vec![0; (1 << 20) + 1]), (Kind::Limit, 1 << 20));
    }

    /// The three forms of the specification.
    #[test]
    fn timestamps_are_the_text_that_json_has_for_them() {
        for (bytes, text) in [
            (&[0xd6, 0xff, 0x5a, 0x4a, 0xf6, 0xa5][..], "2018-01-02T03:04:05Z"),
            (&[0xd7, 0xff, 0xeb, 0xbf, 0xfe, 0x48, 0x5a, 0x4a, 0xf6, 0xa5], "2018-01-02T03:04:05.988807058Z"),
            (&[0xd7, 0xff, 0x77, 0x35, 0x94, 0x01, 0, 0, 0, 0], "2106-02-07T06:28:16.500Z"),
            (
                &[0xc7, 12, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
                "1969-12-31T23:59:59Z",
            ),
        ] {
            assert_eq!(Msgpack.decode(bytes).unwrap(), Value::from(text));
        }
    }

    #[test]
    fn a_length_that_lies_reserves_nothing() {
        assert_eq!(error_of(&[0xdd, 0xff, 0xff, 0xff, 0xff]), (Kind::Truncated, 5));
        assert_eq!(error_of(&[0xdf, 0xff, 0xff, 0xff, 0xff]), (Kind::Truncated, 5));
        assert_eq!(error_of(&[0xc6, 0xff, 0xff, 0xff, 0xff]), (Kind::Truncated, 5));
    }
}
