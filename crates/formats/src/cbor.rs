//! CBOR (RFC 8949).
//!
//! - Written in preferred serialization (section 4.1): the shortest integers, lengths and floats, binary16 included,
//!   that are exact. (Many encoders always write binary64.) Floats stay floats: 2.0 is not written as an integer.
//!   Maps keep their order.
//! - Read: also indefinite lengths and longer forms. `undefined` is read as null, as section 6.1 has it. The tag
//!   55799, "this is CBOR", may stand first and is skipped. Times, bignums, decimal fractions and what else JSON has text
//!   or a number for are read as that (`spec/formats.md`, "Times and other types"). Other tags and simple values are
//!   `type` errors, and so are keys that are not text. A key that stands twice is `malformed`.

use crate::entries::Entries;
use crate::limits::{self, MAX_RESERVE};
use crate::{Error, Format, Kind, Value, number};
use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use half::f16;
use minicbor::data::Type;
use minicbor::{Decoder, Encoder};

/// "This is CBOR", RFC 8949, section 3.4.6.
const SELF_DESCRIBED: u64 = 55799;

/// CBOR.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cbor;

/// The text key that an integer key stands for; `None` if it stands for nothing that is known.
type Labels = fn(i128) -> Option<&'static str>;

impl Cbor {
    /// The message that `bytes` are, where integer keys of maps stand for the text of `labels`. An integer that it does not
    /// know is left out with its value.
    pub(crate) fn decode_labelled(self, bytes: &[u8], labels: Labels) -> Result<Value, Error> {
        read(bytes, Some(labels))
    }
}

impl Format for Cbor {
    fn encode(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        limits::bounded(out, |out| write(message, &mut Encoder::new(out), 0))
    }

    fn decode(&self, bytes: &[u8]) -> Result<Value, Error> {
        read(bytes, None)
    }
}

fn read(bytes: &[u8], labels: Option<Labels>) -> Result<Value, Error> {
    limits::check_size(bytes)?;
    let mut reader = Reader { decoder: Decoder::new(bytes), labels };
    reader.skip_self_description()?;
    let value = reader.value(0)?;
    let end = reader.decoder.position();
    if end < bytes.len() {
        return Err(Error::new(Kind::Malformed, end, "bytes after the message"));
    }
    Ok(value)
}

type Out<'a> = Encoder<&'a mut Vec<u8>>;

fn write(value: &Value, out: &mut Out<'_>, depth: usize) -> Result<(), Error> {
    match value {
        Value::Null => out.null(),
        Value::Bool(b) => out.bool(*b),
        Value::U64(n) => out.u64(*n),
        Value::I64(n) => out.i64(*n),
        Value::F64(f) => match number::single(*f) {
            Some(single) if f16::from_f32(single).to_f32() == single || f.is_nan() => out.f16(single),
            Some(single) => out.f32(single),
            None => out.f64(*f),
        },
        Value::Text(text) => out.str(text),
        Value::Bytes(bytes) => out.bytes(bytes),
        Value::Array(items) => {
            let depth = limits::deeper(depth, 0)?;
            out.array(items.len() as u64).map_err(unwritable)?;
            return items.iter().try_for_each(|item| write(item, out, depth));
        }
        Value::Map(entries) => {
            let depth = limits::deeper(depth, 0)?;
            out.map(entries.len() as u64).map_err(unwritable)?;
            return entries.iter().try_for_each(|(key, value)| {
                out.str(key).map_err(unwritable)?;
                write(value, out, depth)
            });
        }
    }
    .map(drop)
    .map_err(unwritable)
}

fn unwritable(e: impl std::fmt::Display) -> Error {
    Error::new(Kind::Truncated, 0, e.to_string())
}

