//! JSON (RFC 8259), compact.

mod foreign;
mod offset;
mod view;

use crate::entries::Entries;
use crate::{Altered, Budget, DUPLICATE_KEY, Error, Format, Kind, Numbers, Reception, Value, limits, number};
use dunnage_schema::json_fault;
use foreign::Replaced;
use jiter::{Jiter, JiterError, JiterErrorType, JsonErrorType, Peek};
pub use offset::offset_of;
pub use view::view;

/// JSON.
///
/// - Numbers keep every digit. Integers outside -2^63 ..= 2^64-1 are read only when a binary64 holds them exactly, and decimals only when
///   the nearest binary64, rounded to as many digits, is that decimal; all others are a `range` error ([spec/formats.md](https://github.com/dunnage/dunnage/blob/main/spec/formats.md), "Numbers in
///   text"). Floats are written as their shortest text. `-0` keeps its sign. NaN and infinities cannot be written: `range`.
/// - JSON has no bytes. Writing them is a `type` error, because an implicit conversion to text would not be reversible.
/// - A duplicate key is `malformed`, and so is an unpaired surrogate.
/// - A byte order mark at the start is ignored.
///
/// ```
/// use dunnage_formats::{Format, Json, Kind, Value};
///
/// let message = Json.decode(br#"{"celsius": 23.50}"#)?;
/// assert_eq!(message.get("celsius"), Some(&Value::F64(23.5)));
/// let mut text = Vec::new();
/// Json.encode(&message, &mut text)?;
/// assert_eq!(text, br#"{"celsius":23.5}"#);
///
/// let error = Json.decode(br#"{"celsius":"#).unwrap_err();
/// assert_eq!((error.kind(), error.offset()), (Kind::Truncated, Some(11)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Json;

impl Json {
    /// Decodes a message as the gateway reads those of devices: a number that no value holds exactly is the nearest binary64.
    ///
    /// # Errors
    /// As those of [`Format::decode`], without the `range` error of a number with too many digits.
    ///
    /// ```
    /// # use dunnage_formats::{Format, Json, Kind, Value};
    /// let text = b"0.10000000000000000001"; // no binary64 keeps these digits
    /// assert_eq!(Json.decode(text).unwrap_err().kind(), Kind::Range);
    /// assert_eq!(Json.decode_sample(text)?, Value::F64(0.1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn decode_sample(&self, bytes: &[u8]) -> Result<Value, Error> {
        let altered = Altered::default();
        self.decode_from(bytes, &Reception { numbers: Numbers::Nearest(&altered), ..Reception::default() })
    }
}

impl Format for Json {
    fn encode(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        limits::bounded(out, |out| write(message, out, 0))
    }

    fn decode_from(&self, bytes: &[u8], reception: &Reception<'_>) -> Result<Value, Error> {
        read(bytes, &reception.budget(), reception.numbers)
    }
}

/// Reads the message in `bytes`; what it allocates is charged to `budget`.
pub(crate) fn read(bytes: &[u8], budget: &Budget, numbers: Numbers<'_>) -> Result<Value, Error> {
    limits::check_size(bytes)?;
    let text = foreign::without_mark(bytes);
    let mark = bytes.len() - text.len();
    let replaced = match numbers {
        Numbers::Lenient(_) => Replaced::of(text),
        _ => None,
    };
    let Some(replaced) = replaced else {
        return read_text(text, budget, numbers).map_err(|e| e.moved(|offset| mark + offset));
    };
    if let Numbers::Lenient(altered) = numbers {
        altered.count_nulls(replaced.nulls.len());
    }
    let read = read_text(&replaced.text, budget, numbers);
    read.map_err(|e| e.moved(|offset| mark + replaced.original(offset)))
}

fn read_text(bytes: &[u8], budget: &Budget, numbers: Numbers<'_>) -> Result<Value, Error> {
    let mut reader = Reader { bytes, jiter: Jiter::new(bytes), budget, numbers };
    let first = reader.jiter.peek().map_err(|e| reader.error(&e))?;
    let value = reader.value(first, 0)?;
    reader.jiter.finish().map_err(|e| reader.error(&e))?;
    Ok(value)
}

fn write(value: &Value, out: &mut Vec<u8>, depth: usize) -> Result<(), Error> {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::U64(n) => number::write_integer(*n, out),
        Value::I64(n) => number::write_integer(*n, out),
        Value::F64(f) => number::write_float(*f, out)?,
        Value::Text(text) => write_text(text, out)?,
        Value::Bytes(_) => return Err(Error::new(Kind::Type, 0, "JSON has no bytes")),
        Value::Array(items) => {
            let depth = limits::deeper(depth, 0)?;
            out.push(b'[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                write(item, out, depth).map_err(|e| e.at_index(i))?;
            }
            out.push(b']');
        }
        Value::Map(entries) => {
            let depth = limits::deeper(depth, 0)?;
            out.push(b'{');
            for (i, (key, value)) in entries.iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                write_text(key, out)?;
                out.push(b':');
                write(value, out, depth).map_err(|e| e.under(key))?;
            }
            out.push(b'}');
        }
    }
    Ok(())
}

/// Appends `text` in quotes, escaping only what JSON requires.
fn write_text(text: &str, out: &mut Vec<u8>) -> Result<(), Error> {
    serde_json::to_writer(out, text).map_err(|e| Error::new(Kind::Malformed, 0, e.to_string()))
}

struct Reader<'a> {
    bytes: &'a [u8],
    jiter: Jiter<'a>,
    budget: &'a Budget,
    numbers: Numbers<'a>,
}

