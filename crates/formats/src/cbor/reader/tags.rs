//! Tagged items, read as the text or number that JSON has for them.

use super::{Reader, integer, is_integer, malformed};
use crate::{Error, Kind, Value};
use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use minicbor::data::Type;

impl Reader<'_> {
    /// Reads a tagged item as the text or number that JSON would have in its place.
    pub(super) fn tagged(&mut self, start: usize) -> Result<Value, Error> {
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
            21 => {
                let bytes = self.content_bytes(tag)?;
                self.made(BASE64_URL_SAFE_NO_PAD.encode(bytes), start)
            }
            22 => {
                let bytes = self.content_bytes(tag)?;
                self.made(BASE64_STANDARD.encode(bytes), start)
            }
            23 => {
                let bytes = self.content_bytes(tag)?;
                self.made(bytes.iter().map(|byte| format!("{byte:02X}")).collect(), start)
            }
            37 => uuid(&self.content_bytes(tag)?)
                .ok_or_else(|| malformed(content, "a UUID (tag 37) has 16 bytes")),
            _ => Err(Error::new(Kind::Type, start, format!("tag {tag} is not supported"))),
        }
    }

    /// Charges the budget for text that was made from bytes and is longer than they are.
    fn made(&self, text: String, start: usize) -> Result<Value, Error> {
        self.budget.content(text.len(), start)?;
        Ok(Value::Text(text))
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
            return Err(Error::new(Kind::Range, start, "an integer of more than 120 bits; send it as text"));
        }
        let n = digits.iter().fold(0, |n: i128, b| n << 8 | i128::from(*b));
        integer(if tag == 2 { n } else { -1 - n }, start, self.numbers)
    }

    /// Reads a decimal fraction m * 10^e: as an integer if e is not negative and 64 bits hold it, else as JSON's text of it would be read.
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
            Some(n) => integer(n, start, self.numbers),
            None => self.numbers.parse(&format!("{mantissa}e{exponent}"), start),
        }
    }
}

/// Formats a UUID (RFC 9562, section 4); `None` if `bytes` are not 16.
fn uuid(bytes: &[u8]) -> Option<Value> {
    let n = u128::from_be_bytes(bytes.try_into().ok()?);
    let hex = format!("{n:032x}");
    let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
    Some(Value::Text(parts.join("-")))
}
