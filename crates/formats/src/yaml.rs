//! YAML 1.2, one document, written in block style.

use crate::entries::Entries;
use crate::limits::{self, MAX_DEPTH};
use crate::{Budget, DUPLICATE_KEY, Error, Format, Kind, Numbers, Reception, Value};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_saphyr::granit_parser::{self, ErrorKind, Event, Marker, Parser, ScalarStyle, ScanError, StrInput};
use serde_saphyr::ser_options;

/// YAML 1.2, one document, written in block style.
///
/// - Scalars are resolved by the core schema (section 10.3.2): plain `12`, `0x1f`, `1e3`, `.inf`, `true`, `null`, `~` are numbers, booleans
///   and null; everything quoted is text, and so are plain `yes` and `no`. Text that a reader of YAML 1.1 or 1.2 could read as another type
///   is written in quotes.
/// - Numbers are as exact as in JSON. NaN and infinities are `.nan`, `.inf` and `-.inf`.
/// - Aliases are rejected, so a message cannot expand. Aliases, tags and keys that are not text are `type` errors. Bytes would need a tag,
///   so writing them is a `type` error. A duplicate key is `malformed`.
/// - A truncated text can be a valid message: only a construct that is visibly open is `truncated`.
///
/// ```
/// use dunnage_formats::{Format, Kind, Value, Yaml};
///
/// let message = Yaml.decode(b"sensor: hold 2\ncelsius: 23.5\n")?;
/// assert_eq!(message.get("celsius"), Some(&Value::F64(23.5)));
/// let error = Yaml.decode(b"&a [*a]").unwrap_err(); // no aliases: they could expand without limit
/// assert_eq!(error.kind(), Kind::Type);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Yaml;

impl Format for Yaml {
    fn encode(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        limits::bounded(out, |out| {
            check(message, 0)?;
            // Write text in quotes on one line: block scalars can lose line breaks in too many ways.
            let options = ser_options! { prefer_block_scalars: false };
            let text = serde_saphyr::to_string_with_options(&Node(message), options)
                .map_err(|e| Error::new(Kind::Malformed, 0, e.to_string()))?;
            out.extend_from_slice(text.as_bytes());
            Ok(())
        })
    }

    fn decode_from(&self, bytes: &[u8], reception: &Reception<'_>) -> Result<Value, Error> {
        limits::check_size(bytes)?;
        let text = limits::text(bytes)?;
        let options =
            granit_parser::options! { flow_nesting_limit: MAX_DEPTH, block_nesting_limit: MAX_DEPTH };
        let parser = Parser::new_from_str_with_options(text, options);
        Reader { len: bytes.len(), parser, budget: &reception.budget(), numbers: reception.numbers }.message()
    }
}

fn check(value: &Value, depth: usize) -> Result<(), Error> {
    match value {
        Value::Bytes(_) => Err(Error::new(Kind::Type, 0, "YAML has no bytes without tags")),
        Value::Array(items) => {
            let depth = limits::deeper(depth, 0)?;
            items.iter().enumerate().try_for_each(|(at, item)| check(item, depth).map_err(|e| e.at_index(at)))
        }
        Value::Map(entries) => {
            let depth = limits::deeper(depth, 0)?;
            entries.iter().try_for_each(|(key, value)| check(value, depth).map_err(|e| e.under(key)))
        }
        _ => Ok(()),
    }
}

struct Node<'a>(&'a Value);

impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(b) => serializer.serialize_bool(*b),
            Value::U64(n) => serializer.serialize_u64(*n),
            Value::I64(n) => serializer.serialize_i64(*n),
            Value::F64(f) => serializer.serialize_f64(*f),
            Value::Text(text) => serializer.serialize_str(text),
            Value::Bytes(bytes) => serializer.serialize_bytes(bytes),
            Value::Array(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|item| list.serialize_element(&Node(item)))?;
                list.end()
            }
            Value::Map(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                entries.iter().try_for_each(|(key, value)| map.serialize_entry(key, &Node(value)))?;
                map.end()
            }
        }
    }
}

struct Reader<'a> {
    len: usize,
    parser: Parser<'a, StrInput<'a>>,
    budget: &'a Budget,
    numbers: Numbers<'a>,
}

impl<'a> Reader<'a> {
    fn message(&mut self) -> Result<Value, Error> {
        let (first, offset) = loop {
            match self.event()? {
                (Event::StreamStart | Event::DocumentStart(..), _) => {}
                (Event::StreamEnd, _) => return Err(self.truncated()),
                first => break first,
            }
        };
        let value = self.value(first, offset, 0)?;
        loop {
            match self.event()? {
                (Event::DocumentEnd, _) => {}
                (Event::StreamEnd, _) => return Ok(value),
                (_, offset) => return Err(malformed(offset, "a second document")),
            }
        }
    }

    /// Returns the next event and its offset.
    fn event(&mut self) -> Result<(Event<'a>, usize), Error> {
        match self.parser.next() {
            Some(Ok((event, span))) => Ok((event, self.offset(&span.start))),
            Some(Err(e)) => Err(self.error(&e)),
            None => Err(self.truncated()),
        }
    }

