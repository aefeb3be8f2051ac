//! JSON (RFC 8259), compact.

mod foreign;

use crate::entries::Entries;
use crate::{Altered, Budget, DUPLICATE_KEY, Error, Format, Kind, Numbers, Reception, Value, limits, number};
use dunnage_schema::json_fault;
use foreign::Replaced;
use jiter::{Jiter, JiterError, JiterErrorType, JsonErrorType, Peek};

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

/// Returns the byte offset of the value that `pointer` (RFC 6901) names in the JSON `text`, or that of the innermost enclosing value if it
/// does not exist. Returns `None` if `text` is not valid JSON up to there, apart from NaN and infinities.
///
/// ```
/// use dunnage_formats::json_offset;
/// assert_eq!(json_offset(br#"{"t": [1, 2]}"#, "/t/1"), Some(10));
/// assert_eq!(json_offset(br#"{"t": [1, 2]}"#, "/u"), Some(0)); // that of the object
/// ```
pub fn offset_of(text: &[u8], pointer: &str) -> Option<usize> {
    let json = foreign::without_mark(text);
    let found = offset_in(json, pointer).or_else(|| {
        let replaced = Replaced::of(json)?;
        offset_in(&replaced.text, pointer).map(|offset| replaced.original(offset))
    });
    found.map(|offset| text.len() - json.len() + offset)
}

fn offset_in(text: &[u8], pointer: &str) -> Option<usize> {
    let mut jiter = Jiter::new(text);
    let mut found = jiter.peek().ok()?;
    for token in pointer.split('/').skip(1) {
        let around = jiter.current_index();
        let next = match found {
            Peek::Array => element(&mut jiter, token),
            Peek::Object => entry(&mut jiter, &dunnage_schema::pointer::unescape(token)),
            _ => Ok(None),
        };
        match next.ok()? {
            Some(next) => found = next,
            None => return Some(around),
        }
    }
    Some(jiter.current_index())
}

/// Advances to the element at the index `token` of the array; `None` if there is no such element.
fn element(jiter: &mut Jiter<'_>, token: &str) -> Result<Option<Peek>, JiterError> {
    let Ok(index) = token.parse::<usize>() else { return Ok(None) };
    let mut next = jiter.known_array()?;
    for _ in 0..index {
        let Some(skipped) = next else { return Ok(None) };
        jiter.known_skip(skipped)?;
        next = jiter.array_step()?;
    }
    Ok(next)
}

