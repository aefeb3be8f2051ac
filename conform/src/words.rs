//! Formats values in a line, as README.md describes.

use crate::notation::unhex;
use dunnage_pson::Value;
use std::fmt::Write;

/// Appends `bytes` in hex.
pub fn hex(out: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        out.push(char::from(DIGITS[usize::from(byte >> 4)]));
        out.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}

/// Appends a word: `kind`, followed by `bytes` in hex.
pub fn chars(out: &mut String, kind: char, bytes: &[u8]) {
    out.push(kind);
    hex(out, bytes);
}

/// Appends a number, as an integer if it is whole and within the range of PSON integers.
pub fn float(out: &mut String, f: f64) {
    let bits = if f.is_nan() { 0x7ff8_0000_0000_0000 } else { f.to_bits() };
    match Value::F64(f).as_integer() {
        Some(integer) => number(out, 'i', integer),
        None => write!(out, "d{bits:016x}").unwrap_or_default(),
    }
}

/// Appends a word: `kind`, followed by a decimal number.
pub fn number(out: &mut String, kind: char, n: impl std::fmt::Display) {
    write!(out, "{kind}{n}").unwrap_or_default();
}

/// Appends a value, with a space before each word. If it is to be `encoded`, numbers keep their type.
pub fn value(out: &mut String, value: &Value, encoded: bool) {
    out.push(' ');
    match value {
        Value::Null => out.push('n'),
        Value::Bool(b) => out.push(if *b { 't' } else { 'f' }),
        Value::U64(n) => number(out, 'i', n),
        Value::I64(n) => number(out, 'i', n),
        Value::F64(f) if encoded => write!(out, "d{:016x}", f.to_bits()).unwrap_or_default(),
        Value::F64(f) => float(out, *f),
        Value::Text(text) => chars(out, 's', text.as_bytes()),
        Value::Bytes(bytes) => chars(out, 'b', bytes),
        Value::Array(elements) => {
            number(out, 'a', elements.len());
            elements.iter().for_each(|element| self::value(out, element, encoded));
        }
        Value::Map(entries) => {
            number(out, 'm', entries.len());
            for (key, value) in entries {
                out.push(' ');
                chars(out, 's', key.as_bytes());
                self::value(out, value, encoded);
            }
        }
    }
}

/// Reads a value from the front of its words. Returns `None` if they are not a value.
pub fn parse<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<Value> {
    let (kind, rest) = words.next()?.split_at_checked(1)?;
    let text = |hex: &str| String::from_utf8(unhex(hex).ok()?).ok();
    Some(match kind {
        "n" => Value::Null,
        "t" => Value::Bool(true),
        "f" => Value::Bool(false),
        "i" => rest.parse().map(Value::U64).or_else(|_| rest.parse::<i64>().map(Value::from)).ok()?,
        "d" => Value::F64(f64::from_bits(u64::from_str_radix(rest, 16).ok()?)),
        "s" => Value::Text(text(rest)?),
        "b" => Value::Bytes(unhex(rest).ok()?),
        "a" => Value::Array((0..rest.parse().ok()?).map(|_| parse(words)).collect::<Option<_>>()?),
        "m" => {
            let mut entry = |_: usize| match parse(words)? {
                Value::Text(key) => Some((key, parse(words)?)),
                _ => None,
            };
            Value::Map((0..rest.parse().ok()?).map(&mut entry).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}