impl Reader<'_> {
    /// Reads the value whose first byte is `first`, at the current index.
    fn value(&mut self, first: Peek, depth: usize) -> Result<Value, Error> {
        let start = self.jiter.current_index();
        self.budget.value(start)?;
        let read = match first {
            Peek::Null => self.jiter.known_null().map(|()| Value::Null),
            Peek::True | Peek::False => self.jiter.known_bool(first).map(Value::Bool),
            Peek::String => return self.text(start),
            Peek::Array => return self.array(depth),
            Peek::Object => return self.object(depth),
            _ => self.jiter.known_number_bytes(first).map(|_| Value::Null),
        };
        match read {
            Ok(_) if first.is_num() => self.number(start, depth),
            Ok(value) => Ok(value),
            Err(e) => Err(self.error(&e)),
        }
    }

    fn text(&mut self, start: usize) -> Result<Value, Error> {
        let budget = self.budget;
        let text = self.jiter.known_str().map(|text| budget.content(text.len(), start).map(|()| text.into()));
        Ok(Value::Text(text.map_err(|e| self.error(&e))??))
    }

    /// Parses the number between `start` and the current index.
    fn number(&self, start: usize, depth: usize) -> Result<Value, Error> {
        let end = self.jiter.current_index();
        // jiter accepts only ASCII in a number.
        let text = str::from_utf8(&self.bytes[start..end]).unwrap_or_default();
        self.numbers.parse(text, start).map_err(|e| match depth > 0 && end == self.bytes.len() {
            // The bytes that were cut off may have held a smaller exponent.
            true => Error::new(Kind::Truncated, end, "the text ends before the message does"),
            false => e,
        })
    }

    fn array(&mut self, depth: usize) -> Result<Value, Error> {
        let start = self.jiter.current_index();
        let depth = limits::deeper(depth, start)?;
        self.budget.container(start)?;
        let mut items = Vec::new();
        let mut next = self.jiter.known_array();
        loop {
            match next {
                Ok(Some(first)) => {
                    let item = self.value(first, depth).map_err(|e| e.at_index(items.len()))?;
                    items.push(item);
                }
                Ok(None) => return Ok(Value::Array(items)),
                Err(e) => return Err(self.error(&e)),
            }
            next = self.jiter.array_step();
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, Error> {
        let mut before_key = self.jiter.current_index();
        let depth = limits::deeper(depth, before_key)?;
        self.budget.container(before_key)?;
        let mut entries = Entries::default();
        let mut key = self.jiter.known_object().map(|key| key.map(String::from));
        loop {
            let this = match key {
                Ok(Some(this)) => this,
                Ok(None) => return Ok(entries.into_value()),
                Err(e) => return Err(self.error(&e)),
            };
            self.budget.content(this.len(), before_key)?;
            if !entries.is_new(&this) {
                // Only white space, a brace or a comma can precede the key's quote.
                let quote = self.bytes[before_key..].iter().position(|b| *b == b'"').unwrap_or(0);
                let twice = Error::new(Kind::Malformed, before_key + quote, DUPLICATE_KEY);
                return Err(twice.under(&this));
            }
            let first = self.jiter.peek().map_err(|e| self.error(&e).under(&this))?;
            let value = self.value(first, depth).map_err(|e| e.under(&this))?;
            entries.push(this, value);
            before_key = self.jiter.current_index();
            key = self.jiter.next_key().map(|key| key.map(String::from));
        }
    }

    fn error(&self, e: &JiterError) -> Error {
        use JsonErrorType::*;
        let JiterErrorType::JsonError(reason) = &e.error_type else {
            return Error::new(Kind::Malformed, e.index, e.error_type.to_string());
        };
        let (kind, offset) = match reason {
            EofWhileParsingString => match fault_in_last_escape(self.bytes) {
                Some(offset) => (Kind::Malformed, offset),
                None => (Kind::Truncated, self.bytes.len()),
            },
            EofWhileParsingList | EofWhileParsingObject | EofWhileParsingValue => {
                (Kind::Truncated, self.bytes.len())
            }
            NumberOutOfRange => (Kind::Range, self.jiter.current_index()),
            // jiter counts positions in the unescaped text, so find the fault in the input itself: all bytes before it are valid UTF-8.
            InvalidUnicodeCodePoint => match str::from_utf8(self.bytes) {
                Ok(_) => (Kind::Malformed, e.index),
                Err(utf8) => (Kind::Malformed, utf8.valid_up_to()),
            },
            _ => (Kind::Malformed, e.index),
        };
        match foreign::name(self.bytes, offset).filter(|_| kind == Kind::Malformed) {
            Some((name, numbers)) => Error::new(kind, offset, name).readable_with(numbers),
            None => Error::new(kind, offset, json_fault(&reason.to_string())),
        }
    }
}

/// Finds an invalid digit in a `\u` escape that is truncated by the end of the input, which jiter does not check.
fn fault_in_last_escape(bytes: &[u8]) -> Option<usize> {
    let tail = bytes.len().saturating_sub(5);
    let escape = tail + bytes[tail..].windows(2).rposition(|pair| pair == b"\\u")?;
    let backslashes_before = bytes[..escape].iter().rev().take_while(|b| **b == b'\\').count();
    let digits = escape + 2;
    let wrong = bytes[digits..].iter().position(|b| !b.is_ascii_hexdigit())?;
    (backslashes_before % 2 == 0).then_some(digits + wrong)
}

#[cfg(test)]
mod tests;