/// Advances to the value of `key` in the object; `None` if there is no such key.
fn entry(jiter: &mut Jiter<'_>, key: &str) -> Result<Option<Peek>, JiterError> {
    let mut next = jiter.known_object()?.map(|this| this == key);
    while let Some(found) = next {
        if found {
            return jiter.peek().map(Some);
        }
        jiter.next_skip()?;
        next = jiter.next_key()?.map(|this| this == key);
    }
    Ok(None)
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
mod tests {
    use super::*;

    fn error_of(text: impl AsRef<[u8]>) -> (Kind, usize) {
        let e = Json.decode(text.as_ref()).unwrap_err();
        (e.kind(), e.offset().unwrap())
    }

    fn rewritten(text: &str) -> String {
        let mut out = Vec::new();
        Json.encode(&Json.decode(text.as_bytes()).unwrap(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn compact_text_comes_back_as_it_was() {
        for text in [
            r#"{"a":23.5,"b":[1,2,3],"c":-2,"d":null,"e":true,"f":1.03}"#,
            r#"[9007199254740993,18446744073709551615,-9223372036854775808,1e-7,-0.0,2.0]"#,
            r#"{"":{},"é":"\u0000\n\"\\/😀","z":[],"a":[[]]}"#,
            r#""17.00""#,
        ] {
            assert_eq!(rewritten(text), text);
        }
        assert_eq!(rewritten(" { \"a\" : [ 1 , \"\\u00e9\\ud83d\\ude00\" ] }\r\n"), r#"{"a":[1,"é😀"]}"#);
    }

    #[test]
    fn cut_off_text_is_truncated() {
        let text = r#"{"a":[1,-2.5e-3,1.2154445493308296e-265,true,null,"é\u00e9\ud83d\ude00"],"b":{}}"#;
        for end in 0..text.len() {
            assert_eq!(error_of(&text.as_bytes()[..end]), (Kind::Truncated, end), "{}", &text[..end.min(20)]);
        }
    }

    #[test]
    fn faults_have_their_kind_and_offset() {
        for (text, offset) in [
            ("[1,]", 3),
            ("{\"a\":1,}", 7),
            ("{\"a\" 1}", 5),
            ("{a:1}", 1),
            ("[01]", 2),
            ("[1.]", 3),
            ("[+1]", 1),
            ("[NaN]", 1),
            ("[-Infinity]", 2),
            ("trux", 3),
            ("nul]", 3),
            ("1 2", 2),
            ("[\"a\tb\"]", 3),
            (r#"["\x"]"#, 3),
            (r#"["\u12"]"#, 6),
            (r#""\u1g"#, 4),
            (r#"["\udc00"]"#, 7),
            (r#"{"a":1, "b":2,"a":3}"#, 14),
            ("[\u{feff}1]", 1),
        ] {
            assert_eq!(error_of(text), (Kind::Malformed, offset), "{text}");
        }
        assert_eq!(error_of(b"[\"\\n\xff\"]"), (Kind::Malformed, 4));
        assert_eq!(error_of("[1,18446744073709551617]"), (Kind::Range, 3));
        for lost in ["1e309", "1e-400", "1.000000000000000005", "9007199254740993.0"] {
            assert_eq!(error_of(format!("[2,{lost}]")), (Kind::Range, 3), "{lost}");
        }
        assert_eq!(error_of(format!("[{}]", "1".repeat(5000))), (Kind::Range, 1));
        assert_eq!(error_of("[".repeat(40)), (Kind::Limit, 32));
        assert_eq!(error_of(" ".repeat((1 << 20) + 1)), (Kind::Limit, 1 << 20));
    }

    fn lenient(text: &str) -> (Result<Value, Error>, u64) {
        let altered = Altered::default();
        let reception = Reception { numbers: Numbers::Lenient(&altered), ..Reception::default() };
        (Json.decode_from(text.as_bytes(), &reception), altered.nulls())
    }

    #[test]
    fn nan_and_infinities_are_null_where_that_is_allowed() {
        for (text, same, nulls) in [
            (
                r#"{"a":nan,"b":[-inf , NaN,+Infinity],"c":"nan,nan"}"#,
                r#"{"a":null,"b":[null,null,null],"c":"nan,nan"}"#,
                4,
            ),
            ("nan", "null", 1),
            (r#"["a\\",-nan,"\"",INF]"#, r#"["a\\",null,"\"",null]"#, 2),
            (r#"{"nan":1.5}"#, r#"{"nan":1.5}"#, 0),
            // The texts that the C libraries of Windows print, now and formerly, newlib, and Arduino.
            ("[-nan(ind), nan(0x8000000000000),nan(snan)]", "[null,null,null]", 3),
            ("[-1.#IND00,1.#INF ,1.#QNAN,1.5,-1]", "[null,null,null,1.5,-1]", 3),
            (r#"{"a":ovf,"b":-OVF}"#, r#"{"a":null,"b":null}"#, 2),
        ] {
            assert_eq!(lenient(text), (Json.decode(same.as_bytes()), nulls), "{text}");
        }
        for (text, offset) in [
            ("[nan,infinity,01]", 15),
            ("[nan,na]", 6),
            ("{nan:1}", 1),
            ("[1nan]", 2),
            ("[nan(]", 2),
            ("[1.#]", 3),
        ] {
            assert_eq!(lenient(text).0.unwrap_err().offset(), Some(offset), "{text}");
        }
        assert_eq!(offset_of(b"[nan, inf, {\"a\": 7}]", "/2/a"), Some(17));
        let e = lenient("[3.14159265358979323846]").0;
        assert_eq!(e, Ok(Value::Array(vec![Value::F64(std::f64::consts::PI)])));
    }

    #[test]
    fn what_is_no_json_has_its_name() {
        assert_eq!(Json.decode(b"\xef\xbb\xbf[1]"), Json.decode(b"[1]"));
        assert_eq!(error_of(b"\xef\xbb\xbf[01]"), (Kind::Malformed, 5));
        assert_eq!(error_of(b"\xef\xbb\xbf"), (Kind::Truncated, 3));
        assert_eq!(offset_of(b"\xef\xbb\xbf[7]", "/0"), Some(4));
        for (text, name) in [
            (&b"{\"t\":nan}"[..], "NaN"),
            (b"{\"t\":-nan}", "NaN"),
            (b"{\"t\":NaN}", "NaN"),
            (b"[inf]", "NaN"),
            (b"-Infinity", "NaN"),
            (b"{\"t\":-nan(ind)}", "NaN"),
            (b"{\"t\":1.#INF}", "NaN"),
            (b"[0,ovf]", "NaN"),
            (b"[1,\xef\xbb\xbf2]", "byte order mark"),
            (b"\xff\xfe{\0}\0", "UTF-16"),
            (b"\0{\0}", "UTF-16"),
            (b"{\0}\0", "UTF-16"),
            (b"[nanometre]", "quotes"),
        ] {
            let e = Json.decode(text).unwrap_err();
            assert!(e.kind() == Kind::Malformed && e.message().contains(name), "{text:?}: {e}");
            assert_eq!(e.numbers(), (name == "NaN").then_some("lenient"), "{text:?}");
        }
        assert_eq!(Json.decode(b"[1.000000000000000005]").unwrap_err().numbers(), Some("nearest"));
        assert_eq!(Json.decode(b"[1e309]").unwrap_err().numbers(), None);
    }

    #[test]
    fn errors_name_the_value_and_a_pointer_finds_it() {
        for (text, pointer) in [
            (r#"{"a/b": [1, {"~": 1e-400}]}"#, "/a~1b/1/~0"),
            (r#"{"a": tru}"#, "/a"),
            (r#"[[], [0, 01]]"#, "/1/1"),
            (r#"{"a": {"b": 1, "b": 2}}"#, "/a/b"),
            (r#"{"a": "#, "/a"),
            ("[1,]", ""),
        ] {
            assert_eq!(Json.decode(text.as_bytes()).unwrap_err().pointer(), pointer, "{text}");
        }
        let text = r#" {"x": "é", "a/b": [1, {"~": 7}], "c": {}}"#;
        for (pointer, rest) in [
            ("", r#"{"x""#),
            ("/x", "\"é"),
            ("/a~1b/0", "1,"),
            ("/a~1b/1/~0", "7}"),
            ("/a~1b/2", "[1,"),
            ("/a~1b/x", "[1,"),
            ("/c/missing", "{}}"),
            ("/x/y", "\"é"),
        ] {
            let offset = offset_of(text.as_bytes(), pointer).unwrap();
            assert!(text[offset..].starts_with(rest), "{pointer}: {}", &text[offset..]);
        }
        assert_eq!(offset_of(b"[1, tru", "/2"), None);
    }

    #[test]
    fn what_json_cannot_write_is_an_error_and_leaves_the_output_alone() {
        let mut out = b"before".to_vec();
        for (value, kind) in [(Value::Bytes(vec![1]), Kind::Type), (Value::F64(f64::NAN), Kind::Range)] {
            let e = Json.encode(&Value::Array(vec![Value::Null, value]), &mut out).unwrap_err();
            assert_eq!((e.kind(), e.pointer(), e.offset()), (kind, "/1", None));
            assert_eq!(out, b"before");
        }
    }
}
