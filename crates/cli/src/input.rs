//! What commands read: messages, as bytes or as hex, and schemas.

use crate::failure::Failure;
use dunnage_formats::{Error, Format, Json, Kind, MAX_BYTES, Value};
use dunnage_schema::{Model, SchemaError};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::{
    fs::File,
    io::{self, BufRead, Read},
    path::Path,
};

/// Most bytes of hex text: two digits and a space per byte.
const HEX_LIMIT: usize = 3 * MAX_BYTES;

/// The bytes of the message in `path`, or on stdin when that is `-`.
pub fn message_file(path: &Path) -> Result<Vec<u8>, Failure> {
    if path.as_os_str() == "-" {
        return message(io::stdin().lock(), false);
    }
    let file = File::open(path).map_err(|e| Failure::about(path.display(), e))?;
    message(file, false).map_err(|failure| match failure {
        Failure::Failed(reason) => Failure::about(path.display(), reason),
        other => other,
    })
}

/// All of `source` as one message; `hex` says that it holds hex digits.
pub fn message(source: impl Read, hex: bool) -> Result<Vec<u8>, Failure> {
    let limit = if hex { HEX_LIMIT } else { MAX_BYTES };
    let mut bytes = Vec::new();
    source.take(limit as u64 + 1).read_to_end(&mut bytes).map_err(|e| Failure::about("input", e))?;
    if hex {
        bytes = from_hex(&bytes)?;
    }
    within_limit(&bytes)?;
    Ok(bytes)
}

/// Reads the next line into `line`, without its end. False at the end of the input.
///
/// A line that is too long for a message is cut after the limit, which [`within_limit`] then refuses.
pub fn line(source: &mut impl BufRead, hex: bool, line: &mut Vec<u8>) -> Result<bool, Failure> {
    let limit = if hex { HEX_LIMIT } else { MAX_BYTES } as u64 + 2;
    line.clear();
    let failed = |e| Failure::about("input", e);
    let read = source.by_ref().take(limit).read_until(b'\n', line).map_err(failed)?;
    if line.last() != Some(&b'\n') && read as u64 == limit {
        source.skip_until(b'\n').map_err(failed)?;
    }
    if line.last() == Some(&b'\n') {
        line.pop();
        line.pop_if(|end| *end == b'\r');
    }
    Ok(read > 0)
}

/// Refuses what is longer than a message may be.
pub fn within_limit(bytes: &[u8]) -> Result<(), Error> {
    if bytes.len() > MAX_BYTES {
        return Err(Error::new(Kind::Limit, MAX_BYTES, "a message has at most 1 MiB"));
    }
    Ok(())
}

/// Bytes from hex digits; white space between bytes does not count. Offsets of errors are those of the text.
pub fn from_hex(text: &[u8]) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::with_capacity(text.len() / 2);
    let mut high = None;
    for (offset, &character) in text.iter().enumerate() {
        if character.is_ascii_whitespace() {
            continue;
        }
        let digit = (character as char)
            .to_digit(16)
            .ok_or_else(|| Error::new(Kind::Malformed, offset, "not a hex digit"))? as u8;
        high = match high {
            None => Some(digit),
            Some(high) => {
                bytes.push(high << 4 | digit);
                None
            }
        };
    }
    match high {
        None => Ok(bytes),
        Some(_) => Err(Error::new(Kind::Truncated, text.len(), "the last byte has one hex digit")),
    }
}

/// Two digits a byte, without spaces.
pub fn to_hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |n: u8| char::from(DIGITS[usize::from(n)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// The schema called `name`: one of the bundled ones, or a file.
pub fn schema(name: &str) -> Result<Model, Failure> {
    Model::compile(&schema_text(name)?).map_err(|e| Failure::about(name, schema_reason(&e)))
}

/// `keyword: message at pointer`.
pub fn schema_reason(error: &SchemaError) -> String {
    match error.keyword() {
        "" => error.to_string(),
        keyword => format!("{keyword}: {error}"),
    }
}

/// The text of the schema called `name`: one of the bundled ones, or a file.
pub fn schema_text(name: &str) -> Result<String, Failure> {
    if let Some(text) = dunnage_schema::bundled_named(name) {
        return Ok(text.to_owned());
    }
    std::fs::read_to_string(name).map_err(|e| {
        let bundled: Vec<_> = dunnage_schema::bundled().iter().map(|(name, _)| *name).collect();
        Failure::Failed(format!("schema {name}: {e} (bundled schemas: {})", bundled.join(", ")))
    })
}

/// The messages under `examples` of the schema called `name`.
pub fn schema_examples(name: &str) -> Result<Vec<Value>, Failure> {
    #[derive(Deserialize)]
    struct Schema<'a> {
        #[serde(borrow)]
        examples: Option<&'a RawValue>,
    }
    let text = schema_text(name)?;
    let schema: Schema = serde_json::from_str(&text).map_err(|e| Failure::about(name, e))?;
    let examples = schema.examples.map(|examples| Json.decode(examples.get().as_bytes())).transpose();
    match examples.map_err(|e| Failure::about(format!("examples of {name}"), e))? {
        Some(Value::Array(examples)) => Ok(examples),
        _ => Ok(Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_round_trips_and_ignores_white_space() {
        assert_eq!(from_hex(b"00 7f\nFf").unwrap(), [0, 0x7f, 0xff]);
        assert_eq!(to_hex(&[0, 0x7f, 0xff]), "007fff");
    }

    #[test]
    fn bad_hex_names_its_place() {
        assert_eq!(from_hex(b"00 xy").unwrap_err().offset(), 3);
        assert_eq!(from_hex(b"00f").unwrap_err().kind(), Kind::Truncated);
    }

    #[test]
    fn an_overlong_line_is_refused_and_the_next_one_is_read() {
        let mut text = vec![b' '; MAX_BYTES + 9];
        text.extend_from_slice(b"\n{}\r\n1");
        let (mut source, mut got) = (text.as_slice(), Vec::new());
        assert!(line(&mut source, false, &mut got).unwrap());
        assert_eq!(within_limit(&got).unwrap_err().kind(), Kind::Limit);
        assert!(line(&mut source, false, &mut got).unwrap());
        assert_eq!(got, b"{}");
        assert!(line(&mut source, false, &mut got).unwrap());
        assert_eq!(got, b"1");
        assert!(!line(&mut source, false, &mut got).unwrap());
    }

    #[test]
    fn a_message_of_exactly_the_limit_is_read() {
        assert_eq!(message(&vec![b'1'; MAX_BYTES][..], false).unwrap().len(), MAX_BYTES);
        assert!(message(&vec![b'1'; MAX_BYTES + 1][..], false).is_err());
    }
}
