//! Formats values in a line, as README.md describes.

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