struct Reader<'a> {
    decoder: Decoder<'a>,
    labels: Option<Labels>,
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
        if let Some(text) = self.short_text() {
            return Ok(Value::Text(text.into()));
        }
        let start = self.decoder.position();
        match self.datatype()? {
            Type::Null => self.decoder.null().map(|()| Value::Null),
            Type::Undefined => self.decoder.undefined().map(|()| Value::Null),
            Type::Bool => self.decoder.bool().map(Value::Bool),
            Type::U8 | Type::U16 | Type::U32 | Type::U64 => self.decoder.u64().map(Value::U64),
            Type::I8 | Type::I16 | Type::I32 | Type::I64 | Type::Int => return self.negative(start),
            Type::F16 | Type::F32 | Type::F64 => self.decoder.f64().map(Value::F64),
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
        integer(n.into(), start)
    }

    /// The text that comes next, if its length stands in its first byte: most keys and texts. Anything else, and what is wrong
    /// with it, is left to the decoder, which takes twice as many instructions.
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
        match kind {
            Type::String => self.decoder.str().map(String::from),
            _ => self.decoder.str_iter().and_then(Iterator::collect),
        }
        .map_err(|e| self.error(&e, start))
    }

    fn bytes(&mut self, start: usize) -> Result<Vec<u8>, Error> {
        let chunks = self.decoder.bytes_iter().and_then(Iterator::collect::<Result<Vec<_>, _>>);
        chunks.map(|chunks| chunks.concat()).map_err(|e| self.error(&e, start))
    }

    fn array(&mut self, start: usize, depth: usize) -> Result<Value, Error> {
        let depth = limits::deeper(depth, start)?;
        let mut announced = self.decoder.array().map_err(|e| self.error(&e, start))?;
        let mut items = Vec::with_capacity(room(announced));
        while self.has_more(&mut announced)? {
            items.push(self.value(depth)?);
        }
        Ok(Value::Array(items))
    }

    fn map(&mut self, start: usize, depth: usize) -> Result<Value, Error> {
        let depth = limits::deeper(depth, start)?;
        let mut announced = self.decoder.map().map_err(|e| self.error(&e, start))?;
        let mut entries = Entries::with_room(room(announced));
        while self.has_more(&mut announced)? {
            let start = self.decoder.position();
            let key = match self.short_text() {
                Some(key) => key.to_owned(),
                None => match self.datatype()? {
                    kind @ (Type::String | Type::StringIndef) => self.text(kind, start)?,
                    Type::Break | Type::Unknown(_) => return Err(malformed(start, "not a key")),
                    kind if is_integer(kind) && self.labels.is_some() => match self.label(start)? {
                        Some(label) => label.to_owned(),
                        None => {
                            self.value(depth)?;
                            continue;
                        }
                    },
                    _ => return Err(Error::new(Kind::Type, start, "a key that is not text")),
                },
            };
            if !entries.is_new(&key) {
                return Err(malformed(start, "this key stands twice"));
            }
            entries.push(key, self.value(depth)?);
        }
        Ok(entries.into_value())
    }

    /// What the integer key that comes next stands for.
    fn label(&mut self, start: usize) -> Result<Option<&'static str>, Error> {
        let number = self.decoder.int().map_err(|e| self.error(&e, start))?;
        Ok(self.labels.and_then(|labels| labels(number.into())))
    }

    /// Whether another element follows: of those announced, or before the break.
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

    /// What JSON would have in the place of a tag's content.
    fn tagged(&mut self, start: usize) -> Result<Value, Error> {
        let tag = self.decoder.tag().map_err(|e| self.error(&e, start))?.as_u64();
        let content = self.decoder.position();
        match tag {
            // Times, URIs, base64, regular expressions, MIME, dates: text.
            0 | 32..=36 | 1004 => match self.datatype()? {
                kind @ (Type::String | Type::StringIndef) => self.text(kind, content).map(Value::Text),
                _ => Err(malformed(content, &format!("the content of tag {tag} is text"))),
            },
            // Seconds and days since 1970.
            1 | 100 => match self.datatype()? {
                Type::U8 | Type::U16 | Type::U32 | Type::U64 => {
                    self.decoder.u64().map(Value::U64).map_err(|e| self.error(&e, content))
                }
                Type::F16 | Type::F32 | Type::F64 => {
                    self.decoder.f64().map(Value::F64).map_err(|e| self.error(&e, content))
                }
                Type::I8 | Type::I16 | Type::I32 | Type::I64 | Type::Int => self.negative(content),
                _ => Err(malformed(content, &format!("the content of tag {tag} is a number"))),
            },
            2 | 3 => self.bignum(tag, start),
            4 => self.decimal_fraction(start),
            5 => Err(Error::new(
                Kind::Type,
                start,
                "bigfloats (tag 5) are not supported; send a float, or a decimal fraction (tag 4)",
            )),
            21 => Ok(Value::Text(BASE64_URL_SAFE_NO_PAD.encode(self.content_bytes(tag)?))),
            22 => Ok(Value::Text(BASE64_STANDARD.encode(self.content_bytes(tag)?))),
            23 => {
                Ok(Value::Text(self.content_bytes(tag)?.iter().map(|byte| format!("{byte:02X}")).collect()))
            }
            37 => uuid(&self.content_bytes(tag)?)
                .ok_or_else(|| malformed(content, "a UUID (tag 37) has 16 bytes")),
            _ => Err(Error::new(Kind::Type, start, format!("tag {tag} is not supported"))),
        }
    }

    fn content_bytes(&mut self, tag: u64) -> Result<Vec<u8>, Error> {
        let content = self.decoder.position();
        match self.datatype()? {
            Type::Bytes | Type::BytesIndef => self.bytes(content),
            _ => Err(malformed(content, &format!("the content of tag {tag} is bytes"))),
        }
    }

    fn bignum(&mut self, tag: u64, start: usize) -> Result<Value, Error> {
        let magnitude = self.content_bytes(tag)?;
        let zeros = magnitude.iter().take_while(|b| **b == 0).count();
        let digits = &magnitude[zeros..];
        if digits.len() > 15 {
            return Err(not_exact(start));
        }
        let n = digits.iter().fold(0, |n: i128, b| n << 8 | i128::from(*b));
        integer(if tag == 2 { n } else { -1 - n }, start)
    }

    /// The number that has as many decimals as its exponent says: the integer m * 10^e, or what JSON's text for it is.
    fn decimal_fraction(&mut self, start: usize) -> Result<Value, Error> {
        let content = self.decoder.position();
        let reason = "a decimal fraction (tag 4) is an array of two integers of at most 64 bits";
        if !matches!(self.datatype()?, Type::Array | Type::ArrayIndef) {
            return Err(malformed(content, reason));
        }
        let mut announced = self.decoder.array().map_err(|e| self.error(&e, content))?;
        let mut parts = [0i128; 2];
        for part in &mut parts {
            let at = self.decoder.position();
            if !self.has_more(&mut announced)? || !is_integer(self.datatype()?) {
                return Err(malformed(at, reason));
            }
            *part = self.decoder.int().map_err(|e| self.error(&e, at))?.into();
        }
        if self.has_more(&mut announced)? {
            return Err(malformed(content, reason));
        }
        let [exponent, mantissa] = parts;
        let scaled = u32::try_from(exponent).ok().and_then(|e| mantissa.checked_mul(10i128.checked_pow(e)?));
        match scaled.filter(|n| (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(n)) {
            Some(n) => integer(n, start),
            None => number::parse(&format!("{mantissa}e{exponent}"), start),
        }
    }

    fn simple(&mut self, start: usize) -> Result<Value, Error> {
        let n = self.decoder.simple().map_err(|e| self.error(&e, start))?;
        if n < 32 && self.decoder.position() - start == 2 {
            return Err(malformed(start, "a simple value below 32 takes one byte"));
        }
        Err(Error::new(Kind::Type, start, format!("simple value {n} is not supported")))
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

/// The text of a UUID (RFC 9562, section 4).
fn uuid(bytes: &[u8]) -> Option<Value> {
    let n = u128::from_be_bytes(bytes.try_into().ok()?);
    let hex = format!("{n:032x}");
    let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
    Some(Value::Text(parts.join("-")))
}

fn malformed(offset: usize, reason: &str) -> Error {
    Error::new(Kind::Malformed, offset, reason)
}

fn not_exact(offset: usize) -> Error {
    Error::new(Kind::Range, offset, "neither 64 bits nor a binary64 hold this integer exactly")
}

fn room(announced: Option<u64>) -> usize {
    announced.map_or(0, |n| n.min(MAX_RESERVE as u64) as usize)
}

fn integer(n: i128, start: usize) -> Result<Value, Error> {
    if let Ok(n) = u64::try_from(n) {
        return Ok(Value::U64(n));
    }
    if let Ok(n) = i64::try_from(n) {
        return Ok(Value::I64(n));
    }
    let f = n as f64;
    if f as i128 == n { Ok(Value::F64(f)) } else { Err(not_exact(start)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<u8> = text.bytes().filter(|b| *b != b' ').collect();
        digits.chunks(2).map(|d| u8::from_str_radix(str::from_utf8(d).unwrap(), 16).unwrap()).collect()
    }

    fn value_of(text: &str) -> Value {
        Cbor.decode(&hex(text)).unwrap()
    }

    fn error_of(text: &str) -> (Kind, usize) {
        let e = Cbor.decode(&hex(text)).unwrap_err();
        (e.kind(), e.offset())
    }

    fn bytes_of(value: &Value) -> Vec<u8> {
        let mut out = Vec::new();
        Cbor.encode(value, &mut out).unwrap();
        out
    }

    /// RFC 8949, appendix A.
    #[test]
    fn the_examples_of_the_rfc_are_written_and_read() {
        for (value, bytes) in [
            (Value::U64(0), "00"),
            (Value::U64(1_000_000), "1a 000f4240"),
            (Value::U64(u64::MAX), "1b ffffffffffffffff"),
            (Value::I64(-1000), "39 03e7"),
            (Value::I64(i64::MIN), "3b 7fffffffffffffff"),
            (Value::F64(-0.0), "f9 8000"),
            (Value::F64(1.0), "f9 3c00"),
            (Value::F64(1.1), "fb 3ff199999999999a"),
            (Value::F64(65504.0), "f9 7bff"),
            (Value::F64(100000.0), "fa 47c35000"),
            (Value::F64(5.960464477539063e-8), "f9 0001"),
            (Value::F64(1.0e+300), "fb 7e37e43c8800759c"),
            (Value::F64(f64::INFINITY), "f9 7c00"),
            (Value::F64(f64::NAN), "f9 7e00"),
            (Value::from("\u{6c34}"), "63 e6b0b4"),
            (Value::Bytes(vec![1, 2, 3, 4]), "44 01020304"),
            (Value::Array(vec![Value::U64(1), Value::Array(vec![Value::U64(2)])]), "82 01 81 02"),
            (Value::Map(vec![("a".into(), Value::from("A"))]), "a1 61 61 61 41"),
        ] {
            assert_eq!(bytes_of(&value), hex(bytes), "{value:?}");
            assert_eq!(value_of(bytes), value, "{bytes}");
        }
    }

    #[test]
    fn other_encoders_forms_are_read() {
        assert_eq!(value_of("fb 3ff0000000000000"), Value::F64(1.0));
        assert_eq!(value_of("1b 0000000000000001"), Value::U64(1));
        assert_eq!(value_of("7f 65 7374726561 64 6d696e67 ff"), Value::from("streaming"));
        assert_eq!(value_of("5f 42 0102 43 030405 ff"), Value::Bytes(vec![1, 2, 3, 4, 5]));
        assert_eq!(value_of("bf 61 61 9f 01 ff ff"), value_of("a1 61 61 81 01"));
        assert_eq!(value_of("f7"), Value::Null);
        assert_eq!(value_of("d9 d9f7 01"), Value::U64(1));
        assert_eq!(value_of("c2 43 000001"), Value::U64(1));
        assert_eq!(value_of("c2 49 010000000000000000"), Value::F64(18446744073709551616.0));
        assert_eq!(value_of("c3 41 00"), Value::I64(-1));
        assert_eq!(value_of("3b ffffffffffffffff"), Value::F64(-18446744073709551616.0));
    }

    /// The first six are of RFC 8949, appendix A and sections 3.4.4 and 3.4.5.
    #[test]
    fn tags_are_read_as_the_text_or_number_that_json_has() {
        for (bytes, value) in [
            ("c0 74 323031332d30332d32315432303a30343a30305a", Value::from("2013-03-21T20:04:00Z")),
            ("c1 1a 514b67b0", Value::U64(1_363_896_240)),
            ("c1 fb 41d452d9ec200000", Value::F64(1_363_896_240.5)),
            ("d7 44 01020304", Value::from("01020304")),
            ("d8 20 76 687474703a2f2f7777772e6578616d706c652e636f6d", Value::from("http://www.example.com")),
            ("c4 82 21 19 6ab3", Value::F64(273.15)),
            ("c1 20", Value::I64(-1)),
            ("c4 82 02 05", Value::U64(500)),
            ("c4 82 00 39 03e7", Value::I64(-1000)),
            ("c4 9f 20 14 ff", Value::F64(2.0)),
            ("c4 82 19 012c 05", Value::F64(5e300)),
            ("c4 82 3b ffffffffffffffff 00", Value::F64(0.0)),
            ("d5 42 fbff", Value::from("-_8")),
            ("d6 42 fbff", Value::from("+/8=")),
            (
                "d8 25 50 f81d4fae7dec11d0a76500a0c91e6bf6",
                Value::from("f81d4fae-7dec-11d0-a765-00a0c91e6bf6"),
            ),
            ("d9 03ec 6a 323032362d30352d3031", Value::from("2026-05-01")),
            ("d8 64 19 5060", Value::U64(20_576)),
        ] {
            assert_eq!(value_of(bytes), value, "{bytes}");
        }
        for malformed in [
            "c0 01",
            "c1 60",
            "c2 01",
            "c4 83 01 01 01",
            "c4 82 01 f9 3c00",
            "c4 81 01",
            "d7 60",
            "d8 25 41 00",
        ] {
            assert_eq!(error_of(malformed).0, Kind::Malformed, "{malformed}");
        }
        for length in 1..6 {
            assert_eq!(error_of(&"c482216ab3"[..2 * length.min(3)]).0, Kind::Truncated);
        }
    }

    #[test]
    fn what_json_has_no_word_for_is_an_error() {
        assert_eq!(error_of("81 c5 82 20 03"), (Kind::Type, 1), "a bigfloat");
        assert_eq!(error_of("81 d8 64 60"), (Kind::Malformed, 3), "days that are text");
        assert_eq!(error_of("81 d8 18 41 00"), (Kind::Type, 1), "CBOR in CBOR");
        assert_eq!(error_of("c4 82 31 1b 0de0b6b3a7640005"), (Kind::Range, 0), "1.000000000000000005");
        assert_eq!(error_of("c4 82 1b ffffffffffffffff 01"), (Kind::Range, 0), "1e18446744073709551615");
        assert_eq!(error_of("a1 01 02"), (Kind::Type, 1));
        assert_eq!(error_of("81 f0"), (Kind::Type, 1));
        assert_eq!(error_of("f8 ff"), (Kind::Type, 0));
        assert_eq!(error_of("c2 49 010000000000000001"), (Kind::Range, 0));
        assert_eq!(error_of("3b 8000000000000000"), (Kind::Range, 0));
        assert_eq!(
            error_of("c2 58 20 ff00000000000000000000000000000000000000000000000000000000000000"),
            (Kind::Range, 0)
        );
    }

    #[test]
    fn errors_have_their_kind_and_offset() {
        assert_eq!(error_of(""), (Kind::Truncated, 0));
        assert_eq!(error_of("65 61"), (Kind::Truncated, 2));
        assert_eq!(error_of("9f 01"), (Kind::Truncated, 2));
        assert_eq!(error_of("7b ffffffffffffffff 61"), (Kind::Truncated, 10));
        assert_eq!(error_of("bb ffffffffffffffff"), (Kind::Truncated, 9));
        assert_eq!(error_of("82 01 62 c328"), (Kind::Malformed, 2));
        assert_eq!(error_of("81 1c"), (Kind::Malformed, 1));
        assert_eq!(error_of("81 ff"), (Kind::Malformed, 1));
        assert_eq!(error_of("f8 18"), (Kind::Malformed, 0));
        assert_eq!(error_of("7f 41 00 ff"), (Kind::Malformed, 1));
        assert_eq!(error_of("00 00"), (Kind::Malformed, 1));
        assert_eq!(error_of("a2 61 61 01 61 61 02"), (Kind::Malformed, 4));
        assert_eq!(error_of(&"81".repeat(40)), (Kind::Limit, 32));
    }
}