    fn value(&mut self, event: Event<'a>, offset: usize, depth: usize) -> Result<Value, Error> {
        self.budget.value(offset)?;
        match event {
            Event::SequenceStart(_, _, None) => {
                let depth = limits::deeper(depth, offset)?;
                self.budget.container(offset)?;
                let mut items = Vec::new();
                loop {
                    match self.event()? {
                        (Event::SequenceEnd, _) => return Ok(Value::Array(items)),
                        (event, offset) => items.push(self.value(event, offset, depth)?),
                    }
                }
            }
            Event::MappingStart(_, _, None) => self.map(offset, depth),
            Event::SequenceStart(..) | Event::MappingStart(..) => Err(tagged(offset)),
            scalar => self.scalar(scalar, offset),
        }
    }

    /// Reads a scalar and charges the budget only for its content, because a key does not count as a value.
    fn scalar(&self, event: Event<'a>, offset: usize) -> Result<Value, Error> {
        let value = match event {
            Event::Scalar(text, ScalarStyle::Plain, _, None) => plain(&text, offset, self.numbers)?,
            Event::Scalar(text, _, _, None) => Value::Text(text.into_owned()),
            Event::Scalar(..) => return Err(tagged(offset)),
            Event::Alias(_) => return Err(Error::new(Kind::Type, offset, "aliases are not supported")),
            _ => return Err(malformed(offset, "not a value")),
        };
        if let Value::Text(text) = &value {
            self.budget.content(text.len(), offset)?;
        }
        Ok(value)
    }

    fn map(&mut self, offset: usize, depth: usize) -> Result<Value, Error> {
        let depth = limits::deeper(depth, offset)?;
        self.budget.container(offset)?;
        let mut entries = Entries::default();
        loop {
            let (event, offset) = self.event()?;
            if event == Event::MappingEnd {
                return Ok(entries.into_value());
            }
            let Value::Text(key) = self.key(event, offset)? else {
                return Err(Error::new(Kind::Type, offset, "a key that is not text"));
            };
            if !entries.is_new(&key) {
                return Err(malformed(offset, DUPLICATE_KEY));
            }
            let (event, offset) = self.event()?;
            entries.push(key, self.value(event, offset, depth)?);
        }
    }

    /// Reads a key as a value. A collection becomes null, because the caller rejects it.
    fn key(&mut self, event: Event<'a>, offset: usize) -> Result<Value, Error> {
        match event {
            Event::SequenceStart(..) | Event::MappingStart(..) => Ok(Value::Null),
            scalar => self.scalar(scalar, offset),
        }
    }

    fn offset(&self, marker: &Marker) -> usize {
        marker.byte_offset().unwrap_or(self.len)
    }

    fn truncated(&self) -> Error {
        Error::new(Kind::Truncated, self.len, "the text ends before the message does")
    }

    fn error(&self, e: &ScanError) -> Error {
        let offset = self.offset(e.marker());
        match e.kind() {
            ErrorKind::UnexpectedEof
            | ErrorKind::UnexpectedEofFlowSequence
            | ErrorKind::UnexpectedEofFlowMapping
            | ErrorKind::UnexpectedEofImplicitFlowMapping
            | ErrorKind::UnexpectedEofBlockSequence
            | ErrorKind::UnexpectedEofBlockMapping
            | ErrorKind::UnclosedFlowCollection { .. }
            | ErrorKind::UnclosedQuotedScalar => self.truncated(),
            ErrorKind::RecursionLimitExceeded => Error::new(Kind::Limit, offset, "nested too deep"),
            ErrorKind::UnknownAnchor => Error::new(Kind::Type, offset, "aliases are not supported"),
            _ => malformed(offset, e.kind()),
        }
    }
}

fn tagged(offset: usize) -> Error {
    Error::new(Kind::Type, offset, "tags are not supported")
}

fn malformed(offset: usize, reason: impl std::fmt::Display) -> Error {
    Error::new(Kind::Malformed, offset, reason.to_string())
}

/// Resolves a plain scalar by the core schema.
fn plain(text: &str, offset: usize, numbers: Numbers<'_>) -> Result<Value, Error> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Value::Null),
        "true" | "True" | "TRUE" => return Ok(Value::Bool(true)),
        "false" | "False" | "FALSE" => return Ok(Value::Bool(false)),
        ".nan" | ".NaN" | ".NAN" => return Ok(Value::F64(f64::NAN)),
        _ => {}
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        let infinity = if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY };
        return Ok(Value::F64(infinity));
    }
    let radix = |digits, radix| {
        let too_large = |_| Error::new(Kind::Range, offset, "64 bits do not hold this integer");
        u64::from_str_radix(digits, radix).map(Value::U64).map_err(too_large)
    };
    if let Some(digits) = text.strip_prefix("0x").filter(|d| is_run(d, 16)) {
        radix(digits, 16)
    } else if let Some(digits) = text.strip_prefix("0o").filter(|d| is_run(d, 8)) {
        radix(digits, 8)
    } else if is_run(unsigned, 10) {
        let digits = unsigned.trim_start_matches('0');
        let sign = if text.starts_with('-') { "-" } else { "" };
        numbers.parse(&format!("{sign}{}", if digits.is_empty() { "0" } else { digits }), offset)
    } else if is_float(unsigned) {
        numbers.parse(text, offset)
    } else {
        Ok(Value::from(text))
    }
}

fn is_run(digits: &str, radix: u32) -> bool {
    !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix))
}

/// Whether `text` matches `(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`.
fn is_float(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.strip_prefix(['+', '-']).unwrap_or(exponent)),
        None => (text, "0"),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    is_run(exponent, 10) && digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty())
}

#[cfg(test)]
mod tests;
